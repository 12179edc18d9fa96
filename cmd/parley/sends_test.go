package main

import (
	"strings"
	"testing"
	"time"

	"parley/agent/modeltest"
	"parley/sessions"
)

// TestSendResults is what the model of the requester sees of its sends.
//
// proves: S1, S2, S3, S5, S12, K9
func TestSendResults(t *testing.T) {
	t.Parallel()
	tn := newTown(t, setup{Session: "{agentToAgent: {maxPerMinute: 3}}"})
	tn.start()
	tn.meet(tn.hereB(), tn.groupB())
	idOfB := string(tn.sessions(false)[atB].ID)
	tn.hereA().tell(program(
		askFor(atB, program(hold("b"), say("late")), 0), // accepted: b has not even begun to answer
		hold("accepted"),
		askFor(idOfB, say("  in time \n"), 20),
		askFor(atB, fail(), 20),
		askFor(atB, say("once too often"), 20),
		askFor(atA, say("to myself"), 20),
		askFor("agent:b:telegram:two:group:-1", "hello?", 20),
		askFor("the other one", "hello?", 20),
		askFor(groupOfB, " \n", 20),
		use("sessions_send", map[string]any{"sessionKey": atB}),
		say("that was all"),
	))
	if r := told[outcome](tn.world, atA, "sessions_send", 1); r.Status != "accepted" || r.RunID == "" || r.Reply != "" {
		t.Errorf("timeoutSeconds 0: %+v", r)
	}
	tn.asked(atB, "ask", 1) // it was durable, and went on
	tn.free("b")
	tn.free("accepted")
	if got := tn.shows(tn.hereA(), 1); got[0] != "that was all" {
		t.Errorf("a says %q", got)
	}
	for i, want := range []struct{ status, reply, says string }{
		1: {"ok", "in time", ""},
		2: {"error", "", "401"},
		3: {"forbidden", "", "More than 3 messages to that session within a minute"},
		4: {"forbidden", "", "cannot send to itself"},
		5: {"error", "", "Session not found: agent:b:telegram:two:group:-1"},
		6: {"error", "", "neither a session key nor a session id"},
		7: {"error", "", "message is required"},
	} {
		if want.status == "" {
			continue
		}
		r := told[outcome](tn.world, atA, "sessions_send", i+1)
		if r.Status != want.status || r.Reply != want.reply || !strings.Contains(r.Error, want.says) || (r.RunID == "") != (i > 2) {
			t.Errorf("result %d: %+v, want %+v", i, r, want)
		}
	}
	if got := tn.results(atA, "sessions_send"); len(got) != 9 || !strings.Contains(got[8].Text, "message") {
		t.Errorf("a call without a message: %+v", got[len(got)-1])
	}
	tn.quiet()
	if n := len(tn.modelCalls(atB, "ask")); n != 3 {
		t.Errorf("b was asked %d times, not 3", n)
	}
	tn.only(map[place]int{tn.hereA(): 1, tn.hereB(): 1, tn.groupB(): 1})
}

// TestSendAround follows a chain of sends from a to b to c and back: it is refused where it would close, with its names, and where
// it gets too long.
//
// proves: S12
func TestSendAround(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		session      string
		toB, toC     string // what the model of b, of c was told about its send
		named        []string
		backFromThis string
	}{
		"cycle": {"{}", "ok", "forbidden", []string{atA + " → " + atB + " → " + groupOfB + " → " + atA}, groupOfB},
		"hops":  {"{agentToAgent: {maxHops: 1}}", "forbidden", "", []string{"maxHops", atA + " → " + atB}, atB},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tn := newTown(t, setup{Session: test.session})
			tn.start()
			tn.meet(tn.hereB(), tn.groupB())
			back := program(askFor(atA, say("again"), 20), say("c is done"))
			on := program(askFor(groupOfB, back, 20), say("b is done"))
			tn.hereA().tell(program(askFor(atB, on, 20), say("a is done")))
			tn.shows(tn.hereA(), 1)
			if r := told[outcome](tn.world, atA, "sessions_send", 1); r.Status != "ok" || r.Reply != "b is done" {
				t.Errorf("a was told %+v", r)
			}
			if r := told[outcome](tn.world, atB, "sessions_send", 1); r.Status != test.toB {
				t.Errorf("b was told %+v", r)
			}
			if test.toC != "" {
				if r := told[outcome](tn.world, groupOfB, "sessions_send", 1); r.Status != test.toC {
					t.Errorf("c was told %+v", r)
				}
			}
			r := told[outcome](tn.world, test.backFromThis, "sessions_send", 1)
			for _, n := range test.named {
				if !strings.Contains(r.Error, n) {
					t.Errorf("the refusal does not say %q: %s", n, r.Error)
				}
			}
			tn.only(map[place]int{tn.hereA(): 1, tn.hereB(): 1, tn.groupB(): 1})
		})
	}
}

