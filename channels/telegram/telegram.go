package telegram

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
	"sync/atomic"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"parley/channels"
)

// Kind is the channel kind of this adapter.
const Kind channels.Kind = "telegram"

// DefaultAPIURL is Telegram's own Bot API server.
const DefaultAPIURL = "https://api.telegram.org"

const (
	defaultPollSeconds = 30
	maxPollSeconds     = 50 // what the platform allows
	pollGrace          = 15 * time.Second
	callTimeout        = 20 * time.Second
	textLimit          = 4096 // UTF-16 units, after markup is parsed
	entityLimit        = 100  // Telegram ignores the entities behind the first hundred. source: rubenlagus/TelegramBots#854
)

// Config is one bot.
type Config struct {
	Token              channels.Secret `yaml:"token" json:"token" required:"true" doc:"Bot token, from @BotFather."`
	APIURL             string          `yaml:"apiUrl" json:"apiUrl" default:"https://api.telegram.org" doc:"Base URL of the Bot API server."`
	PollTimeoutSeconds int             `yaml:"pollTimeoutSeconds" json:"pollTimeoutSeconds" default:"30" min:"1" max:"50" doc:"Duration of one long poll for updates, in seconds. The host aborts a hanging poll 15 s later."`
	TakeOverWebhook    bool            `yaml:"takeOverWebhook" json:"takeOverWebhook" doc:"true: the host removes a webhook that another program set for the bot. false: while such a webhook is set, the bot receives nothing, and its status says so."`
	Webhook            Webhook         `yaml:"webhook" json:"webhook"`
}

// Deps are what the adapter needs from the host.
type Deps struct {
	Account channels.AccountID // empty = channels.DefaultAccount
	Logger  *slog.Logger       // says already which channel and account this is; nil = silent
	Client  *http.Client       // nil = own connections, which a hanging poll replaces
	Holds   *channels.Holds    // of the account; nil = what Telegram asks to wait is forgotten with the channel
	// Cursor gives the newest committed Inbound.Cursor; nil = unknown. It is compared with what the server still has, to say so when
	// Telegram threw updates away (it keeps them for a day). It is no position: see Run.
	Cursor func(ctx context.Context) (string, error)
	// Sent reports whether a message is on disk as one that this account sent; nil = only what was sent since the start is known.
	Sent func(ctx context.Context, chat channels.Address, id channels.MessageID) (bool, error)
	// Identified is told who the account is before the first event is offered; it blocks until that is on disk or ctx ends. nil = nobody asks.
	Identified func(ctx context.Context, who channels.UserID)
}

// Channel is one bot. It is a channels.Typer, Drafter, Editor, Remover, Reactor, Fetcher, Commander, Hooked, Identifier and
// Reporter as well.
type Channel struct {
	account channels.AccountID
	log     *slog.Logger
	calls   calls
	timeout time.Duration // of one poll, on the server
	cfg     Config
	cursor  func(ctx context.Context) (string, error)
	polls   *http.Client
	ownPoll bool
	hook    *hook // nil = updates are asked for

	drafts drafts
	topics *topics
	posts  *posts
	people *people
	sent   func(ctx context.Context, chat channels.Address, id channels.MessageID) (bool, error)
	whole  wholeAlbums // of Run's only

	identified func(ctx context.Context, who channels.UserID)

	health  *channels.HealthHolder
	refusal refusal
	failing atomic.Bool // the last message may or may not have arrived

	mu sync.Mutex
	me *identity
	// ignored is how many updates of each kind were confirmed without being offered.
	ignored map[string]int
}

// identity is what the bot is on the platform.
type identity struct {
	ID       int64  `json:"id"`
	Username string `json:"username"`
}

var tokenPattern = regexp.MustCompile(`^[A-Za-z0-9:_-]+$`)

// The library prints errors, token included, to a logger of its own. It is a package variable there, so it is set once.
var silenceLibrary = sync.OnceValue(func() error { return tgbotapi.SetLogger(silent{}) })

type silent struct{}

func (silent) Println(...any)        {}
func (silent) Printf(string, ...any) {}

