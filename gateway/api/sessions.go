package api

import (
	"time"

	"parley/policy"
	"parley/sessions"
)

// SessionCall names a session.
type SessionCall struct {
	Session string `path:"session" jsonschema:"key, session id, or main"`
}

// SessionsQuery selects sessions, newest first.
type SessionsQuery struct {
	Search   string `query:"search" jsonschema:"part of key, title or label"`
	Archived bool   `query:"archived" jsonschema:"only archived ones"`
	Limit    int    `query:"limit" default:"50" min:"1" max:"1000"`
}

// Session is one row of sessions.list.
type Session struct {
	Key        sessions.Key    `json:"key"`
	ID         sessions.ID     `json:"sessionId"`
	Kind       sessions.Kind   `json:"kind"`
	Title      string          `json:"title,omitempty"`
	Label      string          `json:"label,omitempty"`
	Last       string          `json:"address,omitempty"`
	SendPolicy policy.Override `json:"sendPolicy,omitempty"`
	Model      string          `json:"model,omitempty"`
	Tokens     int             `json:"totalTokens"`
	Updated    time.Time       `json:"updatedAt"`
}

// SessionPatch changes a session's settings: null clears, a field that is left out stays.
type SessionPatch struct {
	Session    string           `path:"session" jsonschema:"key, session id, or main"`
	SendPolicy Optional[string] `json:"sendPolicy,omitzero" enum:"allow,deny"`
	Model      Optional[string] `json:"model,omitzero" jsonschema:"provider/model"`
	Thinking   Optional[string] `json:"thinking,omitzero" enum:"off,minimal,low,medium,high"`
	Verbose    Optional[string] `json:"verbose,omitzero" enum:"off,on,full"`
	Activation Optional[string] `json:"activation,omitzero" enum:"mention,always"`
	Label      Optional[string] `json:"label,omitzero"`
}
