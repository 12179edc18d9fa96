package whatsapp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"parley/channels"
)

// Kind is the channel kind of this adapter.
const Kind channels.Kind = "whatsapp"

const (
	defaultDevice = "parley"
	longestDevice = 50 // runes; what the phone's list of linked devices shows
	keyFile       = "keys.db"
	textLimit     = 4096
	receivedLimit = 65536 // WhatsApp's own apps send as much in one message. source: https://www.engagespark.com/support/whatsapp-business-limits/
	captionLimit  = 1024
	fileLimit     = 100 << 20
)

// Config is one account. It has no token: `parley login whatsapp` links it.
type Config struct {
	DeviceName   string `yaml:"deviceName" json:"deviceName" default:"parley" doc:"Name in the phone's list of linked devices, from the next login on. People see this name until the phone sends the account's own."`
	ReadReceipts bool   `yaml:"readReceipts" json:"readReceipts" default:"true" doc:"true: mark messages as read after the host has stored them and an answer is on its way. The account's privacy settings still apply."`
}

// Deps are what the adapter needs from the host.
type Deps struct {
	Account channels.AccountID // empty = channels.DefaultAccount
	Logger  *slog.Logger       // says already which channel and account this is; nil = silent
	Dir     string             // folder of the key file, of this account alone; it is made when needed
	Client  *http.Client       // nil = own connections

	// Identified is told who the account is before the first event is offered; it blocks until that is on disk or ctx ends. nil = nobody asks.
	Identified func(ctx context.Context, who channels.UserID)
}

// Validate reports everything that can be known to be wrong without asking WhatsApp, as *channels.FieldError.
func (c Config) Validate() error {
	switch {
	case c.DeviceName == "":
	case !utf8.ValidString(c.DeviceName), strings.ContainsFunc(c.DeviceName, func(r rune) bool { return r < ' ' }):
		return &channels.FieldError{Field: "deviceName", Text: "has unprintable characters"}
	case utf8.RuneCountInString(c.DeviceName) > longestDevice:
		return &channels.FieldError{Field: "deviceName", Text: fmt.Sprintf("has more than %d characters", longestDevice)}
	}
	return nil
}

// Channel is one account. It is a channels.Typer, Editor, Reactor, Acknowledger, Remover, Fetcher, Pairer and Reporter as well.
type Channel struct {
	account channels.AccountID
	log     *slog.Logger
	cfg     Config
	keys    string // the key file
	client  *http.Client
	media   *http.Client
	recent  *recent
	pace    pace

	busy sync.Mutex           // held by the one of Run, Pair and Unpair that has the key file open
	live atomic.Pointer[link] // of a Run that is connected

	identified func(ctx context.Context, who channels.UserID)

	looking sync.Mutex // held while a file is looked at before it is sent

	mu          sync.Mutex
	health      channels.Health
	heldUntil   time.Time // nothing is sent before
	lockedUntil time.Time // WhatsApp takes no messages to strangers before, as it says
}

// pace is how long things are waited for at first.
type pace struct{ first, refused, ack, grace, gather, verdict time.Duration }

// New checks the configuration and makes an account. It does no I/O.
func New(cfg Config, deps Deps) (*Channel, error) {
	if cfg.DeviceName == "" {
		cfg.DeviceName = defaultDevice
	}
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("whatsapp: %w", err)
	}
	if deps.Dir == "" {
		return nil, errors.New("whatsapp: no key folder")
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
	client := plainClient(deps.Client)
	return &Channel{
		account: deps.Account, log: deps.Logger, cfg: cfg, keys: filepath.Join(deps.Dir, keyFile), client: client, media: mediaClient(client),
		identified: deps.Identified, recent: newRecent(), pace: pace{firstWait, refusedFirst, ackPatience, stopGrace, gatherQuiet, verdictAfter}, health: channels.Health{State: channels.Stopped, Stale: stale},
	}, nil
}

// Limits implements channels.Channel. The apps take longer texts and fold what is longer than a screen.
func (c *Channel) Limits(channels.Address) channels.Limits {
	return channels.Limits{Text: textLimit, Received: receivedLimit, Unit: channels.Runes, Dialect: channels.WhatsAppText, Idempotent: true, Files: 1, FileBytes: fileLimit, Caption: captionLimit}
}

// Health implements channels.Reporter. LastSeen is the last time that the server sent anything, answers to pings included.
func (c *Channel) Health() channels.Health {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.health
	if h.State == channels.Banned && !c.heldUntil.IsZero() && time.Now().After(c.heldUntil) && c.live.Load() != nil {
		h.State, h.Detail = channels.Connected, ""
	}
	return h
}

// setState changes the state and says so in the log when it is another one or has another reason. A hold on sending is seen before
// the connection that it is about.
func (c *Channel) setState(ctx context.Context, state channels.State, detail string) {
	c.mu.Lock()
	if until := c.heldUntil; state == channels.Connected && time.Now().Before(until) {
		state, detail = channels.Banned, fmt.Sprintf(heldDetail, until.Format(time.RFC1123))
	}
	changed := c.health.State != state || c.health.Detail != detail
	c.health.State, c.health.Detail = state, detail
	if state == channels.Connected {
		c.health.LastSeen = time.Now()
	}
	c.mu.Unlock()
	if !changed {
		return
	}
	level := slog.LevelInfo
	switch {
	case state == channels.Banned, state.Permanent():
		level = slog.LevelError
	case state == channels.Disconnected:
		level = slog.LevelWarn
	}
	c.log.Log(ctx, level, "whatsapp connection", "state", state, "detail", detail)
}

// named takes over what the account is called.
func (c *Channel) named(name, number string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.health.Name = "+" + number; name != "" && name != c.cfg.DeviceName {
		c.health.Name = name + " (+" + number + ")"
	}
}
