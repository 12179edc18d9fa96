//go:build unix

package chatclient

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"golang.org/x/sys/unix"

	"parley/channels"
	"parley/channels/webchat"
	"parley/gateway/web"
	"parley/gateway/web/webtest"
	"parley/sessions"
)

// terminal is a real pseudo-terminal; what the program writes to it can be waited for.
type terminal struct {
	t    *testing.T
	keys *os.File // the person's side
	tty  *os.File // the program's side

	mu   sync.Mutex
	text bytes.Buffer
	also io.Writer // gets what the program writes, too
	more chan struct{}
}

func openTerminal(t *testing.T) *terminal {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	fd := int(keys.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	x := &terminal{t: t, keys: keys, tty: tty, more: make(chan struct{}, 1)}
	go func() { _, _ = io.Copy(x, keys) }() // ends when the program's side is closed
	t.Cleanup(func() { tty.Close(); keys.Close() })
	return x
}

func (x *terminal) Write(b []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	select {
	case x.more <- struct{}{}:
	default:
	}
	if x.also != nil {
		_, _ = x.also.Write(b)
	}
	return x.text.Write(b)
}

// show gives what the program writes to a second place, too.
func (x *terminal) show(w io.Writer) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.also = w
}

// untilShown waits until the program's writing makes what is shown right.
func (x *terminal) untilShown(wrong func() error) {
	x.t.Helper()
	look := func() error { // while nothing is written
		x.mu.Lock()
		defer x.mu.Unlock()
		return wrong()
	}
	limit := time.After(30 * time.Second)
	for err := look(); err != nil; err = look() {
		select {
		case <-x.more:
		case <-limit:
			x.t.Fatal(err)
		}
	}
}

// until waits until the program has written a text and forgets what was written up to it.
func (x *terminal) until(want string) {
	x.t.Helper()
	limit := time.After(30 * time.Second)
	for {
		x.mu.Lock()
		plain := ansi.Strip(x.text.String())
		if strings.Contains(plain, want) {
			x.text.Reset()
			x.mu.Unlock()
			return
		}
		x.mu.Unlock()
		select {
		case <-x.more:
		case <-limit:
			x.t.Fatalf("never saw %q in %q", want, plain)
		}
	}
}

func (x *terminal) press(keys string) {
	x.t.Helper()
	if _, err := x.keys.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

// Ctrl-C takes away what is half written, and leaves when there is nothing.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	m := &model{ctx: t.Context(), shown: map[string]bool{}, width: 80, height: 24}
	stop := tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}
	m.in.insert("half")
	if m.key(stop) != nil || !m.in.empty() {
		t.Error("it leaves with a text half written, or that stays")
	}
	if m.key(stop) == nil {
		t.Error("it does not leave")
	}
}

// Esc stops what the agent is at, and does nothing while it is at nothing.
func TestEscStops(t *testing.T) {
	t.Parallel()
	post := make(chan outgoing, 1)
	m := &model{ctx: t.Context(), shown: map[string]bool{}, width: 80, height: 24, post: post}
	esc := tea.KeyPressMsg{Code: tea.KeyEscape}
	m.key(esc)
	if len(post) != 0 || strings.Contains(m.status(), "Esc") {
		t.Error("it stops nothing")
	}
	m.event(webchat.Event{Kind: webchat.DraftEvent, Text: "half"})
	if !strings.Contains(m.status(), "Esc stops") {
		t.Errorf("the status line says %q", m.status())
	}
	m.key(esc)
	if len(post) != 1 || (<-post).text != "/stop" {
		t.Error("it does not stop")
	}
}

// With NO_COLOR nothing that is printed or drawn has a colour. source: https://no-color.org
func TestNoColour(t *testing.T) {
	t.Parallel()
	for _, plain := range []bool{true, false} {
		m := &model{ctx: t.Context(), shown: map[string]bool{}, width: 80, height: 24, plain: plain}
		said := m.line(web.Line{Role: web.Assistant, Text: "hi", State: "failed"}) + m.line(web.Line{Role: web.User, Text: "hi"})
		if has := regexp.MustCompile("\x1b\\[[34][0-9]").MatchString(said + m.View().Content); has == plain {
			t.Errorf("plain %v: %q", plain, said)
		}
	}
}

func TestScreen(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	h := webtest.NewHost(t, func(ctx context.Context, h *webtest.Host, in channels.Inbound) {
		if in.Text == "/help" {
			_ = h.Answer(ctx, in.Address, in.Text, sessions.Withheld)
			return
		}
		wait := func() {
			select {
			case <-next:
			case <-ctx.Done():
			}
		}
		_ = h.Hub.Typing(ctx, in.Address)
		wait()
		_ = h.Hub.Draft(ctx, in.Address, string(in.ID), "half of the")
		wait()
		state := sessions.Sent
		if in.Text == "secret" {
			state = sessions.Withheld
		}
		_ = h.Say(ctx, in.Address, "half of the answer\x1b]0;owned\x07", state)
	})
	h.Put(web.Line{ID: "old", Role: web.Assistant, Text: "from yesterday", Time: time.Now()})
	x := openTerminal(t)
	done := make(chan error, 1)
	go func() {
		done <- Run(t.Context(), Options{BaseURL: h.URL, Token: h.Token, In: x.tty, Out: x.tty, Interactive: true})
	}()
	x.until("from yesterday")
	x.press("helo\x7f\x7fllo\r")
	x.until("is writing")
	next <- struct{}{}
	x.until("half of the")
	next <- struct{}{}
	x.until("answer]0;owned")
	x.press("secret\r")
	x.until("is writing")
	next <- struct{}{}
	x.until("half of the")
	next <- struct{}{}
	x.until("withheld by rule session.sendPolicy.rules[0]")
	for range 2 {
		x.press("/help\r")
		x.until("withheld by rule session.sendPolicy.rules[0]")
	}
	x.press("\x03")
	if err := <-done; err != nil {
		t.Errorf("Run: %v", err)
	}
	if got := h.Lines()[1].Text; got != "hello" {
		t.Errorf("posted %q", got)
	}
}
