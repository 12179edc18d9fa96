package discord

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/discord/discordtest"
)

func room() channels.Address {
	return channels.Address{Channel: Kind, Account: channels.DefaultAccount, Chat: general, Type: channels.Room}
}

func (h *host) send(out channels.Outbound) (channels.Receipt, *channels.Error) {
	if out.To.IsZero() {
		out.To = room()
	}
	r, err := h.ch.Send(h.t.Context(), out)
	if err == nil {
		return r, nil
	}
	return r, channels.Classify(err)
}

func TestSend(t *testing.T) {
	inBubble(t, func(h *host) {
		id := h.srv.Say(general, anna, "question")
		h.one()
		r, err := h.send(channels.Outbound{Key: "d1.0", Text: "@everyone <@" + anna + "> https://example.org", ReplyTo: channels.MessageID(id)})
		if err != nil {
			t.Fatal(err)
		}
		again, err := h.send(channels.Outbound{Key: "d1.0", Text: "@everyone <@" + anna + "> https://example.org", ReplyTo: channels.MessageID(id)})
		sent := h.srv.Sent()
		if err != nil || again != r || len(sent) != 1 {
			t.Fatalf("a repeated key: %v, %v and %v, %d messages", err, r, again, len(sent))
		}
		m := sent[0]
		if len(m.Pinged) > 0 || m.ReplyTo != id || m.Flags&suppressEmbeds == 0 || len(m.Nonce) != 25 || m.ID != string(r.ID) {
			t.Errorf("%+v", m)
		}
		h.settle()
		for _, in := range h.taken() {
			if !in.SentByThisLogin {
				t.Errorf("an own message is not seen as one: %+v", in)
			}
		}
		if _, err := h.send(channels.Outbound{Key: "d2.0", Text: "to nobody", ReplyTo: "123456789"}); err != nil {
			t.Errorf("an answer to a message that is gone: %v", err)
		}
	})
}

func TestSendFiles(t *testing.T) {
	inBubble(t, func(h *host) {
		if _, err := h.send(channels.Outbound{Key: "f", Text: "two", Files: []channels.File{file(`a"b.txt`, "A"), file("c.txt", "C")}}); err != nil {
			t.Fatal(err)
		}
		m := h.srv.Sent()[0]
		if len(m.Files) != 2 || string(m.Files[1].Data) != "C" || m.Text != "two" || m.Files[0].Name != `a"b.txt` {
			t.Errorf("%+v", m)
		}
		if _, err := h.send(channels.Outbound{Key: "g", Files: []channels.File{file("big", strings.Repeat("x", fileBytes+1))}}); err != nil || h.srv.Sent()[1].Text != "(The file `big` cannot be sent in this chat.)" {
			t.Errorf("too large: %v", err)
		}
	})
}

// file is something to send along.
func file(name, data string) channels.File {
	return channels.File{Name: name, MIME: "text/plain", Size: int64(len(data)), Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(data)), nil }}
}

func TestErrorClasses(t *testing.T) {
	post := func(f discordtest.Fault) discordtest.Fault {
		f.Method, f.Route = http.MethodPost, discordtest.RouteMessages
		return f
	}
	for name, c := range map[string]struct {
		fault discordtest.Fault
		want  channels.Class
		after time.Duration
	}{
		"unknown channel":     {post(discordtest.Fault{Status: 404, Code: 10003}), channels.Rejected, 0},
		"missing access":      {post(discordtest.Fault{Status: 403, Code: 50001}), channels.Rejected, 0},
		"cannot write to":     {post(discordtest.Fault{Status: 403, Code: 50007}), channels.Rejected, 0},
		"missing permissions": {post(discordtest.Fault{Status: 403, Code: 50013}), channels.Rejected, 0},
		"invalid body":        {post(discordtest.Fault{Status: 400, Code: 50035, Times: 2}), channels.Rejected, 0},
		"a maximum":           {post(discordtest.Fault{Status: 400, Code: 30003, Times: 2}), channels.Rejected, 0},
		"unauthorized":        {post(discordtest.Fault{Status: 401}), channels.Unauthorized, 0},
		"unauthorized by 403": {post(discordtest.Fault{Status: 403, Code: 40001}), channels.Unauthorized, 0},
		"limited":             {post(discordtest.Fault{Status: 429, RetryAfter: 1500 * time.Millisecond}), channels.Limited, 1500 * time.Millisecond},
		"write limit":         {post(discordtest.Fault{Status: 429, Code: 20028, RetryAfter: 7 * time.Second}), channels.Limited, 7 * time.Second},
		"overloaded":          {post(discordtest.Fault{Status: 503, Code: 130000}), channels.Transient, 0},
		"502":                 {post(discordtest.Fault{Status: 502, Body: "bad gateway"}), channels.Ambiguous, 0},
		"cut":                 {post(discordtest.Fault{Cut: true}), channels.Ambiguous, 0},
		"hangs":               {post(discordtest.Fault{Hang: true}), channels.Ambiguous, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(h *host) {
				h.srv.Inject(c.fault)
				_, err := h.send(channels.Outbound{Key: "k", Text: "hello"})
				if err == nil || err.Class != c.want || err.RetryAfter != c.after {
					t.Fatalf("%v, want %s", err, c.want)
				}
				if discordtest.IsSecret(err.Error()) {
					t.Errorf("the token is in %q", err)
				}
				if n := len(h.srv.Calls("POST " + discordtest.RouteMessages)); n != max(1, c.fault.Times) {
					t.Errorf("%d calls: nothing below the gate repeats, but once without options", n)
				}
			})
		})
	}
}

