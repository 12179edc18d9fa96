package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"parley/agent/modeltest"
	"parley/channels/telegram/telegramtest"
	"parley/gateway/api"
	"parley/policy"
	"parley/sessions"
)

// answer is what a command of the built program gave.
type answer struct {
	out, err string
	exit     int
}

// both runs a command and keeps what it prints apart.
func (w *world) both(args ...string) answer {
	w.t.Helper()
	var out, text bytes.Buffer
	cmd := w.command(append([]string{"--config", "config.yaml"}, args...)...)
	cmd.Stdout, cmd.Stderr = &out, &text
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		w.t.Fatal(err)
	} else if ok {
		return answer{out.String(), text.String(), exit.ExitCode()}
	}
	return answer{out.String(), text.String(), 0}
}

// ends checks what is told of a run in JSON and in words: its outcome, the exit code, the code and rule of the error, and the words. It asks until
// the run's answer has arrived or cannot any more.
func (w *world) ends(run sessions.RunID, want outcomeEnding, reply, rule string) {
	w.t.Helper()
	var a answer
	var got api.Waited
	w.until(20*time.Second, string(want.outcome), func() bool {
		a = w.both("runs", "wait", string(run), "--json")
		if err := json.Unmarshal([]byte(a.out), &got); err != nil {
			w.t.Fatalf("%s: %v in %q, %q", want.outcome, err, a.out, a.err)
		}
		return got.Outcome == want.outcome
	})
	var said api.Failure
	_ = json.Unmarshal([]byte(a.err), &said) // nothing where it succeeded
	if a.exit != want.exit || got.Reply != reply || got.Rule != rule || said.Code != want.code || said.Rule != rule {
		w.t.Errorf("%s: exit code %d, %s, %s", want.outcome, a.exit, a.out, a.err)
	}
	a = w.both("runs", "wait", string(run))
	if a.exit != want.exit || strings.TrimSpace(a.out) != reply || (want.exit != 0 || want.outcome == api.Silent) != strings.Contains(a.err, want.words) || !strings.Contains(a.err, rule) {
		w.t.Errorf("%s: exit code %d, %q, %q", want.outcome, a.exit, a.out, a.err)
	}
}

// puppeteer is a world with a puppet, whose owner has written in a direct chat.
func puppeteer(t *testing.T, extra string) (w *world, p *puppet, host *process, chat string) {
	t.Helper()
	w, p = newWorld(t), &puppet{other: func(call) modeltest.Reply { return modeltest.Reply{} }}
	w.model.Script(p.answer)
	t.Cleanup(p.end)
	w.config("", extra)
	host = w.start()
	w.tg.Say(owner, owner, say("hello"))
	w.sent(owner, 1)
	return w, p, host, "telegram/default/direct/" + itoa(owner)
}

// asks begins a run with a command and gives its id.
func (w *world) asks(args ...string) sessions.RunID {
	w.t.Helper()
	return fromCLI[api.Said](w, args...).Run
}

