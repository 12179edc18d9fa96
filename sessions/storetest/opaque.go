package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"parley/sessions"
)

// sealed is an assistant message with something that its provider wants back with each of its blocks but the text.
func sealed(from, data string) sessions.Message {
	m := assistant("said")
	m.Content = []sessions.Block{
		{Type: sessions.ThinkingBlock, Text: "I should look", Opaque: &sessions.Opaque{From: from, Data: json.RawMessage(data)}},
		{Type: sessions.ThinkingBlock, Opaque: &sessions.Opaque{From: from, Data: json.RawMessage(data)}},
		{Type: sessions.TextBlock, Text: "said"},
		{Type: sessions.ToolCallBlock, ID: "c", Name: "x", Arguments: json.RawMessage(`{}`), Opaque: &sessions.Opaque{From: from}},
	}
	return m
}

// opaques writes down what a message has for its provider, block by block; "-" = nothing.
func opaques(m sessions.Message) string {
	var out []string
	for _, b := range m.Content {
		if b.Opaque == nil {
			out = append(out, "-")
		} else {
			out = append(out, b.Opaque.From+":"+string(b.Opaque.Data))
		}
	}
	return strings.Join(out, " ")
}

// oddData is JSON whose bytes another writer of JSON would change: spaces, characters of HTML, escapes, a number that no float holds.
const oddData = `{ "a<b&c": "\u00e9\/é` + "\u2028" + `\u0000",  "n": 12345678901234567890.10 }`

// What a provider wants back comes back byte by byte where prompts are made, from each way in, and is nowhere else.
func opaque(_ *testing.T, f *fixture) {
	a := f.accept(message("1", "1", "q"))
	f.claim(key("1"))
	f.ok(f.Record(f.ctx, a.Run.ID, sealed("rec", oddData), toolResult("c", "42")))
	steps, err := f.Steps(f.ctx, a.Run.ID)
	f.ok(err)
	want := func(from string) string { return fmt.Sprintf("%[1]s:%[2]s %[1]s:%[2]s - %[1]s:", from, oddData) }
	f.equal([]string{opaques(steps[0]), opaques(steps[1])}, []string{want("rec"), "-"})
	f.ok(f.Record(f.ctx, a.Run.ID, sealed("again", `1`))) // has an id of its own
	f.finish(a.Run.ID, sessions.Outcome{Messages: []sessions.Message{sealed("fin", oddData)}})

	read := func(q sessions.TailQuery) (out []string) {
		for _, m := range f.tail(a.Session.ID, q) {
			if m.Role == sessions.Assistant {
				out = append(out, opaques(m))
			}
		}
		return out
	}
	f.equal(read(sessions.TailQuery{Opaque: true, IncludeTool: true}), []string{want("rec"), "again:1 again:1 - again:", want("fin")})
	f.equal(read(sessions.TailQuery{Opaque: true, Limit: 1}), []string{want("fin")})
	f.equal(read(sessions.TailQuery{}), []string{"- - -", "- - -", "- - -"}) // thinking without text is not shown either
	for _, word := range []string{"12345678901234567890", "rec", "fin"} {
		hits, err := f.Search(f.ctx, sessions.SearchQuery{Text: word})
		f.ok(err)
		f.equal(len(hits), 0)
	}
	f.nowhere(a, "12345678901234567890")
}

// nowhere fails when a text is in anything that a store gives of a chat's message, besides what is for prompts.
func (f *fixture) nowhere(a sessions.Accepted, text string) {
	f.t.Helper()
	runs, err := f.ListRuns(f.ctx, sessions.RunQuery{})
	f.ok(err)
	paths, err := f.Trace(f.ctx, string(a.Run.ID))
	f.ok(err)
	hits, err := f.Search(f.ctx, sessions.SearchQuery{Text: "said"})
	f.ok(err)
	for what, v := range map[string]any{"runs": runs, "trace": paths, "tail": f.tail(a.Session.ID, sessions.TailQuery{IncludeTool: true}), "hits": hits} {
		b, err := json.Marshal(v)
		f.ok(err)
		if strings.Contains(string(b), text) {
			f.t.Errorf("%s has it: %s", what, b)
		}
	}
}

// Earlier versions kept signatures and encrypted reasoning in the blocks: prompts have them as they were, nothing else has them.
func opaqueBefore(_ *testing.T, f *fixture) {
	a := f.accept(message("1", "1", "q"))
	f.claim(key("1"))
	m := assistant("")
	m.Content = []sessions.Block{
		{Type: sessions.ThinkingBlock, Text: "I should look", Signature: new("SIG==")},
		{Type: sessions.ThinkingBlock, Data: "REDACTED=="},
		{Type: sessions.ImageBlock, Data: "PICTURE==", MIME: "image/png"},
	}
	f.finish(a.Run.ID, sessions.Outcome{Messages: []sessions.Message{m}})
	got := f.tail(a.Session.ID, sessions.TailQuery{Opaque: true, Limit: 1})[0]
	f.equal(got.Content, m.Content)
	got = f.tail(a.Session.ID, sessions.TailQuery{Limit: 1})[0]
	f.equal(got.Content, []sessions.Block{{Type: sessions.ThinkingBlock, Text: "I should look"}, m.Content[2]})
	steps, err := f.Steps(f.ctx, a.Run.ID)
	f.ok(err)
	f.equal(steps[0].Content, m.Content)
}

// More than MaxOpaque of a message is dropped whole, and so is what is no JSON; where it came from stays.
func opaqueBound(_ *testing.T, f *fixture) {
	half := func(n int) string { return `"` + strings.Repeat("x", n-2) + `"` }
	for i, c := range []struct {
		data string
		kept bool
	}{
		{half(sessions.MaxOpaque / 2), true}, // twice in a message
		{half(sessions.MaxOpaque/2 + 1), false},
		{`{"a":`, false},
		{"\"\xff\"", false},
	} {
		chat := fmt.Sprint(i)
		a := f.accept(message(chat, "1", "q"))
		f.claim(key(chat))
		f.finish(a.Run.ID, sessions.Outcome{Messages: []sessions.Message{sealed("x", c.data)}})
		got := opaques(f.tail(a.Session.ID, sessions.TailQuery{Opaque: true, Limit: 1})[0])
		want := "x: x: - x:"
		if c.kept {
			want = "x:" + c.data + " x:" + c.data + " - x:"
		}
		if got != want {
			f.t.Errorf("case %d: %d bytes, want %d", i, len(got), len(want))
		}
	}
}

// A run that is taken up after a kill has what its steps had for their provider.
func opaqueResumed(_ *testing.T, f *fixture) {
	a := f.accept(message("1", "1", "q"))
	f.claim(key("1"))
	f.ok(f.Record(f.ctx, a.Run.ID, sealed("x", oddData), toolResult("c", "r")))
	_, _, err := f.Recover(f.ctx)
	f.ok(err)
	f.equal(f.claim(key("1")).ID, a.Run.ID)
	f.ok(f.Record(f.ctx, a.Run.ID, toolResult("c", "r")))
	steps, err := f.Steps(f.ctx, a.Run.ID)
	f.ok(err)
	i := slices.IndexFunc(steps, func(m sessions.Message) bool { return m.Role == sessions.Assistant })
	f.equal(opaques(steps[i]), fmt.Sprintf("x:%[1]s x:%[1]s - x:", oddData))
}
