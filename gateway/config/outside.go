package config

// OpenAI is gateway.openai.
type OpenAI struct {
	Enabled bool `yaml:"enabled" default:"false" doc:"true: programs that speak OpenAI's API chat with agents at /v1. Off by default: what is not used should not answer."`
}

// MCP is gateway.mcp.
type MCP struct {
	Enabled bool `yaml:"enabled" default:"false" doc:"true: agents outside reach the session tools at /mcp, and with parley mcp. Off by default: what is not used should not answer."`
}
