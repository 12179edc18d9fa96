package hooks

import (
	"parley/channels"
)

// Config is the section `hooks`.
type Config struct {
	Enabled   bool            `yaml:"enabled" doc:"Accept requests of other programs by HTTP: POST /hooks/wake, /hooks/agent, /hooks/<path of a mapping>."`
	Path      string          `yaml:"path" default:"/hooks" doc:"Path of hooks, one word behind a slash. Changing it needs a restart."`
	Token     channels.Secret `yaml:"token" unset:"empty" doc:"Token that programs send as Authorization: Bearer … or X-Parley-Token, never in the address; write ${PARLEY_HOOKS_TOKEN} to read it from the environment. It opens only hooks, and must differ from the gateway's."`
	AllowKey  bool            `yaml:"allowRequestSessionKey" doc:"/hooks/agent may name the session (sessionKey)."`
	KeyPrefix []string        `yaml:"allowedSessionKeyPrefixes" doc:"Allowed beginnings of session keys in requests and templates, for example hook:ci- or agent:main:hook:. Empty: hook:."`
	Agents    []string        `yaml:"allowedAgents" doc:"Agents that requests may name (agentId), * = all. Empty: only the default agent."`
	Mappings  []Mapping       `yaml:"mappings" doc:"Hooks of your own. The host tries those of one path in order; the first that matches counts."`
}

// Mapping is one entry of hooks.mappings.
type Mapping struct {
	Path      string    `yaml:"path" required:"true" doc:"Path below /hooks/. Several mappings may have the same."`
	Match     Match     `yaml:"match" doc:"Only payloads like this; without it all."`
	Action    string    `yaml:"action" enum:"agent,wake" default:"agent" doc:"agent: a turn in a session of its own. wake: tells the main session."`
	Mode      string    `yaml:"mode" enum:"now,next" default:"now" doc:"For wake. now: in a turn of its own. next: with the session's next turn."`
	Agent     string    `yaml:"agentId" doc:"Which agent; without it the default one."`
	Message   string    `yaml:"message" required:"true" doc:"Template of the agent's message: Go's text/template over the JSON of the request, for example {{.repository.full_name}}. Missing fields are empty. An empty message does nothing (204)."`
	Name      string    `yaml:"name" doc:"Template of the program's name. Without it the path."`
	Session   string    `yaml:"sessionKey" doc:"Template of the session's key, for example hook:pr-{{.number}}. Without it each request has a session of its own."`
	To        string    `yaml:"to" doc:"Template of the address for the answer, a chat that has written before; last = the chat outside the page that wrote last to the main session. Without it, or if it is empty, nowhere."`
	Model     string    `yaml:"model" doc:"Model of the turn, provider/model."`
	Thinking  string    `yaml:"thinking" enum:"off,minimal,low,medium,high" doc:"How much the model thinks."`
	Timeout   int       `yaml:"timeoutSeconds" min:"0" max:"86400" doc:"Longest time of the turn; 0 = the agent's."`
	IDHeader  string    `yaml:"idHeader" doc:"Header that names the event, so that a repeat counts once, for example X-GitHub-Delivery. Idempotency-Key counts everywhere."`
	Signature Signature `yaml:"signature" doc:"A signature in place of the token, as GitHub sends it."`
}

// Match is a condition on one field of the payload.
type Match struct {
	Field  string   `yaml:"field" doc:"Which field, for example action or pull_request.state."`
	Equals []string `yaml:"equals" doc:"Accepted values; without this the field must exist and not be empty."`
}

// Signature says how the requests of a mapping are signed.
type Signature struct {
	Header string          `yaml:"header" doc:"Header with the HMAC-SHA256 of the body in hex, with or without sha256= in front: X-Hub-Signature-256 at GitHub."`
	Secret channels.Secret `yaml:"secret" doc:"The secret, which the other side knows, too."`
}
