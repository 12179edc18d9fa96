package api

import (
	"fmt"
	"strings"
	"time"

	"parley/channels"
	"parley/gateway/models"
	"parley/policy"
	"parley/sessions"
	"parley/tools/mcp"
)

// None are the parameters of an operation that has none, and the answer of one that says nothing.
type None struct{}

// HostStatus is the answer of status: how the host is.
type HostStatus struct {
	Version    string                         `json:"version"`
	Started    time.Time                      `json:"started"`
	Ready      bool                           `json:"ready"`
	Why        string                         `json:"why,omitempty"`
	State      string                         `json:"state"`
	Store      string                         `json:"store"`
	Config     string                         `json:"config,omitempty"`
	Model      string                         `json:"model"`
	ModelWhy   string                         `json:"modelWhy"`
	ModelAt    string                         `json:"modelAt,omitempty"`    // address of its server; "" = the provider's own
	ModelNotes []models.Note                  `json:"modelNotes,omitempty"` // what may surprise about the models in use: a window that is a guess, no tools
	Address    string                         `json:"address,omitempty"`    // of the host itself
	Accounts   []Account                      `json:"accounts"`
	Working    []sessions.Key                 `json:"working"`
	Waiting    int                            `json:"waiting"` // sessions that have work and wait for their turn
	Deliveries map[sessions.DeliveryState]int `json:"deliveries"`
	SetAside   int                            `json:"setAside,omitempty"` // messages of the last week that were refused again and again: skipped.list has them
	Servers    []mcp.Status                   `json:"servers,omitempty"`  // MCP servers; that one is down does not make the host not ready
	Sandbox    []string                       `json:"sandbox,omitempty"`  // what is missing of the confinement of those that sandboxed sessions use
}

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

// PageLink is a link that lets one browser in.
type PageLink struct {
	Path    string    `json:"path" jsonschema:"behind the address of the host"`
	Expires time.Time `json:"expires"`
}

// SignedOut says that every browser was signed out.
type SignedOut struct {
	SignedOut bool `json:"signedOut" jsonschema:"cookies and login links from before are good for nothing"`
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
		line += "; it is tried again at " + s.Next.Local().Format(time.DateTime)
	}
	return line
}

// AccountCall names an account. Without Account it is the only one of the channel, or the one called default.
type AccountCall struct {
	Channel channels.Kind      `json:"channel" required:"true" jsonschema:"telegram, whatsapp, …"`
	Account channels.AccountID `json:"account,omitempty" jsonschema:"without it the only one of the channel, or the one called default"`
}

// LoginCall begins to link an account.
type LoginCall struct {
	Channel channels.Kind      `json:"channel" required:"true"`
	Account channels.AccountID `json:"account,omitempty"`
	Phone   string             `json:"phone,omitempty" jsonschema:"for a code to type in, instead of a QR code"`
	Check   bool               `json:"check,omitempty" jsonschema:"only say whether it could begin"`
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
	Code    string        `json:"code" required:"true" jsonschema:"the code that the host gave the stranger"`
}

// PairedPerson names a person who was let in or turned down. Without an account it is the only one on which this was done.
type PairedPerson struct {
	Channel channels.Kind      `json:"channel" required:"true"`
	Account channels.AccountID `json:"account,omitempty"`
	User    string             `json:"user" required:"true" jsonschema:"as in the configuration, or as the list shows it"`
}

// ExplainQuery asks which rule decides about sending.
type ExplainQuery struct {
	Session string `query:"session" jsonschema:"key, session id, or main"`
	To      string `query:"to" jsonschema:"address: channel/account/direct|group|channel/chat[/thread]; without it the session's own chat"`
}

// Explanation says which rule decides, and why.
type Explanation struct {
	Session sessions.Key   `json:"session,omitempty"`
	To      string         `json:"to,omitempty"`
	Verdict policy.Verdict `json:"verdict"`
	Steps   []policy.Step  `json:"steps"`
}

// ToolsQuery asks which tools a turn would have.
type ToolsQuery struct {
	Tool      string `query:"tool" jsonschema:"only this one"`
	Session   string `query:"session" jsonschema:"key, session id, or main"`
	Agent     string `query:"agent"`
	ChatType  string `query:"chatType" enum:"direct,group,channel"`
	Sender    string `query:"sender" jsonschema:"owner, other, or an id or @username of the session's channel"`
	Subagent  bool   `query:"subagent"`
	Sandboxed bool   `query:"sandboxed"`
}

// DeliveriesQuery selects deliveries, newest first.
type DeliveriesQuery struct {
	State   sessions.DeliveryState `query:"state" enum:"pending,sending,sent,withheld,failed,expired,stopped,dropped,held"`
	Session string                 `query:"session" jsonschema:"key, session id, or main"`
	Run     sessions.RunID         `query:"run"`
	Before  int64                  `query:"before" min:"0" jsonschema:"only those with a smaller seq: the next page"`
	Limit   int                    `query:"limit" default:"50" min:"1" max:"1000"`
}

// DeliveryCountQuery selects the deliveries that are counted; empty fields select all.
type DeliveryCountQuery struct {
	Session string         `query:"session" jsonschema:"key, session id, or main"`
	Run     sessions.RunID `query:"run"`
}

// DeliveryCall names a delivery.
type DeliveryCall struct {
	ID sessions.DeliveryID `path:"delivery"`
}

// TraceCall names what to follow.
type TraceCall struct {
	ID string `path:"id" jsonschema:"message id of a platform, run id or delivery id"`
}

// Limit bounds a list.
type Limit struct {
	Limit int `query:"limit" default:"50" min:"1" max:"1000"`
}
