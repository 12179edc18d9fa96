package tools

import (
	"parley/channels"
	"parley/policy"
)

// Config is the section `tools`.
type Config struct {
	Allow        []string     `yaml:"allow" doc:"Only these tools; empty = all. * matches any part of a name."`
	Deny         []string     `yaml:"deny" doc:"Never these tools; wins over allow."`
	Sessions     Sessions     `yaml:"sessions" doc:"The session tools."`
	AgentToAgent AgentToAgent `yaml:"agentToAgent" doc:"Whether agents may reach other agents' sessions."`
	Subagents    Subagents    `yaml:"subagents" doc:"What sub-agents may do."`

	ByChatType map[channels.ChatType]Rights `yaml:"byChatType" doc:"Tools by kind of chat: direct, group, channel."`
	BySender   map[Sender]Rights            `yaml:"bySender" doc:"Tools by who asked: owner, other. A turn that answers several people has what all of them have."`
	Sandbox    SandboxTools                 `yaml:"sandbox" doc:"Sandboxed sessions (agents.defaults.sandbox)."`

	TimeoutSeconds int   `yaml:"timeoutSeconds" default:"120" min:"1" max:"3600" doc:"Longest call in seconds of a tool without a wait of its own."`
	Fetch          Fetch `yaml:"fetch" doc:"The tool fetch."`
	Files          Files `yaml:"files" doc:"The tool files."`

	Attachments Attachments `yaml:"attachments" doc:"The tool attachments."`
	MCP         MCP         `yaml:"mcp" doc:"Tools of MCP servers. Plugins are MCP servers."`
}

// Sender is who asked for a turn.
type Sender string

// The senders.
const (
	FromOwner Sender = "owner"
	FromOther Sender = "other"
)

// SandboxTools is tools.sandbox.
type SandboxTools struct {
	Tools Rights `yaml:"tools" doc:"Tools of sandboxed sessions."`
}

// Fetch is tools.fetch.
type Fetch struct {
	AllowPrivate   bool     `yaml:"allowPrivate" default:"false" doc:"true: addresses of this machine and of private networks may be fetched as well."`
	AllowHosts     []string `yaml:"allowHosts" doc:"Only these hosts; * matches any part. Empty = all that are public."`
	DenyHosts      []string `yaml:"denyHosts" doc:"Never these hosts."`
	MaxBytes       int      `yaml:"maxBytes" default:"1048576" min:"1024" max:"104857600" doc:"Bytes of an answer that are read at most."`
	TimeoutSeconds int      `yaml:"timeoutSeconds" default:"30" min:"1" max:"600" doc:"Longest fetch, in seconds."`
}

// Files is tools.files.
type Files struct {
	MaxBytes      int         `yaml:"maxBytes" default:"1048576" min:"1024" max:"104857600" doc:"Largest file that is read or written, in bytes."`
	Others        OthersFiles `yaml:"others" enum:"own,all" default:"own" doc:"Files of turns that answer people other than owners. own: a folder of the session alone. all: the whole workspace."`
	MaxTotalBytes int         `yaml:"maxTotalBytes" default:"268435456" min:"1024" max:"1099511627776" doc:"All files of one workspace together, in bytes."`
}

// OthersFiles is tools.files.others.
type OthersFiles string

// Whose files turns that answer others than owners work with.
const (
	OthersOwn OthersFiles = "own"
	OthersAll OthersFiles = "all"
)

// Attachments is tools.attachments.
type Attachments struct {
	MaxBytes int `yaml:"maxBytes" default:"20971520" min:"1024" max:"104857600" doc:"Largest file of a message that the host fetches for an agent, in bytes."`
}

// MCP is tools.mcp.
type MCP struct {
	Servers map[string]MCPServer `yaml:"servers" doc:"MCP servers by name; their tools are called name_tool."`
}

// MCPServer is one MCP server: a command (stdio) or a URL (streamable HTTP).
type MCPServer struct {
	Command        string                     `yaml:"command" doc:"Program to run, without a shell: a name that is looked for in PATH, or an absolute path."`
	Args           []string                   `yaml:"args" doc:"Its arguments."`
	Env            map[string]channels.Secret `yaml:"env" doc:"Its environment, besides PATH, HOME, LANG and TMPDIR; write ${NAME} for secrets."`
	Cwd            string                     `yaml:"cwd" doc:"Folder that it runs in; empty = a folder of its own in the state folder."`
	URL            string                     `yaml:"url" doc:"Address of a server that speaks streamable HTTP, or the older HTTP with SSE."`
	Headers        map[string]channels.Secret `yaml:"headers" doc:"Headers of each request, for example Authorization."`
	Enabled        bool                       `yaml:"enabled" default:"true" doc:"false: it is not started."`
	TimeoutSeconds int                        `yaml:"timeoutSeconds" default:"60" min:"1" max:"3600" doc:"Longest call, in seconds."`
	StartSeconds   int                        `yaml:"startSeconds" default:"60" min:"1" max:"600" doc:"Longest start, up to its list of tools, in seconds; a first start may download the server."`
	Allow          []string                   `yaml:"allow" doc:"Only these of its tools, by its own names."`
	Deny           []string                   `yaml:"deny" doc:"Never these of its tools."`
	Read           []string                   `yaml:"read" doc:"Further folders that it may read while it is confined."`
	Write          []string                   `yaml:"write" doc:"Further folders that it may write while it is confined."`
}

// Sessions is tools.sessions.
type Sessions struct {
	Visibility Visibility `yaml:"visibility" enum:"self,tree,agent,all" default:"tree" doc:"Which sessions an agent sees: its own, those spawned from it (at any depth, under any agent), all of its agent, all."`
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
	Enabled bool     `yaml:"enabled" default:"false" doc:"true: agents can reach sessions of other agents."`
	Allow   []string `yaml:"allow" doc:"Agent id patterns; both sides must match one. Empty = all."`
}

// Subagents is tools.subagents.
type Subagents struct {
	Tools Rights `yaml:"tools" doc:"Tools of sub-agents; a session tool in allow is given back to them."`
}

// Rights is a pair of lists.
type Rights = policy.Rights
