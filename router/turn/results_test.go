package turn_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/filestore"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/router/turn"
	"parley/sessions"
	"parley/tools"
	"parley/tools/mcp"
	"parley/tools/mcp/confine"
)

const shot = "\x89PNG\x0d\x0a\x1a\x0ashot"

// camera is a tool that gives files.
type camera struct {
	name  string
	calls int
	give  func(n int) tools.Result
}

func (c *camera) Spec() tools.Spec {
	return tools.Spec{Name: c.name, Description: "Takes a picture.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}
}

func (c *camera) Call(context.Context, tools.Call) (tools.Result, error) {
	c.calls++
	return c.give(c.calls), nil
}

// given is a block as tools give it.
func given(kind, id, name, mime, data string) sessions.Block {
	return sessions.Block{Type: kind, ID: id, MIME: mime, Data: base64.StdEncoding.EncodeToString([]byte(data)), Media: &channels.Media{Name: name, MIME: mime, Size: int64(len(data))}}
}

// photograph is a model that takes a picture, posts what it got, and says how it ended.
func photograph(tool string, seen func(p agent.Prompt)) func(context.Context, agent.Prompt) (agent.Answer, error) {
	return func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
		m := routertest.Last(p)
		if m.Role != sessions.ToolResult {
			return routertest.Call("c1", tool, map[string]any{}), nil
		}
		if m.ToolCallID == "c1" {
			if seen != nil {
				seen(p)
			}
			var ids []string
			for _, part := range strings.Split(m.Text(), "attachment ")[1:] {
				ids = append(ids, part[:8])
			}
			return routertest.Call("c2", "message", map[string]any{"to": "current", "text": "look", "attachments": ids}), nil
		}
		return routertest.Text("posted: " + m.Text()), nil
	}
}

// A picture that a tool gives is in the next prompt of a model that sees, also in the next process and when that was stopped between the
// call and the prompt; it is posted by its id; the transcript holds where it is and not its bytes.
//
// source: microsoft/playwright-mcp browser_take_screenshot, an image block beside a text
func TestToolPictures(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{Limits: channels.Limits{Text: 2000, Files: 9, FileBytes: 1 << 20, Caption: 1000}})
		cam := &camera{name: "web_shot", give: func(int) tools.Result {
			return tools.Result{Text: "[image image/png, 12 bytes: attachment aaaa1111]\n[resource x, application/pdf, 8 bytes: attachment bbbb2222]", Blocks: []sessions.Block{
				given(sessions.ImageBlock, "aaaa1111", "shot.png", "image/png", shot), given(sessions.FileBlock, "bbbb2222", "report.pdf", "application/pdf", "%PDF-1.4")}}
		}}
		g.Mount(func(context.Context, bool) []tools.Tool { return []tools.Tool{cam} })
		stopped, began := make(chan bool), make(chan bool, 1)
		g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if routertest.Last(p).Role == sessions.ToolResult {
				began <- true
				<-stopped
				<-ctx.Done()
				return agent.Answer{}, ctx.Err()
			}
			return photograph("web_shot", nil)(ctx, p)
		})
		g.Say(routertest.Direct(routertest.Guest), routertest.Guest, "what is on the page?")
		<-began
		close(stopped)
		g.Stop()
		var prompt agent.Prompt
		g.Model.Set(photograph("web_shot", func(p agent.Prompt) { prompt = p }))
		g.Start()
		calls := g.Shown(3)
		m := routertest.Last(prompt)
		if len(m.Content) != 3 || m.Content[1].Type != sessions.ImageBlock || m.Content[1].MIME != "image/png" || m.Content[1].Data != base64.StdEncoding.EncodeToString([]byte(shot)) {
			t.Errorf("the model is shown %+v", m.Content)
		}
		if repaired := agent.Repair(prompt.Messages, agent.Target{}); len(repaired[len(repaired)-1].Content) != 2 { // the text and the picture: the file is named in the text
			t.Errorf("what is sent: %+v", repaired[len(repaired)-1].Content)
		}
		var files []string
		for _, c := range calls {
			for _, f := range c.Files {
				files = append(files, fmt.Sprintf("%s %s %q", f.Name, f.Kind, f.Data))
			}
		}
		if want := []string{fmt.Sprintf("shot.png image %q", shot), `report.pdf document "%PDF-1.4"`}; !slices.Equal(files, want) {
			t.Errorf("posted %v", files)
		}
		if cam.calls != 1 {
			t.Errorf("the tool was called %d times", cam.calls)
		}
		for _, m := range g.Transcript(sessions.Key("agent:main:fake:direct:" + routertest.Guest)) {
			for _, b := range m.Content {
				if b.Data != "" || b.Media != nil && !strings.HasPrefix(b.Media.Ref, "sha256:") {
					t.Errorf("the transcript holds %+v", b)
				}
			}
		}
	})
}

