package endpointtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/agent/modeltest/endpoints"
	"parley/channels/channeltest"
	"parley/gateway/gatewaytest"
	"parley/sessions/sqlstore/disktest"
)

// serveTools is the first argument of a process that is the MCP server of the row named by the second one.
const serveTools = "serve-tools"

// Main is the TestMain of a package that plays rows. Its binary is the MCP server of a row, too.
func Main(m *testing.M) {
	if len(os.Args) != 3 || os.Args[1] != serveTools {
		disktest.Unsynced()       // a kill leaves what the system has
		channeltest.SideBySide(4) // some rows wait for seconds
		os.Exit(m.Run())
	}
	for _, row := range endpoints.Table() {
		if row.ID == os.Args[2] {
			_ = toolServer(row).Run(context.Background(), &sdk.StdioTransport{}) // until its host closes the input
		}
	}
}

// toolServer is the MCP server of a row, whose tools do nothing but give their results.
func toolServer(row endpoints.Row) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "odd", Version: "1"}, nil)
	for _, x := range row.Tools {
		schema := &jsonschema.Schema{}
		if err := schema.UnmarshalJSON([]byte(x.Schema)); err != nil {
			panic(err) // a row's mistake
		}
		s.AddTool(&sdk.Tool{Name: x.Name, InputSchema: schema}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			res := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "nothing"}}}
			if said, ok := row.Results[x.Name]; ok {
				arguments, _ := json.Marshal(string(r.Params.Arguments)) //nolint:errchkjson // a text
				res = &sdk.CallToolResult{}
				return res, json.Unmarshal([]byte(strings.ReplaceAll(said, `{arguments}`, string(arguments[1:len(arguments)-1]))), res)
			}
			return res, nil
		})
	}
	return s
}

// mountedTools serves a row's tools over HTTP.
func mountedTools(row endpoints.Row) http.Handler {
	s := toolServer(row)
	one := func(*http.Request) *sdk.Server { return s }
	newer, older := sdk.NewStreamableHTTPHandler(one, nil), sdk.NewSSEHandler(one, nil)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m := row.Mount
		if m.Waits > 0 && r.Header.Get("Mcp-Session-Id") == "" {
			select {
			case <-time.After(m.Waits):
			case <-r.Context().Done():
				return
			}
		}
		switch {
		case m.Older == 0:
			newer.ServeHTTP(w, r)
		case r.Method == http.MethodPost && r.URL.RawQuery == "": // of the newer transport: a session of the older one has its number there
			http.Error(w, "no", m.Older)
		default:
			older.ServeHTTP(w, r)
		}
	})
}

// mount is where the MCP server is found, as keys of the configuration.
func (e *endpoint) mount() []string {
	if banner := e.row.Mount.Banner; banner != "" {
		return []string{"command: /bin/sh", fmt.Sprintf(`args: [-c, "printf '%s'; exec \"$0\" %s %s", %q]`, banner, serveTools, e.row.ID, os.Args[0])}
	}
	return []string{fmt.Sprintf("url: %q", e.tools)}
}

// programs has the row's programs ask the host, all of them or those that only read.
func (e *endpoint) programs(reading bool) {
	e.t.Helper()
	for _, c := range e.row.Clients {
		if e.host.err != nil || reading && c.Body != "" {
			continue // said already; or asked in the first life
		}
		ask := e.request
		if c.Tool != "" {
			ask = e.mcpCall
		}
		ctx, cancel := context.WithTimeout(e.t.Context(), turnLimit)
		got, err := ask(ctx, c)
		cancel()
		if err != nil || !regexp.MustCompile(c.Want).MatchString(got) {
			e.t.Errorf("%s: program: %s%s %s is answered with\n\t%.500q, %v, not\n\t%s", e.row.ID, c.Path, c.Tool, c.Body, got, err, c.Want)
		}
	}
	e.counts.from = len(e.server.Log())
}

// request sends a request, again as the AI SDK sends it, and gives the status and the body of the last answer.
// source: https://ai-sdk.dev/docs/ai-sdk-core/settings#maxretries
func (e *endpoint) request(ctx context.Context, c endpoints.Client) (string, error) {
	method := http.MethodPost
	if c.Body == "" {
		method = http.MethodGet
	}
	for again := 2; ; again-- {
		r, err := http.NewRequestWithContext(ctx, method, e.host.url+strings.ReplaceAll(c.Path, "{id}", e.id), strings.NewReader(c.Body))
		if err != nil {
			return "", err
		}
		r.Header.Set("Content-Type", "application/json")
		res, err := (&http.Client{Transport: gatewaytest.WithToken(endpointToken)}).Do(r)
		if err != nil {
			return "", err
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil {
			return "", err
		}
		if repeats := res.StatusCode == 408 || res.StatusCode == 409 || res.StatusCode == 429 || res.StatusCode >= 500; repeats && again > 0 {
			continue
		}
		var told struct{ ID string }
		_ = json.Unmarshal(body, &told) // an error has none
		if told.ID != "" {
			e.id = told.ID
		}
		return fmt.Sprintf("%d %s", res.StatusCode, body), nil
	}
}

// mcpCall calls a tool of the host's own MCP server, and gives the text of its result.
func (e *endpoint) mcpCall(ctx context.Context, c endpoints.Client) (string, error) {
	to := &sdk.StreamableClientTransport{Endpoint: e.host.url + "/mcp", HTTPClient: &http.Client{Transport: gatewaytest.WithToken(endpointToken)}, DisableStandaloneSSE: true, MaxRetries: -1}
	s, err := sdk.NewClient(&sdk.Implementation{Name: "program", Version: "1"}, nil).Connect(ctx, to, nil)
	if err != nil {
		return "", err
	}
	defer func() { _ = s.Close() }()
	res, err := s.CallTool(ctx, &sdk.CallToolParams{Name: c.Tool, Arguments: json.RawMessage(c.Body)})
	if err != nil {
		return "", err
	}
	return res.Content[0].(*sdk.TextContent).Text, nil
}
