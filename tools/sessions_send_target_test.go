package tools

import (
	"context"
	"strings"
	"testing"

	"parley/sessions"
)

// A configured agent that the caller sees can be asked before anybody wrote to it; an agent that there is not, one that is not seen, and
// other sessions that there are not, are refused in the words for what does not exist.
// source: openclaw/openclaw#81365, openclaw/openclaw#109957
//
// proves: S17, V4
func TestSessionsSendMeetsAnAgent(t *testing.T) {
	t.Parallel()
	all := sessions.Rules{Mode: sessions.SeeAll, A2AEnabled: true}
	for name, c := range map[string]struct {
		rules sessions.Rules
		to    string
		want  string // the status
	}{
		"configured":         {all, "agent:coder:main", "accepted"},
		"its own main":       {all, "agent:main:main", "forbidden"},
		"unknown":            {all, "agent:nobody:main", "error"},
		"another session":    {all, "agent:coder:telegram:group:-9", "error"},
		"another thread":     {all, "agent:coder:main:thread:7", "error"},
		"out of sight":       {sessions.Rules{Mode: sessions.SeeAgent}, "agent:coder:main", "forbidden"},
		"out of sight, none": {sessions.Rules{Mode: sessions.SeeAgent}, "agent:nobody:main", "forbidden"},
	} {
		w := family()
		w.rules = c.rules
		if r := call[sendResult](t, w, SessionsSend(w.deps()), `{"sessionKey":"`+c.to+`","message":"hi","timeoutSeconds":0}`); r.Status != c.want || (len(w.asked) == 1) != (c.want == "accepted") {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// A send to a session that waits for the caller, itself or by way of others, is refused at once and names the circle; after the wait it may go.
//
// proves: S18
func TestSessionsSendInACircle(t *testing.T) {
	t.Parallel()
	w := family()
	const a, b, c = "agent:main:main", "agent:main:telegram:group:-1001", "agent:main:telegram:group:-1002"
	w.add(c)
	tool := SessionsSend(w.deps())
	as := func(key sessions.Key, to, timeout string) sendResult {
		s, err := w.Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		before := w.caller
		w.caller.Session = s
		defer func() { w.caller = before }()
		return callAs[sendResult](t, w, tool, string(key)+to+timeout, `{"sessionKey":"`+to+`","message":"hi","timeoutSeconds":`+timeout+`}`)
	}
	w.finish = func(_ context.Context, id sessions.RunID) (sessions.Run, error) {
		if id == "ask-1" { // while a waits for b, b asks c
			if r := as(b, c, "9"); r.Status != "ok" {
				t.Errorf("b asks c: %+v", r)
			}
		}
		if id == "ask-2" { // while b waits for c, c asks a
			if r := as(c, a, "9"); r.Status != "forbidden" || !strings.Contains(r.Error, "-1002 → main → agent:main:telegram:group:-1001 → agent:main:telegram:group:-1002") {
				t.Errorf("c asks a: %+v", r)
			}
			if r := as(c, a, "0"); r.Status != "accepted" { // it does not wait
				t.Errorf("c tells a: %+v", r)
			}
		}
		return sessions.Run{ID: id, Status: sessions.Done, Result: "words"}, nil
	}
	if r := as(a, b, "9"); r.Status != "ok" {
		t.Errorf("a asks b: %+v", r)
	}
	if r := as(b, a, "9"); r.Status != "ok" {
		t.Errorf("b asks a later: %+v", r)
	}
}