// However many pictures tools give, what was sent stays the beginning of what is sent next, but for each fourth picture beyond the bound.
func TestManyToolPictures(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		cam := &camera{name: "web_shot", give: func(n int) tools.Result {
			id := fmt.Sprintf("shot%04d", n)
			return tools.Result{Text: "attachment " + id, Blocks: []sessions.Block{given(sessions.ImageBlock, id, "", "image/png", shot+fmt.Sprint(n))}}
		}}
		g.Mount(func(context.Context, bool) []tools.Tool { return []tools.Tool{cam} })
		const steps = 22
		g.Model.Set(func(context.Context, agent.Prompt) (agent.Answer, error) {
			if n := g.Model.Count(); n <= steps {
				return routertest.Call(fmt.Sprint("c", n), "web_shot", map[string]any{}), nil
			}
			return routertest.Text("done"), nil
		})
		g.Say(routertest.Direct(routertest.Guest), routertest.Guest, "watch the page")
		g.Shown(1)
		broken, before := 0, ""
		for i, p := range g.Model.Asked {
			now := fmt.Sprint(routertest.Seen(p))
			shown := strings.Count(now, "image/png")
			if shown > turn.MaxPictures || shown < min(i, turn.MaxPictures-turn.PicturesStep+1) || i > 0 && !strings.Contains(now, fmt.Sprint("shot", i, " ")) {
				t.Errorf("request %d shows %d pictures: %s", i, shown, now)
			}
			if !strings.HasPrefix(now, strings.TrimSuffix(before, "]")) {
				broken++
			}
			before = now
		}
		if broken != 4 { // 9, 13, 17 and 21 pictures
			t.Errorf("%d of %d requests do not begin with the one before", broken, steps)
		}
	})
}

// What cannot be kept is a line of the result, and the turn continues; a picture that no model can look at is a file; what looks like a
// picture by its bytes is one.
func TestToolFilesThatAreNotKept(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		large := shot + strings.Repeat("x", filestore.MaxPicture)
		res := tools.Result{Text: "files:", Blocks: []sessions.Block{
			{Type: sessions.ImageBlock, ID: "a", Data: "%%%"},
			given(sessions.ImageBlock, "b", "b.tiff", "image/tiff", "II*\x00words"),
			given(sessions.FileBlock, "c", "c.bin", "application/octet-stream", shot),
			given(sessions.ImageBlock, "d", "d.png", "image/png", large),
			given(sessions.FileBlock, "e", "e.wav", "audio/wav", "RIFF\x00\x00\x00\x00WAVE"),
		}}
		for i := range 16 {
			res.Blocks = append(res.Blocks, given(sessions.FileBlock, fmt.Sprint("f", i), "f.txt", "text/plain", fmt.Sprint("words ", i)))
		}
		g.Router.Media.PutResult(&res)
		var got []string
		for _, b := range res.Blocks[:4] {
			got = append(got, b.Type+" "+b.ID+" "+b.MIME+" "+b.Media.MIME)
		}
		if want := []string{"file b  image/tiff", "image c image/png image/png", "file d  image/png", "file e  audio/wave"}; !slices.Equal(got, want) {
			t.Errorf("kept %q", got)
		}
		if len(res.Blocks) != 16-1 || !strings.Contains(res.Text, "[the host did not keep attachment a: decode the bytes of the file") || strings.Count(res.Text, "a result has at most 16 files") != 5 {
			t.Errorf("%d blocks: %s", len(res.Blocks), res.Text)
		}
		none := tools.Result{Text: "t", Blocks: []sessions.Block{given(sessions.ImageBlock, "x", "", "image/png", shot)}}
		if filestore.NewCache("", slog.New(slog.DiscardHandler)).PutResult(&none); len(none.Blocks) != 0 || none.Text != "t\n[the host did not keep attachment x: this host has no folder for files]" {
			t.Errorf("%+v", none)
		}
		none = tools.Result{Text: "t", Blocks: []sessions.Block{given(sessions.ImageBlock, "x", "", "image/png", shot)}}
		if filestore.NewCache("/dev/null/x", slog.New(slog.DiscardHandler)).PutResult(&none); len(none.Blocks) != 0 || !strings.Contains(none.Text, "could not write the file") || strings.Contains(none.Text, "/dev/null") {
			t.Errorf("%+v", none)
		}
	})
}

