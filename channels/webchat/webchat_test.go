package webchat

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"parley/channels"
)

// inbox is a store in memory: it takes each id once, as the real one does.
type inbox struct {
	mu   sync.Mutex
	got  []channels.Inbound
	fail error
	gate chan struct{} // when set, each call waits for one receive
}

func (b *inbox) take(ctx context.Context, in channels.Inbound) error {
	if b.gate != nil {
		select {
		case <-b.gate:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fail != nil {
		return b.fail
	}
	for _, old := range b.got {
		if old.ID == in.ID && old.Address == in.Address {
			return nil
		}
	}
	b.got = append(b.got, in)
	return nil
}

// start runs c until the test ends and returns when it takes posts.
func start(t *testing.T, c *Channel, in channels.Inbox) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx, in) }()
	for c.Health().State != channels.Connected {
		time.Sleep(time.Millisecond)
	}
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func TestPostBecomesInbound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, b := New(Deps{Account: "home"}), &inbox{}
		start(t, c, b.take)
		err := c.Post(t.Context(), Posted{Chat: "visitor-1", ID: "m1", Text: "hi \xff\x00there", UserID: "u7", Name: "Ada"})
		if err != nil {
			t.Fatal(err)
		}
		want := channels.Inbound{
			Event:   channels.Message,
			Address: channels.Address{Channel: Kind, Account: "home", Chat: "visitor-1", Type: channels.Direct},
			ID:      "m1",
			Sender:  channels.Sender{ID: "u7", Name: "Ada"},
			Text:    "hi \uFFFDthere",
			Time:    time.Now(),
		}
		if d := cmp.Diff([]channels.Inbound{want}, b.got); d != "" {
			t.Error(d)
		}
	})
}

func TestPostRefuses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, b := New(Deps{}), &inbox{}
		ok := Posted{ID: "m1", Text: "hi"}
		check := func(name string, m Posted, want channels.Class) {
			t.Helper()
			err := c.Post(t.Context(), m)
			if err == nil || channels.Classify(err).Class != want {
				t.Errorf("%s: got %v, want %s", name, err, want)
			}
		}
		check("before Run", ok, channels.Transient)
		stop := start(t, c, b.take)
		check("no id", Posted{Text: "hi"}, channels.Rejected)
		check("id with newline", Posted{ID: "a\nb", Text: "hi"}, channels.Rejected)
		check("long id", Posted{ID: strings.Repeat("x", 201), Text: "hi"}, channels.Rejected)
		check("empty text", Posted{ID: "m", Text: " \x00\n"}, channels.Rejected)
		check("long text", Posted{ID: "m", Text: strings.Repeat("x", MaxText+1)}, channels.Rejected)
		check("bad chat", Posted{Chat: "a\x00", ID: "m", Text: "hi"}, channels.Rejected)
		b.fail = errors.New("disk full")
		check("store fails", ok, channels.Transient)
		stop()
		check("after Run", ok, channels.Transient)
		if len(b.got) != 0 {
			t.Errorf("stored %v", b.got)
		}
	})
}

// A message is shown to other windows only when it is durable.
func TestPostedShownAfterCommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, b := New(Deps{}), &inbox{gate: make(chan struct{})}
		start(t, c, b.take)
		events, cancel := c.Subscribe("")
		defer cancel()
		go func() { _ = c.Post(t.Context(), Posted{ID: "m1", Text: "hi"}) }()
		synctest.Wait()
		if len(events) != 0 {
			t.Error("shown before it was stored")
		}
		b.gate <- struct{}{}
		if e := <-events; e.Kind != PostedEvent || e.ID != "m1" || e.Text != "hi" {
			t.Errorf("got %+v", e)
		}
	})
}

