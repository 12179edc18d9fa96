package agent

import (
	"fmt"
	"testing"
	"time"

	"parley/channels"
	"parley/sessions"
	"parley/tools"
)

// talk is a chat of two, as it is in a prompt.
func talk(n int) (msgs []sessions.Message) {
	at := time.Date(2026, 3, 2, 8, 0, 0, 0, time.FixedZone("here", 3600))
	for i := range n {
		at = at.Add(time.Minute)
		m := sessions.Message{Role: sessions.Assistant, Time: at, Content: sessions.TextContent(fmt.Sprintf("echo: message %d", i))}
		if i%2 == 0 {
			m.Role, m.Provenance = sessions.User, &sessions.Provenance{Kind: sessions.ExternalUser, Sender: "100", Name: "One", Owner: true,
				Address: channels.Address{Channel: "telegram", Type: channels.Direct, Chat: "100"}, Channel: "telegram"}
		}
		msgs = append(msgs, m)
	}
	return msgs
}

// A prompt is counted before every call: that allocates nothing, however long the chat is.
func TestCountingAPromptAllocatesNothing(t *testing.T) {
	msgs := talk(100)
	if got, want := Origin(msgs[0]), "[message of Mon 2026-03-02 08:01, on telegram, by an owner]"; got != want {
		t.Fatalf("%q, want %q: the test would count something else", got, want)
	}
	if n := testing.AllocsPerRun(100, func() { Tokens(msgs...) }); n > 0 {
		t.Errorf("counting %d messages allocates %v times", len(msgs), n)
	}
	if n := testing.AllocsPerRun(100, func() { Repair(msgs, Target{}) }); n > 3*float64(len(msgs)) {
		t.Errorf("preparing %d messages allocates %v times", len(msgs), n)
	}
}

func BenchmarkPrompt(b *testing.B) {
	msgs := talk(100)
	b.Run("tokens", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Tokens(msgs...)
		}
	})
	b.Run("repair", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Repair(msgs, Target{})
		}
	})
}

// What a turn is given is shared with who gave it: steps are put behind a copy, and times are put into a zone in a copy.
func TestATurnLeavesItsHistoryAlone(t *testing.T) {
	for _, zone := range []*time.Location{nil, time.FixedZone("there", 7200)} {
		msgs := talk(8)
		at := msgs[6].Time
		tool := &fakeTool{name: "count", do: func(tools.Call) (tools.Result, error) { return tools.Result{Text: "1"}, nil }}
		m := &script{answers: []any{calls(callBlock("c1", "count", `{"n":1}`)), say("done")}}
		var l Loop
		if _, err := l.Run(t.Context(), Turn{Model: m, History: msgs[:7], Tools: []tools.Tool{tool}, Zone: zone}); err != nil {
			t.Fatal(err)
		}
		if n := len(m.prompts[1].Messages); n != 9 {
			t.Fatalf("the second call shows %d messages, want the seven, the call and its result", n)
		}
		if got := msgs[7].Text(); got != "echo: message 7" {
			t.Errorf("zone %v: behind the history stands %q now", zone, got)
		}
		if msgs[6].Time.Location() != at.Location() {
			t.Errorf("zone %v: a message of the history has another time", zone)
		}
	}
}

func TestCountingToolsAllocatesNothing(t *testing.T) {
	spec := tools.Spec{Name: "count", Description: "counts", Schema: []byte(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}
	if n := testing.AllocsPerRun(100, func() { SpecTokens(spec) }); n > 0 {
		t.Errorf("counting a tool allocates %v times", n)
	}
}