// A real MCP server over HTTP gives a picture: the next request to a model that sees holds it, and message posts it into the chat.
func TestMCPPicture(t *testing.T) {
	t.Parallel()
	s := sdk.NewServer(&sdk.Implementation{Name: "camera", Version: "1"}, nil)
	s.AddTool(&sdk.Tool{Name: "shot", InputSchema: &jsonschema.Schema{Type: "object"}}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "took it"}, &sdk.ImageContent{MIMEType: "image/png", Data: []byte(shot)}}}, nil
	})
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil))
	defer web.Close()
	servers := mcp.New(mcp.Deps{Log: slog.New(slog.DiscardHandler), Dir: t.TempDir(), Confine: confine.Launcher{os.Args[0]}})
	ctx, cancel := context.WithCancel(t.Context())
	defer servers.Wait()
	defer cancel()
	servers.Start(ctx, mcp.Settings{Open: true, Servers: map[string]tools.MCPServer{"camera": {URL: web.URL, Enabled: true, TimeoutSeconds: 60}}})

	g := routertest.New(t, channeltest.Options{Limits: channels.Limits{Text: 2000, Files: 9, FileBytes: 1 << 20, Caption: 1000}})
	g.Mount(servers.Tools)
	var prompt agent.Prompt
	g.Model.Set(photograph("camera_shot", func(p agent.Prompt) { prompt = p }))
	g.Say(routertest.Direct(routertest.Guest), routertest.Guest, "take a picture")
	calls := g.Shown(2)
	m := routertest.Last(prompt)
	if got := routertest.Seen(agent.Prompt{Messages: []sessions.Message{m}}); !slices.Equal(got, []string{"shot image/png"}) || !strings.Contains(m.Text(), "took it\n[image image/png, 12 bytes: attachment ") {
		t.Errorf("the model is shown %q: %s", got, m.Text())
	}
	if len(calls[0].Files) != 1 || calls[0].Files[0].Name != "shot.png" || string(calls[0].Files[0].Data) != shot || calls[0].Out.Text != "look" {
		t.Errorf("posted %q with %+v", calls[0].Out.Text, calls[0].Files)
	}
	g.Stop()
}

