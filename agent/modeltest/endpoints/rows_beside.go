package endpoints

import (
	"strings"
	"time"
)

// toolSays has the person told what a tool of the MCP server says.
func toolSays(m Message) string { return "The tool says " + m.Text }

var (
	echoTool   = []ToolSpec{{"echo", `{"type":"object"}`}}
	echoResult = map[string]string{"echo": `{"content":[{"type":"text","text":"echo"}]}`}
)

// toolMounts are ways to MCP servers that cost a tool, or a whole server.
var toolMounts = []Row{
	{ID: "mcp-first-start-downloads", Faults: []string{"M14"}, Vendor: "comfyui-mcp", Source: "artokun/comfyui-mcp#1447", Does: "offers tools of a server that downloads itself before its first answer, longer than most servers take",
		Tools: echoTool, Results: echoResult, Mount: Mount{Config: "startSeconds: 300", Waits: time.Second}, Mind: calling("odd_echo", toolSays), Want: Expectation{Tool: `^The tool says echo$`}},
	{ID: "mcp-start-too-slow", Faults: []string{"M14"}, Vendor: "PraisonAI", Source: "MervinPraison/PraisonAI#5099", Does: "lacks the tools of a server that is given up before its first answer, and the log names the setting",
		Tools: echoTool, Results: echoResult, Mount: Mount{Config: "startSeconds: 1", Waits: 4 * time.Second, Ready: `did not start within 1s`}, Want: Expectation{Log: `tools\.mcp\.servers\.odd\.startSeconds`}},
	{ID: "mcp-older-transport", Faults: []string{"M15"}, Vendor: "Windows-MCP", Source: "NousResearch/hermes-agent#18801", Does: "offers tools of a server that speaks HTTP with SSE, and answers the newer transport with 405",
		Tools: echoTool, Results: echoResult, Mount: Mount{Older: 405}, Mind: calling("odd_echo", toolSays), Want: Expectation{Tool: `^The tool says echo$`}},
	{ID: "mcp-older-transport-not-found", Faults: []string{"M15"}, Vendor: "any", Source: "https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#backwards-compatibility", Does: "offers tools of a server that speaks HTTP with SSE, and answers the newer transport with 404",
		Tools: echoTool, Results: echoResult, Mount: Mount{Older: 404}, Mind: calling("odd_echo", toolSays), Want: Expectation{Tool: `^The tool says echo$`}},
	{ID: "mcp-argument-with-a-dollar", Faults: []string{"L3"}, API: Messages, Vendor: "Anthropic", Source: "microsoft/azure-devops-mcp#317", Does: "takes only letters, digits, _, . and - in the names of arguments, and a server has $top",
		Tools: []ToolSpec{{"search", `{"type":"object","properties":{"$top":{"type":"integer"}},"required":["$top"]}`}}, Results: map[string]string{"search": `{"content":[{"type":"text","text":"{arguments}"}]}`},
		Mind: callingWith("odd_search", `{"_top":3}`, toolSays), Want: Expectation{Tool: `^The tool says \{"\$top":3\}$`}},
	{ID: "mcp-argument-in-brackets", Faults: []string{"L3"}, API: Messages, Vendor: "Anthropic", Source: "beautyfree/appstore-connect-mcp#2", Does: "takes only letters, digits, _, . and - in the names of arguments, and a server has filter[id]",
		Tools: []ToolSpec{{"list", `{"type":"object","properties":{"filter[id]":{"type":"string"}}}`}}, Results: map[string]string{"list": `{"content":[{"type":"text","text":"{arguments}"}]}`},
		Mind: callingWith("odd_list", `{"filter_id_":"7"}`, toolSays), Want: Expectation{Tool: `^The tool says \{"filter\[id\]":"7"\}$`}},
	{ID: "mcp-banner-without-a-line-end", Faults: []string{"L3"}, Vendor: "mcp-mermaid", Source: "hustcc/mcp-mermaid#25", Does: "offers tools of a command that writes a greeting without an end of line in front of its first message",
		Tools: echoTool, Results: echoResult, Mount: Mount{Banner: "STDIO MCP Server started"}, Mind: calling("odd_echo", toolSays), Want: Expectation{Tool: `^The tool says echo$`}},
}

