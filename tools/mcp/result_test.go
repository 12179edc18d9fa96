package mcp

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/channels"
	"parley/tools"
)

func asIs(s string) string { return s }

// A result is one text: texts joined, what is no text named with its attachment, structured content once, without control characters,
// cut with a note.
func TestResult(t *testing.T) {
	t.Parallel()
	pixel := base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n" + strings.Repeat("x", 1192)))
	for name, c := range map[string]struct {
		wire, want string
		failed     bool
	}{
		"texts":        {`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b\u0000\u001b[1m\r\nc"}]}`, "a\nb[1m\nc", false},
		"error":        {`{"isError":true,"content":[{"type":"text","text":"no such file"}]}`, "no such file", true},
		"nothing":      {`{"content":[]}`, "(the tool gave no text)", false},
		"no reason":    {`{"content":[],"isError":true}`, "(the tool failed, and did not say why)", true},
		"image":        {`{"content":[{"type":"image","mimeType":"image/png","data":"aGVsbG8="}]}`, "[image image/png, 5 bytes: attachment ID]", false},
		"no sound":     {`{"content":[{"type":"audio","mimeType":"a\nb","data":""}]}`, "[audio a b, 0 bytes]", false},
		"sound":        {`{"content":[{"type":"audio","mimeType":"audio/wav","data":"aGVsbG8="}]}`, "[audio audio/wav, 5 bytes: attachment ID]", false},
		"link":         {`{"content":[{"type":"resource_link","uri":"file:///x","name":"x","description":"an x"}]}`, "[resource file:///x: x an x]", false},
		"resource":     {`{"content":[{"type":"resource","resource":{"uri":"file:///x","text":"words"}}]}`, "[resource file:///x]\nwords", false},
		"blob":         {`{"content":[{"type":"resource","resource":{"uri":"file:///x","mimeType":"x/y","blob":"aGVsbG8="}}]}`, "[resource file:///x, x/y, 5 bytes: attachment ID]", false},
		"structured":   {`{"content":[],"structuredContent":{"a":"<b>"}}`, `{"a":"<b>"}`, false},
		"said already": {`{"content":[{"type":"text","text":" {\"b\":1, \"a\":[2]} "}],"structuredContent":{"a":[2],"b":1}}`, ` {"b":1, "a":[2]} `, false},
		"both":         {`{"content":[{"type":"text","text":"two"}],"structuredContent":{"n":2}}`, "two\n{\"n\":2}", false},
		// source: modelcontextprotocol/servers, filesystem 2026.8 read_text_file: the text again under another name
		"the text again":   {`{"content":[{"type":"text","text":"hello from file\n"}],"structuredContent":{"content":"hello from file\n"}}`, "hello from file\n", false},
		"a list again":     {`{"content":[{"type":"text","text":"[FILE] a.txt\n[DIR] b"}],"structuredContent":{"content":"[FILE] a.txt\n[DIR] b"}}`, "[FILE] a.txt\n[DIR] b", false},
		"other words":      {`{"content":[{"type":"text","text":"Berlin has 21.5 degrees"}],"structuredContent":{"city":"Berlin","degrees":21.5,"cached":false,"x":null}}`, "Berlin has 21.5 degrees", false},
		"one more word":    {`{"content":[{"type":"text","text":"Berlin has 21.5 degrees"}],"structuredContent":{"city":"Berlin","wind":"NW"}}`, "Berlin has 21.5 degrees\n" + `{"city":"Berlin","wind":"NW"}`, false},
		"part of a number": {`{"content":[{"type":"text","text":"in 21.5 or 1200"}],"structuredContent":{"n":[21,200]}}`, "in 21.5 or 1200\n" + `{"n":[21,200]}`, false},
		"quoted":           {`{"content":[{"type":"text","text":"{\"a\": \"x\\ny\"}"}],"structuredContent":{"b":{"c":"x\ny"}}}`, `{"a": "x\ny"}`, false},
		"large numbers":    {`{"content":[],"structuredContent":{"id":12345678901234567890}}`, `{"id":12345678901234567890}`, false},
		"an unknown kind":  {`{"content":[{"type":"text","text":"a"},{"type":"video","uri":"x"},{"type":"note","text":"b"},7,"c"]}`, "a\n[video: not shown]\nb\n7\nc", false},
		"data URL":         {`{"content":[{"type":"image","mimeType":"image/png","data":"data:image/png;base64,aGVs\nbG8"}]}`, "[image image/png, 5 bytes: attachment ID]", false},
		"unreadable data":  {`{"content":[{"type":"image","mimeType":"image/png","data":"%%%"},{"type":"text","text":"a"}]}`, "[image image/png: its data cannot be read]\na", false},
		"odd types":        {`{"isError":"true","content":[{"type":"text","text":5},{"type":"image","data":7},{"type":"resource","resource":{"uri":1,"text":{"a":1}}},{"type":"resource_link","uri":"u","name":3,"size":"large"}],"_meta":7}`, "5\n[image : its data cannot be read]\n[resource ]\n{\"a\":1}\n[resource u:  ]", true},
		// source: modelcontextprotocol/servers, filesystem 2026.8 read_media_file: the picture again in the structure
		"the picture again": {`{"content":[{"type":"image","mimeType":"image/png","data":"` + pixel + `"}],"structuredContent":{"content":[{"type":"image","mimeType":"image/png","data":"` + pixel + `"}]}}`, "[image image/png, 1200 bytes: attachment ID]", false},
		"a picture in it":   {`{"content":[],"structuredContent":{"ok":true,"shot":"` + pixel + `"}}`, `{"ok":true,"shot":"file image/png, 1200 bytes: attachment ID"}`, false},
		"a data URL":        {`{"content":[{"type":"text","text":"data:text/csv;charset=utf-8;base64,YSxi"}]}`, "[file text/csv, 3 bytes: attachment ID]", false},
		"letters":           {`{"content":[{"type":"text","text":"` + strings.Repeat("abcd", 500) + `"}]}`, strings.Repeat("abcd", 500), false},
		"no list":           {`{"content":{"type":"text","text":"a"}}`, "a", false},
		// source: GopherSecurity/gopher-mcp#202, samihalawa/mcp-server-smtp#4, urbanogardun/things3-mcp#4
		"a text alone":          {`"hello"`, "hello", false},
		"a number alone":        {`42`, "42", false},
		"a list alone":          {`[{"type":"text","text":"a"},"b"]`, "a\nb", false},
		"a block alone":         {`{"type":"text","text":"a"}`, "a", false},
		"content that is text":  {`{"content":"a"}`, "a", false},
		"no content":            {`{"structuredContent":{"a":1}}`, `{"a":1}`, false},
		"content null":          {`{"content":null,"structuredContent":{"a":1}}`, `{"a":1}`, false},
		"a text as a structure": {`{"content":[],"structuredContent":"a"}`, "a", false},
		"Python's names":        {`{"structured_content":{"a":1},"is_error":true}`, `{"a":1}`, true},
		"other members":         {`{"output":"a","n":12345678901234567890,"_meta":{}}`, `{"n":12345678901234567890,"output":"a"}`, false},
		"an error's text":       {`{"isError":true,"error":"no such file"}`, `{"error":"no such file"}`, true},
		"the first version":     {`{"toolResult":{"a":1}}`, `{"a":1}`, false},
	} {
		var m struct{ Result sdk.CallToolResult }
		if err := json.Unmarshal(usual([]byte(`{"jsonrpc":"2.0","id":1,"result":`+c.wire+`}`)), &m); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := resultOf(&m.Result, "shot", asIs)
		for _, b := range got.Blocks {
			got.Text = strings.Replace(got.Text, b.ID, "ID", 1)
		}
		if got.Text != c.want || got.IsError != c.failed {
			t.Errorf("%s: %q, failed %t, want %q", name, got.Text, got.IsError, c.want)
		}
	}
	long := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.Repeat("é", maxResult)}}}
	if got := resultOf(long, "t", asIs).Text; len(got) > maxResult+100 || !strings.HasSuffix(got, "…\n[cut here: the result has 131072 bytes]") {
		t.Errorf("a long one: %d bytes, …%s", len(got), got[len(got)-60:])
	}
}

