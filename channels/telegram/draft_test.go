package telegram_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/telegram/telegramtest"
)

func TestDraft(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		to := direct("1001")
		draft := func(id, text string) {
			if err := r.ch.Draft(t.Context(), to, id, text); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
		draft("run-1", "Well, **this")
		draft("run-1", "Well, **this** is")
		long := strings.Repeat("a line of text\n\n", 600) + "the end"
		draft("run-1", long)
		drafts := r.srv.Drafts()
		if len(drafts) != 3 || drafts[1].Text != "Well, this is" || !strings.HasSuffix(drafts[2].Text, "the end") {
			t.Fatalf("%+v", drafts)
		}
		for i, d := range drafts {
			if d.ID == 0 || d.ID != drafts[0].ID || d.Chat != anna || i > 0 && d.At.Sub(drafts[i-1].At) < 300*time.Millisecond {
				t.Errorf("%d: %+v", i, d)
			}
		}
		if _, err := r.ch.Send(t.Context(), channels.Outbound{To: to, Text: "Well, this is it."}); err != nil {
			t.Fatal(err)
		}
		draft("run-1", "too late")
		draft("run-2", "another answer")
		if drafts = r.srv.Drafts(); len(drafts) != 4 || drafts[3].Text != "another answer" || drafts[3].ID == drafts[0].ID {
			t.Errorf("%+v", drafts)
		}
		for _, a := range []channels.Address{inTeam, inTopic, {Chat: "-1005555555555", Type: channels.Room}} {
			if err := r.ch.Draft(t.Context(), a, "run-3", "x"); class(err) != channels.Unsupported {
				t.Errorf("%s: %v", a, err)
			}
		}
		draft("run-2", "") // it was stopped; an empty text would be shown as "Thinking…". source: https://core.telegram.org/bots/api#sendmessagedraft
		draft("run-2", "too late")
		if n := len(r.srv.Calls("sendMessageDraft")); n != 4 {
			t.Errorf("%d calls", n)
		}
	})
}

// Of drafts that come faster than they may, the newest is shown; none comes after the message, whatever is under way.
func TestNoDraftAfterTheMessage(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		to := direct("1001")
		var under sync.WaitGroup
		for i := range 50 {
			under.Go(func() { _ = r.ch.Draft(t.Context(), to, "run", fmt.Sprint("word ", i)) })
			<-time.After(20 * time.Millisecond) // virtual time
		}
		if n := len(r.srv.Drafts()); n < 3 || n > 5 {
			t.Errorf("%d drafts in a second", n)
		}
		under.Wait()
		if d := r.srv.Drafts(); d[len(d)-1].Text != "word 49" {
			t.Errorf("the newest is %q", d[len(d)-1].Text)
		}
		<-time.After(time.Second) // virtual time
		for _, delay := range []time.Duration{500 * time.Millisecond, 10 * time.Second} {
			// Telegram is slow with a draft, one more waits for its turn, and the message comes.
			run := fmt.Sprint("run ", delay)
			r.srv.Inject(telegramtest.Fault{Method: "sendMessageDraft", Delay: delay, Body: `{"ok":true,"result":true}`})
			under.Go(func() { _ = r.ch.Draft(t.Context(), to, run, "slow") })
			<-time.After(10 * time.Millisecond) // virtual time
			under.Go(func() { _ = r.ch.Draft(t.Context(), to, run, "waits") })
			<-time.After(10 * time.Millisecond) // virtual time
			began := time.Now()
			if _, err := r.ch.Send(t.Context(), channels.Outbound{To: to, Text: "final"}); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > 2100*time.Millisecond || delay < time.Second && took < 400*time.Millisecond {
				t.Errorf("the message waited %s for a draft of %s", took, delay)
			}
			under.Wait()
			<-time.After(time.Minute) // virtual time
			for _, d := range r.srv.Drafts() {
				if d.Text == "waits" {
					t.Errorf("a draft after the message: %+v", d)
				}
			}
			r.srv.Forget()
		}
	})
}

// When Telegram asks to wait with drafts, drafts of the chat wait; messages and other chats do not.
func TestDraftsThatAreLimited(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		to := direct("1001")
		r.srv.Inject(telegramtest.TooManyRequests("sendMessageDraft", 30))
		for range 5 {
			if e := channels.Classify(r.ch.Draft(t.Context(), to, "run", "x")); e.Class != channels.Limited || e.RetryAfter == 0 {
				t.Errorf("%+v", e)
			}
		}
		if n := len(r.srv.Calls("sendMessageDraft")); n != 1 {
			t.Errorf("%d calls", n)
		}
		if _, err := r.ch.Send(t.Context(), channels.Outbound{To: to, Text: "x"}); err != nil {
			t.Errorf("a message: %v", err)
		}
		if err := r.ch.Draft(t.Context(), direct("1002"), "run", "x"); err != nil {
			t.Errorf("another chat: %v", err)
		}
		<-time.After(30 * time.Second) // virtual time
		if err := r.ch.Draft(t.Context(), to, "run 2", "x"); err != nil {
			t.Errorf("after the wait: %v", err)
		}
		r.srv.Inject(telegramtest.TooManyRequests("sendMessage", 30))
		_, _ = r.ch.Send(t.Context(), channels.Outbound{To: to, Text: "x"})
		if err := r.ch.Draft(t.Context(), to, "run 3", "x"); class(err) != channels.Limited || len(r.srv.Calls("sendMessageDraft")) != 3 {
			t.Errorf("a chat that is to be left alone: %v", err)
		}
	})
}
