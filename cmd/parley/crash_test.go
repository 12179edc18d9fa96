package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/agent/modeltest"
	"parley/cmd/internal/failpoint"
	"parley/sessions"
)

// killed is a town whose host may kill itself.
type killed struct {
	town
	file string          // the trace
	dead <-chan struct{} // closed when that host has ended
}

// The exchange: the agent of bot one asks that of bot two, and spawns a sub-agent.
const (
	askedB   = "round one of b"
	saidA    = "all is under way"
	announce = "what b announces"
	found    = "what the sub-agent found"
)

func errand() string {
	return program(askFor(atB, say(askedB), 30), use("sessions_spawn", map[string]any{"task": say(found)}), say(saidA))
}

func newKilled(t *testing.T) *killed {
	t.Helper()
	k := &killed{town: newTown(t, setup{})}
	k.words = func(c call) modeltest.Reply {
		switch {
		case c.Step == "announce":
			return words(announce)
		case c.Step == "report":
			return words("Result: " + found)
		case strings.Contains(c.System, "turn 1 of"):
			return words("thanks")
		}
		return words("REPLY_SKIP")
	}
	k.file = filepath.Join(k.dir, "trace")
	return k
}

// launch starts the host, to be killed at the n-th call of the trace in a file; dead is closed when it has ended.
func (w *world) launch(file string, n int) (dead <-chan struct{}) {
	w.t.Helper()
	cmd, ended := w.command("--config", "config.yaml"), make(chan struct{})
	cmd.Env = append(cmd.Env, failpoint.Trace+"="+file, failpoint.Kill+"="+strconv.Itoa(n))
	log := &buffer{}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		if w.t.Failed() {
			w.t.Logf("the log of the host that was killed:\n%s", log)
		}
	})
	go func() {
		_ = cmd.Wait() // it was killed, or is when the test ends
		close(ended)
	}()
	return ended
}

// launch starts the host, to be killed at the n-th call of the trace.
func (k *killed) launch(n int) {
	k.t.Helper()
	k.dead = k.world.launch(k.file, n)
}

// alive waits for something that the host does; it is false when the host died before.
func (k *killed) alive(what string, ok func() bool) bool {
	k.t.Helper()
	return k.world.alive(k.dead, what, ok)
}

func (w *world) alive(dead <-chan struct{}, what string, ok func() bool) (alive bool) {
	w.t.Helper()
	alive = true
	w.until(30*time.Second, what, func() bool {
		select {
		case <-dead:
			alive = false
			return true
		default:
			return ok()
		}
	})
	return alive
}

// traced are the calls of the trace so far.
func (k *killed) traced() []string {
	b, err := os.ReadFile(k.file)
	if err != nil {
		return nil
	}
	return strings.Split(string(bytes.TrimSpace(b)), "\n")
}

// met reports whether the chats show all that is to come.
func (k *killed) met() bool {
	return has(k.hereB(), announce) > 0 && has(k.hereA(), saidA) > 0 && has(k.hereA(), "Status: success") > 0
}

// has counts the texts in a place that begin with some words.
func has(p place, words string) (n int) {
	for _, t := range p.texts() {
		if strings.HasPrefix(t, words) {
			n++
		}
	}
	return n
}

// tell runs the story with a host that kills itself at the n-th call of its trace, and goes on with a second host. It gives the
// trace of the first, and whether that was killed.
func (k *killed) tell(n int) (trace []string, died bool) {
	k.t.Helper()
	k.launch(n)
	greeted := func() bool { return has(k.hereB(), "hello") > 0 }
	k.hereB().tell(say("hello"))
	told := k.alive("b answers", greeted)
	if told {
		k.hereA().tell(errand())
		died = !k.alive("everything is said", k.met)
	}
	if told && !died && n > 0 { // only the last receipts can be left
		limit := time.Now().Add(3 * time.Second)
		died = !k.alive("the last receipts are written", func() bool { return time.Now().After(limit) })
	}
	if died = died || !told; died {
		k.start()
	} else {
		k.world.meet()
	}
	k.until(30*time.Second, "b answers", greeted)
	if !told {
		k.hereA().tell(errand())
	}
	k.until(30*time.Second, "everything is said", k.met)
	trace = k.traced()
	k.quiet()
	k.judge()
	if n == 0 {
		trace = k.traced()
	}
	return trace, died
}