// TestSendTooLate has the wait end before b is done: the reply is a's next message then, once, and sessions_history shows it.
//
// proves: S4, S9, S13
func TestSendTooLate(t *testing.T) {
	t.Parallel()
	tn := newTown(t, setup{})
	tn.start()
	tn.meet(tn.hereB())
	tn.hereA().tell(program(askFor(atB, program(hold("b"), say("better late")), 1), say("no answer yet")))
	if r := told[outcome](tn.world, atA, "sessions_send", 1); r.Status != "timeout" || r.RunID == "" || r.Reply != "" || r.Error == "" {
		t.Errorf("a was told %+v", r)
	}
	tn.shows(tn.hereA(), 1)
	tn.free("b")
	step := tn.asked(atA, "reply", 1)[0]
	if got := spokenText(step.LastUserText()); got != "better late" {
		t.Errorf("a's reply step begins with %q", got)
	}
	tn.asked(atB, "announce", 1)
	tn.quiet()
	tn.hereA().tell(program(use("sessions_history", map[string]any{"sessionKey": atB}), say("and now?")))
	tn.shows(tn.hereA(), 2)
	if got := tn.results(atA, "sessions_history"); len(got) != 1 || !strings.Contains(got[0].Text, `"text":"better late"`) {
		t.Errorf("b's history: %+v", got)
	}
	if n := mentions(tn.modelCalls(atA, "turn")[2], "better late"); n != 1 {
		t.Errorf("the reply is %d times in a's context, not once", n)
	}
}

// TestSendInTime has the wait end with b's reply: a's reply step refers to it and does not repeat it.
//
// proves: S3, S13
func TestSendInTime(t *testing.T) {
	t.Parallel()
	tn := newTown(t, setup{})
	tn.start()
	tn.meet(tn.hereB())
	tn.hereA().tell(program(askFor(atB, say("right on time"), 20), say("thanks")))
	step := tn.asked(atA, "reply", 1)[0]
	if n := mentions(step, "right on time"); n != 1 || strings.Contains(step.System, "right on time") {
		t.Errorf("the reply is %d times in a's context, not once:\n%s\n%+v", n, step.System, step.Messages)
	}
	if got := step.LastUserText(); !strings.Contains(got, "the result of your sessions_send call") {
		t.Errorf("a's reply step begins with %q", got)
	}
}

// mentions counts the messages of a call that came from outside (users, tools) and hold a text. Programs do not count.
func mentions(c call, text string) (n int) {
	for _, m := range c.Messages {
		if m.Role != "assistant" && strings.Contains(m.Text, text) && !isLine(spokenText(m.Text)) {
			n++
		}
	}
	return n
}

