package routertest

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/router/inbound"
	"parley/sessions"
)

// Person is a sender who is known by an id alone.
func Person(id string) channels.Sender { return channels.Sender{ID: channels.UserID(id), Name: id} }

// Sessions of two groups.
const (
	KeyA = sessions.Key("agent:main:fake:group:a")
	KeyB = sessions.Key("agent:main:fake:group:b")
)

// Asks says something in a chat and gives the next text that goes there, as Markdown.
func (g *Rig) Asks(to channels.Address, from, words string) string {
	g.T.Helper()
	texts := func() (out []string) {
		for _, d := range g.Deliveries() {
			if d.To == to && d.State == sessions.Sent {
				out = append(out, d.Text)
			}
		}
		return out
	}
	before := len(texts())
	g.Say(to, from, words)
	g.Until(fmt.Sprintf("%q is answered", words), func() bool { return len(texts()) > before })
	return texts()[before]
}

// GuestKey is the guest's session with the bot.
const GuestKey = sessions.Key("agent:main:fake:direct:" + Guest)

// Happens has an event come from a chat and waits until it is taken.
func (g *Rig) Happens(in channels.Inbound) {
	g.T.Helper()
	events, _ := g.Fake.Accepted()
	g.Fake.Say(in)
	g.Taken(len(events) + 1)
}

// Busy holds the model until the rest is called, and has a person's message at work meanwhile.
func (g *Rig) Busy(to channels.Address, from string) (rest func()) {
	g.T.Helper()
	free := make(chan struct{})
	g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
		select {
		case <-free:
		case <-ctx.Done():
		}
		return Text("echo: " + LastUser(p)), ctx.Err()
	})
	n := g.Model.Count()
	g.Say(to, from, "work")
	g.Until("it is at work", func() bool { return g.Model.Count() == n+1 })
	return func() { close(free) }
}

// AllOver reports whether every run has ended.
func (g *Rig) AllOver() bool {
	return !slices.ContainsFunc(g.Runs(), func(r sessions.Run) bool { return !r.Status.Final() })
}

// Talk has somebody say something in a group that is not meant for the bot.
func (g *Rig) Talk(to channels.Address, from, words string) channels.Inbound {
	return g.Fake.Say(channels.Inbound{Address: to, Sender: channels.Sender{ID: channels.UserID(from), Name: from}, Text: words})
}

// Code finds the code in what a stranger was told.
func (g *Rig) Code(to channels.Address) string {
	g.T.Helper()
	synctest.Wait()
	texts := g.Fake.Texts(to)
	if len(texts) == 0 {
		g.T.Fatal("no notice")
	}
	m := regexp.MustCompile(`with this code: (\w+)\n`).FindStringSubmatch(texts[len(texts)-1])
	if m == nil {
		g.T.Fatalf("no code in %q", texts)
	}
	return m[1]
}

// Direct is a direct chat of the fake platform.
func Direct(id string) channels.Address {
	return channels.Address{Channel: Kind, Account: channels.DefaultAccount, Chat: channels.ChatID(id), Type: channels.Direct}
}

// Group is a group chat of the fake platform.
func Group(id string) channels.Address {
	a := Direct(id)
	a.Type = channels.Group
	return a
}

// Say has somebody write in a chat.
func (g *Rig) Say(to channels.Address, from, words string) channels.Inbound {
	return g.Fake.Say(channels.Inbound{Address: to, Sender: channels.Sender{ID: channels.UserID(from), Name: from}, Text: words, Mentioned: to.Type.Several()})
}

// HookKey is the session that Me names.
const HookKey sessions.Key = "agent:main:hook:h1"

// Told says something through the host and fails the test when that does not work.
func (g *Rig) Told(w inbound.Request) inbound.Submitted {
	g.T.Helper()
	h, err := g.Router.Receiver.Submit(g.T.Context(), w)
	if err != nil {
		g.T.Fatal(err)
	}
	return h
}

// Answered waits for the answer to words.
func (g *Rig) Answered(h inbound.Submitted) sessions.Run {
	g.T.Helper()
	ctx, cancel := context.WithTimeout(g.T.Context(), time.Hour)
	defer cancel()
	run, err := g.Router.Outcome(ctx, h.Run.ID)
	if err != nil {
		g.T.Fatal(err)
	}
	return run
}

// Blocked has the model wait before each answer until release.
func (g *Rig) Blocked() (release func()) {
	gate := make(chan struct{})
	g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
		select {
		case <-gate:
			return Text("echo: " + LastUser(p)), nil
		case <-ctx.Done():
			return agent.Answer{}, ctx.Err()
		}
	})
	return func() { close(gate) }
}

// Me is a request that an API client makes.
func Me(owner bool) inbound.Request {
	return inbound.Request{Sender: channels.Sender{ID: "ci", Name: "CI"}, Owner: owner, Via: "api", Session: HookKey, Text: "hello"}
}
