package channeltest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
)

func at(chat channels.ChatID) channels.Address {
	return channels.Address{Channel: "fake", Account: "default", Chat: chat, Type: channels.Direct}
}

func TestFakeReoffersInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := channeltest.NewFake(channeltest.Options{})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		refused := 0
		go func() {
			done <- f.Run(ctx, func(_ context.Context, in channels.Inbound) error {
				if in.Text == "a1" && refused < 3 {
					refused++
					return errors.New("disk full")
				}
				return nil
			})
		}()
		for _, text := range []string{"a1", "a2", "a3"} {
			f.Say(channels.Inbound{Address: at("a"), Text: text})
		}
		if err := f.WaitAccepted(ctx, 3); err != nil {
			t.Fatal(err)
		}
		got, offers := f.Accepted()
		if offers != 6 || got[0].Text != "a1" || got[1].Text != "a2" || got[2].Text != "a3" {
			t.Errorf("offers %d, accepted %v", offers, got)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestFakeScript(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := channeltest.NewFake(channeltest.Options{Limits: channels.Limits{Text: 5, Idempotent: true}})
		limited := &channels.Error{Class: channels.Limited, RetryAfter: time.Minute, Err: errors.New("slow down")}
		lost := &channels.Error{Class: channels.Ambiguous, Err: errors.New("no answer")}
		f.Script(
			channeltest.Step{Chat: "b", Err: limited},
			channeltest.Step{Op: channeltest.OpTyping, Err: limited},
			channeltest.Step{Delay: time.Hour, Err: lost, Arrives: true},
		)
		start := time.Now()
		send := func(chat channels.ChatID, key, text string) (channels.Receipt, error) {
			return f.Send(t.Context(), channels.Outbound{Key: key, To: at(chat), Text: text})
		}
		if _, err := send("a", "k1", "one"); !errors.Is(err, error(lost)) || time.Since(start) != time.Hour {
			t.Errorf("first send: %v after %s", err, time.Since(start))
		}
		if r, err := send("a", "k1", "one"); err != nil || r.ID == "" || len(f.Shown(at("a"))) != 1 {
			t.Errorf("a repeated key is shown once: %v %v %v", r, err, f.Texts(at("a")))
		}
		if _, err := send("b", "k2", "two"); !errors.Is(err, error(limited)) {
			t.Errorf("scripted for b: %v", err)
		}
		if _, err := send("b", "k3", "far too long"); channels.Classify(err).Class != channels.Rejected {
			t.Errorf("too long: %v", err)
		}
		full := channels.Probe(f.Full())
		if err := full.Typer.Typing(t.Context(), at("a")); !errors.Is(err, error(limited)) {
			t.Errorf("typing: %v", err)
		}
		shown := f.Shown(at("a"))[0]
		if err := full.Editor.Edit(t.Context(), shown.Receipt.ID, channels.Outbound{To: at("a"), Text: "1"}); err != nil || f.Texts(at("a"))[0] != "1" {
			t.Errorf("edit: %v %v", err, f.Texts(at("a")))
		}
		if err := full.Reactor.React(t.Context(), at("a"), "7", "👀"); err != nil {
			t.Errorf("reaction: %v", err)
		}
		if calls := f.Calls(channeltest.OpReact); len(calls) != 1 || calls[0].ID != "7" || calls[0].Text != "👀" || calls[0].To != at("a") {
			t.Errorf("reactions: %+v", calls)
		}
		if bare := channels.Probe(f); bare != (channels.Caps{}) {
			t.Errorf("a bare fake has abilities: %+v", bare)
		}
	})
}

func TestFakeBlockedSendEndsWithContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := channeltest.NewFake(channeltest.Options{})
		f.Script(channeltest.Step{Wait: make(chan struct{})})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := f.Send(ctx, channels.Outbound{To: at("a"), Text: "x"})
		if channels.Classify(err).Class != channels.Ambiguous || len(f.Shown(channels.Address{})) != 0 {
			t.Errorf("%v, shown %v", err, f.Shown(channels.Address{}))
		}
	})
}
