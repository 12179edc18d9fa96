package channeltest_test

import (
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

func (p fakePlatform) Reopen(*testing.T, string) channels.Channel { return p.f.Full() }

func TestFakeConforms(t *testing.T) {
	t.Parallel()
	for _, o := range []channeltest.Options{
		{Limits: channels.Limits{Text: 100, Unit: channels.UTF16}},
		{Limits: channels.Limits{Text: 100, Unit: channels.Bytes, Idempotent: true}},
	} {
		channeltest.Run(t, channeltest.Harness{
			Virtual: true, PlatformText: 100,
			New: func(*testing.T, *slog.Logger) (channels.Channel, channeltest.Platform) {
				f := channeltest.NewFake(o)
				return f.Full(), fakePlatform{f}
			},
		})
	}
}
