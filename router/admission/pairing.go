package admission

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"parley/channels"
	"parley/policy"
	"parley/router/event"
	"parley/router/settings"
	"parley/sessions"
)

// The bounds of pairing requests (one code for a person, few waiting at a time).
const (
	pairingTTL = time.Hour
	pairingMax = 3
)

// maxLate is the largest age of a stranger's message that a code answers: reading an old chat again writes to nobody.
const maxLate = 10 * time.Minute

// Pair gives a stranger a code, once: one who writes, files alone get none. The notice and the request are one commit.
func (c *Controller) Pair(ctx context.Context, set *settings.Snapshot, in channels.Inbound, key sessions.Key) error {
	now := time.Now()
	if in.Late && now.Sub(in.Time) > maxLate || strings.TrimSpace(in.Text) == "" {
		return nil
	}
	code, err := policy.NewCode(rand.Reader)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("I do not know you yet. Your id here is `%s:%s`.\n\nIf you know my owner, ask them to let you in with this code: `%s`\n\nThey write me `/pair approve %s` or run `parley pairing approve %s %s`\n\nIt is good for one hour.",
		in.Address.Channel, in.Sender.ID, code, code, in.Address.Channel, code)
	d := sessions.NewDelivery(sessions.Invite, key, in.Address, text, now.Add(min(pairingTTL, set.Delivery.TTL(sessions.Invite))))
	p := sessions.Pairing{Channel: in.Address.Channel, Account: in.Address.Account, User: in.Sender.ID, Name: channels.SenderName(in.Sender), Address: in.Address,
		Hash: policy.HashCode(in.Address.Channel, code), Created: now, Expires: now.Add(pairingTTL), Delivery: &d, Source: in.ID}
	created, err := c.store.PutPairing(ctx, p, pairingMax)
	if err != nil || !created {
		return err
	}
	c.watchers.Publish(event.Event{Kind: event.KindPairing, Phase: event.PhaseAsked, Session: key, Channel: p.Channel, Account: p.Account})
	d, err = c.store.GetDelivery(ctx, d.ID)
	if err == nil {
		c.gate.Enqueue(d)
	}
	return err
}

// FindRequest finds the request that a code belongs to, on a channel kind or, when that is empty, on any.
func (c *Controller) FindRequest(ctx context.Context, kind channels.Kind, code string) (p sessions.Pairing, found bool, err error) {
	list, err := c.store.Pairings(ctx, time.Now())
	for _, p := range list {
		if (kind == "" || p.Channel == kind) && p.Hash == policy.HashCode(p.Channel, code) {
			return p, true, nil
		}
	}
	return p, false, err
}

// AdmitRequest returns the change that approves a request. The person is told in the chat that they wrote from: once, as a request ends once.
func AdmitRequest(set *settings.Snapshot, p sessions.Pairing, now time.Time) sessions.Change {
	c := sessions.Change{Ops: []sessions.Op{sessions.DecidePairing{Channel: p.Channel, Hash: p.Hash, Approve: true, Time: now}}}
	if p.Address.IsZero() {
		return c
	}
	key, _, _ := set.Routes.Key(channels.Inbound{Event: channels.Message, Address: p.Address, Sender: channels.Sender{ID: p.User}})
	c.Ops = append(c.Ops, sessions.EnqueueDelivery(sessions.NewDelivery(sessions.Notice, key, p.Address,
		"✅ You are let in. I have not read what you wrote before: please send it again.", now.Add(set.Delivery.TTL(sessions.Notice)))))
	return c
}

// LetIn approves the request that a code belongs to; ErrNotFound when none waits for it.
func (c *Controller) LetIn(ctx context.Context, kind channels.Kind, code string) (sessions.Pairing, error) {
	p, found, err := c.FindRequest(ctx, kind, code)
	if err != nil {
		return p, err
	}
	if !found { // the store says so in words
		p = sessions.Pairing{Channel: kind, Hash: policy.HashCode(kind, code)}
	}
	_, err = c.commit.Submit(ctx, AdmitRequest(c.settings(), p, time.Now()))
	return p, err
}

// TurnDown rejects the request that a code belongs to; ErrNotFound when none waits for it. The person is not told, and gets no new code
// for sessions.RejectedFor.
func (c *Controller) TurnDown(ctx context.Context, kind channels.Kind, code string) error {
	_, err := c.commit.Submit(ctx, sessions.Change{Ops: []sessions.Op{sessions.DecidePairing{Channel: kind, Hash: policy.HashCode(kind, code), Time: time.Now()}}})
	return err
}
