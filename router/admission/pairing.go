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

// maxLate is how old what a stranger wrote may be when it is told a code: nobody is written to because an old chat was read again.
const maxLate = 10 * time.Minute

// Pair gives a stranger a code, once: one who writes, files alone get none. The notice and the request are one commit.
func (r *Controller) Pair(ctx context.Context, set *settings.Snapshot, in channels.Inbound, key sessions.Key) error {
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
	created, err := r.store.PutPairing(ctx, p, pairingMax)
	if err != nil || !created {
		return err
	}
	r.watchers.Publish(event.Event{Kind: event.KindPairing, Phase: event.PhaseAsked, Session: key, Channel: p.Channel, Account: p.Account})
	d, err = r.store.GetDelivery(ctx, d.ID)
	if err == nil {
		r.gate.Enqueue(d)
	}
	return err
}

// FindRequest finds the request that a code belongs to, on a channel kind or, when that is empty, on any.
func (r *Controller) FindRequest(ctx context.Context, kind channels.Kind, code string) (p sessions.Pairing, found bool, err error) {
	list, err := r.store.Pairings(ctx, time.Now())
	for _, p := range list {
		if (kind == "" || p.Channel == kind) && p.Hash == policy.HashCode(p.Channel, code) {
			return p, true, nil
		}
	}
	return p, false, err
}

// AdmitRequest is what approving a request commits. The person is told in the chat that they wrote from: once, as a request ends once.
func AdmitRequest(set *settings.Snapshot, p sessions.Pairing, now time.Time) sessions.Effects {
	e := sessions.Effects{Pairing: &sessions.Answer{Channel: p.Channel, Hash: p.Hash, Approve: true, Time: now}}
	if p.Address.IsZero() {
		return e
	}
	key, _, _ := set.Routes.Key(channels.Inbound{Event: channels.Message, Address: p.Address, Sender: channels.Sender{ID: p.User}})
	e.Deliveries = []sessions.Delivery{sessions.NewDelivery(sessions.Notice, key, p.Address,
		"✅ You are let in. I have not read what you wrote before: please send it again.", now.Add(set.Delivery.TTL(sessions.Notice)))}
	return e
}

// LetIn approves the request that a code belongs to; ErrNotFound when none waits for it.
func (r *Controller) LetIn(ctx context.Context, kind channels.Kind, code string) (sessions.Pairing, error) {
	p, found, err := r.FindRequest(ctx, kind, code)
	if err != nil {
		return p, err
	}
	if !found { // the store says so in words
		p = sessions.Pairing{Channel: kind, Hash: policy.HashCode(kind, code)}
	}
	_, err = r.commit.Submit(ctx, AdmitRequest(r.settings(), p, time.Now()))
	return p, err
}

// TurnDown rejects the request that a code belongs to; ErrNotFound when none waits for it. The person is not told, and gets no new code
// for sessions.RejectedFor.
func (r *Controller) TurnDown(ctx context.Context, kind channels.Kind, code string) error {
	_, err := r.commit.Submit(ctx, sessions.Effects{Pairing: &sessions.Answer{Channel: kind, Hash: policy.HashCode(kind, code), Time: time.Now()}})
	return err
}
