package simtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/channels"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// site is a platform as one account sees it. It goes on when a process crashes: what it took it shows.
type site struct {
	w     *world
	ref   settings.AccountRef
	like  routertest.Platform
	down  [][2]time.Time // when it cannot be reached
	shown []shown
}

// shown is a message that people see.
type shown struct {
	at  int // in the log of the world
	on  time.Time
	out channels.Outbound
	id  channels.MessageID
	raw channels.ChatID // as the host named the chat then
}

// connection is a platform as one process sees it.
type connection struct {
	*site
	h *host
}

func (p *site) channel(h *host) channels.Channel {
	if p.like.Reconciles {
		return answering{connection{p, h}}
	}
	return connection{p, h}
}

// answering is a platform that can be asked what has arrived.
type answering struct{ connection }

// Run implements channels.Channel. Updates are offered by the world.
func (c connection) Run(ctx context.Context, _ channels.Inbox) error {
	<-ctx.Done()
	return nil
}

// Limits implements channels.Channel.
func (c connection) Limits(channels.Address) channels.Limits {
	l := c.like.Limits
	l.Unit, l.Dialect, l.Text, l.Received = channels.Runes, channels.PlainText, c.w.plan.long, mostReceived
	return l
}

// call goes through the beginning of a call: its turn, and its line in the log. It is false when the process is gone.
func (c connection) call(what string, to channels.Address, text string) (begun *contact, ok bool) {
	if !c.w.s.wait(c.h, what+" "+to.String()+" "+text) {
		return nil, false
	}
	return c.w.calls(c.h, what, to, text), true
}

// Typing implements channels.Typer.
func (c connection) Typing(ctx context.Context, to channels.Address) error {
	x, ok := c.call("typing", to, "")
	if !ok {
		return routertest.Failure(channels.Transient, 0)
	}
	defer c.w.ends(x)
	c.w.tally("typing")
	if c.w.s.chance(100) {
		channels.Sleep(ctx, c.w.s.within(8*time.Second))
		c.w.s.wait(c.h, "typed "+to.String())
	}
	return nil
}

// FadeAfter implements channels.Fader, for the second account.
func (c connection) FadeAfter(channels.Address, channels.MessageID) time.Duration {
	if c.ref == second {
		return 7 * time.Second
	}
	return 0
}

// Fade implements channels.Fader.
func (c connection) Fade(_ context.Context, to channels.Address, _ channels.MessageID) error {
	x, ok := c.call("fade", to, "")
	if !ok {
		return routertest.Failure(channels.Transient, 0)
	}
	c.w.tally("fades")
	c.w.ends(x)
	return nil
}

// Send implements channels.Channel.
func (c connection) Send(ctx context.Context, out channels.Outbound) (channels.Receipt, error) {
	x, ok := c.call("send", out.To, out.Key+" "+out.Text)
	if !ok {
		return channels.Receipt{}, routertest.Failure(channels.Ambiguous, 0)
	}
	defer c.w.ends(x)
	w, s := c.w, c.w.s
	w.tally("sends")
	arrives, wait, err := c.draw(out.To)
	var id channels.MessageID
	if arrives {
		id = c.show(out)
	}
	s.note("send %s to %s: %q arrives %v, %v", out.Key, out.To, out.Text, arrives, err)
	if wait > 0 {
		channels.Sleep(ctx, wait)
		if !s.wait(c.h, "answer to send "+out.To.String()+" "+out.Key) {
			x.how = howCut
			return channels.Receipt{}, routertest.Failure(channels.Ambiguous, 0)
		}
		if ctx.Err() != nil {
			err = routertest.Failure(channels.Ambiguous, 0)
		}
	}
	if err != nil {
		x.how = string(channels.Classify(err).Class)
		return channels.Receipt{}, err
	}
	x.how = howTaken
	return channels.Receipt{ID: id, At: time.Now()}, nil
}

// draw says what becomes of a send.
func (c connection) draw(to channels.Address) (arrives bool, wait time.Duration, err error) {
	w, s := c.w, c.w.s
	for _, d := range c.down {
		if now := time.Now(); now.After(d[0]) && now.Before(d[1]) {
			w.tally("platform down")
			return false, s.within(3 * time.Second), routertest.Failure(channels.Transient, 0)
		}
	}
	wait = s.within(pick(s, time.Millisecond, 200*time.Millisecond, 2*time.Second))
	if w.calm.Load() || !s.chance(w.plan.sending) {
		return true, wait, nil
	}
	switch s.upTo(16) {
	case 0, 1, 2:
		w.tally("transient sends")
		return false, wait, routertest.Failure(channels.Transient, 0)
	case 3, 4, 5:
		w.tally("limited sends")
		return false, wait, routertest.Failure(channels.Limited, s.within(90*time.Second))
	case 6, 7, 8, 9:
		w.tally("ambiguous sends that arrived")
		return true, wait, routertest.Failure(channels.Ambiguous, 0)
	case 10, 11, 12:
		w.tally("ambiguous sends that did not")
		return false, wait, routertest.Failure(channels.Ambiguous, 0)
	case 13:
		w.tally("hanging sends that arrived")
		return true, time.Hour, routertest.Failure(channels.Ambiguous, 0)
	case 14:
		w.tally("hanging sends that did not")
		return false, time.Hour, routertest.Failure(channels.Ambiguous, 0)
	}
	w.tally("rejected sends")
	return false, wait, routertest.Failure(channels.Rejected, 0)
}

// show makes a message visible, once per key where the platform is idempotent.
func (c connection) show(out channels.Outbound) channels.MessageID {
	if c.like.Limits.Idempotent {
		if i := c.find(out); i >= 0 {
			return c.shown[i].id
		}
	}
	raw := out.To.Chat
	out.To = c.w.home(out.To)
	x := shown{raw: raw, at: c.w.clock(), on: time.Now(), out: out, id: channels.MessageID(fmt.Sprintf("%s-%d", c.ref.Account, len(c.shown)))}
	site := c.site
	site.shown = append(site.shown, x)
	c.w.shows(x)
	return x.id
}

func (p *site) find(out channels.Outbound) int {
	return slices.IndexFunc(p.shown, func(x shown) bool { return x.out.Key == out.Key && x.out.To == p.w.home(out.To) })
}

// Arrived implements channels.Reconciler.
func (c answering) Arrived(ctx context.Context, out channels.Outbound) (channels.Receipt, bool, error) {
	x, ok := c.call("arrived", out.To, out.Key+" "+out.Text)
	if !ok {
		return channels.Receipt{}, false, routertest.Failure(channels.Ambiguous, 0)
	}
	defer c.w.ends(x)
	c.w.tally("questions what arrived")
	if !c.w.calm.Load() && c.w.s.chance(100) {
		x.how = string(channels.Transient)
		return channels.Receipt{}, false, routertest.Failure(channels.Transient, 0)
	}
	if i := c.find(out); i >= 0 {
		x.how = howThere
		return channels.Receipt{ID: c.shown[i].id, At: time.Now()}, true, nil
	}
	x.how = howAbsent
	return channels.Receipt{}, false, nil
}

// deliveryOf is the delivery whose part has a key.
func deliveryOf(key string) sessions.DeliveryID {
	id, _, _ := strings.Cut(key, ".")
	return sessions.DeliveryID(id)
}