func TestUnreachableIsTransient(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Down(true)
		defer h.srv.Down(false)
		ch, err := New(Config{Token: channels.NewSecret("x"), APIURL: "http://other.test"}, Deps{Client: h.srv.Client()})
		if err != nil {
			t.Fatal(err)
		}
		_, err = ch.Send(h.t.Context(), channels.Outbound{To: room(), Text: "hello"})
		if channels.Classify(err).Class != channels.Transient {
			t.Error(err)
		}
	})
}

func TestHoldsAreKept(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Inject(discordtest.TooManyRequests(general, 5*time.Second))
		_, _ = h.send(channels.Outbound{Key: "a", Text: "a"})
		h.after(2 * time.Second)
		_, err := h.send(channels.Outbound{Key: "a", Text: "a"})
		if err == nil || err.Class != channels.Limited || err.RetryAfter < 2*time.Second || err.RetryAfter > 3*time.Second {
			t.Errorf("%v", err)
		}
		if n := len(h.srv.Calls("POST " + discordtest.RouteMessages)); n != 1 {
			t.Errorf("%d calls while the platform wants none", n)
		}
		other := room()
		other.Chat = channels.ChatID(side)
		if _, err := h.send(channels.Outbound{Key: "b", To: other, Text: "b"}); err != nil {
			t.Errorf("another chat: %v", err)
		}
		f := discordtest.TooManyRequests(side, 5*time.Second)
		f.Global = true
		h.srv.Inject(f)
		_, _ = h.send(channels.Outbound{Key: "c", To: other, Text: "c"})
		if err := h.ch.Typing(h.t.Context(), channels.Address{Chat: channels.ChatID(h.dm)}); channels.Classify(err).Class != channels.Limited {
			t.Errorf("a global limit holds every call: %v", err)
		}
		h.after(6 * time.Second)
		if _, err := h.send(channels.Outbound{Key: "a", Text: "a"}); err != nil {
			t.Error(err)
		}
	})
}

func TestPacedWithoutA429(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Pace(5, 5*time.Second)
		for i := 0; i < 12; {
			switch _, err := h.send(channels.Outbound{Key: string(rune('a' + i)), Text: "x"}); {
			case err == nil:
				i++
			case err.Class == channels.Limited:
				h.after(err.RetryAfter)
			default:
				t.Fatal(err)
			}
		}
		for _, c := range h.srv.Calls("POST " + discordtest.RouteMessages) {
			if c.Status == http.StatusTooManyRequests {
				t.Error("ran into a 429 that the headers had announced")
			}
		}
	})
}

func TestCancelledCallsEnd(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Inject(discordtest.Fault{Hang: true, Times: -1})
		for name, call := range map[string]func(context.Context) error{
			"send": func(ctx context.Context) error {
				_, err := h.ch.Send(ctx, channels.Outbound{To: room(), Text: "x"})
				return err
			},
			"edit":    func(ctx context.Context) error { return h.ch.Edit(ctx, "5", channels.Outbound{To: room(), Text: "x"}) },
			"typing":  func(ctx context.Context) error { return h.ch.Typing(ctx, room()) },
			"react":   func(ctx context.Context) error { return h.ch.React(ctx, room(), "5", "👍") },
			"publish": func(ctx context.Context) error { return h.ch.Publish(ctx, nil) },
			"arrived": func(ctx context.Context) error {
				_, _, err := h.ch.Arrived(ctx, channels.Outbound{To: room()})
				return err
			},
		} {
			ctx, cancel := context.WithTimeout(h.t.Context(), 2*time.Second)
			began := time.Now()
			err := call(ctx)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 3*time.Second {
				t.Errorf("%s: %v after %s", name, err, time.Since(began))
			}
		}
	})
}

