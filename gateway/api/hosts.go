package api

import (
	"time"

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
	Process    Process                        `json:"process"`
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

// Process is the process of a host.
type Process struct {
	PID  int    `json:"pid,omitempty"`
	Unit string `json:"unit,omitempty" jsonschema:"systemd unit that started the process and can restart it"`
	User bool   `json:"user,omitempty" jsonschema:"true: the unit belongs to the user's service manager"`
	Log  LogTo  `json:"log"`
}

// LogTo says where the log of a host goes.
type LogTo struct {
	Kind string `json:"kind,omitempty" jsonschema:"journal, file, terminal, pipe or nowhere; absent: unknown"`
	Path string `json:"path,omitempty" jsonschema:"path of the log file"`
}

// The kinds of LogTo.
const (
	LogToJournal  = "journal"
	LogToFile     = "file"
	LogToTerminal = "terminal"
	LogToPipe     = "pipe"
	LogNowhere    = "nowhere"
)

// Reloaded is the answer of host.reload.
type Reloaded struct {
	Config  string         `json:"config" jsonschema:"path of the configuration file"`
	Changes []ConfigChange `json:"changes"`
}

// ConfigChange is a key of the configuration that changed.
type ConfigChange struct {
	Key     string `json:"key" jsonschema:"key that changed; a list or an account as a whole"`
	Restart bool   `json:"restart,omitempty" jsonschema:"true: the change needs a restart; until then the host uses the old value"`
}

// Stopping is the answer of host.stop: the host has begun to stop.
type Stopping struct {
	PID int `json:"pid"`
}

// PageLink is a link that lets one browser in.
type PageLink struct {
	Path    string    `json:"path" jsonschema:"path of the login link, relative to the host's URL"`
	Expires time.Time `json:"expires"`
}

// SignedOut says that every browser was signed out.
type SignedOut struct {
	SignedOut bool `json:"signedOut" jsonschema:"true: earlier cookies and login links are invalid"`
}

// ExplainQuery asks which rule decides about sending.
type ExplainQuery struct {
	Session string `query:"session" jsonschema:"key, session id, or main"`
	To      string `query:"to" jsonschema:"address: channel/account/direct|group|channel/chat[/thread]; default: the session's chat"`
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
	Tool      string `query:"tool" jsonschema:"only this tool"`
	Session   string `query:"session" jsonschema:"key, session id, or main"`
	Agent     string `query:"agent"`
	ChatType  string `query:"chatType" enum:"direct,group,channel"`
	Sender    string `query:"sender" jsonschema:"owner, other, or an id or @username of the session's channel"`
	Subagent  bool   `query:"subagent"`
	Sandboxed bool   `query:"sandboxed"`
}

// TraceCall names what to follow.
type TraceCall struct {
	ID string `path:"id" jsonschema:"message id of a platform, run id or delivery id"`
}

// Limit bounds a list.
type Limit struct {
	Limit int `query:"limit" default:"50" min:"1" max:"1000"`
}
