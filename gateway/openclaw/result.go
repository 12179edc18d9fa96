package openclaw

import (
	"parley/channels"
	"parley/gateway/openclaw/convert"
	"parley/gateway/openclaw/report"
	"parley/sessions"
)

// Imported is one session.
type Imported struct {
	Session  sessions.Session
	Messages []sessions.Message
}

// Result is the configuration and the sessions made from a state folder, with the report.
type Result struct {
	Report   report.Report
	Config   []byte                     // the configuration; nil when there was none
	Needs    []string                   // variables that it takes from the environment and that nothing here sets
	Secrets  map[string]channels.Secret // that it takes from the environment, by name
	Paired   []convert.Person           // whom parley should keep as paired; see KeepPaired
	Sessions []Imported
}