// Each way in which a run or its answer ends has an outcome, an exit code and words of its own, which agent.wait and the commands give.
//
// proves: P4
// source: docs/cli.md#how-it-ended
func TestEndings(t *testing.T) {
	t.Parallel()
	w, p, _, chat := puppeteer(t, "")
	w.ends(w.asks("agent", say("hi")), endingOf(api.Answered), "hi", "")
	w.ends(w.asks("agent", say(" **NO_REPLY** ")), endingOf(api.Silent), "", "")
	w.ends(w.asks("agent", fail()), endingOf(api.Failed), "", "")
	w.ends(w.asks("say", "main", "no words for this"), endingOf(api.Empty), "", "")
	w.ends(w.asks("agent", hold("long"), "--run-timeout", "1"), endingOf(api.TimedOut), "", "")

	run := w.asks("say", "main", hold("stopped"))
	w.asked("agent:main:main", "turn", 4)
	if a := w.both("runs", "wait", string(run), "--timeout", "100ms", "--json"); a.exit != exitTimeout || !strings.Contains(a.err, `"code": "timeout"`) || strings.Contains(a.out, "outcome") {
		t.Errorf("a run that goes on: %+v", a)
	}
	fromCLI[api.Aborted](w, "runs", "cancel", string(run))
	w.ends(run, endingOf(api.Stopped), "", "")

	run = w.asks("agent", program(hold("flip"), say("too late")), "--to", chat)
	fromCLI[api.Session](w, "sessions", "patch", "main", "--send-policy", "deny")
	p.free("flip")
	w.ends(run, endingOf(api.Withheld), "too late", "session override")
	fromCLI[api.Session](w, "sessions", "patch", "main", "--send-policy", "inherit")

	w.tg.Block(owner, true)
	w.ends(w.asks("say", "main", say("nobody hears"), "--deliver"), endingOf(api.Undelivered), "nobody hears", "")
	w.tg.Block(owner, false)

	stop := w.tg.Inject(telegramtest.Fault{Method: "sendMessage", Times: -1, Code: 429, RetryAfter: 3600, Description: "Too Many Requests: retry after 3600"})
	run = w.asks("say", "main", say("dropped"), "--deliver")
	var waits []sessions.Delivery
	w.until(20*time.Second, "the answer waits", func() bool {
		waits = fromCLI[[]sessions.Delivery](w, "deliveries", "list", "--state", "pending")
		return len(waits) == 1 && waits[0].Attempt > 0
	})
	if a := w.both("runs", "wait", string(run)); a.exit != 0 || a.out != "dropped\n" {
		t.Errorf("an answer that is on its way: %+v", a)
	}
	fromCLI[any](w, "deliveries", "drop", string(waits[0].ID))
	w.ends(run, endingOf(api.Dropped), "dropped", "")
	stop()
	if n := len(w.tg.SentTo(owner)); n != 1 {
		t.Errorf("the chat shows %d messages, not 1: %+v", n, w.tg.SentTo(owner))
	}
}

// A send that was under way when the host was killed may have arrived: a host that is to hold such ones says so of the run, and of the text of a
// program that sends it again with the same key.
func TestEndingHeld(t *testing.T) {
	t.Parallel()
	w, _, host, chat := puppeteer(t, "delivery: {ambiguous: hold}")
	defer w.tg.Inject(telegramtest.Fault{Method: "sendMessage", Times: -1, Hang: true})()
	a := fromCLI[api.SendAnswer](w, "send", chat, "the bins", "--once", "k1")
	w.until(20*time.Second, "it is under way", func() bool {
		return len(fromCLI[[]sessions.Delivery](w, "deliveries", "list", "--state", "sending")) == 1
	})
	host.kill()
	w.start()
	w.ends(a.Run, endingOf(api.Held), "", "")
	if got := w.both("send", chat, "the bins", "--once", "k1", "--json"); got.exit != exitUndelivered || !strings.Contains(got.out, `"state": "held"`) || !strings.Contains(got.err, `"code": "held"`) {
		t.Errorf("sent again: %+v", got)
	}
}

