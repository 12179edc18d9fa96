package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"parley/agent/modeltest"
	"parley/channels/telegram/telegramtest"
)

// start measures from exec to the first poll, and how large the program is.
func (c *comparison) start(ctx context.Context) error {
	if path, err := exec.LookPath(c.command[0]); err == nil {
		if info, err := os.Stat(path); err == nil {
			c.note("program", "%.0f MB", float64(info.Size())/(1<<20))
		}
	}
	var took []time.Duration
	for range c.Starts {
		h, d, err := c.polling(ctx)
		if err != nil {
			return err
		}
		took = append(took, d)
		h.stop()
	}
	first := took[0]
	slices.Sort(took)
	c.note("exec to first poll", "first %.0f, median %.0f, slowest %.0f ms", millis(first), millis(quantile(took, .5)), millis(took[len(took)-1]))
	return nil
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// calm measures a host that has nothing to do.
func (c *comparison) calm(ctx context.Context) error {
	h, _, err := c.polling(ctx)
	if err != nil {
		return err
	}
	defer h.stop()
	if err := pause(ctx, 5*time.Second); err != nil {
		return err
	}
	before := h.use()
	const watched = 20 * time.Second
	if err := pause(ctx, watched); err != nil {
		return err
	}
	u := h.use()
	c.note("idle", "%.1f MB, %d threads, %.2f %% of a core", u.RSS, u.Threads, 100*(u.CPU-before.CPU).Seconds()/watched.Seconds())
	return nil
}

// message is a text that nobody has written yet; its number stands in every answer.
func (c *comparison) message() string {
	c.written++
	return fmt.Sprintf("message %06d", c.written)
}

// numbered finds messages in what a model is asked.
var numbered = regexp.MustCompile(`message \d{6}`)

// backToBack is one person who writes again as soon as the answer is there, then one who takes time.
func (c *comparison) backToBack(ctx context.Context) error {
	h, _, err := c.polling(ctx)
	if err != nil {
		return err
	}
	defer h.stop()
	const chat = 100
	c.tg.AddUser(telegramtest.User{ID: chat, Name: "One"})
	exchange := func() (time.Duration, error) {
		words := c.message()
		wait, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		began := time.Now()
		c.tg.Say(chat, chat, words)
		var at time.Time
		err := c.tg.Wait(wait, func() bool {
			for _, m := range slices.Backward(c.tg.SentTo(chat)) {
				if strings.Contains(m.Text, words) {
					at = m.At
					return true
				}
			}
			return false
		})
		if err != nil {
			return 0, fmt.Errorf("waiting for the answer to %q: %w\n%s", words, err, h.log)
		}
		return at.Sub(began), nil
	}
	var close, spaced []time.Duration
	before := h.use()
	for range c.Messages {
		d, err := exchange()
		if err != nil {
			return err
		}
		close = append(close, d)
	}
	cpu := (h.use().CPU - before.CPU) / time.Duration(c.Messages)
	for range 20 {
		if err := pause(ctx, 300*time.Millisecond); err != nil {
			return err
		}
		d, err := exchange()
		if err != nil {
			return err
		}
		spaced = append(spaced, d)
	}
	c.note(fmt.Sprintf("%d messages back to back", c.Messages), "%s; %.1f ms of CPU each", spread(close), millis(cpu))
	c.note("the same, spaced out", "%s", spread(spaced))
	return nil
}

// tally is what became of numbered messages.
type tally struct{ own, folded, lost, doubled, other, disorder int }

func (t tally) String() string {
	return fmt.Sprintf("%d answered, %d only read with another, %d lost, %d answered twice, %d other texts, %d chats out of order",
		t.own, t.folded, t.lost, t.doubled, t.other, t.disorder)
}

// judge holds what became of n messages against what parley promises for its own configuration: an answer for each, once and in order. Of another
// host it is told, not judged.
func (c *comparison) judge(t tally, n int) {
	if c.own && t != (tally{own: n}) {
		c.missed = append(c.missed, fmt.Sprintf("of %d messages: %s", n, t))
	}
}

// count holds what the chats show against the messages that were written there. A text that begins with the answer to a message
// answers it; one that holds it elsewhere, beside others, shows that it was read, and so does a call of the model that holds it.
func (c *comparison) count(said map[int64][]string) (t tally) {
	shown := map[int64][]string{}
	for _, m := range c.tg.Sent() {
		shown[m.Chat] = append(shown[m.Chat], m.Text)
	}
	read := map[string]bool{}
	for _, r := range c.model.Requests() {
		for _, words := range numbered.FindAll(r.Raw, -1) {
			read[string(words)] = true
		}
	}
	for chat, messages := range said {
		last := -1
		ordered, used := true, make([]bool, len(shown[chat]))
		for _, words := range messages {
			own, within := 0, false
			for i, text := range shown[chat] {
				if !strings.Contains(text, words) {
					continue
				}
				used[i], within = true, true
				if n := strings.Count(text, "message "); n == 1 || strings.HasSuffix(text, words) {
					own++
					ordered, last = ordered && i > last, i
				}
			}
			switch {
			case own > 1:
				t.doubled++
			case own == 1:
				t.own++
			case within || read[words]:
				t.folded++
			default:
				t.lost++
			}
		}
		for _, u := range used {
			if !u {
				t.other++
			}
		}
		if !ordered {
			t.disorder++
		}
	}
	return t
}

// many writes messages over chats and gives them by chat.
func (c *comparison) many(first int64, chats, n int) map[int64][]string {
	said := map[int64][]string{}
	for i := range chats {
		c.tg.AddUser(telegramtest.User{ID: first + int64(i), Name: "P"})
	}
	for i := range n {
		id := first + int64(i%chats)
		words := c.message()
		c.tg.Say(id, id, words)
		said[id] = append(said[id], words)
	}
	return said
}

// burst is everybody at once.
func (c *comparison) burst(ctx context.Context) error {
	h, _, err := c.polling(ctx)
	if err != nil {
		return err
	}
	defer h.stop()
	if err := pause(ctx, time.Second); err != nil {
		return err
	}
	before, began := h.use(), time.Now()
	said := c.many(1000, c.Chats, c.Burst)
	if err := c.silent(ctx, c.Silence, func() bool { return c.tg.SentCount() >= c.Burst }); err != nil {
		return err
	}
	sent, u := c.tg.Sent(), h.use()
	if len(sent) == 0 {
		return fmt.Errorf("nothing was answered\n%s", h.log)
	}
	took := sent[len(sent)-1].At.Sub(began)
	if err := c.silent(ctx, 2*time.Second, func() bool { return false }); err != nil { // one answer too many comes later
		return err
	}
	became := c.count(said)
	c.judge(became, c.Burst)
	c.note(fmt.Sprintf("%d messages over %d chats", c.Burst, c.Chats), "%.2f s; %s; %.1f MB, %.1f ms of CPU each", took.Seconds(), became, u.RSS, millis((u.CPU-before.CPU)/time.Duration(c.Burst)))
	return nil
}

// killInFlight kills the host while it works on messages, and starts it again.
func (c *comparison) killInFlight(ctx context.Context) error {
	h, _, err := c.polling(ctx)
	if err != nil {
		return err
	}
	before := c.model.Count()
	hold := make(chan struct{})
	c.model.Script(func(r modeltest.Request) modeltest.Reply {
		<-hold
		return modeltest.Echo(r)
	})
	said := c.many(3000, c.Flight, c.Flight)
	wait, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	// As many as it asks for at a time; what it has not taken then is with the platform, and not in flight.
	_ = until(wait, 10*time.Second, "the model is asked for all", func() bool { return c.model.Count()-before >= c.Flight && c.tg.Pending() == 0 })
	h.kill()
	close(hold)
	c.model.Script(modeltest.Echo)
	again, took, err := c.polling(ctx)
	if err != nil {
		return err
	}
	defer again.stop()
	if err := c.silent(ctx, c.Silence, func() bool { return false }); err != nil {
		return err
	}
	became := c.count(said)
	c.judge(became, c.Flight)
	c.note(fmt.Sprintf("kill -9 with %d messages in flight", c.Flight), "%s; polls again after %.0f ms", became, millis(took))
	return nil
}
