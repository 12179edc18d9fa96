package transcripttest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

// sealedMessage is an assistant message with something that its provider wants back with each of its blocks but the text.
func sealedMessage(from, data string) sessions.Message {
	m := fixture.Assistant("said")
	m.Content = []sessions.Block{
		{Type: sessions.ThinkingBlock, Text: "I should look", Opaque: &sessions.Opaque{From: from, Data: json.RawMessage(data)}},
		{Type: sessions.ThinkingBlock, Opaque: &sessions.Opaque{From: from, Data: json.RawMessage(data)}},
		{Type: sessions.TextBlock, Text: "said"},
		{Type: sessions.ToolCallBlock, ID: "c", Name: "x", Arguments: json.RawMessage(`{}`), Opaque: &sessions.Opaque{From: from}},
	}
	return m
}

// opaqueData writes down what a message has for its provider, block by block; "-" = nothing.
func opaqueData(m sessions.Message) string {
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
func opaque(f *fixture.Store) {
	a := f.MustAccept(fixture.NewArrival("1", "1", "q"))
	f.MustClaim(fixture.Key("1"))
	f.OK(f.Record(f.Context(), a.Run.ID, sealedMessage("rec", oddData), fixture.ToolResult("c", "42")))
	steps, err := f.Steps(f.Context(), a.Run.ID)
	f.OK(err)
	want := func(from string) string { return fmt.Sprintf("%[1]s:%[2]s %[1]s:%[2]s - %[1]s:", from, oddData) }
	f.Equal([]string{opaqueData(steps[0]), opaqueData(steps[1])}, []string{want("rec"), "-"})
	f.OK(f.Record(f.Context(), a.Run.ID, sealedMessage("again", `1`))) // has an id of its own
	f.MustFinish(a.Run.ID, sessions.Outcome{Messages: []sessions.Message{sealedMessage("fin", oddData)}})

	read := func(q sessions.TailQuery) (out []string) {
		for _, m := range f.MustTail(a.Session.ID, q) {
			if m.Role == sessions.Assistant {
				out = append(out, opaqueData(m))
			}
		}
		return out
	}
	f.Equal(read(sessions.TailQuery{Opaque: true, IncludeTool: true}), []string{want("rec"), "again:1 again:1 - again:", want("fin")})
	f.Equal(read(sessions.TailQuery{Opaque: true, Limit: 1}), []string{want("fin")})
	f.Equal(read(sessions.TailQuery{}), []string{"- - -", "- - -", "- - -"}) // thinking without text is not shown either
	for _, word := range []string{"12345678901234567890", "rec", "fin"} {
		hits, err := f.Search(f.Context(), sessions.SearchQuery{Text: word})
		f.OK(err)
		f.Equal(len(hits), 0)
	}
	wantNowhere(f, a, "12345678901234567890")
}

// wantNowhere fails when a text is in anything that a store gives of a chat's message, besides what is for prompts.
func wantNowhere(f *fixture.Store, a sessions.Accepted, text string) {
	f.Helper()
	runs, err := f.ListRuns(f.Context(), sessions.RunQuery{})
	f.OK(err)
	paths, err := f.Trace(f.Context(), string(a.Run.ID))
	f.OK(err)
	hits, err := f.Search(f.Context(), sessions.SearchQuery{Text: "said"})
	f.OK(err)
	for what, v := range map[string]any{"runs": runs, "trace": paths, "tail": f.MustTail(a.Session.ID, sessions.TailQuery{IncludeTool: true}), "hits": hits} {
		b, err := json.Marshal(v)
		f.OK(err)
		if strings.Contains(string(b), text) {
			f.Errorf("%s has it: %s", what, b)
		}
	}
}

// Earlier versions kept signatures and encrypted reasoning in the blocks: prompts have them as they were, nothing else has them.
func opaqueBefore(f *fixture.Store) {
	a := f.MustAccept(fixture.NewArrival("1", "1", "q"))
	f.MustClaim(fixture.Key("1"))
	m := fixture.Assistant("")
	m.Content = []sessions.Block{
		{Type: sessions.ThinkingBlock, Text: "I should look", Signature: new("SIG==")},
		{Type: sessions.ThinkingBlock, Data: "REDACTED=="},
		{Type: sessions.ImageBlock, Data: "PICTURE==", MIME: "image/png"},
	}
	f.MustFinish(a.Run.ID, sessions.Outcome{Messages: []sessions.Message{m}})
	got := f.MustTail(a.Session.ID, sessions.TailQuery{Opaque: true, Limit: 1})[0]
	f.Equal(got.Content, m.Content)
	got = f.MustTail(a.Session.ID, sessions.TailQuery{Limit: 1})[0]
	f.Equal(got.Content, []sessions.Block{{Type: sessions.ThinkingBlock, Text: "I should look"}, m.Content[2]})
	steps, err := f.Steps(f.Context(), a.Run.ID)
	f.OK(err)
	f.Equal(steps[0].Content, m.Content)
}

// More than MaxOpaque of a message is dropped whole, and so is what is no JSON; where it came from stays.
func opaqueBound(f *fixture.Store) {
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
		a := f.MustAccept(fixture.NewArrival(chat, "1", "q"))
		f.MustClaim(fixture.Key(chat))
		f.MustFinish(a.Run.ID, sessions.Outcome{Messages: []sessions.Message{sealedMessage("x", c.data)}})
		got := opaqueData(f.MustTail(a.Session.ID, sessions.TailQuery{Opaque: true, Limit: 1})[0])
		want := "x: x: - x:"
		if c.kept {
			want = "x:" + c.data + " x:" + c.data + " - x:"
		}
		if got != want {
			f.Errorf("case %d: %d bytes, want %d", i, len(got), len(want))
		}
	}
}

// A run that is taken up after a kill has what its steps had for their provider.
func opaqueResumed(f *fixture.Store) {
	a := f.MustAccept(fixture.NewArrival("1", "1", "q"))
	f.MustClaim(fixture.Key("1"))
	f.OK(f.Record(f.Context(), a.Run.ID, sealedMessage("x", oddData), fixture.ToolResult("c", "r")))
	_, _, err := f.Recover(f.Context())
	f.OK(err)
	f.Equal(f.MustClaim(fixture.Key("1")).ID, a.Run.ID)
	f.OK(f.Record(f.Context(), a.Run.ID, fixture.ToolResult("c", "r")))
	steps, err := f.Steps(f.Context(), a.Run.ID)
	f.OK(err)
	i := slices.IndexFunc(steps, func(m sessions.Message) bool { return m.Role == sessions.Assistant })
	f.Equal(opaqueData(steps[i]), fmt.Sprintf("x:%[1]s x:%[1]s - x:", oddData))
}
