package wizard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/gateway/accounts"
	"parley/gateway/config"
)

// chat is a channel for the tests: it offers what is put into it, and notes what was left to the platform.
type chat struct {
	channels.Channel
	in     chan channels.Inbound
	mu     sync.Mutex
	left   []string
	taken  []string
	health channels.Health
	fails  error
}

func (c *chat) Identify(context.Context) (string, error) { return "@parley_bot", nil }
func (c *chat) Health() channels.Health                  { return c.health }

func (c *chat) Run(ctx context.Context, inbox channels.Inbox) error {
	if c.fails != nil {
		return c.fails
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case in := <-c.in:
			err := inbox(ctx, in)
			c.mu.Lock()
			switch {
			case err == nil:
				c.taken = append(c.taken, in.Text)
			case errors.Is(err, channels.ErrLeave):
				c.left = append(c.left, in.Text)
			}
			c.mu.Unlock()
		}
	}
}

// screen is what the dialog has shown.
type screen struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

var shownCode = regexp.MustCompile(`send ([A-Z0-9]{8}) to`)

// codes gives the codes that were shown.
func (s *screen) codes() (out []string) {
	for _, m := range shownCode.FindAllStringSubmatch(s.String(), -1) {
		out = append(out, m[1])
	}
	return out
}

// ownerDialog runs the question about the owner beside the test, which types into the returned writer. done has its result.
func ownerDialog(t *testing.T, c *chat) (d Dialog, out *screen, typed *io.PipeWriter, done chan string) {
	t.Helper()
	in, typed := io.Pipe()
	t.Cleanup(func() { _ = typed.Close() })
	row := accounts.Adapter{Adapter: config.Adapter{Kind: "fake", New: func() any { return &fields{} }}, Platform: func(config.Account) string { return "x" },
		Open: func(config.Account, accounts.Env) (channels.Channel, error) { return c, nil }, StartLink: func(bot, word string) string { return "https://example.com/" + bot + "?start=" + word }}
	out, done = &screen{}, make(chan string, 1)
	d = Dialog{In: NewInput(in), Out: out, Adapters: []accounts.Adapter{row}, Getenv: func(string) string { return "" }}
	go func() {
		a := Answers{Channels: []Channel{{Kind: "fake", Token: channels.NewSecret("t"), Name: "@parley_bot"}}}
		err := d.owners(t.Context(), &a)
		done <- fmt.Sprint(a.Owners, " ", err)
	}()
	synctest.Wait()
	return d, out, typed, done
}

func say(c *chat, from, text string, edit ...func(*channels.Inbound)) {
	in := channels.Inbound{Event: channels.Message, ID: channels.MessageID(fmt.Sprint(from, text, time.Now().UnixNano())), Text: text,
		Address: channels.Address{Channel: "fake", Account: "default", Type: channels.Direct, Chat: channels.ChatID(from)}, Sender: channels.Sender{ID: channels.UserID(from), Name: "N" + from + "\x1b[2J"}}
	for _, f := range edit {
		f(&in)
	}
	c.in <- in
	synctest.Wait()
}

// Who sends the code becomes the owner when the person at the keyboard says so. Whatever others write meanwhile is left to the platform.
func TestCodeFindsTheOwner(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &chat{in: make(chan channels.Inbound)}
		_, out, typed, done := ownerDialog(t, c)
		code := out.codes()[0]
		if !strings.Contains(out.String(), "https://example.com/@parley_bot?start="+code) || !strings.Contains(out.String(), "Press Enter to skip") {
			t.Errorf("shown: %s", out)
		}
		say(c, "666", "hello, I am first")
		say(c, "666", "/start AAAAAAAA")
		say(c, "666", code, func(in *channels.Inbound) { in.Address.Type = channels.Group })
		say(c, "666", code, func(in *channels.Inbound) { in.Forwarded = true })
		say(c, "666", code, func(in *channels.Inbound) { in.Sender.Bot = true })
		say(c, "666", code, func(in *channels.Inbound) { in.Event = channels.Edited })
		say(c, "*", code)
		say(c, "1001", "/start "+strings.ToLower(code))
		if !strings.Contains(out.String(), `"N1001\x1b[2J", id 1001, sent the code. Make this person the owner?`) {
			t.Fatalf("shown: %s", out)
		}
		for _, line := range []string{"", "perhaps", "y"} { // Enter is no answer: it may have been typed to skip
			answer(t, typed, line)
			synctest.Wait()
		}
		if got := <-done; got != "[fake:1001] <nil>" {
			t.Errorf("%s\n%s", got, out)
		}
		if len(c.left) != 7 || len(c.taken) != 1 {
			t.Errorf("left %q, taken %q", c.left, c.taken)
		}
	})
}

