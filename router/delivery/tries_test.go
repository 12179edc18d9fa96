package delivery_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// A platform that fails after it was given a message, and then says that it does not have it, is tried as rarely as one that is away:
// each try is in the list, and another chat is answered meanwhile.
// source: Discord's documentation, "Create Message": a request with files may end in a 5xx; a client backs off
func TestTriesThatDidNotArrive(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Router.Attach(routertest.Account, struct {
			*channeltest.Full
			channels.Reconciler
		}{g.Fake.Full(), g.Fake.Reconciler()})
		fails := &channels.Error{Class: channels.Ambiguous, Err: errors.New("500 Internal Server Error")}
		g.Fake.Script(channeltest.Step{Chat: "a", Times: 5, Err: fails}, channeltest.Step{Chat: "a", LeftOut: "the reply reference"})
		g.Say(routertest.Direct("a"), "a", "to one that fails")
		g.Until("it was tried", func() bool { return len(g.Fake.Calls(channeltest.OpSend)) > 0 })
		g.Say(routertest.Direct("b"), "b", "to another")
		if first := g.Shown(1)[0]; first.To != routertest.Direct("b") {
			t.Errorf("%s was answered first", first.To)
		}
		g.Shown(2)
		var last time.Time
		n := 0
		for _, c := range g.Fake.Calls(channeltest.OpSend) {
			if c.To != routertest.Direct("a") {
				continue
			}
			if n++; n > 1 && c.At.Sub(last) < time.Second<<(n-2)/2 {
				t.Errorf("try %d came %s behind the one before", n, c.At.Sub(last))
			}
			last = c.At
		}
		d := g.Deliveries()[0]
		if n != 6 || len(d.Tries) != 5 || d.State != sessions.Sent || d.Repeat || d.Tries[0].Error != fails.Error() || !d.Tries[0].At.Before(d.Tries[1].At) {
			t.Errorf("%d calls, %+v", n, d)
		}
		if d.Receipts[0].LeftOut != "the reply reference" {
			t.Errorf("left out: %q", d.Receipts[0].LeftOut)
		}
	})
}

// A message that never arrives is given up after so many tries, and the chat goes on.
// source: the documentation of parley, docs/reliability.md: everything that is repeated has a bound
func TestTriesHaveABound(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) { s.Delivery.ReplyTTL = 24 * time.Hour })
		g.Router.Attach(routertest.Account, struct {
			*channeltest.Full
			channels.Reconciler
		}{g.Fake.Full(), g.Fake.Reconciler()})
		g.Fake.Script(channeltest.Step{Chat: "a", Times: -1, Err: &channels.Error{Class: channels.Ambiguous, Err: errors.New("500")}})
		g.Say(routertest.Direct("a"), "a", "one")
		<-time.After(3 * time.Hour)
		synctest.Wait()
		if d := g.Deliveries()[0]; d.State != sessions.DeliveryFail || len(g.Fake.Calls(channeltest.OpSend)) != maxAbsent || len(d.Tries) != 50 {
			t.Errorf("%s after %d calls: %s", d.State, len(g.Fake.Calls(channeltest.OpSend)), d.Error)
		}
	})
}
