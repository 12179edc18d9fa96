package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/agent/modeltest"
	"parley/sessions"
)

// TestMessagesWhileBusy writes to agents that are at work, in four chats with a mode each: five messages have one answer, one steers
// the turn, one interrupts it, and one word stops it. The trace of a message names the run that answers it.
func TestMessagesWhileBusy(t *testing.T) {
	t.Parallel()
	tn := newTown(t, setup{})
	tn.other = func(c call) modeltest.Reply {
		var said []string
		for i := len(c.Messages) - 1; i >= 0; i-- {
			if m := c.Messages[i]; m.Role == "user" {
				said = append(strings.Fields(m.Text), said...)
			} else if m.Role == "assistant" && len(m.ToolCalls) == 0 {
				break
			}
		}
		return words("heard " + strings.Join(slices.DeleteFunc(said, func(w string) bool { return !strings.HasPrefix(w, "#") }), " "))
	}
	tn.start()
	// begin has an agent work until a gate is free, whatever it is to say then.
	begin := func(p place, mode, gate, then string) {
		p.tell("/queue " + mode + " debounce:50ms")
		tn.shows(p, 1)
		n := tn.model.Count()
		p.tell(program(hold(gate), then))
		tn.until(20*time.Second, "the model is at work", func() bool { return tn.model.Count() > n })
	}
	taken := func(p place, texts ...string) {
		for _, text := range texts {
			p.tell(text)
		}
		tn.until(20*time.Second, "the host has taken it", func() bool { return p.bot.Pending() == 0 })
	}
	last := func(p place, n int) string { return tn.shows(p, n)[n-1] }

	begin(tn.groupA(), "collect", "collect", say("first"))
	taken(tn.groupA(), "#1", "#2", "#3", "#4", "#5")
	tn.free("collect")
	if got := last(tn.groupA(), 3); got != "heard #1 #2 #3 #4 #5" {
		t.Errorf("five messages are answered %q", got)
	}

	begin(tn.hereA(), "steer", "steer", program(use("remember", map[string]any{"text": "a fact"}), say("never said")))
	taken(tn.hereA(), "#other")
	tn.free("steer")
	if got := last(tn.hereA(), 2); got != "heard #other" {
		t.Errorf("a turn that was steered says %q", got)
	}

	begin(tn.hereB(), "interrupt", "interrupt", say("never said"))
	taken(tn.hereB(), "#better")
	if got := last(tn.hereB(), 2); got != "heard #better" {
		t.Errorf("the message that interrupts is answered %q", got)
	}

	begin(tn.groupB(), "collect", "stop", say("never said"))
	taken(tn.groupB(), "#more", "Stop!")
	if got := last(tn.groupB(), 2); got != "⚙️ Agent was aborted. Dropped 1 message that waited. Write again if I should continue." {
		t.Errorf("a word that stops is answered %q", got)
	}
	tn.quiet()
	tn.only(map[place]int{tn.groupA(): 3, tn.hereA(): 2, tn.hereB(): 2, tn.groupB(): 2})

	for key, want := range map[string][]string{
		groupOfA: {`turn\) in .*: done, merged into run \S+, which answers it`, `turn\) in .*: done, attempt 1`},
		atB:      {`turn\) in .*: aborted, attempt 1, answered by run \S+\n +error: interrupted by a newer message`},
	} {
		var all strings.Builder
		for _, m := range tn.lines(key) {
			out, code := tn.cli("trace", m)
			if code != 0 {
				t.Fatal(out)
			}
			all.WriteString(out)
		}
		for _, w := range want {
			if !regexp.MustCompile(w).MatchString(all.String()) {
				t.Errorf("the traces of %s do not say %s:\n%s", key, w, all.String())
			}
		}
	}
}

// lines gives the message ids of what people wrote into a session.
func (tn town) lines(key string) (ids []string) {
	tn.t.Helper()
	said := regexp.MustCompile(`"message":"(\d+)"`)
	for _, l := range tn.file(sessions.Key(key), `"message":"`) {
		if m := said.FindStringSubmatch(l); m != nil {
			ids = append(ids, m[1])
		}
	}
	if len(ids) == 0 {
		tn.t.Fatal(fmt.Sprint("nobody wrote into ", key))
	}
	return ids
}
