package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"parley/channels"
	"parley/tools"
	"parley/tools/mcp/confine"
)

// mode is the variable that makes the test binary one of the fake servers.
const mode = "MCP_TEST_SERVER"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == confine.Command {
		code, err := confine.Main(os.Args[2:], os.Stdout)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(code)
	}
	if name := os.Getenv(mode); name != "" {
		fakes[name]()
		os.Exit(0)
	}
	// The library's own HTTP server, which some tests put up, keeps the reader of a session that its client has left.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/modelcontextprotocol/go-sdk/mcp.(*streamableServerConn).Read"))
}

// fakes are the servers that the test binary can be.
var fakes = map[string]func(){
	"good": good,
	"junk": func() {
		_, _ = os.Stdout.WriteString("Welcome to the server!\n[1,2]\n{\"half\":\n\x1b[32mListening {stdio}… ")
		good()
	},
	"exit": func() {
		fmt.Fprintln(os.Stderr, "no key was given, only "+os.Getenv("API_KEY"))
		os.Exit(3)
	},
	"parent": func() {
		child := exec.CommandContext(context.Background(), os.Args[0])
		child.Env = append(os.Environ(), mode+"=stubborn")
		child.Stdout = os.Stdout // it holds the pipe open
		alive, _ := os.OpenFile(os.Getenv("ALIVE"), os.O_WRONLY, 0)
		child.ExtraFiles = []*os.File{alive}
		_ = child.Start()
		good()
	},
	"stubborn": func() { select {} },
}

func good() {
	s := sdk.NewServer(&sdk.Implementation{Name: "fake", Version: "1"}, nil)
	add := func(name string, f func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error)) {
		s.AddTool(&sdk.Tool{Name: name, Description: "It does " + name, InputSchema: &jsonschema.Schema{Type: "object"}}, f)
	}
	text := func(t string) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: t}}}
	}
	add("echo", func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return text(string(r.Params.Arguments)), nil
	})
	add("environment", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		cwd, _ := os.Getwd()
		return text(strings.Join(os.Environ(), "\n") + "\ncwd=" + cwd), nil
	})
	add("die", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		p, _ := os.FindProcess(os.Getpid())
		_ = p.Kill()
		select {}
	})
	add("say", func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		fmt.Fprintf(os.Stderr, "my key is %s\x1b[31m\n%s\n", os.Getenv("API_KEY"), strings.Repeat("x", 100_000))
		fmt.Fprintln(os.Stderr, strings.Repeat("y", logLine-8)+os.Getenv("API_KEY"))
		for i := range 1000 {
			fmt.Fprintln(os.Stderr, "line", i)
		}
		return text("said"), nil
	})
	add("flood", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		for {
			if _, err := os.Stdout.WriteString(strings.Repeat("x", 1<<20)); err != nil {
				os.Exit(1)
			}
		}
	})
	add("noise", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		_, _ = os.Stdout.WriteString(strings.Repeat("working…\n", 1000) + `{"level":"info"} `)
		return text("after the noise"), nil
	})
	add("picture", func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var a struct{ Bytes int }
		_ = json.Unmarshal(r.Params.Arguments, &a)
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.ImageContent{MIMEType: "image/png", Data: make([]byte, a.Bytes)}}}, nil
	})
	released := make(chan struct{})
	add("wait", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		<-released
		return text("waited"), nil
	})
	add("release", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		close(released)
		return text("ok"), nil
	})
	add("try", try)
	_ = s.Run(context.Background(), &sdk.StdioTransport{})
}

// try does what its arguments say, and gives the error.
func try(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var a struct{ Read, Write, Cut, Mode, TCP, UDP, Unix, Run string }
	_ = json.Unmarshal(r.Params.Arguments, &a)
	var err error
	switch {
	case a.Read != "":
		_, err = os.ReadFile(a.Read)
	case a.Write != "":
		err = os.WriteFile(a.Write, []byte("x"), 0o600)
	case a.Cut != "":
		err = os.Truncate(a.Cut, 0)
	case a.Mode != "":
		err = os.Chmod(a.Mode, 0o700)
	case a.Run != "":
		err = exec.CommandContext(context.Background(), "/bin/sh", "-c", a.Run).Run()
	default:
		for network, to := range map[string]string{"tcp": a.TCP, "udp": a.UDP, "unix": a.Unix} {
			if to != "" {
				var c net.Conn
				if c, err = (&net.Dialer{Timeout: 5 * time.Second}).DialContext(context.Background(), network, to); err == nil {
					_, err = c.Write([]byte("x"))
					_ = c.Close()
				}
			}
		}
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprint(err)}}}, nil
}

// fake is the configuration of a fake server.
func fake(name string, env ...string) tools.MCPServer {
	c := tools.MCPServer{Command: os.Args[0], Enabled: true, TimeoutSeconds: 60, Env: map[string]channels.Secret{mode: channels.NewSecret(name)}}
	for i := 0; i+1 < len(env); i += 2 {
		c.Env[env[i]] = channels.NewSecret(env[i+1])
	}
	return c
}