// Posts of one chat reach the inbox one after the other; another chat does not wait for them.
func TestPostsOfOneChatDoNotOverlap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		under := map[channels.ChatID]int{}
		both := 0
		c := New(Deps{})
		start(t, c, func(_ context.Context, in channels.Inbound) error {
			mu.Lock()
			under[in.Address.Chat]++
			if under[in.Address.Chat] > 1 {
				t.Error("two posts of one chat at once")
			}
			both = max(both, under["a"]+under["b"])
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			under[in.Address.Chat]--
			mu.Unlock()
			return nil
		})
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				chat := channels.ChatID("a")
				if i%2 == 1 {
					chat = "b"
				}
				if err := c.Post(t.Context(), Posted{Chat: chat, ID: fmt.Sprint(i), Text: "x"}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if both != 2 {
			t.Errorf("two chats never ran side by side")
		}
		if len(c.chats) != 0 {
			t.Errorf("%d chats kept with nobody in them", len(c.chats))
		}
	})
}

func TestRunWaitsForPostsUnderWay(t *testing.T) {
	t.Parallel()
	for name, commits := range map[string]bool{"commits": true, "hangs": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, b := New(Deps{}), &inbox{gate: make(chan struct{})}
				stop := start(t, c, b.take)
				events, _ := c.Subscribe("")
				posted, ended := make(chan error, 1), make(chan struct{})
				go func() { posted <- c.Post(t.Context(), Posted{ID: "m1", Text: "hi"}) }()
				synctest.Wait()
				go func() { stop(); close(ended) }()
				synctest.Wait()
				if _, ok := <-events; ok {
					t.Error("readers were not let go")
				}
				select {
				case <-ended:
					t.Fatal("Run left a post behind")
				default:
				}
				if commits {
					b.gate <- struct{}{}
				}
				if err := <-posted; (err == nil) != commits {
					t.Errorf("post: %v", err)
				}
				<-ended
			})
		})
	}
}

func TestOneRunAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, b := New(Deps{}), &inbox{}
		start(t, c, b.take)()
		start(t, c, b.take) // again after an end
		if err := c.Run(t.Context(), b.take); channels.Classify(err).Class != channels.Rejected {
			t.Errorf("got %v", err)
		}
	})
}

func out(key, chat, text string) channels.Outbound {
	return channels.Outbound{Key: key, To: channels.Address{Channel: Kind, Account: "default", Chat: channels.ChatID(chat), Type: channels.Direct}, Text: text}
}

func TestSendShowsOncePerKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := New(Deps{})
		if _, err := c.Send(t.Context(), out("d0.0", "a", "nobody looks")); err != nil {
			t.Fatal(err)
		}
		events, cancel := c.Subscribe("a")
		defer cancel()
		first, err := c.Send(t.Context(), out("d1.0", "a", "*hello*"))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		again, err := c.Send(t.Context(), out("d1.0", "a", "*hello*"))
		if err != nil || again != first {
			t.Errorf("got %v %v, want %v", again, err, first)
		}
		if e := <-events; e.Kind != MessageEvent || e.ID != "d1.0" || e.Text != "*hello*" {
			t.Errorf("got %+v", e)
		}
		if len(events) != 0 {
			t.Errorf("shown again: %+v", <-events)
		}
	})
}

func TestSendErrors(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	c := New(Deps{})
	for name, tt := range map[string]struct {
		ctx  context.Context
		out  channels.Outbound
		want channels.Class
	}{
		"ended":   {ended, out("k", "a", "x"), channels.Transient},
		"no chat": {t.Context(), out("k", "", "x"), channels.Rejected},
		"no key":  {t.Context(), out("", "a", "x"), channels.Rejected},
	} {
		if _, err := c.Send(tt.ctx, tt.out); err == nil || channels.Classify(err).Class != tt.want {
			t.Errorf("%s: got %v, want %s", name, err, tt.want)
		}
	}
}

