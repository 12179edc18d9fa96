package openai

import (
	"strings"
	"testing"

	"parley/router/turn"
)

// decodes checks what holds for every body: it is refused in the API's shape, or there is something to say.
func decodes(t *testing.T, tk talk, err error) {
	t.Helper()
	if err != nil {
		if p := problemOf(nil, err); p.status/100 != 4 || p.Message == "" || p.Type == "" {
			t.Fatalf("refused with %+v", p)
		}
		return
	}
	all := tk.alone()
	if strings.TrimSpace(tk.newest.text) == "" && len(tk.newest.pictures) == 0 || !strings.HasSuffix(all.text, tk.newest.text) || len(all.pictures) > turn.MaxPictures && len(all.pictures) > len(tk.newest.pictures) {
		t.Fatalf("nothing to say: %+v", tk)
	}
	head := strings.TrimSuffix(all.text, tk.newest.text)
	for line := range strings.SplitSeq(head, "\n") { // nothing of the past reads as if it were said now
		if line != "" && line != "The conversation so far:" && !strings.HasPrefix(line, "> ") && line != ">" {
			t.Fatalf("the past is not quoted: %q", line)
		}
	}
}

// FuzzChat reads bodies of chat completions.
func FuzzChat(f *testing.F) {
	for _, s := range []string{`{"model":"parley","messages":[{"role":"user","content":"hi"}]}`, `{"model":"m","messages":[{"role":"system","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":null},{"role":"user","content":[{"type":"text","text":"b"}]}],"n":1,"tools":[],"user":"u"}`,
		`{"model":"m","messages":[{"role":"user","content":"a\n\nb"},{"role":"user","content":"c"}]}`, `{"messages":null}`, `[]`, `{"model":"m","messages":[{"role":"user","content":{}}]}`,
		`{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/gif;base64,R0lGODlh"}}]},{"role":"user","content":"and now"}]}`, `{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":"https://x"}]}]}`,
		`{"model":"m","tools":[{}],"functions":[{}],"function_call":{"name":"f"},"messages":[{"role":"assistant","content":null,"tool_calls":[{}]},{"role":"tool","content":"o"},{"role":"user","content":"x"}]}`} {
		f.Add([]byte(s), strings.Contains(s, "tools"))
	}
	f.Fuzz(func(t *testing.T, body []byte, ignore bool) {
		_, o, err := readChat(body, ignore)
		decodes(t, o.talk, err)
	})
}

// FuzzResponse reads bodies of responses.
func FuzzResponse(f *testing.F) {
	for _, s := range []string{`{"model":"parley","input":"hi"}`, `{"model":"m","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]},{"type":"reasoning"}],"reasoning":{"effort":"low"}}`,
		`{"model":"m","input":[{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]},{"role":"user","content":"x"}],"text":{"format":{"type":"text"}}}`, `{"input":5}`, `{"model":"m","input":[5]}`, `{"model":"m","conversation":null,"prompt":{}}`, `{"model":"m","input":[{"role":"user","content":[{"type":"input_image","image_url":"data:;base64,R0lGODlh"}]}]}`,
		`{"model":"m","tools":[{}],"input":[{"type":"function_call","name":"f","arguments":"{}"},{"type":"function_call_output","output":"o"},{"role":"user","content":"x"}]}`, `{"model":"m","tools":5,"input":[{"type":"function_call_output","output":[]}],"metadata":{"a":"b"}}`} {
		f.Add([]byte(s), strings.Contains(s, "tools"))
	}
	f.Fuzz(func(t *testing.T, body []byte, ignore bool) {
		_, o, err := readResponse(body, ignore)
		decodes(t, o.talk, err)
	})
}

// TestGrow joins what was heard of a text to what the client has at the end.
func TestGrow(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		heard      []string
		last, want string
	}{
		"grows":                        {[]string{"a", "ab", "abc"}, "abcd", "abcd"},
		"nothing heard":                {nil, "all of it", "all of it"},
		"silence":                      {nil, "", ""},
		"a further step":               {[]string{"Let me see.", "It is"}, "It is noon.", "Let me see.\n\nIt is noon."},
		"tried again from the start":   {[]string{"Hello wor", "He", "Hello wor", "Hello world"}, "Hello world", "Hello world"},
		"tried again, in other words":  {[]string{"Hello", "Hi"}, "Hi there", "Hello\n\nHi there"},
		"blanks around":                {[]string{"\n a", "\n ab \n"}, "ab", "ab \n"},
		"the end begins an older step": {[]string{"I look it up."}, "I", "I look it up.\n\nI"},
	} {
		var g grow
		got := ""
		for _, h := range x.heard {
			got += g.next(h)
		}
		if got += g.last(x.last); got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

// TestNames: no two principals and users make the same session, and nobody's prefix is another's.
func TestNames(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, x := range [][2]string{{"a", "b"}, {"a/b", "c"}, {"a", "b/c"}, {"a%2Fb", "c"}, {"a", "/x"}, {"a", "%2Fx"}, {"", "a/b"}, {"a", ""}} {
		key := string(keyOf("main", name(x[0])+"/"+name(x[1])))
		if was, ok := seen[key]; ok {
			t.Errorf("%q and %v share %s", was, x, key)
		}
		seen[key] = x[0] + " " + x[1]
	}
}
