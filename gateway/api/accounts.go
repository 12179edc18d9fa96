package api

import (
	"fmt"
	"strings"
	"time"

	"parley/channels"
)

// Account is the status of an account, for people and for /readyz.
type Account struct {
	Channel  channels.Kind      `json:"channel"`
	Account  channels.AccountID `json:"account"`
	State    channels.State     `json:"state"`
	Live     bool               `json:"live"`
	Name     string             `json:"name,omitempty"`
	Detail   string             `json:"detail,omitempty"` // what is wrong
	Todo     string             `json:"todo,omitempty"`   // what a person can do about it
	LastSeen time.Time          `json:"lastSeen,omitzero"`
	Next     time.Time          `json:"next,omitzero"`  // when it is tried again
	Since    time.Time          `json:"since,omitzero"` // when the platform ended it; absent while it runs
	Restarts int                `json:"restarts"`
	CanLink  bool               `json:"pairs,omitempty"`   // it is linked by a person: parley login
	Linking  bool               `json:"linking,omitempty"` // a login is under way
	Off      bool               `json:"off,omitempty"`     // enabled: false
}

// InWords is a state as people read it.
func InWords(s channels.State) string {
	if s == channels.LoggedOut {
		return "not linked"
	}
	return strings.ReplaceAll(string(s), "_", " ")
}

// Words returns the status of an account in a word or two.
func (s Account) Words() string {
	switch {
	case s.Off:
		return "switched off"
	case s.Linking:
		return "being linked"
	case s.State == channels.Connected && !s.Live:
		return "connected, silent"
	}
	return InWords(s.State)
}

// Line returns the status of an account, the reason, and what to do, in one line for everybody: it does not say whose account it is.
func (s Account) Line() string {
	line := fmt.Sprintf("%s (%s): %s", s.Channel, s.Account, s.Words())
	for _, more := range []string{s.Detail, s.Todo} {
		if more != "" {
			line += "; " + more
		}
	}
	if !s.Since.IsZero() {
		line += "; so since " + s.Since.Local().Format(time.DateTime)
	}
	if !s.Next.IsZero() {
		line += "; the host tries again at " + s.Next.Local().Format(time.DateTime)
	}
	return line
}

// AccountCall names an account. Without Account it is the only one of the channel, or the one called default.
type AccountCall struct {
	Channel channels.Kind      `json:"channel" required:"true" jsonschema:"telegram, whatsapp, …"`
	Account channels.AccountID `json:"account,omitempty" jsonschema:"default: the channel's only account, or the account named default"`
}

// LoginCall begins to link an account.
type LoginCall struct {
	Channel channels.Kind      `json:"channel" required:"true"`
	Account channels.AccountID `json:"account,omitempty"`
	Phone   string             `json:"phone,omitempty" jsonschema:"phone number, to link by a code instead of a QR code"`
	Check   bool               `json:"check,omitempty" jsonschema:"only report whether a login can begin"`
}

// LoginStep is a line of what a login answers: what a person is to scan or type in, until one with Done or Error.
type LoginStep struct {
	QR      string        `json:"qr,omitempty"`    // what the code says
	Image   *LoginPicture `json:"image,omitempty"` // the same to be shown
	Code    string        `json:"code,omitempty"`
	Expires time.Time     `json:"expires,omitzero"`
	Done    bool          `json:"done,omitempty"`
	Account string        `json:"account,omitempty"` // with Done
	Name    string        `json:"name,omitempty"`    // with Done: who it is linked as, if that is known
	Error   string        `json:"error,omitempty"`
}

// LoginPicture is a QR code as an SVG path of a square of Size modules.
type LoginPicture struct {
	Size int    `json:"size"`
	Path string `json:"path"`
}

// PairingCall names a stranger's request.
type PairingCall struct {
	Channel channels.Kind `json:"channel" required:"true"`
	Code    string        `json:"code" required:"true" jsonschema:"pairing code of the stranger, or the id of an approved person who becomes an owner"`
	Owner   *bool         `json:"owner,omitempty" jsonschema:"true: the person becomes an owner. false: the person does not. Default: the first approved person becomes the owner if the configuration names none"`
}

// PairedPerson names a person who was let in or turned down. Without an account it is the only one on which this was done.
type PairedPerson struct {
	Channel channels.Kind      `json:"channel" required:"true"`
	Account channels.AccountID `json:"account,omitempty"`
	User    string             `json:"user" required:"true" jsonschema:"id of the person, as in the configuration or in the list"`
}
