package config

// OpenAI is gateway.openai.
type OpenAI struct {
	Enabled bool   `yaml:"enabled" default:"false" doc:"true: programs that speak OpenAI's API chat with agents at /v1. Off by default: an unused door should not be open."`
	Tools   string `yaml:"tools" enum:"refuse,ignore" default:"refuse" doc:"Requests with tools of the client's own, which agents never call. refuse: they are an error. ignore: tools, functions and what belongs to them are left out, for programs that always send them."`
}

// OpenAIToolsIgnore is the value of gateway.openai.tools that leaves the tools of clients out.
const OpenAIToolsIgnore = "ignore"

// MCP is gateway.mcp.
type MCP struct {
	Enabled bool `yaml:"enabled" default:"false" doc:"true: agents outside reach the session tools at /mcp, and with parley mcp. Off by default: an unused door should not be open."`
}