// Whoever asks for a delivery into a chat under deny is refused at once, with the rule, and nothing is queued. What comes in otherwise is taken.
//
// proves: P4
// source: https://docs.openclaw.ai/concepts/session ("send blocked by session policy" of chat.send)
func TestDeniedAtOnce(t *testing.T) {
	t.Parallel()
	w, _, _, chat := puppeteer(t, "")
	w.ends(w.asks("agent", say("good morning"), "--to", chat, "--once", "before"), endingOf(api.Answered), "good morning", "")
	w.sent(owner, 2)
	fromCLI[api.Session](w, "sessions", "patch", "main", "--send-policy", "deny")
	w.quiet()
	runs, calls := len(fromCLI[[]api.Run](w, "runs", "list")), w.calls(owner)
	for _, args := range [][]string{
		{"say", "main", say("x"), "--deliver"}, {"agent", say("x"), "--to", chat}, {"agent", say("x"), "--to", "last", "--wait"}, {"agent", say("x"), "--session", "main", "--deliver"},
		{"say", "main", "/new " + say("x"), "--deliver"}, {"send", chat, "x"},
	} {
		a := w.both(append(args, "--json")...)
		var said api.Failure
		if err := json.Unmarshal([]byte(a.err), &said); err != nil || a.exit != exitRefused || a.out != "" || said.Code != "withheld" || said.Rule != "session override" || !strings.HasPrefix(said.Error, "send blocked by session policy: session override") {
			t.Errorf("%q: %+v", args, a)
		}
		if a = w.both(args...); a.exit != exitRefused || !strings.HasPrefix(a.err, "parley: send blocked by session policy: session override (") {
			t.Errorf("%q in words: %+v", args, a)
		}
	}
	if got := fromCLI[[]api.Run](w, "runs", "list"); len(got) != runs || len(fromCLI[[]sessions.Delivery](w, "deliveries", "list", "--state", "withheld")) != 0 {
		t.Errorf("%d runs, before %d: %+v", len(got), runs, got[0])
	}
	if again := fromCLI[api.Said](w, "agent", say("good morning"), "--to", chat, "--once", "before"); again.Run == "" {
		t.Errorf("the same request as before the deny: %+v", again)
	}
	w.ends(w.asks("say", "main", say("inside")), endingOf(api.Answered), "inside", "")
	if a := w.both("say", "main", "/send inherit", "--deliver"); a.exit != 0 || !strings.Contains(a.out, "Send policy") {
		t.Errorf("a command: %+v", a)
	}
	w.quiet()
	if n := w.calls(owner) - calls; n != 0 {
		t.Errorf("%d calls reached the chat", n)
	}
}

// Every outcome has one ending, told from all others by its code, and docs/cli.md has the table of them.
//
// proves: P4
func TestGeneratedEndings(t *testing.T) {
	t.Parallel()
	holdToDoc(t, "cli.md", "outcomes", endingTable())
	codes, words := map[string]bool{}, map[string]bool{}
	for _, x := range outcomeEndings {
		if words[x.words] || x.code != "" && codes[x.code] || (x.code == "") != (x.exit == 0) {
			t.Errorf("%+v is told like another", x)
		}
		codes[x.code], words[x.words] = true, true
	}
	for _, x := range [][2]api.Outcome{{api.Withheld, api.Stopped}, {api.Withheld, api.Failed}, {api.Stopped, api.Failed}, {api.Silent, api.Failed}, {api.Silent, api.Withheld}, {api.Silent, api.Stopped}, {api.TimedOut, api.Failed}} {
		if endingOf(x[0]).exit == endingOf(x[1]).exit {
			t.Errorf("%s and %s have the same exit code", x[0], x[1])
		}
	}
}

// What became of a text that was sent is told like the answer of a run. A host of an earlier version gives no outcome.
func TestEndOfSend(t *testing.T) {
	t.Parallel()
	deny := policy.Verdict{Action: policy.Deny, Rule: "session override"}
	allow := policy.Verdict{Action: policy.Allow, Rule: "session.sendPolicy.default"}
	for _, c := range []struct {
		state   sessions.DeliveryState
		verdict policy.Verdict
		exit    int
		code    string
	}{
		{sessions.Pending, allow, 0, ""}, {sessions.Sending, allow, 0, ""}, {sessions.Sent, allow, 0, ""}, {sessions.Pending, deny, exitRefused, "withheld"}, {sessions.Withheld, deny, exitRefused, "withheld"},
		{sessions.DeliveryFail, allow, exitUndelivered, "undelivered"}, {sessions.Expired, allow, exitUndelivered, "expired"}, {sessions.Held, allow, exitUndelivered, "held"},
		{sessions.Dropped, allow, exitUndelivered, "dropped"}, {sessions.DeliveryStopped, allow, exitStopped, "stopped"},
	} {
		if exit, code := exitOf(endOfSend(api.SendAnswer{Delivery: "d1", State: c.state, Verdict: c.verdict})); exit != c.exit || code != c.code {
			t.Errorf("%s: %d, %q", c.state, exit, code)
		}
	}
	for state, want := range map[sessions.RunStatus]int{sessions.Done: 0, sessions.Failed: exitFailed, sessions.Stopped: exitStopped, sessions.TimedOut: exitOverrun} {
		if exit, _ := exitOf(endOfRun(api.Waited{State: state, Reply: "words", Final: true})); exit != want {
			t.Errorf("%s without an outcome: %d", state, exit)
		}
	}
}
