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
	State    string                  `yaml:"state" doc:"State folder: database, transcripts, files. Relative to the folder of this file; ~ is the home folder. Empty = $PARLEY_STATE, else ~/.local/state/parley."`
	Gateway  Gateway                 `yaml:"gateway" doc:"The host's HTTP server: page, API, health, metrics."`
	Store    Store                   `yaml:"store" doc:"The database."`
	Models   agent.Models            `yaml:"models" doc:"Language models."`
	Agents   agent.Config            `yaml:"agents" doc:"The agents: models, limits, instructions."`
	Session  sessions.Config         `yaml:"session" doc:"How chats map to sessions, and which messages may leave the host."`
	Tools    tools.Config            `yaml:"tools" doc:"Tools of the agents, and rights to use them."`
	Bindings []sessions.Binding      `yaml:"bindings" doc:"Rules that assign chats to agents. Without a match the default agent answers."`
	Messages sessions.MessagesConfig `yaml:"messages" doc:"Incoming messages: queue, group chats, reactions, stop words."`
	Commands Commands                `yaml:"commands" doc:"Rights to chat commands."`
	Channels Channels                `yaml:"channels" doc:"Chat platforms. The keys of a channel are the defaults of its accounts. Without accounts, the channel has one account, named default."`
	Hooks    hooks.Config            `yaml:"hooks" doc:"Events that other programs send over HTTP."`
	Delivery Delivery                `yaml:"delivery" doc:"Outgoing messages."`
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
	DSN channels.Secret `yaml:"dsn" doc:"postgres://user:password@host/database; empty = SQLite in the state folder. A change needs a restart."`
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
	Ambiguous Ambiguous `yaml:"ambiguous" enum:"resend,hold" default:"resend" doc:"Action for a message that was in flight during a crash, if the platform cannot tell whether it arrived. resend: the host sends it again. hold: it waits for a person (parley deliveries)."`
	TTL       TTL       `yaml:"ttl" doc:"Time after which a message that the host cannot send expires."`
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
	ReplyMinutes    int `yaml:"replyMinutes" default:"60" min:"1" max:"525600" doc:"Time after which an unsent reply or notice expires, in minutes."`
	AnnounceMinutes int `yaml:"announceMinutes" default:"1440" min:"1" max:"525600" doc:"Time after which an unsent announcement of an agent expires, in minutes."`
	CronMinutes     int `yaml:"cronMinutes" default:"360" min:"1" max:"525600" doc:"Time after which an unsent message of a scheduled job expires, in minutes."`
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
	Level  string `yaml:"level" enum:"debug,info,warn,error" default:"info" doc:"Lowest level that the host writes. Texts of messages appear only at debug. A change needs a restart."`
	Format string `yaml:"format" enum:"auto,text,json" default:"auto" doc:"auto: text on a terminal, JSON otherwise. A change needs a restart."`
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

// Bot returns the id of the account's own user, where its configuration tells that.
func (a Account) Bot() channels.UserID {
	if c, ok := a.Adapter.(interface{ Bot() channels.UserID }); ok {
		return c.Bot()
	}
	return ""
}

// common is what every channel kind understands besides its adapter's own fields.
type common struct {
	Enabled        bool `yaml:"enabled" default:"true" doc:"false: the host does not connect the account, and required keys may be missing."`
	policy.Access  `yaml:",inline"`
	Pacing         channels.Pacing    `yaml:"pacing" doc:"Rate limits of outgoing messages; 0 = no limit."`
	Streaming      channels.Streaming `yaml:"streaming" doc:"Previews of an answer while the agent writes."`
	TextChunkLimit int                `yaml:"textChunkLimit" min:"0" max:"1000000" doc:"Maximum length of a message, as the platform counts; longer texts are split. 0 = the platform's limit."`
}

// AccountsKey is the key of a channel's section that holds its accounts, AccountsDoc what is said of it.
const (
	AccountsKey = "accounts"
	AccountsDoc = "Several logins, as name: {keys}. An account inherits the keys of the channel; a list or map of its own replaces the inherited one as a whole."
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
