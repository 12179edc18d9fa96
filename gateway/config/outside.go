package config

// OpenAI is gateway.openai.
type OpenAI struct {
	Enabled bool   `yaml:"enabled" default:"false" doc:"true: other programs can talk to agents at /v1, through OpenAI's API. Off by default, so that an unused endpoint is closed."`
	Tools   string `yaml:"tools" enum:"refuse,ignore" default:"refuse" doc:"Requests that contain the client's own tools, which agents never call. refuse: the request fails. ignore: the host drops the tools and functions, for clients that always send them."`
}

// OpenAIToolsIgnore is the value of gateway.openai.tools that leaves the tools of clients out.
const OpenAIToolsIgnore = "ignore"

// MCP is gateway.mcp.
type MCP struct {
	Enabled bool `yaml:"enabled" default:"false" doc:"true: external agents can use the session tools at /mcp, and through parley mcp. Off by default, so that an unused endpoint is closed."`
}