func TestArrived(t *testing.T) {
	inBubble(t, func(h *host) {
		lost := channels.Outbound{Key: "lost", To: room(), Text: "the answer "}
		h.srv.Inject(discordtest.Fault{Method: http.MethodPost, Route: discordtest.RouteMessages, Cut: true, Arrives: true})
		if _, err := h.send(lost); err == nil || err.Class != channels.Ambiguous {
			t.Fatal(err)
		}
		h.stop()
		h.open() // another process, which has seen nothing
		if _, there, err := h.ch.Arrived(h.t.Context(), channels.Outbound{Key: "other", To: room(), Text: "something else"}); there || err != nil {
			t.Errorf("a message that was never sent: %v, %v", there, err)
		}
		r, there, err := h.ch.Arrived(h.t.Context(), lost)
		if !there || err != nil || string(r.ID) != h.srv.Sent()[0].ID {
			t.Errorf("%v, %v, %v", r, there, err)
		}
		if _, there, _ := h.ch.Arrived(h.t.Context(), channels.Outbound{Key: "x", To: room(), Text: "the answer", Files: make([]channels.File, 1)}); there {
			t.Error("a message without the file counts as the one with it")
		}
	})
}

// What arrived stands behind more messages than the platform gives at once.
func TestFaultDiscordArrivedLongAgo(t *testing.T) {
	inBubble(t, func(h *host) {
		lost := channels.Outbound{Key: "lost", To: room(), Text: "the answer", Since: time.Now()}
		h.srv.Inject(discordtest.Fault{Method: http.MethodPost, Route: discordtest.RouteMessages, Cut: true, Arrives: true})
		if _, err := h.send(lost); err == nil || err.Class != channels.Ambiguous {
			t.Fatal(err)
		}
		h.stop()
		<-time.After(time.Hour)
		say := func(n int) {
			for range n {
				h.srv.Say(general, anna, "hello")
			}
		}
		say(250)
		h.open() // another process, which has seen nothing
		if r, there, err := h.ch.Arrived(h.t.Context(), lost); !there || err != nil || string(r.ID) != h.srv.Sent()[0].ID {
			t.Errorf("%v, %v, %v", r, there, err)
		}
		never := channels.Outbound{Key: "never", To: room(), Text: "never", Since: time.Now().Add(-time.Minute)}
		if _, there, err := h.ch.Arrived(h.t.Context(), never); there || err != nil {
			t.Errorf("what was never sent: %v, %v", there, err)
		}
		never.Since = time.Time{}
		say(1000)
		if _, there, err := h.ch.Arrived(h.t.Context(), never); there || err == nil || !strings.Contains(err.Error(), "1000 newer messages") {
			t.Errorf("what nobody can know: %v, %v", there, err)
		}
	})
}

func TestEditRemoveReact(t *testing.T) {
	inBubble(t, func(h *host) {
		r, _ := h.send(channels.Outbound{Key: "e", Text: "one"})
		if err := h.ch.Edit(h.t.Context(), r.ID, channels.Outbound{To: room(), Text: "two"}); err != nil || h.srv.Sent()[0].Text != "two" {
			t.Error(err, h.srv.Sent()[0].Text)
		}
		id := channels.MessageID(h.srv.Say(general, anna, "hello"))
		for _, step := range []struct{ emoji, want string }{{"👍", "👍"}, {"❤️", "❤️"}, {"", ""}} {
			err := h.ch.React(h.t.Context(), room(), id, step.emoji)
			if got := strings.Join(h.srv.Reactions(general, string(id)), ","); err != nil || got != step.want {
				t.Errorf("%q: %q, %v", step.emoji, got, err)
			}
		}
		_ = h.ch.React(h.t.Context(), room(), id, "👍")
		h.stop()
		h.open()
		if err := h.ch.React(h.t.Context(), room(), id, ""); err != nil || len(h.srv.Reactions(general, string(id))) > 0 {
			t.Errorf("a reaction of an earlier process stays: %v", err)
		}
		if err := h.ch.Remove(h.t.Context(), room(), r.ID); err != nil || !h.srv.Sent()[0].Deleted {
			t.Error(err)
		}
		if err := h.ch.Remove(h.t.Context(), room(), r.ID); err != nil {
			t.Errorf("a message that is gone: %v", err)
		}
		if err := h.ch.Typing(h.t.Context(), room()); err != nil || h.srv.Typing(general) != 1 {
			t.Error(err)
		}
	})
}
