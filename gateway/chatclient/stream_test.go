package chatclient

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/webchat"
	"parley/gateway/web"
)

// wire is a host whose streams say hello, then beat for as long as it is told, then say nothing more without ending.
type wire struct {
	beats  int
	opened int
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.opened++
	body := &beating{ctx: r.Context(), left: w.beats, buf: bytes.NewBufferString("retry: 1\n\nevent: hello\ndata: {}\n\n")}
	return &http.Response{StatusCode: http.StatusOK, Body: body, Request: r}, nil
}

type beating struct {
	ctx  context.Context
	left int
	buf  *bytes.Buffer
}

func (b *beating) Read(p []byte) (int, error) {
	if b.buf.Len() == 0 {
		pause := 15 * time.Second
		if b.left == 0 {
			pause = 24 * time.Hour
		}
		if !channels.Sleep(b.ctx, pause) {
			return 0, b.ctx.Err()
		}
		b.left--
		b.buf.WriteString(": keep-alive\nevent: ping\ndata: {}\n\n")
	}
	return b.buf.Read(p)
}

func (b *beating) Close() error { return nil }

// A connection that beats is kept; one that falls silent without ending is opened again.
func TestFollowNoticesSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &wire{beats: 100}
		c := newClient(Options{BaseURL: "http://host", Client: &http.Client{Transport: w}, Out: io.Discard})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		events := make(chan webchat.Event, 10)
		go c.follow(ctx, func(e webchat.Event) { events <- e })
		if e := <-events; e.Kind != webchat.HelloEvent {
			t.Fatalf("got %+v", e)
		}
		began := time.Now()
		if e := <-events; e.Kind != awayEvent || time.Since(began) < 100*15*time.Second {
			t.Errorf("got %+v after %s of beats", e, time.Since(began))
		}
		if e := <-events; e.Kind != webchat.HelloEvent || w.opened != 2 {
			t.Errorf("got %+v, %d connections", e, w.opened)
		}
	})
}

// What the history brought is not shown again when its event comes late, in either mode.
func TestLateEventIsNotShownAgain(t *testing.T) {
	t.Parallel()
	line := web.Line{ID: "m", Role: web.Assistant, Text: "hi", Deliveries: []string{"d1"}, State: "sent"}
	late := webchat.Event{Kind: webchat.MessageEvent, ID: "d1.0", Text: "hi"}

	var out bytes.Buffer
	d := dialog{c: newClient(Options{Out: &out}), seen: map[string]bool{"d1": true}}
	if err := d.show(late); err != nil || out.Len() != 0 {
		t.Errorf("line mode printed %q, %v", out.String(), err)
	}

	m := &model{ctx: t.Context(), shown: map[string]bool{}, width: 80, height: 24}
	if m.history(historyMsg{lines: []web.Line{line}}) == nil {
		t.Error("the screen did not print the history")
	}
	m.Update(printedMsg{})
	if m.event(late) != nil || m.history(historyMsg{lines: []web.Line{line}}) != nil {
		t.Error("the screen printed a line twice")
	}
	if m.event(webchat.Event{Kind: webchat.MessageEvent, ID: "d2.0", Text: "new"}) == nil {
		t.Error("the screen did not print a new message")
	}
	if m.history(historyMsg{lines: []web.Line{line, {ID: "n", Role: web.Assistant, Text: "new", Deliveries: []string{"d2"}}}}) != nil {
		t.Error("the screen printed a live message again from the history")
	}
}
