// Package whatsapp connects one WhatsApp account as a linked device, with whatsmeow for the protocol and its cryptography. What the
// library leaves open for a host is here: a message is acknowledged only after it is durable, one person is one chat however a stanza
// is addressed, connections are made again with care, and every way to lose the account has a state that says what to do.
package whatsapp

import (
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"parley/channels"
)

// Kind is the channel kind of this adapter.
const Kind channels.Kind = "whatsapp"

const (
	defaultDevice = "parley"
	longestDevice = 50 // runes; what the phone's list of linked devices shows
	keyFile       = "keys.db"
)

// Config is one account. It has no token: `parley login whatsapp` links it.
type Config struct {
	DeviceName   string `yaml:"deviceName" json:"deviceName" default:"parley" doc:"Name in the phone's list of linked devices, from the next login on. It is also the name that people see until the phone tells the account's own."`
	ReadReceipts bool   `yaml:"readReceipts" json:"readReceipts" default:"true" doc:"Show people that their messages were read, once these are stored. The account's own privacy settings still apply."`
}

// Deps are what the adapter needs from the host.
type Deps struct {
	Account channels.AccountID // empty = channels.DefaultAccount
	Logger  *slog.Logger       // says already which channel and account this is; nil = silent
	Dir     string             // folder of the key file, of this account alone; it is made when needed
	Client  *http.Client       // nil = own connections
}

// Validate reports everything that can be known to be wrong without asking WhatsApp, as *channels.FieldError.
func (c Config) Validate() error {
	switch {
	case c.DeviceName == "":
	case !utf8.ValidString(c.DeviceName), strings.ContainsFunc(c.DeviceName, func(r rune) bool { return r < ' ' }):
		return &channels.FieldError{Field: "deviceName", Text: "has characters that cannot be shown"}
	case utf8.RuneCountInString(c.DeviceName) > longestDevice:
		return &channels.FieldError{Field: "deviceName", Text: fmt.Sprintf("has more than %d characters", longestDevice)}
	}
	return nil
}

// Channel is one account.
type Channel struct {
	account channels.AccountID
	log     *slog.Logger
	cfg     Config
	keys    string // the key file
	client  *http.Client
}

// New checks the configuration and makes an account. It does no I/O.
func New(cfg Config, deps Deps) (*Channel, error) {
	if cfg.DeviceName == "" {
		cfg.DeviceName = defaultDevice
	}
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("whatsapp: %w", err)
	}
	if deps.Dir == "" {
		return nil, fmt.Errorf("whatsapp: no folder for the keys")
	}
	if deps.Account == "" {
		deps.Account = channels.DefaultAccount
	}
	if deps.Logger == nil {
		deps.Logger = slog.New(slog.DiscardHandler)
	}
	return &Channel{account: deps.Account, log: deps.Logger, cfg: cfg, keys: filepath.Join(deps.Dir, keyFile), client: deps.Client}, nil
}

// Limits implements channels.Channel.
func (c *Channel) Limits(channels.Address) channels.Limits {
	return channels.Limits{Text: textLimit, Unit: channels.Runes, Dialect: channels.WhatsAppText, Idempotent: true, Files: 1, FileBytes: fileLimit, Caption: captionLimit}
}

const (
	textLimit    = 4096 // the apps take more, and fold what is longer than a screen
	captionLimit = 1024
	fileLimit    = 100 << 20
)
