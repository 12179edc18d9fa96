package tools

// Config is the section `tools`.
type Config struct {
	Allow        []string     `yaml:"allow" doc:"Only these tools; empty = all. * matches any part of a name."`
	Deny         []string     `yaml:"deny" doc:"Never these tools; wins over allow."`
	Sessions     Sessions     `yaml:"sessions" doc:"The session tools."`
	AgentToAgent AgentToAgent `yaml:"agentToAgent" doc:"Whether agents may reach other agents' sessions."`
	Subagents    Subagents    `yaml:"subagents" doc:"What sub-agents may do."`
}

// Sessions is tools.sessions.
type Sessions struct {
	Visibility Visibility `yaml:"visibility" enum:"self,tree,agent,all" default:"tree" doc:"Which sessions an agent sees: its own, those it spawned, all of its agent, all."`
}

// Visibility is a mode of tools.sessions.visibility (contract V1).
type Visibility string

// The modes.
const (
	VisibleSelf  Visibility = "self"
	VisibleTree  Visibility = "tree"
	VisibleAgent Visibility = "agent"
	VisibleAll   Visibility = "all"
)

// AgentToAgent is tools.agentToAgent (contract V2).
type AgentToAgent struct {
	Enabled bool     `yaml:"enabled" default:"false" doc:"Whether sessions of other agents can be reached at all."`
	Allow   []string `yaml:"allow" doc:"Agent id patterns; both sides must match one. Empty = all."`
}

// Subagents is tools.subagents.
type Subagents struct {
	Tools Rights `yaml:"tools" doc:"Tools of sub-agents."`
}

// Rights is a pair of lists.
type Rights struct {
	Allow []string `yaml:"allow" doc:"Only these; naming a session tool gives it back to sub-agents."`
	Deny  []string `yaml:"deny" doc:"Never these."`
}
