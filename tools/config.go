package tools

import (
	"parley/channels"
	"parley/policy"
)

// Config is the section `tools`.
type Config struct {
	Allow        []string     `yaml:"allow" doc:"Only these tools; empty = all. * matches any part of a name."`
	Deny         []string     `yaml:"deny" doc:"Never these tools; deny overrides allow."`
	Sessions     Sessions     `yaml:"sessions" doc:"The session tools."`
	AgentToAgent AgentToAgent `yaml:"agentToAgent" doc:"Whether agents may reach other agents' sessions."`
	Subagents    Subagents    `yaml:"subagents" doc:"Rights of sub-agents."`

	ByChatType map[channels.ChatType]Rights `yaml:"byChatType" doc:"Tools by kind of chat: direct, group, channel."`
	BySender   map[Sender]Rights            `yaml:"bySender" doc:"Tools by the person who asked: owner, other. A turn that answers several people has only the tools that all of them have."`
	Sandbox    SandboxTools                 `yaml:"sandbox" doc:"Sandboxed sessions (agents.defaults.sandbox)."`

	TimeoutSeconds int   `yaml:"timeoutSeconds" default:"120" min:"1" max:"3600" doc:"Timeout of a tool call, in seconds, for tools that have no timeout of their own."`
	Fetch          Fetch `yaml:"fetch" doc:"The tool fetch."`
	Files          Files `yaml:"files" doc:"The tool files."`

	Attachments Attachments `yaml:"attachments" doc:"The tool attachments."`
	MCP         MCP         `yaml:"mcp" doc:"Tools of MCP servers; MCP servers are parley's plugins."`
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
	AllowPrivate   bool     `yaml:"allowPrivate" default:"false" doc:"true: agents may also fetch addresses of this machine and of private networks."`
	AllowHosts     []string `yaml:"allowHosts" doc:"Only these hosts; * matches any part. Empty = all public hosts."`
	DenyHosts      []string `yaml:"denyHosts" doc:"Never these hosts."`
	MaxBytes       int      `yaml:"maxBytes" default:"1048576" min:"1024" max:"104857600" doc:"Maximum number of bytes read from a response."`
	TimeoutSeconds int      `yaml:"timeoutSeconds" default:"30" min:"1" max:"600" doc:"Timeout of a fetch, in seconds."`
}

// Files is tools.files.
type Files struct {
	MaxBytes      int         `yaml:"maxBytes" default:"1048576" min:"1024" max:"104857600" doc:"Maximum size of a file that an agent reads or writes, in bytes."`
	Others        OthersFiles `yaml:"others" enum:"own,all" default:"own" doc:"Files that turns for people who are not owners can use. own: only the session's own folder. all: the whole workspace."`
	MaxTotalBytes int         `yaml:"maxTotalBytes" default:"268435456" min:"1024" max:"1099511627776" doc:"Maximum size of all files of one workspace, in bytes."`
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
	MaxBytes int `yaml:"maxBytes" default:"20971520" min:"1024" max:"104857600" doc:"Maximum size of a message's file that the host fetches for an agent, in bytes."`
}

// MCP is tools.mcp.
type MCP struct {
	Servers map[string]MCPServer `yaml:"servers" doc:"MCP servers by name; their tools are named name_tool."`
}

// MCPServer is one MCP server: a command (stdio) or a URL (streamable HTTP).
type MCPServer struct {
	Command        string                     `yaml:"command" doc:"Program to run, without a shell: a name that is searched in PATH, or an absolute path."`
	Args           []string                   `yaml:"args" doc:"Arguments of the program."`
	Env            map[string]channels.Secret `yaml:"env" doc:"Environment of the program, besides PATH, HOME, LANG and TMPDIR; write ${NAME} for secrets."`
	Cwd            string                     `yaml:"cwd" doc:"Working directory; empty = its own folder in the state folder."`
	URL            string                     `yaml:"url" doc:"URL of a server that speaks streamable HTTP, or the older HTTP with SSE."`
	Headers        map[string]channels.Secret `yaml:"headers" doc:"Headers of each request, for example Authorization."`
	Enabled        bool                       `yaml:"enabled" default:"true" doc:"false: the host does not start this server."`
	TimeoutSeconds int                        `yaml:"timeoutSeconds" default:"60" min:"1" max:"3600" doc:"Timeout of a call, in seconds."`
	StartSeconds   int                        `yaml:"startSeconds" default:"60" min:"1" max:"600" doc:"Timeout of a start, up to the list of tools, in seconds; a first start may download the server."`
	Allow          []string                   `yaml:"allow" doc:"Only these tools of the server, by the server's own names."`
	Deny           []string                   `yaml:"deny" doc:"Never these tools of the server."`
	Read           []string                   `yaml:"read" doc:"More folders that the confined server may read."`
	Write          []string                   `yaml:"write" doc:"More folders that the confined server may write."`
}

// Sessions is tools.sessions.
type Sessions struct {
	Visibility Visibility `yaml:"visibility" enum:"self,tree,agent,all" default:"tree" doc:"Sessions that an agent sees. self: its own. tree: also the sessions spawned from it, at any depth, under any agent. agent: all of its agent. all: all of the host."`
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
	Allow   []string `yaml:"allow" doc:"Patterns of agent ids; both agents must match one. Empty = all."`
}

// Subagents is tools.subagents.
type Subagents struct {
	Tools Rights `yaml:"tools" doc:"Tools of sub-agents; sub-agents have a session tool only if allow names it."`
}

// Rights is a pair of lists.
type Rights = policy.Rights
