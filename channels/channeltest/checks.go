package channeltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"parley/channels"
)

var errDiskFull = errors.New("disk full")

func checkRefused(w *world) {
	w.refuse = func(in channels.Inbound) error { // called under the lock
		if in.Text == "first" && w.offers < 4 {
			return errDiskFull
		}
		return nil
	}
	w.say(OneToOne, "first")
	w.say(OneToOne, "second")
	w.start()
	if got := texts(w.taken(2)); !slices.Equal(got, []string{"first", "second"}) {
		w.Errorf("taken %v: what follows a refused event has to wait for it", got)
	}
}

func checkRefusedRestart(w *world) {
	w.refuse = func(channels.Inbound) error { return errDiskFull }
	w.say(OneToOne, "kept")
	w.start()
	w.until("an offer", func(_ []channels.Inbound, offers int) bool { return offers > 0 })
	w.stop()
	w.mu.Lock()
	w.refuse = nil
	w.mu.Unlock()
	w.restart()
	if got := texts(w.taken(1)); got[0] != "kept" {
		w.Errorf("after a restart %v came", got)
	}
}

func checkAccepted(w *world) {
	w.say(OneToOne, "one")
	w.say(Another, "two")
	w.start()
	w.taken(2)
	w.restart()
	w.say(OneToOne, "three")
	got := texts(w.taken(3))
	w.stop()
	if slices.Index(got, "three") != 2 || w.offers != 3 {
		w.Errorf("%d offers, taken %v: what was taken must not come again", w.offers, got)
	}
}

func checkOrder(w *world) {
	const each = 40
	w.start()
	for i := range each {
		w.say(OneToOne, fmt.Sprint("a", i))
		w.say(Another, fmt.Sprint("b", i))
	}
	next := map[channels.ChatID]int{}
	ids := map[string]bool{}
	for _, in := range w.taken(2 * each) {
		if want := fmt.Sprint(in.Text[:1], next[in.Address.Chat]); in.Text != want {
			w.Fatalf("chat %s: %s came instead of %s", in.Address.Chat, in.Text, want)
		}
		next[in.Address.Chat]++
		id := fmt.Sprint(in.Address, in.ID)
		if in.ID == "" || ids[id] {
			w.Errorf("event id %q is empty or used twice in its chat", in.ID)
		}
		ids[id] = true
	}
	if len(next) != 2 {
		w.Errorf("two people share %d chats", len(next))
	}
}

func checkAddress(w *world) {
	w.start()
	seen := map[channels.Address]Place{}
	for i, at := range []Place{OneToOne, Another, InGroup, InThread} {
		if !w.platform.Say(at, string(at)) {
			continue
		}
		in := w.until(string(at), func(events []channels.Inbound, _ int) bool { return slices.Contains(texts(events), string(at)) })
		event := in[len(in)-1]
		a := event.Address
		if a.Channel == "" || a.Account == "" || a.Chat == "" || a.Type == "" {
			w.Errorf("%s: the address is not whole: %+v", at, a)
		}
		if back, err := channels.ParseAddress(a.String()); err != nil || back != a {
			w.Errorf("%s: %q is read back as %+v, %v", at, a, back, err)
		}
		if several := a.Type.Several(); several != (at == InGroup || at == InThread) || (a.Thread != "" || event.Parent != "") != (at == InThread) {
			w.Errorf("%s: type %q, thread %q, parent %q", at, a.Type, a.Thread, event.Parent)
		}
		if other, twice := seen[a]; twice {
			w.Errorf("%s has the address of %s: %s", at, other, a)
		}
		seen[a] = at
		if event.Sender.ID == "" || event.Time.IsZero() || !utf8.ValidString(event.Text) {
			w.Errorf("%s: incomplete event %+v", at, event)
		}
		answer := fmt.Sprint("answer ", i)
		if _, err := w.ch.Send(context.Background(), channels.Outbound{Key: answer, To: a, Text: answer, Plain: answer, ReplyTo: event.ID}); err != nil {
			w.Errorf("%s: %v", at, err)
		}
		if got := w.platform.Shown(a); !slices.Equal(got, []string{answer}) {
			w.Errorf("%s: shown there: %v", at, got)
		}
	}
}

func checkSendBeforeRun(w *world) {
	w.start()
	to := w.address(OneToOne)
	w.stop()
	w.ch = w.platform.Reopen(w.T, w.cursor)
	if _, err := w.ch.Send(context.Background(), channels.Outbound{Key: "k", To: to, Text: "early", Plain: "early"}); err != nil {
		// A platform that needs its connection for sending says "not now"; the gate sends again.
		if e := w.failure("Send", err); e.Class != channels.Transient {
			w.Errorf("before Run: %v", err)
		}
	} else if got := w.platform.Shown(to); !slices.Equal(got, []string{"early"}) {
		w.Errorf("shown: %v", got)
	}
}

