package main

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/channels/telegram/telegramtest"
)

// TestFaultReload takes an account away while people write and one send of it is slow: what the host took before the
// account ended is answered when the account is back, all else stays with the platform until then, and nobody who is let in is taken for a
// stranger.
func TestFaultReload(t *testing.T) {
	const open = "    dmPolicy: open\n    allowFrom: [\"*\"]\n    groupPolicy: open\n    groups: {\"*\": {requireMention: false}}\n"
	for name, without := range map[string]func(*world){
		"switched off": func(w *world) { w.config(open+"    enabled: false\n", followup) },
		"taken away": func(w *world) {
			w.pageConfig("models: {providers: {mock: {api: openai, baseUrl: "+w.model.URL()+"/v1, apiKey: x}}}\nagents: {defaults: {model: mock/mock-1}}\n", followup)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.tg.AddGroup(-500, "Group")
			people := crowd(w, 4)
			w.config(open, followup)
			p := w.start()
			reread := func() func() bool {
				n := strings.Count(p.log.String(), "configuration reloaded")
				if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
					t.Fatal(err)
				}
				return func() bool { return strings.Count(p.log.String(), "configuration reloaded") > n }
			}
			var want []string
			say := func(chat int64) {
				text := fmt.Sprintf("message %d.", len(want))
				want = append(want, text)
				w.tg.Say(chat, people[len(want)%len(people)], text)
			}
			remove := w.tg.Inject(telegramtest.Fault{Method: "sendMessage", Chat: people[1], Delay: 3 * time.Second, Times: -1})
			say(people[1])
			w.until(patience, "a send is under way", func() bool { return len(w.tg.Calls("sendMessage")) > 0 })
			without(w)
			done := reread()
			w.until(patience, "the account is gone", func() bool {
				if len(want) < 40 {
					say([]int64{-500, people[(len(want)+1)%len(people)]}[len(want)%2])
				}
				return done()
			})
			remove()
			w.config(open, followup)
			w.until(patience, "the account is back", reread())
			w.until(patience, "all is answered", func() bool { return w.tg.SentCount() >= len(want) })
			w.quiet()
			var got []string
			for _, m := range w.tg.Sent() {
				got = append(got, m.Text[max(strings.LastIndex(m.Text, "message"), 0):])
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%d messages, %d answers: %q", len(want), len(got), got)
			}
		})
	}
}

const followup = "messages: {queue: {mode: followup}}\n"

// TestFaultReloadTwice shuts people out by one reload and takes the account away by the next one, while a send of it is slow: whoever was shut out stays so.
func TestFaultReloadTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	people := crowd(w, 2)
	w.config("    dmPolicy: open\n    allowFrom: [\"*\"]\n", followup)
	p := w.start()
	reads := func() int { return strings.Count(p.log.String(), "configuration reloaded") }
	reread := func() {
		if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	w.tg.Say(people[1], people[1], "I am let in.")
	w.until(patience, "it is answered", func() bool { return w.tg.SentCount() == 1 })
	w.config("    dmPolicy: allowlist\n", followup)
	reread()
	w.until(patience, "the rules are narrow", func() bool { return reads() == 1 })
	w.tg.Inject(telegramtest.Fault{Method: "sendMessage", Chat: owner, Delay: 3 * time.Second, Times: 1})
	w.tg.Say(owner, owner, "This takes long.")
	w.until(patience, "a send is under way", func() bool { return len(w.tg.Calls("sendMessage")) > 1 })
	w.pageConfig("models: {providers: {mock: {api: openai, baseUrl: "+w.model.URL()+"/v1, apiKey: x}}}\nagents: {defaults: {model: mock/mock-1}}\n", followup)
	reread()
	n := 0
	w.until(patience, "the account is gone", func() bool {
		if n++; n <= 20 {
			w.tg.Say(people[1], people[1], "Am I let in?")
		}
		return reads() == 2
	})
	p.signal(syscall.SIGTERM)
	if asked := w.model.Count(); asked != 2 {
		t.Errorf("the model was asked %d times: who was shut out is let in", asked)
	}
}
