package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMCPStdio is what a desktop program does: it starts `parley mcp` and talks MCP with it. The program says so when no host runs or the
// server is off, finds the host again after a restart, and ends with its input.
func TestMCPStdio(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	host := "models: {providers: {mock: {api: openai, baseUrl: " + w.model.URL() + "/v1, apiKey: x}}}\nagents: {defaults: {model: mock/mock-1}}\n"
	w.pageConfig(host, "")
	if out, code := w.cli("mcp"); code != exitAway || !strings.Contains(out, "not running") {
		t.Errorf("without a host: exit code %d, %q", code, out)
	}
	p := w.start()
	if out, code := w.cli("mcp"); code == 0 || !strings.Contains(out, "gateway.mcp.enabled") {
		t.Errorf("with the server off: exit code %d, %q", code, out)
	}
	p.stop()
	if err := os.WriteFile(w.dir+"/config.yaml", []byte("state: state\ngateway: {listen: \"127.0.0.1:0\", mcp: {enabled: true}}\n"+host), 0o600); err != nil {
		t.Fatal(err)
	}
	p = w.start()

	var cmd *exec.Cmd
	connect := func() *sdk.ClientSession {
		cmd = w.command("--config", "config.yaml", "mcp")
		s, err := sdk.NewClient(&sdk.Implementation{Name: "desktop", Version: "1"}, nil).Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := connect()
	call := func(name string, args map[string]any) string {
		res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
		if err != nil {
			return err.Error()
		}
		return res.Content[0].(*sdk.TextContent).Text
	}
	if list, err := s.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 8 || s.InitializeResult().Instructions == "" {
		t.Errorf("the tools are %+v, %v", list, err)
	}
	if got := call("sessions_spawn", map[string]any{"task": "count to ten"}); !strings.Contains(got, `"accepted"`) {
		t.Fatalf("sessions_spawn got %s", got)
	}
	report := func() bool {
		return strings.Contains(call("sessions_history", map[string]any{"sessionKey": "current"}), "Status: success")
	}
	w.until(20e9, "the report is in its session", report)
	p.stop()
	if got := call("agents_list", nil); !strings.Contains(got, "not running") {
		t.Errorf("without the host a call got %s", got)
	}
	p = w.start()
	w.until(20e9, "the report is still there after a restart", report)
	p.stop()
	w.start()
	if got := call("agents_list", nil); !strings.Contains(got, `"main"`) { // over a connection that the new host does not know
		t.Errorf("the first call after a restart got %s", got)
	}
	if err := s.Close(); err != nil { // it ends with its input, or this is an error
		t.Errorf("parley mcp ended with %v", err)
	}
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("parley mcp ended with exit code %d", code)
	}
}