// TestSendOverRestart kills the host while a waits for b: the wait goes on in the next process, for the same run, which is there once.
//
// proves: S6, S14
func TestSendOverRestart(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]bool{"b at work": false, "b done meanwhile": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tn := newTown(t, setup{})
			p := tn.start()
			tn.meet(tn.hereB())
			question := program(hold("b"), say("after all"))
			tn.hereA().tell(program(askFor(atB, question, 60), hold("a"), say("b says: after all")))
			first := tn.asked(atB, "ask", 1)[0]
			if late { // b's answer is stored, a's turn is at work
				tn.free("b")
				tn.until(20*time.Second, "a was told", func() bool { return len(tn.results(atA, "sessions_send")) == 1 })
			}
			p.kill()
			tn.free("b")
			tn.start()
			tn.free("a")
			if got := tn.shows(tn.hereA(), 1); got[0] != "b says: after all" {
				t.Errorf("a says %q", got)
			}
			if r := told[outcome](tn.world, atA, "sessions_send", 1); r.Status != "ok" || r.Reply != "after all" {
				t.Errorf("a was told %+v", r)
			}
			tn.asked(atB, "announce", 1)
			tn.quiet()
			lines := tn.file(atB, "after all", "Announce step")
			if n := len(said(t, lines, spokenText(first.LastUserText()))); n != 1 {
				t.Errorf("the question is %d times in b's transcript", n)
			}
			if n := len(tn.modelCalls(atB, "announce")); n != 1 {
				t.Errorf("%d announce steps", n)
			}
			tn.only(map[place]int{tn.hereA(): 1, tn.hereB(): 1})
		})
	}
}

// TestForeignCommands sends texts that look like commands: what another session says runs none.
//
// proves: S8
func TestForeignCommands(t *testing.T) {
	t.Parallel()
	tn := newTown(t, setup{})
	tn.words = func(c call) modeltest.Reply {
		if c.Step == "reply" && len(tn.modelCalls("", "reply")) < 3 {
			return words("/send off")
		}
		return words(map[string]string{"reply": "REPLY_SKIP", "announce": "/send off"}[c.Step])
	}
	tn.start()
	tn.meet(tn.hereA(), tn.hereB())
	before := tn.sessions(false)
	tn.hereA().tell(program(askFor(atB, "/send off", 20), askFor(atB, "/new", 20), askFor(atB, "/stop", 20), say("done")))
	for n, want := range []string{"/send off", "/new", "/stop"} {
		if r := told[outcome](tn.world, atA, "sessions_send", n+1); r.Status != "ok" || !strings.HasPrefix(r.Reply, "echo: ") || !strings.HasSuffix(r.Reply, want) {
			t.Errorf("b answers %q with %+v", want, r)
		}
	}
	tn.shows(tn.hereA(), 2)
	tn.asked(atB, "announce", 3)
	tn.quiet()
	for _, k := range []sessions.Key{atA, atB} {
		if row := tn.sessions(false)[k]; row.SendPolicy != "" || row.ID != before[k].ID {
			t.Errorf("%s: policy %q, id %s, before %s", k, row.SendPolicy, row.ID, before[k].ID)
		}
	}
	if got := tn.hereB().texts(); len(got) != 4 || got[3] != "/send off" {
		t.Errorf("b's topic: %q", got)
	}
	for n, l := range said(t, tn.file(atB, "/stop"), "/send off") {
		if l.Provenance == nil || l.Provenance.Kind != sessions.InterSession {
			t.Errorf("message %d in b's transcript: %+v", n, l.Provenance)
		}
	}
}

// TestTurnsByAgents caps the turns that other agents cause in a session: an exchange that meets the cap goes straight to its announce,
// and a further question is refused. What a person says is answered all the same.
//
// proves: S9, S12
func TestTurnsByAgents(t *testing.T) {
	t.Parallel()
	tn := newTown(t, setup{Session: "{agentToAgent: {maxTurnsPerHour: 1}}"})
	tn.words = exchange("that was the exchange", "r1", "r2", "r3")
	tn.start()
	tn.meet(tn.hereB())
	tn.hereA().tell(askFor(atB, say("one"), 20))
	tn.shows(tn.hereB(), 2)
	tn.hereA().tell(program(askFor(atB, say("two"), 20), say("refused")))
	tn.shows(tn.hereA(), 1)
	if r := told[outcome](tn.world, atA, "sessions_send", 2); r.Status != "forbidden" || !strings.Contains(r.Error, "maxTurnsPerHour") {
		t.Errorf("a was told %+v", r)
	}
	tn.hereB().tell(say("for people always"))
	if got := tn.shows(tn.hereB(), 3); got[1] != "that was the exchange" || got[2] != "for people always" {
		t.Errorf("b's topic: %q", got)
	}
	checkSteps(t, tn, []string{"reply a", "announce b"})
	tn.only(map[place]int{tn.hereA(): 1, tn.hereB(): 3})
}
