package chatclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/gateway/web"
	"parley/gateway/web/webtest"
	"parley/sessions"
)

func options(h *webtest.Host, in io.Reader, out io.Writer) Options {
	return Options{BaseURL: h.URL, Token: h.Token, In: in, Out: out, Patience: 20 * time.Second}
}

func TestLines(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	tests := map[string]struct {
		answer webtest.Answer
		in     string
		lost   int
		out    string
		err    string
	}{
		"echo":        {webtest.Echo, "hello\n\nsecond line\n", 0, "You said: hello\nYou said: second line\n", ""},
		"no line end": {webtest.Echo, "hello", 0, "You said: hello\n", ""},
		"streamed answers are printed once, whole": {func(_ context.Context, h *webtest.Host, in channels.Inbound) {
			_ = h.Hub.Typing(ctx, in.Address)
			_ = h.Hub.Draft(ctx, in.Address, "r", "You")
			webtest.Echo(ctx, h, in)
		}, "hi\n", 0, "You said: hi\n", ""},
		"a lost answer to the post":        {webtest.Echo, "hello\nagain\n", 2, "You said: hello\nYou said: again\n", ""},
		"terminal codes are not passed on": {webtest.Echo, "a\x1b]0;title\x07b\n", 0, "You said: a]0;titleb\n", ""},
		"withheld": {func(_ context.Context, h *webtest.Host, in channels.Inbound) {
			state := sessions.Sent
			if in.Text == "one" {
				state = sessions.Withheld
			}
			_ = h.Say(ctx, in.Address, "re: "+in.Text, state)
		}, "one\ntwo\n", 0, "re: two\n", `"one": not delivered: withheld by rule session.sendPolicy.rules[0]`},
		"commands": {func(_ context.Context, h *webtest.Host, in channels.Inbound) {
			_ = h.Answer(ctx, in.Address, "re: "+in.Text, map[string]sessions.DeliveryState{"/b": sessions.Withheld, "/c": sessions.Withheld}[in.Text])
		}, "/a\n/b\n/c\n/d\n", 0, "re: /a\nre: /d\n", `"/b": not delivered: withheld by rule session.sendPolicy.rules[0]` + "\n" + `"/c": not delivered`},
		"commands live": {func(_ context.Context, h *webtest.Host, in channels.Inbound) {
			_ = h.Answer(ctx, in.Address, "re: "+in.Text, sessions.Sent)
		}, "/a\n/b\n", 0, "re: /a\nre: /b\n", ""},
		"an announce before a command's answer": {func(_ context.Context, h *webtest.Host, in channels.Inbound) {
			_ = h.Say(ctx, in.Address, "by the way", sessions.Sent)
			_ = h.Answer(ctx, in.Address, "re: "+in.Text, sessions.Withheld)
		}, "/a\n", 0, "by the way\n", `"/a": not delivered`},
		"a command in another window is no answer": {func(_ context.Context, h *webtest.Host, in channels.Inbound) {
			_ = h.Answer(ctx, in.Address, "status", sessions.Withheld)
			_ = h.Say(ctx, in.Address, "answer", sessions.DeliveryState(""))
		}, "hello\n", 0, "answer\n", ""},
		"words between sessions are no answer": {func(_ context.Context, h *webtest.Host, in channels.Inbound) {
			h.Put(web.Line{ID: "x", Role: web.User, Text: "their reply", From: "from session b"}, web.Line{ID: "y", Role: web.Assistant, Text: "mine", From: "to session b"})
			_ = h.Say(ctx, in.Address, "answer", sessions.DeliveryState(""))
		}, "hello\n", 0, "answer\n", ""},
		"too long": {webtest.Echo, strings.Repeat("x", 1<<20+1) + "\nshort\n", 0, "You said: short\n", "longer than"},
		"an announce before the answer": {func(_ context.Context, h *webtest.Host, in channels.Inbound) {
			_, _ = h.Hub.Send(ctx, channels.Outbound{Key: "other.0", To: in.Address, Text: "by the way"})
			_ = h.Hub.Typing(ctx, in.Address)
			webtest.Echo(ctx, h, in)
		}, "hello\n", 0, "by the way\nYou said: hello\n", ""},
		"the history alone brings it": {func(_ context.Context, h *webtest.Host, in channels.Inbound) {
			_ = h.Say(ctx, in.Address, "quiet", sessions.DeliveryState("")) // no live event
		}, "hello\n", 0, "quiet\n", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := webtest.NewHost(t, tt.answer)
			h.LoseAnswers(tt.lost)
			var out bytes.Buffer
			err := Run(ctx, options(h, strings.NewReader(tt.in), &out))
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if out.String() != tt.out {
				t.Errorf("got %q, want %q", out.String(), tt.out)
			}
		})
	}
}