// buffer is a log that can be read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// rig is servers under test.
type rig struct {
	t *testing.T
	*Servers
	log  *buffer
	stop func() // ends the servers and waits
}

func newRig(t *testing.T, set Settings, change ...func(*Deps)) *rig {
	t.Helper()
	log := &buffer{}
	d := Deps{Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})), Dir: t.TempDir(), Version: "test",
		Confine: confine.Launcher{os.Args[0], confine.Command}, Getenv: os.Getenv}
	for _, f := range change {
		f(&d)
	}
	r := &rig{t: t, Servers: New(d), log: log}
	ctx, cancel := context.WithCancel(t.Context())
	r.stop = func() {
		cancel()
		r.Wait()
	}
	r.Start(ctx, set)
	t.Cleanup(r.stop)
	return r
}

// one are the settings of one server.
func one(c tools.MCPServer) Settings {
	return Settings{Servers: map[string]tools.MCPServer{"x": c}, Open: true}
}

// until waits until a server is as it should be.
func (r *rig) until(what string, ok func(Status) bool) Status {
	r.t.Helper()
	for {
		change := r.watch()
		for _, s := range r.Status() {
			if ok(s) {
				return s
			}
		}
		select {
		case <-change:
		case <-time.After(time.Minute): // never in a good run
			r.t.Fatalf("never %s: %v\n%s", what, r.Status(), r.log)
		}
	}
}

func (r *rig) running() Status {
	r.t.Helper()
	return r.until("running", func(s Status) bool { return s.State == Running })
}

// call calls a tool.
func (r *rig) call(name, args string) tools.Result {
	r.t.Helper()
	return r.callIn(r.t.Context(), false, name, args)
}

func (r *rig) callIn(ctx context.Context, sandboxed bool, name, args string) tools.Result {
	r.t.Helper()
	for _, t := range r.Tools(ctx, sandboxed) {
		if t.Spec().Name == name {
			res, err := t.Call(ctx, tools.Call{ID: "c", Args: json.RawMessage(args), Caller: tools.Caller{Sandboxed: sandboxed}, Progress: func(string) {}})
			if err != nil {
				r.t.Fatalf("%s: %v", name, err)
			}
			return res
		}
	}
	r.t.Fatalf("there is no tool %s: %v, %v", name, r.names(sandboxed), r.Status())
	return tools.Result{}
}

func (r *rig) names(sandboxed bool) (out []string) {
	for _, t := range r.Tools(r.t.Context(), sandboxed) {
		out = append(out, t.Spec().Name)
	}
	return out
}

// peer is a server in memory that does what a test says, for virtual time.
type peer struct {
	out net.Conn
	mu  sync.Mutex
	// answer handles a request; ok is false when there is no answer.
	answer func(p *peer, id json.RawMessage, method string, params json.RawMessage) (result string, ok bool)
}

func (p *peer) write(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = p.out.Write([]byte(text + "\n"))
}

// listing is the answer to initialize, ping and tools/list of a well-behaved server with these tools.
func listing(list string) func(*peer, json.RawMessage, string, json.RawMessage) (string, bool) {
	return func(_ *peer, _ json.RawMessage, method string, _ json.RawMessage) (string, bool) {
		switch method {
		case "initialize":
			return `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"peer","version":"1"}}`, true
		case "tools/list":
			return `{"tools":` + list + `}`, true
		}
		return "{}", true
	}
}

const plainTool = `[{"name":"t","inputSchema":{"type":"object"}}]`

// inMemory has every server be a peer. Each connection is a new one.
func inMemory(answer func(*peer, json.RawMessage, string, json.RawMessage) (string, bool)) func(*Deps) {
	return func(d *Deps) {
		d.dial = func(s *server) dialer {
			return func(context.Context) (*dialed, error) {
				ours, theirs := net.Pipe()
				in, out := net.Pipe()
				p := &peer{out: out, answer: answer}
				go func() {
					defer out.Close()
					lines := bufio.NewReader(theirs)
					for {
						text, err := lines.ReadBytes('\n')
						if err != nil {
							return
						}
						var m struct {
							ID     json.RawMessage
							Method string
							Params json.RawMessage
						}
						_ = json.Unmarshal(text, &m)
						if m.Method == "" {
							m.Method = "answer"
							m.Params = text
						}
						if result, ok := p.answer(p, m.ID, m.Method, m.Params); ok && m.ID != nil && m.Method != "answer" {
							p.write(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`)
						}
					}
				}()
				t := newStdio(in, ours, s)
				return &dialed{transport: t, end: func() string {
					_ = t.Close()
					_ = theirs.Close()
					return ""
				}}, nil
			}
		}
	}
}