// failsForPrograms fails each request that has a tool's result in a turn that a program began.
var failsForPrograms = []Failure{always(func(c *Call) bool { return c.resulted() && strings.Contains(string(c.Raw), "for the program") }, openAI(500, "server_error", nil, nil, "The server had an error while processing your request."))}

const clientsOn = `openai: {enabled: true}, mcp: {enabled: true}`

// apiClients are endpoints behind a host that programs use.
var apiClients = []Row{
	{ID: "client-repeats-a-failed-run", Faults: []string{"M6"}, Vendor: "AI SDK, LangChain", Source: "danny-avila/LibreChat#12666", Does: "fails after a tool of a turn that a program began by /v1/chat/completions, which repeats what is answered with 408, 409, 429 or 5xx",
		Fails: failsForPrograms, Gateway: clientsOn, Clients: []Client{{Path: "/v1/chat/completions", Body: `{"model":"parley","messages":[{"role":"user","content":"use the tool for the program"}]}`, Want: `^406 .*"run_failed"`}}},
	{ID: "client-repeats-a-failed-response", Faults: []string{"M6"}, Vendor: "AI SDK, LangChain", Source: "https://ai-sdk.dev/docs/ai-sdk-core/settings#maxretries", Does: "fails after a tool of a turn that a program began by /v1/responses, which repeats what is answered with 408, 409, 429 or 5xx",
		Fails: failsForPrograms, Gateway: clientsOn, Clients: []Client{{Path: "/v1/responses", Body: `{"model":"parley","input":"use the tool for the program"}`, Want: `^406 .*"run_failed"`}}},
	{ID: "client-reads-a-stored-response", Faults: []string{"L4"}, Vendor: "Codex, OpenAI's SDKs", Source: "suhaibbinyounis/github-copilot-api-vscode#105", Does: "answers a program that reads its response again by GET /v1/responses/{id}",
		Gateway: clientsOn, Clients: []Client{
			{Path: "/v1/responses", Body: `{"model":"parley","input":"hello program"}`, Want: `^200 .*echo: hello program`},
			{Path: "/v1/responses/{id}", Want: `^200 .*"status":"completed".*echo: hello program`},
		}},
	{ID: "client-always-sends-tools", Faults: []string{"L4"}, Vendor: "Continue", Source: "continuedev/continue#7486", Does: "answers a program that sends tools of its own with each request",
		Gateway: `openai: {enabled: true, tools: ignore}`, Clients: []Client{{
			Path: "/v1/chat/completions", Want: `^200 .*echo: hello program`,
			Body: `{"model":"parley","messages":[{"role":"user","content":"hello program"}],"tools":[{"type":"function","function":{"name":"read_file","parameters":{"type":"object","properties":{}}}}],"tool_choice":"auto"}`,
		}}},
	{ID: "client-lacks-an-argument", Faults: []string{"L5"}, Vendor: "MCP clients", Source: "modelcontextprotocol/typescript-sdk#1044", Does: "answers beside a program that calls a tool of /mcp without an argument, and reads in the result which one",
		Gateway: clientsOn, Clients: []Client{{Tool: "sessions_history", Body: `{}`, Want: `do not fit its schema: required: missing properties: \[\\"sessionKey\\"\]`}}},
	{ID: "client-sends-another-type", Faults: []string{"L5"}, Vendor: "MCP clients", Source: "modelcontextprotocol/typescript-sdk#1044", Does: "answers beside a program that calls a tool of /mcp with a word in the place of a number, and reads in the result which one",
		Gateway: clientsOn, Clients: []Client{{Tool: "sessions_history", Body: `{"sessionKey":"main","limit":"many"}`, Want: `do not fit its schema: limit: type: `}}},
}