// Validate reports everything that can be known to be wrong without asking Telegram, as *channels.FieldError. Fields that were not
// set have to hold their defaults; only an empty APIURL stands for its default as well.
func (c Config) Validate() error {
	var wrong []error
	add := func(field, format string, a ...any) {
		wrong = append(wrong, &channels.FieldError{Field: field, Text: fmt.Sprintf(format, a...)})
	}
	switch token := c.Token.Reveal(); {
	case token == "":
		add("token", "is missing: get one from @BotFather")
	case !tokenPattern.MatchString(token):
		add("token", "has characters that are not allowed in a bot token: copy the token again from @BotFather")
	}
	if c.APIURL != "" {
		base, err := url.Parse(c.APIURL)
		if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" || base.RawQuery != "" || base.Fragment != "" || base.User != nil {
			add("apiUrl", "want an address like %s: http or https, without user, query or fragment", DefaultAPIURL)
		}
	}
	if c.PollTimeoutSeconds < 1 || c.PollTimeoutSeconds > maxPollSeconds {
		add("pollTimeoutSeconds", "%d is not in 1 to %d", c.PollTimeoutSeconds, maxPollSeconds)
	}
	c.Webhook.validate(add)
	return errors.Join(wrong...)
}

// New checks the configuration, in which zero values stand for the defaults, and makes a bot. It does no I/O: Send works from now
// on, Run connects.
func New(cfg Config, deps Deps) (*Channel, error) {
	if err := silenceLibrary(); err != nil {
		return nil, err
	}
	if cfg.APIURL == "" {
		cfg.APIURL = DefaultAPIURL
	}
	if cfg.PollTimeoutSeconds == 0 {
		cfg.PollTimeoutSeconds = defaultPollSeconds
	}
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("telegram: %w", err)
	}
	timeout := time.Duration(cfg.PollTimeoutSeconds) * time.Second
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
	id, _, _ := strings.Cut(cfg.Token.Reveal(), ":")
	c := &Channel{
		account: deps.Account, log: deps.Logger, timeout: timeout, cfg: cfg, cursor: deps.Cursor, sent: deps.Sent, identified: deps.Identified,
		calls:  calls{api: newAPI(base, cfg.Token.Reveal()), holds: deps.Holds.Of(base, id)},
		topics: newTopics(), posts: newPosts(), people: newPeople(),
		drafts: newDrafts(),
	}
	stale := 2 * timeout
	if cfg.Webhook.URL != "" {
		c.hook = &hook{c: c, turns: map[channels.ChatID]*turn{}}
		stale = webhookStale
	}
	c.health = channels.NewHealthHolder(c.log, stale)
	if deps.Client != nil {
		c.calls.sends = direct(deps.Client)
		c.polls = c.calls.sends
	} else {
		c.calls.sends, c.polls, c.ownPoll = newClient(), newClient(), true
	}
	return c, nil
}

// direct is a copy of a client that follows no redirect (the token is in the URL) and leaves deadlines to the contexts.
func direct(client *http.Client) *http.Client {
	own := *client
	own.Timeout = 0
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// newClient makes a client with connections of its own. HTTP/2 is off: there a hanging connection outlives a cancelled request
// and would be used again; with HTTP/1.1 giving up a request closes its connection.
func newClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 128, 128
	t.IdleConnTimeout = 45 * time.Second // shorter than the server's, so that a request rarely meets a closing connection
	return direct(&http.Client{Transport: t})
}

// Limits implements channels.Channel.
func (c *Channel) Limits(to channels.Address) channels.Limits {
	l := channels.Limits{
		Text: textLimit, Unit: channels.UTF16, Dialect: channels.TelegramHTML, Marks: entityLimit,
		Files: filesLimit, FileBytes: fileBytes, FilesBytes: filesBytes, Caption: captionLimit,
	}
	if _, _, only := split(to.Thread); only != "" {
		l.Files = 1 // there are no albums for one member of a group
	}
	return l
}

// decoder turns updates into events. ctx is for what it has to ask the host.
func (c *Channel) decoder(ctx context.Context) decoder {
	return decoder{account: c.account, me: *c.self(), topics: c.topics, people: c.people, own: c.ownPost(ctx), stopped: c.drafts.shows}
}

// Health implements channels.Reporter. LastSeen is the last answered getUpdates; with a webhook see look.
func (c *Channel) Health() channels.Health {
	return c.health.Get()
}

func (c *Channel) self() *identity {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.me
}

// countIgnored counts what a chat host has no use for. The first of a kind is said in the log.
func (c *Channel) countIgnored(ctx context.Context, items []item) {
	for i := range items {
		kind := items[i].skip
		if kind == "" {
			continue
		}
		c.mu.Lock()
		if c.ignored == nil {
			c.ignored = map[string]int{}
		}
		c.ignored[kind]++
		n := c.ignored[kind]
		c.mu.Unlock()
		if n&(n-1) == 0 { // 1, 2, 4, …
			c.log.DebugContext(ctx, "telegram update ignored", "kind", kind, "so far", n)
		}
	}
}
