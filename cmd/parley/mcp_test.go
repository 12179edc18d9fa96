package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/tools/mcp"
	"parley/tools/mcp/confine"
)

// mcpServer is the argument with which the test binary is an MCP server.
const mcpServer = "test-mcp-server"

// serveMCP is the MCP server: it can read a file, connect, and die.
func serveMCP() {
	s := sdk.NewServer(&sdk.Implementation{Name: "box", Version: "1"}, nil)
	for name, do := range map[string]func(to string) error{
		"read": func(to string) error {
			_, err := os.ReadFile(to)
			return err
		},
		"connect": func(to string) error {
			c, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(context.Background(), "tcp", to)
			if err == nil {
				_ = c.Close()
			}
			return err
		},
		"die": func(string) error {
			p, _ := os.FindProcess(os.Getpid())
			_ = p.Kill()
			select {}
		},
		"wipe":   func(string) error { return nil },
		"hidden": func(string) error { return nil },
	} {
		s.AddTool(&sdk.Tool{Name: name, InputSchema: &jsonschema.Schema{Type: "object"}}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			var a struct{ To string }
			_ = json.Unmarshal(r.Params.Arguments, &a)
			text := "it could"
			if err := do(a.To); err != nil {
				text = "it could not"
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
		})
	}
	_ = s.Run(context.Background(), &sdk.StdioTransport{})
}

// boxes waits until all MCP servers run, and gives them.
func (tn town) boxes(restarts int) (all []mcp.Status) {
	tn.t.Helper()
	tn.until(30*time.Second, "the MCP servers run", func() bool {
		all = tn.status().Servers
		n := 0
		for _, s := range all {
			n += s.Restarts
		}
		return len(all) > 0 && n >= restarts && !slices.ContainsFunc(all, func(s mcp.Status) bool { return s.State != mcp.Running })
	})
	return all
}

// last waits for n results of a tool in a session and gives the last one.
func (tn town) last(session, tool string, n int) string {
	tn.t.Helper()
	var rs []given
	tn.until(20*time.Second, fmt.Sprintf("%d results of %s in %s", n, tool, session), func() bool {
		rs = tn.results(session, tool)
		return len(rs) >= n
	})
	return rs[n-1].Text
}

// TestMCP has agents use the tools of an MCP server: what the rules deny is not offered; killed, it comes back and the next turn works;
// that of a sandboxed session reads no file outside and connects to nothing, or the screen and the status say what the kernel lacks.
func TestMCP(t *testing.T) {
	t.Parallel()
	tn := newTown(t, setup{
		Tools:    fmt.Sprintf("{deny: [box_wipe], mcp: {servers: {box: {command: %q, args: [%s], deny: [hidden]}}}}", os.Args[0], mcpServer),
		Defaults: "sandbox: {mode: non-main},",
	})
	host := tn.start()
	if all := tn.boxes(0); len(all) != 2 || all[0].Sandbox || !all[1].Sandbox {
		t.Errorf("the servers: %v", all)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	secret := map[string]string{"to": filepath.Join(tn.dir, "config.yaml")}
	there := map[string]string{"to": l.Addr().String()}
	direct, inGroup := place{tn.tg, owner, 0}, tn.hereA()
	ask := program(use("box_read", secret), use("box_connect", there), say("done"))

	direct.tell(ask)
	tn.shows(direct, 1)
	for _, tool := range []string{"box_read", "box_connect"} {
		if got := tn.last("agent:a:main", tool, 1); got != "it could" {
			t.Errorf("not sandboxed: %s: %s", tool, got)
		}
	}
	inGroup.tell(ask)
	tn.shows(inGroup, 1)
	confined(t, tn, host)
	offered := tn.modelCalls(atA, "turn")[0].toolNames()
	if !slices.Contains(offered, "box_read") || slices.Contains(offered, "box_wipe") || slices.Contains(offered, "box_hidden") {
		t.Errorf("offered: %v", offered)
	}

	direct.tell(program(use("box_die", struct{}{}), say("it died")))
	tn.shows(direct, 2)
	if got := tn.last("agent:a:main", "box_die", 1); !strings.Contains(got, "stopped during the call") {
		t.Errorf("the call that it died of: %s", got)
	}
	tn.boxes(1)
	direct.tell(ask)
	tn.shows(direct, 3)
	if got := tn.last("agent:a:main", "box_read", 2); got != "it could" {
		t.Errorf("after it came back: %s", got)
	}
	if out, code := tn.cli("status"); code != 0 || !strings.Contains(out, "MCP server box is running") || !strings.Contains(out, "MCP server box (for sandboxed sessions) is running") {
		t.Errorf("status, code %d:\n%s", code, out)
	}
}

// confined checks what the server of the sandboxed session could, against what this kernel gives, and that people are told.
func confined(t *testing.T, tn town, host *process) {
	t.Helper()
	a := confine.Launcher{"/proc/self/exe", confine.Command}.Probe()
	could := map[bool]string{true: "it could not", false: "it could"}
	if got := tn.last(atA, "box_read", 1); got != could[a.Landlock > 0 || a.Isolated] {
		t.Errorf("sandboxed, with %+v, reading: %s", a, got)
	}
	if got := tn.last(atA, "box_connect", 1); got != could[a.Landlock > 3 || a.Filter || a.Namespace] {
		t.Errorf("sandboxed, with %+v, connecting: %s", a, got)
	}
	s := tn.status()
	if !slices.Equal(s.Sandbox, a.Missing()) {
		t.Errorf("the status says %q, not %q", s.Sandbox, a.Missing())
	}
	screen := host.log.String()
	for _, m := range a.Missing() {
		if !strings.Contains(screen, m) {
			t.Errorf("the screen does not say %q", m)
		}
	}
	if len(a.Missing()) == 0 && !strings.Contains(screen, "run confined; a test just now was refused: reading files, ") {
		t.Error("the screen does not say that they are confined")
	}
}
