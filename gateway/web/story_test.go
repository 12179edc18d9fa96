package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/gateway/api"
	"parley/sessions"
)

// A run's story has everything in the order in which it happened: calls with their results, deliveries with what became of them.
func TestStory(t *testing.T) {
	t.Parallel()
	zero := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return zero.Add(time.Duration(s) * time.Second) }
	run := &sessions.Run{ID: "r", Key: "agent:main:main", Status: sessions.Failed, Attempt: 2, Created: at(0), Started: at(3), Ended: at(20), Error: "it broke",
		Input: sessions.Message{Content: sessions.TextContent("do it"), Provenance: &sessions.Provenance{Kind: sessions.InterSession, Source: "agent:other:main"}}}
	call := func(id string) sessions.Block {
		return sessions.Block{Type: sessions.ToolCallBlock, ID: id, Name: "look", Arguments: json.RawMessage(`{"b":"second","n":1,"a":"first"}`)}
	}
	got := story(sessions.Trace{Accepted: at(0), Run: run, Steps: []sessions.Message{
		{Role: sessions.Assistant, Time: at(5), Content: []sessions.Block{{Type: sessions.TextBlock, Text: "I *look* <b>"}, call("1"), call("2")}},
		{Role: sessions.ToolResult, Time: at(6), ToolCallID: "1", IsError: true, Content: sessions.TextContent("nothing there")},
		{Role: sessions.User, Time: at(8), Content: sessions.TextContent("and hurry")},
	}, Deliveries: []sessions.Delivery{{ID: "d", To: channels.Address{Channel: "telegram"}, State: sessions.Withheld, Created: at(10)}}}, names{})
	var b strings.Builder
	for _, m := range got {
		fmt.Fprintf(&b, "%.0f %s %q %s %s%s", m.After.Seconds(), m.Kind, m.Title, m.Tone, m.Text, m.HTML)
		if m.Tool != nil {
			fmt.Fprintf(&b, "%s %v %v %s", m.Tool.Gist, m.Tool.Failed, m.Tool.Open, m.Tool.Result)
		}
		b.WriteString("\n")
	}
	want := `0 accepted "Main session of other asked"  do it
3 begun "Turn started again, attempt 2"  
5 said "Said"  <p>I <em>look</em> &lt;b&gt;</p>

5 tool "look" bad first · second true false nothing there
5 tool "look"  first · second false true 
8 accepted "Added during the turn"  and hurry
10 delivery "To  on telegram" warn 
20 ended "Failed" bad it broke
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	if ms := story(sessions.Trace{Accepted: at(0), Skip: "not mentioned"}, names{}); len(ms) != 1 || ms[0].Title != "No turn: not mentioned" {
		t.Errorf("a message that caused nothing: %+v", ms)
	}
	if text := bounded(strings.Repeat("ä", maxShown+1234)); !strings.HasSuffix(text, "… and 1,234 more characters") {
		t.Errorf("cut to %s", text[len(text)-60:])
	}
}

// What a person can mend goes to the field that the API names; the rest is no refusal.
func TestRefusal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err   error
		field string
		ok    bool
	}{
		{api.Bad("cron %q: five fields", "x"), "cron", true},
		{api.Bad("to: no such chat"), "to", true},
		{api.Bad("together: no field"), "", true},
		{fmt.Errorf("no code: %w", sessions.ErrNotFound), "", true},
		{fmt.Errorf("taken: %w", sessions.ErrConflict), "", true},
		{api.Refuse(403, "to use this needs more"), "", false},
		{api.Refuse(503, "cron is off"), "", false},
		{errors.New("to: disk full"), "", false},
		{nil, "", false},
	} {
		f, ok := refusedBy(tt.err, "to", "cron")
		if ok != tt.ok || f.Field != tt.field || ok && f.Text != tt.err.Error() {
			t.Errorf("%v: %+v, %t", tt.err, f, ok)
		}
	}
}

// The form of a job changes what was changed in it, and nothing else.
func TestJobPatch(t *testing.T) {
	t.Parallel()
	job := api.Job{ID: "j", Name: "Bins", Message: "out", Cron: "0 19 * * 1", Zone: "Europe/Berlin", To: "telegram/default/direct/1"}
	f := *formOf(job)
	if p := f.patch(job); p != (api.JobPatch{ID: "j"}) {
		t.Errorf("an untouched form changes %+v", p)
	}
	f.Way, f.When, f.To = "every", "24h", ""
	if p := f.patch(job); p != (api.JobPatch{ID: "j", Every: api.Some("24h"), To: api.Some("")}) {
		t.Errorf("got %+v", p)
	}
}
