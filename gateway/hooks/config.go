package hooks

import (
	"parley/channels"
)

// Config is the section `hooks`.
type Config struct {
	Enabled   bool            `yaml:"enabled" doc:"true: the host accepts events of other programs over HTTP: POST /hooks/wake, /hooks/agent, /hooks/<path of a mapping>."`
	Path      string          `yaml:"path" default:"/hooks" doc:"URL path of hooks: a slash and one word. A change needs a restart."`
	Token     channels.Secret `yaml:"token" unset:"empty" doc:"Token that programs send as Authorization: Bearer … or X-Parley-Token, never in the URL; write ${PARLEY_HOOKS_TOKEN} to read it from the environment. The token opens only hooks, and must differ from gateway.token."`
	AllowKey  bool            `yaml:"allowRequestSessionKey" doc:"true: a request to /hooks/agent may name the session (sessionKey)."`
	KeyPrefix []string        `yaml:"allowedSessionKeyPrefixes" doc:"Prefixes that session keys in requests and templates must have, for example hook:ci- or agent:main:hook:. Empty = hook:."`
	Agents    []string        `yaml:"allowedAgents" doc:"Agents that requests may name (agentId); * = all. Empty = only the default agent."`
	Mappings  []Mapping       `yaml:"mappings" doc:"Hooks with templates. Mappings of one path are tried in order; the first match is used."`
}

// Mapping is one entry of hooks.mappings.
type Mapping struct {
	Path      string    `yaml:"path" required:"true" doc:"URL path below /hooks/. Several mappings may share a path."`
	Match     Match     `yaml:"match" doc:"Conditions for the payload; without them every payload matches."`
	Action    string    `yaml:"action" enum:"agent,wake" default:"agent" doc:"agent: starts a turn in a session of its own. wake: adds the message to the main session."`
	Mode      string    `yaml:"mode" enum:"now,next" default:"now" doc:"For wake. now: starts a turn. next: waits for the session's next turn."`
	Agent     string    `yaml:"agentId" doc:"Agent; empty = the default agent."`
	Message   string    `yaml:"message" required:"true" doc:"Template of the message to the agent: Go's text/template over the JSON payload, for example {{.repository.full_name}}. Missing fields are empty. An empty result does nothing (204)."`
	Name      string    `yaml:"name" doc:"Template of the sender's name; empty = the path."`
	Session   string    `yaml:"sessionKey" doc:"Template of the session key, for example hook:pr-{{.number}}. Without it each request has its own session."`
	To        string    `yaml:"to" doc:"Template of the address that receives the answer: a chat that has written before. last = the chat, other than the page, that wrote last to the main session. Empty = nowhere."`
	Model     string    `yaml:"model" doc:"Model of the turn, provider/model."`
	Thinking  string    `yaml:"thinking" enum:"off,minimal,low,medium,high" doc:"Reasoning effort of the model."`
	Timeout   int       `yaml:"timeoutSeconds" min:"0" max:"86400" doc:"Maximum duration of the turn, in seconds; 0 = the agent's timeout."`
	IDHeader  string    `yaml:"idHeader" doc:"Header with the event's id, so that a repeated event counts once, for example X-GitHub-Delivery. Idempotency-Key works for every mapping."`
	Signature Signature `yaml:"signature" doc:"Signature that replaces the token, as GitHub sends it."`
}

// Match is a condition on one field of the payload.
type Match struct {
	Field  string   `yaml:"field" doc:"Field of the payload, for example action or pull_request.state."`
	Equals []string `yaml:"equals" doc:"Accepted values; without them the field must be present and not empty."`
}

// Signature says how the requests of a mapping are signed.
type Signature struct {
	Header string          `yaml:"header" doc:"Header with the HMAC-SHA256 of the body in hex, with or without the prefix sha256=: X-Hub-Signature-256 at GitHub."`
	Secret channels.Secret `yaml:"secret" doc:"Secret shared with the sender."`
}
