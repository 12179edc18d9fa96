package tools

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"parley/sessions"
)

// proves: S14
func TestRemember(t *testing.T) {
	t.Parallel()
	w := newWorld()
	tool := Remember(w.deps())
	for range 2 { // the same call twice: one note
		if r := call[rememberResult](t, w, tool, `{"text":" tea, not coffee "}`); r.Status != "ok" {
			t.Fatalf("%+v", r)
		}
	}
	if len(w.notes) != 1 || w.notes[0].Text != "tea, not coffee" || w.notes[0].Key != "agent:main:main" {
		t.Errorf("notes: %+v", w.notes)
	}
	for _, args := range []string{`{"text":" "}`, `{}`, `{"text":"` + strings.Repeat("x", maxNote+1) + `"}`} {
		if r := call[problem](t, w, tool, args); r.Status != "error" || len(w.notes) != 1 {
			t.Errorf("%.40s: %+v", args, r)
		}
	}
}

// proves: V1, V4, K7
func TestRecallKeepsToWhatTheCallerSees(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{"self": "mine", "tree": "child, mine", "agent": "stranger, gone, child, mine", "all": "stranger, gone, child, mine"} {
		w := family()
		w.rules = sessions.Rules{Mode: mode}
		w.add("agent:main:telegram:direct:8")
		for key, text := range map[int][2]string{0: {"agent:main:main", "mine"}} {
			w.notes = append(w.notes, sessions.Note{ID: int64(key), Key: sessions.Key(text[0]), Text: text[1], Time: noon})
		}
		for _, n := range [][2]string{{"agent:main:subagent:1", "child"}, {"agent:main:subagent:deleted", "gone"}, {"agent:main:telegram:direct:8", "stranger"}, {"agent:work:main", "work's"}} {
			w.notes = append(w.notes, sessions.Note{Key: sessions.Key(n[0]), Text: n[1], Time: noon})
		}
		r := call[recallResult](t, w, Recall(w.deps()), `{}`)
		var got []string
		for _, n := range r.Notes {
			got = append(got, n.Text)
		}
		if strings.Join(got, ", ") != want || r.Count != len(got) {
			t.Errorf("%s: %v, want %s", mode, got, want)
		}
	}
}

func TestRecallIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.redact = func(s string) string { return strings.ReplaceAll(s, "s3cret", "[secret]") }
	for i := range 200 {
		w.notes = append(w.notes, sessions.Note{Key: "agent:main:main", Text: fmt.Sprint("s3cret ", i, strings.Repeat(" word", i)), Time: noon})
	}
	r, err := Recall(w.deps()).Call(t.Context(), Call{Args: json.RawMessage(`{"limit":1000}`), Caller: w.caller})
	if err != nil || len(r.Text) > recallBytes || !strings.Contains(r.Text, `"truncated":true`) || strings.Contains(r.Text, "s3cret") {
		t.Errorf("%d bytes, %v: %.300s", len(r.Text), err, r.Text)
	}
	if v := call[recallResult](t, w, Recall(w.deps()), `{"query":" 199 word","limit":3}`); v.Count != 1 || v.Notes[0].When != "2026-03-01T12:00:00Z" || v.Notes[0].From != "main" {
		t.Errorf("query: %+v", v)
	}
}

// When no note has all words, those with most of them come first.
func TestRecallNearest(t *testing.T) {
	t.Parallel()
	w := newWorld()
	for i, text := range []string{"Mimi the cat eats fish", "the cat sleeps", "dogs", "a cat of others"} {
		key := sessions.Key("agent:main:main")
		if i == 3 {
			key = "agent:work:main"
		}
		w.notes = append(w.notes, sessions.Note{ID: int64(i + 1), Key: key, Text: text, Time: noon})
	}
	for query, want := range map[string]string{
		"cat fish bread": "Mimi the cat eats fish, the cat sleeps (partial)", "cat": "the cat sleeps, Mimi the cat eats fish", "bread butter": "", "cat eats": "Mimi the cat eats fish",
	} {
		r := call[recallResult](t, w, Recall(w.deps()), `{"query":"`+query+`"}`)
		var got []string
		for _, n := range r.Notes {
			got = append(got, n.Text)
		}
		have := strings.Join(got, ", ")
		if r.Partial {
			have += " (partial)"
		}
		if have != want {
			t.Errorf("%s: %s, want %s", query, have, want)
		}
	}
}
