package mcp

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/channels"
	"parley/tools"
)

func asIs(s string) string { return s }

// A result is one text: texts joined, what is no text described, structured content once, without control characters, cut with a note.
func TestResult(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wire, want string
		failed     bool
	}{
		"texts":        {`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b\u0000\u001b[1m\r\nc"}]}`, "a\nb[1m\nc", false},
		"error":        {`{"isError":true,"content":[{"type":"text","text":"no such file"}]}`, "no such file", true},
		"nothing":      {`{"content":[]}`, "(the tool gave no text)", false},
		"image":        {`{"content":[{"type":"image","mimeType":"image/png","data":"aGVsbG8="}]}`, "[image image/png, 5 bytes: not shown]", false},
		"sound":        {`{"content":[{"type":"audio","mimeType":"a\nb","data":""}]}`, "[audio a b, 0 bytes: not shown]", false},
		"link":         {`{"content":[{"type":"resource_link","uri":"file:///x","name":"x","description":"an x"}]}`, "[resource file:///x: x an x]", false},
		"resource":     {`{"content":[{"type":"resource","resource":{"uri":"file:///x","text":"words"}}]}`, "[resource file:///x]\nwords", false},
		"blob":         {`{"content":[{"type":"resource","resource":{"uri":"file:///x","mimeType":"x/y","blob":"aGVsbG8="}}]}`, "[resource file:///x, x/y, 5 bytes: not shown]", false},
		"structured":   {`{"content":[],"structuredContent":{"a":"<b>"}}`, `{"a":"<b>"}`, false},
		"said already": {`{"content":[{"type":"text","text":" {\"b\":1, \"a\":[2]} "}],"structuredContent":{"a":[2],"b":1}}`, ` {"b":1, "a":[2]} `, false},
		"both":         {`{"content":[{"type":"text","text":"two"}],"structuredContent":{"n":2}}`, "two\n{\"n\":2}", false},
	} {
		var r sdk.CallToolResult
		if err := json.Unmarshal([]byte(c.wire), &r); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := resultOf(&r, asIs); got.Text != c.want || got.IsError != c.failed {
			t.Errorf("%s: %+v", name, got)
		}
	}
	long := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.Repeat("é", mostResult)}}}
	if got := resultOf(long, asIs).Text; len(got) > mostResult+100 || !strings.HasSuffix(got, "…\n[cut here: the result has 131072 bytes]") {
		t.Errorf("a long one: %d bytes, …%s", len(got), got[len(got)-60:])
	}
}

// What a tool gives and reports is shown without the server's secrets, also where it is cut in the middle of one.
func TestResultsAreSecretless(t *testing.T) {
	t.Parallel()
	const key = "key-0123456789"
	pad := strings.Repeat("x", mostResult-10)
	answers := map[string]string{
		"text":       `{"content":[{"type":"text","text":"it is ` + key + `"}]}`,
		"structured": `{"content":[],"structuredContent":{"a":"` + key + `"}}`,
		"cut":        `{"content":[{"type":"text","text":"` + pad + key + `"}]}`,
		"link":       `{"content":[{"type":"resource_link","uri":"` + pad[:490] + key + `","name":"` + key + `"}]}`,
	}
	var said []string
	in(t, func(p *peer, id json.RawMessage, m string, params json.RawMessage) (string, bool) {
		if m != "tools/call" {
			return listing(plainTool)(p, id, m, params)
		}
		var c struct{ Arguments struct{ Kind string } }
		_ = json.Unmarshal(params, &c)
		p.write(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"call-1","progress":1,"message":"` + pad[:190] + key + `"}}`)
		<-time.After(time.Second) // virtual: the progress is told before the answer
		return answers[c.Arguments.Kind], true
	}, func(t *testing.T, r *rig) {
		for kind := range answers {
			x := r.Tools(t.Context(), false)[0].(*tool)
			x.server.conf.Env = map[string]channels.Secret{"API_KEY": channels.NewSecret(key)}
			x.server.hide = channels.Hide(x.server.conf.Secrets()...)
			res, err := x.Call(t.Context(), tools.Call{Args: json.RawMessage(`{"kind":"` + kind + `"}`), Progress: func(text string) { said = append(said, text) }})
			if err != nil || strings.Contains(res.Text, "key-") || kind != "cut" && !strings.Contains(res.Text, "[secret]") {
				t.Errorf("%s: %v, %.100s", kind, err, res.Text)
			}
		}
	})
	if len(said) != 1 || strings.Contains(said[0], "key-") || !strings.HasPrefix(said[0], "xxx") {
		t.Errorf("progress: %q", said)
	}
}

// Errors are shown without what may be a secret: headers, tokens in them, variables that are named like one, the address.
func TestErrorsAreSecretless(t *testing.T) {
	t.Parallel()
	secret := channels.NewSecret
	conf := tools.MCPServer{URL: "https://h/mcp?key=abc", Headers: map[string]channels.Secret{"Authorization": secret("Bearer token-0123456789")},
		Env: map[string]channels.Secret{"API_KEY": secret("words-only"), "MODE": secret("production"), "ID": secret("a1b2c3d4e5f6a7b8"), "HOME": secret("/home/u/of/server1")}}
	r := newRig(t, Settings{}, func(d *Deps) {
		d.Redact = func(s string) string { return strings.ReplaceAll(s, "the host's", "[secret]") }
	})
	got := newServer(r.Servers, slot{name: "x"}, conf).plain(errors.New(
		"Post \"https://h/mcp?key=abc\": token-0123456789\nwords-only production a1b2c3d4e5f6a7b8 /home/u/of/server1 the host's"))
	if want := `Post "its address": [secret] [secret] production [secret] /home/u/of/server1 [secret]`; got != want {
		t.Errorf("%s", got)
	}
}
