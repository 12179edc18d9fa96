package discord

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"parley/channels"
)

// Kind is the channel kind of this adapter.
const Kind channels.Kind = "discord"

// DefaultAPIURL is Discord's own API.
const DefaultAPIURL = "https://discord.com/api"

const (
	callTimeout = 20 * time.Second
	textLimit   = 2000     // https://discord.com/developers/docs/resources/message#create-message
	fileLimit   = 10       // files in one message
	fileBytes   = 10 << 20 // without a boosted server
	firstStale  = 90 * time.Second
)

// Config is one bot.
type Config struct {
	Token   channels.Secret `yaml:"token" json:"token" required:"true" doc:"Bot token, from the page Bot of the application at https://discord.com/developers/applications."`
	APIURL  string          `yaml:"apiUrl" json:"apiUrl" default:"https://discord.com/api" doc:"Base URL of Discord's API, or of a compatible server. The host adds the API version unless the URL ends with one, as in /api/v9."`
	Members bool            `yaml:"members" json:"members" doc:"true: request the Server Members intent, to learn who joins and leaves a server. Enable it for the bot at https://discord.com/developers/applications, page Bot."`
}

// Deps are what the adapter needs from the host.
type Deps struct {
	Account channels.AccountID // empty = channels.DefaultAccount
	Logger  *slog.Logger       // says already which channel and account this is; nil = silent
	Client  *http.Client       // for the REST calls, the files and the gateway's WebSocket; nil = own connections
	Holds   *channels.Holds    // of the account; nil = what Discord asks to wait is forgotten with the channel
	// Seen gives the newest message of each chat that is on disk. What came after it is read again after a connection that could not be
	// resumed. nil = nothing is read again.
	Seen func(ctx context.Context) ([]channels.Position, error)
	// Cursor gives the newest committed Inbound.Cursor: the id of a message, up to which every message of the account was taken. Chats of
	// which Seen says nothing are read again from there. nil = unknown.
	Cursor func(ctx context.Context) (string, error)
	// Sent reports whether a message is on disk as the receipt of a delivery. A message that may have arrived is not taken for one that
	// says the same and has its receipt. nil = nothing is known.
	Sent func(ctx context.Context, chat channels.Address, id channels.MessageID) (bool, error)
	// Identified is told who the account is before the first event is offered; it blocks until that is on disk or ctx ends. nil = nobody asks.
	Identified func(ctx context.Context, who channels.UserID)
}

// Channel is one bot.
type Channel struct {
	account channels.AccountID
	log     *slog.Logger
	cfg     Config
	rest    restClient
	client  *http.Client
	own     bool // client is not shared
	seen    func(ctx context.Context) ([]channels.Position, error)
	cursor  func(ctx context.Context) (string, error)
	sent    func(ctx context.Context, chat channels.Address, id channels.MessageID) (bool, error)

	identified func(ctx context.Context, who channels.UserID)

	names   *names
	recent  *recent
	members *boundedMap[memberRead]
	acts    *acts
	budget  budget

	mu     sync.Mutex
	health *channels.HealthHolder
	me     identity
}

// identity is what the bot is on the platform.
type identity struct {
	User        string // user id; empty = not known yet
	Application string
	Name        string
}

var (
	versioned = regexp.MustCompile(`/v[0-9]+$`)
	tokenText = regexp.MustCompile(`^[!-~]+$`)
)

// Validate reports everything that can be known to be wrong without asking Discord, as *channels.FieldError. Fields that were not
// set have to hold their defaults; only an empty APIURL stands for its default as well.
func (c Config) Validate() error {
	var wrong []error
	add := func(field, format string, a ...any) {
		wrong = append(wrong, &channels.FieldError{Field: field, Text: fmt.Sprintf(format, a...)})
	}
	switch token := bareToken(c.Token); {
	case token == "":
		add("token", "is missing: get one at https://discord.com/developers/applications, page Bot, Reset Token")
	case !tokenText.MatchString(token):
		add("token", "has characters that are not allowed in a bot token: copy the token again from https://discord.com/developers/applications, page Bot")
	}
	if c.APIURL != "" {
		base, err := url.Parse(c.APIURL)
		if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" || base.RawQuery != "" || base.Fragment != "" || base.User != nil {
			add("apiUrl", "want an address like %s: http or https, without user, query or fragment", DefaultAPIURL)
		}
	}
	return errors.Join(wrong...)
}

// bareToken is the token without the word Bot, which people copy along from examples.
func bareToken(s channels.Secret) string {
	return strings.TrimPrefix(strings.TrimSpace(s.Reveal()), "Bot ")
}

// New checks the configuration, in which zero values stand for the defaults, and makes a bot. It does no I/O: Send works from now
// on, Run connects.
func New(cfg Config, deps Deps) (*Channel, error) {
	if cfg.APIURL == "" {
		cfg.APIURL = DefaultAPIURL
	}
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("discord: %w", err)
	}
	if deps.Account == "" {
		deps.Account = channels.DefaultAccount
	}
	if deps.Identified == nil {
		deps.Identified = func(context.Context, channels.UserID) {}
	}
	if deps.Logger == nil {
		deps.Logger = slog.New(slog.DiscardHandler)
	}
	base := strings.TrimRight(cfg.APIURL, "/")
	server := versioned.ReplaceAllString(base, "")
	if !versioned.MatchString(base) {
		base += "/v" + discordgo.APIVersion
	}
	c := &Channel{
		account: deps.Account, log: deps.Logger, cfg: cfg, seen: deps.Seen, cursor: deps.Cursor, sent: deps.Sent, identified: deps.Identified,
		names: newNames(), recent: newRecent(), members: newMemory[memberRead](1024),
		health: channels.NewHealthHolder(deps.Logger, firstStale),
	}
	if c.client = deps.Client; c.client == nil {
		c.client, c.own = newClient(), true
	}
	token := bareToken(cfg.Token)
	id, _, _ := strings.Cut(token, ".")
	c.rest = newREST(base, token, c.client, newHolds(deps.Holds.Of(server, id)))
	c.acts = newActs(c.rest, c.log)
	return c, nil
}

// newClient makes a client with connections of its own. HTTP/2 is off: a WebSocket needs HTTP/1.1, and giving up a request closes
// its connection there.
func newClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 64, 64
	t.IdleConnTimeout = 45 * time.Second
	return &http.Client{Transport: t}
}

// Limits implements channels.Channel. The length is counted in UTF-16 units, which is never less than what Discord counts. A nonce
// makes a repeated Send harmless for some minutes only, so it is not called idempotent; Arrived finds out about older ones.
func (c *Channel) Limits(channels.Address) channels.Limits { return limits }

var limits = channels.Limits{
	Text: textLimit, Unit: channels.UTF16, Dialect: channels.DiscordMD, Files: fileLimit, FileBytes: fileBytes, Caption: textLimit - channels.NoteRoom,
}

// Health implements channels.Reporter. LastSeen is the last heartbeat that Discord acknowledged.
func (c *Channel) Health() channels.Health {
	return c.health.Get()
}

func (c *Channel) self() identity {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.me
}

// setSelf keeps who the bot is.
func (c *Channel) setSelf(me identity) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if me.Application == "" {
		me.Application = c.me.Application
	}
	c.me = me
	c.health.Named(me.Name)
}

// intents are the kinds of events that are asked for.
func (c *Channel) intents() discordgo.Intent {
	if c.cfg.Members {
		return intents | discordgo.IntentGuildMembers
	}
	return intents
}