func TestSlowReaderIsCutOff(t *testing.T) {
	t.Parallel()
	c := New(Deps{})
	slow, cancelSlow := c.Subscribe("a")
	defer cancelSlow()
	quick, cancelQuick := c.Subscribe("a")
	defer cancelQuick()
	for i := range 3 * readerBuffer {
		if err := c.Draft(t.Context(), out("", "a", "").To, "r1", fmt.Sprint("draft ", i)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Send(t.Context(), out(fmt.Sprint(i), "a", "m")); err != nil {
			t.Fatal(err)
		}
		for got := false; !got; {
			e, ok := <-quick
			if !ok {
				t.Fatal("the quick reader was cut off")
			}
			got = e.Kind == MessageEvent
		}
	}
	n := 0
	for range slow {
		n++
	}
	if n != readerBuffer {
		t.Errorf("the slow reader got %d events, want a full buffer of %d and then the end", n, readerBuffer)
	}
	cancelSlow() // after the cut: harmless
}

// Drafts alone never cost a reader its stream: they leave room for the message.
func TestDraftsLeaveRoom(t *testing.T) {
	t.Parallel()
	c := New(Deps{})
	events, cancel := c.Subscribe("a")
	defer cancel()
	for i := range 3 * readerBuffer {
		if err := c.Draft(t.Context(), out("", "a", "").To, "r1", fmt.Sprint("draft ", i)); err != nil {
			t.Fatal(err)
		}
	}
	send(t, c, "k", "final")
	for e := range events {
		if e.Kind == MessageEvent {
			return
		}
	}
	t.Error("cut off before the message")
}

func TestDraft(t *testing.T) {
	t.Parallel()
	to := out("", "a", "").To
	draft := func(c *Channel, id, text string) { _ = c.Draft(context.Background(), to, id, text) }
	late := func(c *Channel) string { // what a reader that comes now sees
		events, cancel := c.Subscribe("a")
		defer cancel()
		if len(events) == 0 {
			return ""
		}
		return (<-events).Text
	}
	tests := map[string]struct {
		do   func(c *Channel)
		want string
	}{
		"a late reader sees the newest": {func(c *Channel) { draft(c, "r1", "Hel"); draft(c, "r1", "Hello") }, "Hello"},
		"its message ends it":           {func(c *Channel) { draft(c, "r1", "Hel"); send(t, c, "d1", "Hello") }, ""},
		"an overtaken draft stays away": {func(c *Channel) { draft(c, "r1", "Hel"); send(t, c, "d1", "Hello"); draft(c, "r1", "Hell") }, ""},
		"another message leaves it open": {func(c *Channel) {
			draft(c, "r1", "Hel")
			send(t, c, "d1", "Announce")
			draft(c, "r1", "Hell")
		}, "Hell"},
		"empty text takes it away": {func(c *Channel) { draft(c, "r1", "Hel"); draft(c, "r1", "") }, ""},
		"too long is left out":     {func(c *Channel) { draft(c, "r1", "Hel"); draft(c, "r1", strings.Repeat("x", MaxText+1)) }, "Hel"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := New(Deps{})
			tt.do(c)
			if got := late(c); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func send(t *testing.T, c *Channel, key, text string) {
	t.Helper()
	if _, err := c.Send(context.Background(), out(key, "a", text)); err != nil {
		t.Error(err)
	}
}

// However many chats are written to, what is kept stays bounded.
func TestBounds(t *testing.T) {
	t.Parallel()
	c := New(Deps{})
	for i := range 3 * maxIdle {
		to := out("", fmt.Sprint(i), "").To
		if err := c.Draft(t.Context(), to, "r", "text"); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2 * keepSent {
		send(t, c, fmt.Sprint("k", i), "x")
	}
	if len(c.chats) > maxIdle || len(c.sent.times) > keepSent || len(c.sent.order) > keepSent {
		t.Errorf("kept %d chats, %d keys", len(c.chats), len(c.sent.times))
	}
}

func FuzzPost(f *testing.F) {
	f.Add("main", "id", "hello", "Ada")
	f.Add("", "\xff", "a\x00b", "\n")
	f.Fuzz(func(t *testing.T, chat, id, text, name string) {
		m, err := check(Posted{Chat: channels.ChatID(chat), ID: id, Text: text, Name: name})
		if err != nil {
			return
		}
		for _, s := range []string{string(m.Chat), m.ID, m.Text, m.Name} {
			if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
				t.Errorf("%q let through", s)
			}
		}
		if m.ID != id {
			t.Errorf("id changed from %q to %q", id, m.ID)
		}
	})
}
