//go:build unix

package chatclient

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"

	"parley/channels"
	"parley/gateway/web"
	"parley/gateway/web/webtest"
	"parley/sessions"
)

// A long history, a draft that is longer than the screen, and the long answer behind it: each line stands once in the scrollback, in order and without a run of blank lines.
func TestScrollback(t *testing.T) {
	t.Parallel()
	const long = 61
	text := func(word string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s %d.\n", word, i)
		}
		return strings.TrimSpace(b.String())
	}
	h := webtest.NewHost(t, func(ctx context.Context, h *webtest.Host, in channels.Inbound) {
		for n := range long {
			_ = h.Hub.Draft(ctx, in.Address, string(in.ID), text("new", n+1))
		}
		_ = h.Say(ctx, in.Address, text("new", long), sessions.Sent)
	})
	h.Put(web.Line{ID: "old", Role: web.Assistant, Text: text("old", long), Time: time.Now()})
	x := openTerminal(t)
	screen := vt.NewSafeEmulator(80, 24)
	x.show(screen)
	go func() { _, _ = io.Copy(x.keys, screen) }() // what a terminal answers
	t.Cleanup(func() {                             // it answers no more; closing it would race with what is still written
		if w, ok := screen.InputPipe().(io.Closer); ok {
			_ = w.Close()
		}
	})
	done := make(chan error, 1)
	go func() {
		done <- Run(t.Context(), Options{BaseURL: h.URL, Token: h.Token, In: x.tty, Out: x.tty, Interactive: true})
	}()
	x.until(fmt.Sprintf("old %d.", long-1))
	x.press("go on\r")
	x.untilShown(func() error {
		got := shown(screen)
		for _, word := range []string{"old", "new"} {
			all := regexp.MustCompile(word+` (\d+)\.`).FindAllStringSubmatch(got, -1)
			for i, m := range all {
				if m[1] != fmt.Sprint(i) {
					return fmt.Errorf("line %d of %q is %q:\n%s", i, word, m[0], got)
				}
			}
			if len(all) != long {
				return fmt.Errorf("%d lines of %q, want %d", len(all), word, long)
			}
		}
		if n := strings.Count(got, "Enter sends"); n != 1 || strings.Contains(got, "\n\n\n") {
			return fmt.Errorf("%d status lines, or a run of blank lines:\n%s", n, got)
		}
		return nil
	})
	x.press("\x03")
	if err := <-done; err != nil {
		t.Errorf("Run: %v", err)
	}
}

// shown is what a person reads who scrolls up: the scrollback and the screen.
func shown(e *vt.SafeEmulator) string {
	var lines []string
	for _, l := range e.Scrollback().Lines() {
		lines = append(lines, strings.TrimRight(l.String(), " "))
	}
	for y := range e.Height() {
		var b strings.Builder
		for x := range e.Width() {
			if c := e.CellAt(x, y); c != nil {
				b.WriteString(c.Content)
			} else {
				b.WriteByte(' ')
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