func TestNoHost(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	err := Run(t.Context(), Options{BaseURL: gone.URL, Token: channels.NewSecret("s3cret"), In: strings.NewReader("hi\n"), Out: io.Discard})
	if !errors.Is(err, ErrNoHost) || strings.Contains(fmt.Sprint(err), "s3cret") {
		t.Errorf("got %v", err)
	}
	h := webtest.NewHost(t, webtest.Echo)
	o := options(h, strings.NewReader("hi\n"), io.Discard)
	o.Token = channels.NewSecret("wrong")
	if err := Run(t.Context(), o); !errors.Is(err, ErrToken) {
		t.Errorf("got %v", err)
	}
	off := httptest.NewServer(web.New(web.Deps{}))
	defer off.Close()
	o.BaseURL = off.URL
	if err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "switched off") {
		t.Errorf("web chat off: %v", err)
	}
}

// The reader of a pipe that nobody writes to does not keep Run from ending.
func TestLinesEndWithContext(t *testing.T) {
	t.Parallel()
	h := webtest.NewHost(t, webtest.Echo)
	r, w := io.Pipe()
	t.Cleanup(func() { w.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	done := make(chan error, 1)
	go func() { done <- Run(ctx, options(h, r, &out)) }()
	if _, err := io.WriteString(w, "hello\n"); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "interrupted") {
		t.Errorf("got %v", err)
	}
}

// An end while a post hangs, or while an answer is due, says what becomes of the message.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	h := webtest.NewHost(t, func(context.Context, *webtest.Host, channels.Inbound) { cancel() })
	if err := Run(ctx, options(h, strings.NewReader("hello\n"), io.Discard)); err == nil || !slices.ContainsFunc([]string{`"hello": it may have arrived`, `"hello": the history will show it`}, func(s string) bool { return strings.Contains(err.Error(), s) }) || strings.Contains(err.Error(), "context") {
		t.Errorf("answer due: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	o := options(h, strings.NewReader("hello\n"), io.Discard)
	o.Client = &http.Client{Transport: hanging(cancel)}
	err := Run(ctx, o)
	if want := `interrupted while sending "hello": it may have arrived; check the history`; err == nil || err.Error() != want || !errors.Is(err, context.Canceled) {
		t.Errorf("posting: %v, want %s", err, want)
	}
}

// hanging never answers a post; it calls itself when one comes.
type hanging func()

func (h hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost {
		h()
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return http.DefaultTransport.RoundTrip(r)
}

// What comes live after a command is its answer, unless the history knows it as something else.
func TestLookAfterCommand(t *testing.T) {
	t.Parallel()
	h := webtest.NewHost(t, webtest.Echo)
	h.Put(web.Line{ID: "m", Role: web.Assistant, Text: "by the way", Deliveries: []string{"d1"}, State: sessions.Sent})
	o := options(h, nil, io.Discard)
	o.Client = http.DefaultClient
	d := dialog{c: newClient(o), seen: map[string]bool{}, old: map[string]bool{}}
	for came, want := range map[string]bool{"d1.0": false, "d2.0": true, "": false} {
		if done, err := d.look(t.Context(), "posted", came); done != want || err != nil {
			t.Errorf("came %q: done %v, %v", came, done, err)
		}
	}
	// The link between the two, where a store has it, needs no memory of what was there.
	d.old = nil
	h.Put(web.Line{ID: "n", Role: web.Notice, Command: true, Text: "other", ReplyTo: "other", State: sessions.Sent})
	if done, err := d.look(t.Context(), "posted", ""); done || err != nil {
		t.Errorf("the answer to another command: %v %v", done, err)
	}
	h.Put(web.Line{ID: "n", Role: web.Notice, Command: true, Text: "mine", ReplyTo: "posted", State: sessions.Sent})
	if done, err := d.look(t.Context(), "posted", ""); !done || err != nil {
		t.Errorf("the linked answer: %v %v", done, err)
	}
}

func TestPatience(t *testing.T) {
	t.Parallel()
	h := webtest.NewHost(t, func(context.Context, *webtest.Host, channels.Inbound) {})
	o := options(h, strings.NewReader("hello\n"), io.Discard)
	o.Patience = 10 * time.Millisecond
	if err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "no answer within 10ms") {
		t.Errorf("got %v", err)
	}
}