// A code is used once, guesses are few, and it is no good after its time.
func TestCodeBounds(t *testing.T) {
	t.Parallel()
	t.Run("somebody else", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := &chat{in: make(chan channels.Inbound)}
			_, out, typed, done := ownerDialog(t, c)
			old := out.codes()[0]
			say(c, "666", old)
			answer(t, typed, "n")
			synctest.Wait()
			if codes := out.codes(); len(codes) != 2 || codes[1] == old {
				t.Fatalf("codes %q", codes)
			}
			say(c, "666", old)
			if strings.Count(out.String(), "sent the code") != 1 {
				t.Error("the old code still works")
			}
			say(c, "1001", out.codes()[1])
			answer(t, typed, "yes")
			if got := <-done; got != "[fake:1001] <nil>" {
				t.Error(got)
			}
		})
	})
	t.Run("guesses", func(t *testing.T) {
		t.Parallel()
		o, err := newCode()
		if err != nil {
			t.Fatal(err)
		}
		guess := func(from, id, text string) bool {
			return o.take(channels.Inbound{Event: channels.Message, ID: channels.MessageID(id), Text: text, Address: channels.Address{Channel: "fake", Type: channels.Direct}, Sender: channels.Sender{ID: channels.UserID(from)}})
		}
		for range 10 { // the same message again is one guess
			guess("1001", "same", "AAAAAAAA")
		}
		if o.tries["1001"] != 1 {
			t.Errorf("%d guesses", o.tries["1001"])
		}
		for i := range maxPersonTries {
			guess("666", fmt.Sprint(i), "AAAAAAAA")
		}
		if guess("666", "right", o.code) {
			t.Error("a person guesses as often as they like")
		}
		if !guess("1001", "right", o.code) || guess("1001", "again", o.code) {
			t.Error("the code does not work once")
		}
		if o, err = newCode(); err != nil {
			t.Fatal(err)
		}
		for i := range maxTries {
			guess(fmt.Sprint("p", i), fmt.Sprint(i), "AAAAAAAA")
		}
		if guess("1001", "right", o.code) {
			t.Error("many people guess as often as they like")
		}
	})
	t.Run("its time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := &chat{in: make(chan channels.Inbound)}
			_, out, typed, done := ownerDialog(t, c)
			time.Sleep(codeTTL + time.Second)
			synctest.Wait()
			if !strings.Contains(out.String(), "The code has expired. Press Enter for a new code") || strings.Contains(out.String(), "cannot receive") {
				t.Errorf("shown: %s", out)
			}
			answer(t, typed, "")
			synctest.Wait()
			if codes := out.codes(); len(codes) != 2 || codes[0] == codes[1] {
				t.Fatalf("codes %q", codes)
			}
			time.Sleep(codeTTL + time.Second)
			synctest.Wait()
			answer(t, typed, "1001") // the id instead
			if got := <-done; got != "[fake:1001] <nil>" {
				t.Error(got)
			}
		})
	})
}

// Enter skips the waiting; a platform that cannot be heard is named with its reason, while it is waited for and when it gives up.
func TestWaitingForTheOwner(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &chat{in: make(chan channels.Inbound), health: channels.Health{State: channels.Conflict, Detail: "another process polls"}}
		_, out, typed, done := ownerDialog(t, c)
		time.Sleep(3 * healthInterval)
		synctest.Wait()
		if strings.Count(out.String(), "Not connected: another process polls") != 1 {
			t.Errorf("shown: %s", out)
		}
		answer(t, typed, "")
		if got := <-done; got != "[] <nil>" || !strings.Contains(out.String(), "first person whom you approve becomes the owner, if no person was let in before") {
			t.Errorf("%s\n%s", got, out)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c := &chat{in: make(chan channels.Inbound), fails: &channels.Error{Class: channels.Rejected, Err: errors.New("switch the Message Content intent on")}}
		_, out, typed, done := ownerDialog(t, c)
		answer(t, typed, "")
		if got := <-done; got != "[] <nil>" || !strings.Contains(out.String(), "switch the Message Content intent on") {
			t.Errorf("%s\n%s", got, out)
		}
	})
}

// answer types a line.
func answer(t *testing.T, typed io.Writer, line string) {
	t.Helper()
	if _, err := io.WriteString(typed, line+"\n"); err != nil {
		t.Error(err)
	}
}
