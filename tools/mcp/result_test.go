package mcp

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/channels"
	"parley/tools"
)

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
		if got := resultOf(&r); got.Text != c.want || got.IsError != c.failed {
			t.Errorf("%s: %+v", name, got)
		}
	}
	long := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.Repeat("é", mostResult)}}}
	if got := resultOf(long).Text; len(got) > mostResult+100 || !strings.HasSuffix(got, "…\n[cut here: the result has 131072 bytes]") {
		t.Errorf("a long one: %d bytes, …%s", len(got), got[len(got)-60:])
	}
}

// Errors are shown without what may be a secret: headers, tokens in them, variables that are named like one, the address.
func TestErrorsAreSecretless(t *testing.T) {
	t.Parallel()
	secret := channels.NewSecret
	conf := tools.MCPServer{URL: "https://h/mcp?key=abc", Headers: map[string]channels.Secret{"Authorization": secret("Bearer token-0123456789")},
		Env: map[string]channels.Secret{"API_KEY": secret("words-only"), "MODE": secret("production"), "ID": secret("a1b2c3d4e5f6a7b8"), "HOME": secret("/home/user/of/server1")}}
	r := newRig(t, Settings{}, func(d *Deps) {
		d.Redact = func(s string) string { return strings.ReplaceAll(s, "the host's", "[secret]") }
	})
	got := newServer(r.Servers, slot{name: "x"}, conf).plain(errors.New(
		"Post \"https://h/mcp?key=abc\": token-0123456789\nwords-only production a1b2c3d4e5f6a7b8 /home/user/of/server1 the host's"))
	if want := `Post "its address": [secret] [secret] production [secret] /home/user/of/server1 [secret]`; got != want {
		t.Errorf("%s", got)
	}
}
