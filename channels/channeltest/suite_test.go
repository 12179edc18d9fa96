package channeltest_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
)

// fakePlatform makes the fake pass the suite that every adapter passes, so that tests behind it see what adapters promise.
type fakePlatform struct{ f *channeltest.Fake }

var places = map[channeltest.Place]channels.Address{
	channeltest.OneToOne: {Channel: "fake", Account: "default", Chat: "1", Type: channels.Direct},
	channeltest.Another:  {Channel: "fake", Account: "default", Chat: "2", Type: channels.Direct},
	channeltest.InGroup:  {Channel: "fake", Account: "default", Chat: "-3", Type: channels.Group},
	channeltest.InThread: {Channel: "fake", Account: "default", Chat: "-3", Thread: "7", Type: channels.Group},
}

func (p fakePlatform) Say(at channeltest.Place, text string) bool {
	p.f.Say(channels.Inbound{Address: places[at], Text: text, Sender: channels.Sender{ID: "9"}})
	return true
}

func (p fakePlatform) Shown(to channels.Address) []string { return p.f.Texts(to) }

func (p fakePlatform) Fail(to channels.Address, class channels.Class) bool {
	e := &channels.Error{Class: class, Err: errors.New("scripted")}
	if class == channels.Limited {
		e.RetryAfter = time.Second
	}
	p.f.Script(channeltest.Step{Chat: to.Chat, Err: e})
	return true
}

func (p fakePlatform) Disconnect() {
	p.f.Break(&channels.Error{Class: channels.Transient, Err: errors.New("connection cut")})
}

// last is the newest thing that was written at a place. The inbox may have seen it a moment before the fake counts it as accepted.
func (p fakePlatform) last(at channeltest.Place) (id channels.MessageID) {
	_ = p.f.Wait(context.Background(), func() bool {
		events, _ := p.f.Accepted()
		for _, in := range events {
			if in.Event == channels.Message && in.Address == places[at] {
				id = in.ID
			}
		}
		return id != ""
	})
	return id
}

// happens is an event that is no message.
func (p fakePlatform) happens(at channeltest.Place, in channels.Inbound) bool {
	in.Address, in.Sender = places[at], channels.Sender{ID: "9"}
	p.f.Say(in)
	return true
}

func (p fakePlatform) Amend(at channeltest.Place, _, to string) bool {
	return p.happens(at, channels.Inbound{Event: channels.Edited, Target: p.last(at), Text: to})
}

func (p fakePlatform) Withdraw(at channeltest.Place, _ string) bool {
	return p.happens(at, channels.Inbound{Event: channels.Deleted, Target: p.last(at)})
}

func (p fakePlatform) React(at channeltest.Place, to channels.MessageID, emoji string) bool {
	return p.happens(at, channels.Inbound{Event: channels.Reacted, Target: to, Emoji: emoji})
}

func (p fakePlatform) Unreact(at channeltest.Place, to channels.MessageID, _ string) bool {
	return p.happens(at, channels.Inbound{Event: channels.Reacted, Target: to})
}

func (p fakePlatform) Reactions(to channels.Address, id channels.MessageID) (out []string) {
	for _, c := range p.f.Calls(channeltest.OpReact) {
		if c.To == to && c.ID == id {
			if out = nil; c.Text != "" {
				out = []string{c.Text}
			}
		}
	}
	return out
}

func (p fakePlatform) Quote(at channeltest.Place, id channels.MessageID, text string) bool {
	p.f.Say(channels.Inbound{Address: places[at], Text: text, Sender: channels.Sender{ID: "9"}, Mentioned: true, Quote: &channels.Quote{ID: id, FromBot: true}})
	return true
}

func (p fakePlatform) Typing(to channels.Address) (n int) {
	for _, c := range p.f.Calls(channeltest.OpTyping) {
		if c.To == to {
			n++
		}
	}
	return n
}

func (p fakePlatform) Join(at channeltest.Place, name string) bool {
	return p.happens(at, channels.Inbound{Event: channels.Joined, People: []channels.Sender{{ID: "10", Name: name}}})
}

func (p fakePlatform) Leave(at channeltest.Place, name string) bool {
	return p.happens(at, channels.Inbound{Event: channels.Left, People: []channels.Sender{{ID: "10", Name: name}}})
}

func (p fakePlatform) Lose(to channels.Address) {
	p.f.Script(channeltest.Step{Chat: to.Chat, Arrives: true, Err: &channels.Error{Class: channels.Ambiguous, Err: errors.New("no answer")}})
}

func (p fakePlatform) Stall(to channels.Address) {
	p.f.Script(channeltest.Step{Chat: to.Chat, Delay: time.Hour})
}

func (p fakePlatform) Reopen(*testing.T, string) channels.Channel { return p.f.Full() }

func TestFakeConforms(t *testing.T) {
	t.Parallel()
	for _, o := range []channeltest.Options{
		{Limits: channels.Limits{Text: 100, Unit: channels.UTF16}},
		{Limits: channels.Limits{Text: 100, Unit: channels.Bytes, Idempotent: true}},
	} {
		channeltest.Run(t, channeltest.Harness{
			Virtual: true, PlatformText: 100, Without: []string{"Sharer", "Menu"},
			New: func(*testing.T, *slog.Logger) (channels.Channel, channeltest.Platform) {
				f := channeltest.NewFake(o)
				return f.Full(), fakePlatform{f}
			},
		})
	}
}