// Beyond 128 tools the first ones are in the request, the same and in the same order each turn, and the others are found and called
// through two tools: with their own rights, limits, schema, progress and call id.
func TestManyTools(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) { s.Tools.Deny = []string{"big_t199"} })
		var hidden []*spied
		more := func(n int) func(context.Context, bool) []tools.Tool {
			return func(context.Context, bool) (out []tools.Tool) {
				for i := range n {
					x := &spied{name: fmt.Sprintf("big_t%03d", i)}
					hidden = append(hidden, x)
					out = append(out, x)
				}
				return out
			}
		}
		own := len(g.Router.Rights.Tools)
		g.Mount(more(tools.MaxInRequest - own))
		g.Say(routertest.Direct(routertest.Guest), routertest.Guest, "just enough")
		g.Shown(1)
		if got := g.Model.Asked[0].Tools; len(got) != tools.MaxInRequest || got[len(got)-1].Name == "call_tool" {
			t.Errorf("128 tools are %d, the last one %s", len(got), got[len(got)-1].Name)
		}

		g.Mount(more(200))
		var results []string
		queue := []agent.Answer{
			routertest.Call("c1", "find_tool", map[string]any{"query": "t180 weather"}),
			routertest.Call("c2", "call_tool", map[string]any{"name": "big_t180", "arguments": map[string]any{"city": "Berlin"}}),
			routertest.Call("c3", "call_tool", map[string]any{"name": "big_t180", "arguments": map[string]any{"city": map[string]any{"a": 7}}}),
			routertest.Call("c4", "call_tool", map[string]any{"name": "big_t180", "arguments": `{"city":"Oslo"}`}),
			routertest.Call("c5", "call_tool", map[string]any{"name": "big_t199"}),
			routertest.Call("c6", "big_t181", map[string]any{"city": "Rome"}),
			routertest.Call("c7", "call_tool", map[string]any{"name": "remember", "arguments": map[string]any{"text": "x"}}),
			routertest.Call("c8", "call_tool", map[string]any{}),
			routertest.Call("c9", "call_tool", map[string]any{"name": "big_t182", "arguments": map[string]any{"city": "yield"}}),
		}
		g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			if m := routertest.Last(p); m.Role == sessions.ToolResult {
				results = append(results, m.ToolName+": "+m.Text())
			}
			next := queue[0]
			queue = queue[1:]
			return next, nil
		})
		hidden = nil
		g.Say(routertest.Direct(routertest.Guest), routertest.Guest, "many")
		g.Idle(2)
		want := []string{`find_tool: {"tools":[{"name":"big_t180"`, `call_tool: big_t180 c2 {"city":"Berlin"}`, `call_tool: {"status":"error","error":"The arguments of big_t180 do not fit its schema: city: type: `,
			`call_tool: big_t180 c4 {"city":"Oslo"}`, `call_tool: {"status":"error","error":"call_tool knows no tool \"big_t199\"`, `big_t181: big_t181 c6 {"city":"Rome"}`, `call_tool: {"status":"ok"}`,
			`call_tool: {"status":"error","error":"name is required`}
		if len(results) != len(want) {
			t.Fatalf("%d results: %q", len(results), results)
		}
		for i := range want {
			if !strings.HasPrefix(results[i], want[i]) {
				t.Errorf("result %d: %s, want %s", i+1, results[i], want[i])
			}
		}
		if len(queue) != 0 {
			t.Error("the tool that yields did not end the turn")
		}
		first := g.Model.Asked[1].Tools
		if len(first) != tools.MaxInRequest || first[126].Name != "find_tool" || first[127].Name != "call_tool" || first[125].Name != fmt.Sprintf("big_t%03d", 125-own) {
			t.Errorf("%d tools, the last ones %s, %s, %s", len(first), first[125].Name, first[126].Name, first[127].Name)
		}
		for i, p := range g.Model.Asked[1:] {
			if !slices.EqualFunc(p.Tools, first, func(a, b tools.Spec) bool {
				return a.Name == b.Name && string(a.Schema) == string(b.Schema) && a.Description == b.Description
			}) {
				t.Errorf("request %d has other tools", i+1)
			}
		}
		late := hidden[183]
		queue = []agent.Answer{routertest.Call("c1", "call_tool", map[string]any{"name": late.name, "arguments": map[string]any{"city": "late"}}), routertest.Text("done")}
		results = nil
		g.Say(routertest.Direct(routertest.Guest), routertest.Guest, "slow")
		g.Idle(3)
		if len(results) != 1 || !strings.Contains(results[0], "The call of big_t183 took longer than 5s and was stopped") {
			t.Errorf("a slow one: %q", results)
		}
		queue = []agent.Answer{routertest.Call("c1", "call_tool", map[string]any{"name": late.name, "arguments": map[string]any{"city": "long"}}), routertest.Text("done")}
		results = nil
		g.Say(routertest.Direct(routertest.Guest), routertest.Guest, "long")
		g.Idle(4)
		if len(results) != 1 || !strings.Contains(results[0], "[cut here: 500 of 1000 bytes are shown]") {
			t.Errorf("a long one: %q", results)
		}
	})
}

// spied is a tool that says how it was called.
type spied struct{ name string }

func (s *spied) Spec() tools.Spec {
	return tools.Spec{Name: s.name, Description: "Tells the weather of a city.", Timeout: 5 * time.Second, MaxResult: 500,
		Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)}
}

func (s *spied) Call(ctx context.Context, c tools.Call) (tools.Result, error) {
	switch {
	case strings.Contains(string(c.Args), "yield"):
		return tools.Result{Text: "over", Yield: true}, nil
	case strings.Contains(string(c.Args), "late"):
		<-ctx.Done()
		return tools.Result{}, ctx.Err()
	case strings.Contains(string(c.Args), "long"):
		return tools.Result{Text: strings.Repeat("x", 1000)}, nil
	}
	c.Progress("asking")
	return tools.Result{Text: s.name + " " + c.ID + " " + string(c.Args)}, nil
}
