package config

import (
	"time"

	"parley/agent"
	"parley/channels"
	"parley/gateway/hooks"
	"parley/policy"
	"parley/sessions"
	"parley/tools"
)

// Config is a checked configuration: defaults filled in, names resolved, paths absolute. It is immutable.
type Config struct {
	State    string                  `yaml:"state" doc:"Folder for everything that parley keeps. Relative to this file; ~ is the home folder. Without it: $PARLEY_STATE, else ~/.local/state/parley."`
	Gateway  Gateway                 `yaml:"gateway" doc:"The host's own HTTP side: web chat, API, health, metrics."`
	Store    Store                   `yaml:"store" doc:"The database."`
	Models   agent.Models            `yaml:"models" doc:"Language models."`
	Agents   agent.Config            `yaml:"agents" doc:"Who answers."`
	Session  sessions.Config         `yaml:"session" doc:"How chats map to sessions, and what may leave them."`
	Tools    tools.Config            `yaml:"tools" doc:"What agents may do."`
	Bindings []sessions.Binding      `yaml:"bindings" doc:"Which agent answers where; without a match the default agent does."`
	Messages sessions.MessagesConfig `yaml:"messages" doc:"How messages are taken."`
	Commands Commands                `yaml:"commands" doc:"Chat commands."`
	Channels Channels                `yaml:"channels" doc:"Chat platforms. A channel's fields are the defaults of its accounts; without accounts they are the account default."`
	Hooks    hooks.Config            `yaml:"hooks" doc:"What programs outside send."`
	Delivery Delivery                `yaml:"delivery" doc:"How messages leave."`
	Log      Log                     `yaml:"log" doc:"The log."`

	// Path is the file that this was read from, "" when there was none.
	Path string `yaml:"-"`
	// Disabled are the accounts with enabled: false. They may be incomplete: show them, do not start them.
	Disabled Channels `yaml:"-"`
	// Warnings are what Load found and let pass.
	Warnings []Problem `yaml:"-"`
}

// Store is the section `store`.
type Store struct {
	DSN channels.Secret `yaml:"dsn" doc:"Empty: SQLite in the state folder. Otherwise postgres://user:password@host/database. Changing it needs a restart."`
}

// Name returns what keeps the state, for people.
func (s Store) Name() string {
	if s.DSN.IsZero() {
		return "SQLite"
	}
	return "PostgreSQL"
}

// Commands is the section `commands`.
type Commands struct {
	OwnerAllowFrom []string `yaml:"ownerAllowFrom" doc:"The owners, as channel:id, for example telegram:1001; ids as in allowFrom. Only owners may use /send and approve pairings."`
}

// Delivery is the section `delivery`.
type Delivery struct {
	Ambiguous Ambiguous `yaml:"ambiguous" enum:"resend,hold" default:"resend" doc:"A message that may or may not have arrived when the host died, on a platform that cannot tell. resend: send it again. hold: wait for a person (parley deliveries)."`
	TTL       TTL       `yaml:"ttl" doc:"How long a message that cannot be sent is tried before it expires."`
}

// Ambiguous is delivery.ambiguous.
type Ambiguous string

// What happens to a delivery that may or may not have arrived.
const (
	Resend Ambiguous = "resend"
	Hold   Ambiguous = "hold"
)

// TTL is delivery.ttl, in minutes.
type TTL struct {
	ReplyMinutes    int `yaml:"replyMinutes" default:"60" min:"1" max:"525600" doc:"Replies and notices, in minutes."`
	AnnounceMinutes int `yaml:"announceMinutes" default:"1440" min:"1" max:"525600" doc:"Announcements of agents, in minutes."`
	CronMinutes     int `yaml:"cronMinutes" default:"360" min:"1" max:"525600" doc:"Messages of scheduled jobs, in minutes."`
}

// For gives the time to live of a kind of delivery.
func (t TTL) For(k sessions.DeliveryKind) time.Duration {
	if k == sessions.Announce {
		return time.Duration(t.AnnounceMinutes) * time.Minute
	}
	return time.Duration(t.ReplyMinutes) * time.Minute
}

// Cron gives the time to live of what a scheduled job sends.
func (t TTL) Cron() time.Duration { return time.Duration(t.CronMinutes) * time.Minute }

// Log is the section `log`.
type Log struct {
	Level  string `yaml:"level" enum:"debug,info,warn,error" default:"info" doc:"Least important lines to write. Message text appears only at debug. Changing it needs a restart."`
	Format string `yaml:"format" enum:"auto,text,json" default:"auto" doc:"auto: text on a terminal, JSON otherwise. Changing it needs a restart."`
}

// Channels are the accounts of all channels, in the order of the file.
type Channels []Account

// Account is one login on one channel kind, everything inherited already.
type Account struct {
	Kind           channels.Kind
	ID             channels.AccountID
	Access         policy.Access
	Pacing         channels.Pacing
	Streaming      channels.Streaming
	TextChunkLimit int // longest message that is sent, 0 = what the platform allows
	Adapter        any // what Adapter.New gave, filled; nil when the adapter has no fields of its own
	Line           int // where the account begins in the file, 0 = not in the file
}

// common is what every channel kind understands besides its adapter's own fields.
type common struct {
	Enabled        bool `yaml:"enabled" default:"true" doc:"false: do not connect this account; required keys may then be missing."`
	policy.Access  `yaml:",inline"`
	Pacing         channels.Pacing    `yaml:"pacing" doc:"How fast messages are sent; 0 = off."`
	Streaming      channels.Streaming `yaml:"streaming" doc:"Whether answers are shown while they are being written."`
	TextChunkLimit int                `yaml:"textChunkLimit" min:"0" max:"1000000" doc:"Longest message that is sent, longer ones are split; 0 = what the platform allows."`
}

// AccountsKey is the key of a channel's section that holds its accounts, AccountsDoc what is said of it.
const (
	AccountsKey = "accounts"
	AccountsDoc = "Several logins: name: {fields}. What an account does not write it has from the channel; lists and maps are replaced whole."
)

// Adapter describes one channel kind to this package.
type Adapter struct {
	Kind channels.Kind
	// New gives a pointer to a fresh struct of the adapter's own fields, tagged like the structs here; nil = it has none.
	New func() any
	// Pacing is used where the file says nothing.
	Pacing channels.Pacing
	// Access, when not nil, replaces the defaults of the access fields.
	Access *policy.Access
	// Person and Chat, when not nil, give the id of a person and of a group as the adapter writes it, or say in the error what such an id
	// looks like. What they give they give back as it is. Names (@ada) are for Person to take or refuse; "*" is not asked about.
	Person func(text string) (channels.UserID, error)
	Chat   func(text string) (channels.ChatID, error)
	// Always: the account default exists even when the file does not name the channel (the built-in web chat).
	Always bool
}

// Table lists the channel kinds that this program has.
type Table []Adapter

func (t Table) find(k channels.Kind) (Adapter, bool) {
	for _, a := range t {
		if a.Kind == k {
			return a, true
		}
	}
	return Adapter{}, false
}

// Kinds gives the names of the channel kinds of the table, in the order of the table.
func (t Table) Kinds() []channels.Kind {
	out := make([]channels.Kind, len(t))
	for i, a := range t {
		out[i] = a.Kind
	}
	return out
}

// kinds is Kinds as texts.
func (t Table) kinds() []string {
	out := make([]string, len(t))
	for i, a := range t {
		out[i] = string(a.Kind)
	}
	return out
}

func (a Adapter) fresh() any {
	if a.New == nil {
		return nil
	}
	return a.New()
}