// judge holds what the chats show, what the host lists and what the model was asked against the contract.
func (k *killed) judge() {
	k.t.Helper()
	have := map[place]map[string]int{k.hereA(): {}, k.hereB(): {}}
	for _, p := range []place{k.hereA(), k.hereB()} {
		if all := len(p.bot.Sent()); all != len(p.texts()) {
			k.t.Errorf("%d messages of the bot of chat %d are elsewhere", all-len(p.texts()), p.chat)
		}
		for _, t := range p.texts() {
			text, _, _ := strings.Cut(t, "\n")
			have[p][text]++
		}
	}
	want := map[place][]string{k.hereA(): {saidA, "Status: success"}, k.hereB(): {"hello", announce}}
	repeats := map[string]bool{}
	for _, d := range fromAPI[[]sessions.Delivery](k.world, "/api/deliveries", url.Values{"limit": {"1000"}}) {
		text, _, _ := strings.Cut(d.Text, "\n")
		if d.State != sessions.Sent {
			k.t.Errorf("the delivery of %q is %s: %s", text, d.State, d.Error)
		}
		if _, twice := repeats[text]; twice {
			k.t.Errorf("there are two deliveries of %q", text)
		}
		repeats[text] = d.Repeat
	}
	for p, texts := range want {
		for _, text := range texts {
			if n := have[p][text]; n < 1 || n > 1 && !repeats[text] {
				k.t.Errorf("%q is shown %d times (marked as a repeat: %t)", text, n, repeats[text])
			}
			delete(have[p], text)
		}
		for text := range have[p] {
			k.t.Errorf("%q is shown in chat %d, thread %d", text, p.chat, p.thread)
		}
	}
	k.judgeCalls()
}

// judgeCalls: the tool calls were answered once each, and made one thing each; no step was asked of the model more than once for
// each process; the reply of b is once in the context of a.
func (k *killed) judgeCalls() {
	k.t.Helper()
	sent, spawned := k.results(atA, "sessions_send"), k.results(atA, "sessions_spawn")
	if len(sent) != 1 || len(spawned) != 1 {
		k.t.Fatalf("the results of the tool calls: %+v, %+v", sent, spawned)
	}
	var ask, spawn outcome
	if err := errors.Join(json.Unmarshal([]byte(sent[0].Text), &ask), json.Unmarshal([]byte(spawned[0].Text), &spawn)); err != nil {
		k.t.Fatal(err)
	}
	if ask.Status != "ok" || ask.Reply != askedB || spawn.Status != "accepted" {
		k.t.Errorf("the results of the tool calls: %+v, %+v", ask, spawn)
	}
	children := 0
	for key := range k.sessions(false) {
		if strings.Contains(string(key), ":subagent:") {
			if children++; string(key) != spawn.ChildSessionKey {
				k.t.Errorf("%s is not the sub-agent that was accepted", key)
			}
		}
	}
	if children != 1 {
		k.t.Errorf("%d sub-agents", children)
	}
	for _, s := range []struct {
		session, step string
		calls         int
	}{{atB, "turn", 1}, {atA, "turn", 3}, {atB, "ask", 1}, {atA, "reply", 1}, {atB, "reply", 1}, {atB, "announce", 1}, {spawn.ChildSessionKey, "child", 1}, {spawn.ChildSessionKey, "report", 1}} {
		if n := len(k.modelCalls(s.session, s.step)); n < s.calls || n > s.calls+1 {
			k.t.Errorf("the model was asked %d times: %s %s", n, s.step, s.session)
		}
	}
	for _, c := range k.modelCalls(atA, "reply") {
		if n := mentions(c, askedB); n != 1 || strings.Contains(c.System, askedB) {
			k.t.Errorf("b's reply is %d times in a's context:\n%s\n%+v", n, c.System, c.Messages)
		}
	}
}

// TestKillProcess has the host kill itself at each call of the store's trace, before and after each commit, and be started again.
//
// proves: N15, S11, S13, S14
func TestKillProcess(t *testing.T) {
	t.Parallel()
	trace, _ := newKilled(t).tell(0)
	var kills atomic.Int32
	t.Run("at", func(t *testing.T) {
		for n := 1; n <= len(trace); n++ {
			t.Run(fmt.Sprintf("%03d", n), func(t *testing.T) {
				t.Parallel()
				have, died := newKilled(t).tell(n)
				if died {
					kills.Add(1)
					t.Logf("killed %s", have[len(have)-1])
				}
			})
		}
	})
	t.Logf("%d kills at the %d calls of the trace", kills.Load(), len(trace))
	if kills.Load() == 0 {
		t.Error("no process was killed")
	}
}