func checkReceipts(w *world) {
	w.start()
	to := w.address(OneToOne)
	ids := map[channels.MessageID]bool{}
	for i := range 5 {
		text := fmt.Sprint("number ", i)
		r, err := w.ch.Send(context.Background(), channels.Outbound{Key: text, To: to, Text: text, Plain: text})
		if err != nil {
			w.Fatal(err)
		}
		if age := time.Since(r.At); r.ID == "" || ids[r.ID] || age.Abs() > time.Minute {
			w.Errorf("receipt %+v: an id of its own and the time of sending are wanted", r)
		}
		ids[r.ID] = true
	}
	if got := w.platform.Shown(to); len(got) != 5 {
		w.Errorf("shown: %v", got)
	}
	if !w.ch.Limits(to).Idempotent {
		return
	}
	_, err := w.ch.Send(context.Background(), channels.Outbound{Key: "number 4", To: to, Text: "number 4", Plain: "number 4"})
	if got := w.platform.Shown(to); err != nil || len(got) != 5 {
		w.Errorf("a repeated key is shown once where Limits say so; shown: %v, error %v", got, err)
	}
}

func checkClasses(w *world) {
	w.start()
	to := w.address(OneToOne)
	for _, class := range []channels.Class{channels.Transient, channels.Ambiguous, channels.Rejected, channels.Unsupported, channels.Unauthorized, channels.Limited} {
		if !w.platform.Fail(to, class) {
			continue
		}
		before := len(w.platform.Shown(to))
		_, err := w.ch.Send(context.Background(), channels.Outbound{Key: string(class), To: to, Text: "x", Plain: "x"})
		if err == nil {
			w.Errorf("%s: Send worked", class)
			continue
		}
		e := w.failure("Send", err)
		if e.Class != class {
			w.Errorf("%s: Send gave %v", class, err)
		}
		if class == channels.Limited && e.RetryAfter <= 0 {
			w.Errorf("limited without a time: %v", err)
		}
		if after := len(w.platform.Shown(to)); class != channels.Ambiguous && after != before {
			w.Errorf("%s: the message is shown all the same", class)
		}
	}
}

func checkCancelled(w *world) {
	w.start()
	to := w.address(OneToOne)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := w.ch.Send(ctx, channels.Outbound{Key: "k", To: to, Text: "never", Plain: "never"})
	if err == nil {
		w.Fatal("Send worked with a cancelled context")
	}
	if e := w.failure("Send", err); e.Class != channels.Transient || len(w.platform.Shown(to)) != 0 {
		w.Errorf("%v, shown %v", err, w.platform.Shown(to))
	}
}

func checkLimits(w *world) {
	w.start()
	to := w.address(OneToOne)
	l := w.ch.Limits(to)
	if l.Dialect == "" || l.Unit == "" {
		w.Errorf("limits without a dialect or unit: %+v", l)
	}
	if l.Text == 0 {
		if w.h.PlatformText != 0 {
			w.Errorf("no limit is named, but the platform has one of %d", w.h.PlatformText)
		}
		return
	}
	send := func(text string) error {
		_, err := w.ch.Send(context.Background(), channels.Outbound{Key: text, To: to, Text: text, Plain: text})
		return err
	}
	// Characters that count differently in every unit.
	for _, unit := range []string{"x", "é", "€", "😀"} {
		text := strings.Repeat(unit, l.Text/Length(unit, l.Unit))
		if err := send(text); err != nil {
			w.Errorf("%d times %s is within the limit: %v", l.Text/Length(unit, l.Unit), unit, err)
		} else if got := w.platform.Shown(to); got[len(got)-1] != text {
			w.Errorf("%s: the text was cut", unit)
		}
	}
	if w.h.PlatformText == 0 {
		return
	}
	if l.Text > w.h.PlatformText {
		w.Errorf("the limit %d is above the platform's %d", l.Text, w.h.PlatformText)
	}
	err := send(strings.Repeat("x", w.h.PlatformText+1))
	if err == nil {
		w.Error("a text above the platform's limit was taken")
	} else if e := w.failure("Send", err); e.Class != channels.Rejected {
		w.Errorf("a text above the platform's limit: %v", err)
	}
}

func checkHealth(w *world) {
	reporter := channels.Probe(w.ch).Reporter
	if reporter == nil {
		w.Skip("no Reporter")
	}
	if h := reporter.Health(); h.Live(time.Now()) {
		w.Errorf("live before Run: %+v", h)
	}
	w.start()
	w.address(OneToOne)
	h := reporter.Health()
	if !h.Live(time.Now()) || h.Stale <= 0 {
		w.Errorf("not live although an event just came: %+v", h)
	}
	w.public("health", h.Detail+h.Name)
	w.stop()
	if h := reporter.Health(); h.State == channels.Connected {
		w.Errorf("connected after Run: %+v", h)
	}
}

func checkEnds(w *world) {
	for i := range 5 {
		w.start()
		w.say(OneToOne, fmt.Sprint("run ", i))
		w.taken(i + 1)
		w.stop()
	}
}

func checkReconnects(w *world) {
	n := w.h.Reconnects
	if n == 0 {
		n = 100
	}
	w.start()
	for i := range n {
		w.platform.Disconnect()
		w.say(OneToOne, fmt.Sprint("after cut ", i))
		w.until("an event after a cut", func(events []channels.Inbound, _ int) bool {
			return slices.Contains(texts(events), fmt.Sprint("after cut ", i))
		})
	}
}