// Pictures, sound and files of a result are blocks with their bytes and names for people.
func TestResultFiles(t *testing.T) {
	t.Parallel()
	r := &sdk.CallToolResult{Content: []sdk.Content{
		&sdk.ImageContent{MIMEType: "image/png", Data: []byte("one")},
		&sdk.TextContent{Text: "between"},
		&sdk.AudioContent{MIMEType: "audio/mpeg", Data: []byte("two")},
		&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///srv/reports/May%20report.pdf", MIMEType: "application/pdf", Blob: []byte("three")}},
		&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "screenshot://1", MIMEType: "image/jpeg", Blob: []byte("four")}},
	}}
	got := resultOf(r, "take_shot", asIs)
	want := []string{"image take_shot.png image/png one image", "file take_shot.mp3 audio/mpeg two audio", "file May report.pdf application/pdf three document", "image take_shot.jpg image/jpeg four image"}
	if len(got.Blocks) != len(want) {
		t.Fatalf("%d blocks: %+v", len(got.Blocks), got.Blocks)
	}
	seen := map[string]bool{}
	for i, b := range got.Blocks {
		data, err := base64.StdEncoding.DecodeString(b.Data)
		if is := fmt.Sprint(b.Type, " ", b.Media.Name, " ", b.Media.MIME, " ", string(data), " ", b.Media.Kind); err != nil || is != want[i] {
			t.Errorf("block %d: %s, %v", i, is, err)
		}
		if !strings.Contains(got.Text, "attachment "+b.ID+"]") || seen[b.ID] {
			t.Errorf("the text does not name %s: %s", b.ID, got.Text)
		}
		seen[b.ID] = true
	}
}

// What a tool gives and reports is shown without the server's secrets, also where it is cut in the middle of one.
func TestResultsAreSecretless(t *testing.T) {
	t.Parallel()
	const key = "key-0123456789"
	pad := strings.Repeat("x", maxResult-10)
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
