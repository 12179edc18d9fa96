package admission

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
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
	text := fmt.Sprintf("I do not know you yet. Your id here is `%s:%s`.\n\nIf you know my owner, ask them to let you in with this code: `%s`\n\nThey send me `/pair approve %s` or run `parley pairing approve %s %s`\n\nTo make you an owner, they run that command with `--owner`.\n\nThe code is valid for one hour.",
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
func AdmitRequest(set *settings.Snapshot, p sessions.Pairing, owner sessions.Ownership, now time.Time) sessions.Change {
	decide := sessions.DecidePairing{Channel: p.Channel, Hash: p.Hash, Approve: true, Owner: ownership(set, p.Channel, p.User, owner), Time: now}
	c := sessions.Change{}
	if !p.Address.IsZero() {
		in := written(set, p.Channel, p.Account, p.User, p.Address)
		decide.Handover = set.Handover(in)
		key, _, _ := set.Routes.Key(in)
		c.Ops = append(c.Ops, sessions.EnqueueDelivery(sessions.NewDelivery(sessions.Notice, key, p.Address,
			"✅ You can talk to me now. I have not read your earlier messages: please send them again.", now.Add(set.Delivery.TTL(sessions.Notice)))))
	}
	c.Ops = append(c.Ops, decide)
	return c
}

// ownership returns what an approval makes of a person by the configuration: it makes the first owner where none is configured.
func ownership(set *settings.Snapshot, kind channels.Kind, user channels.UserID, want sessions.Ownership) sessions.Ownership {
	_, ok := policy.OwnerEntry(kind, user)
	if !ok || want == sessions.FirstOwner && !set.Unowned {
		return sessions.NoOwner
	}
	return want
}

// written is a message of a person in their direct chat.
func written(set *settings.Snapshot, kind channels.Kind, account channels.AccountID, user channels.UserID, at channels.Address) channels.Inbound {
	if at.IsZero() {
		at = channels.Address{Channel: kind, Account: account, Type: channels.Direct, Chat: channels.ChatID(user)}
	}
	at.Thread = ""
	return channels.Inbound{Event: channels.Message, Address: at, Sender: set.Person(kind, channels.Sender{ID: user})}
}

// LetIn approves the request that a code belongs to; ErrNotFound when none waits for it. With AnyOwner code may be the id of a person who was let in
// already, and who becomes an owner.
func (c *Controller) LetIn(ctx context.Context, kind channels.Kind, code string, owner sessions.Ownership) (a sessions.Approval, err error) {
	p, found, err := c.FindRequest(ctx, kind, code)
	if err != nil {
		return a, err
	}
	set, now := c.settings(), time.Now()
	var change sessions.Change
	if !found && owner == sessions.AnyOwner {
		people, err := c.decided(ctx, func(x sessions.Admitted) bool {
			return x.Channel == kind && string(x.User) == code && !x.Since.IsZero()
		})
		if err != nil {
			return a, err
		}
		if len(people) == 1 && ownership(set, kind, people[0].User, owner) == sessions.AnyOwner {
			x := people[0]
			p, found = sessions.Pairing{Channel: kind, Account: x.Account, User: x.User, Name: x.Name}, true
			change.Ops = []sessions.Op{sessions.GrantOwner{Channel: kind, Account: x.Account, User: x.User, Handover: set.Handover(written(set, kind, x.Account, x.User, channels.Address{}))}}
		} else if len(people) > 1 {
			return a, sessions.WithText(sessions.ErrConflict, "%s:%s was let in on several accounts; add %[1]s:%[2]s to commands.ownerAllowFrom and run: parley reload", kind, code)
		}
	}
	if change.Ops == nil {
		if !found { // the store says the rest in words
			if err := c.notWaiting(ctx, kind, code, owner); err != nil {
				return a, err
			}
			p = sessions.Pairing{Channel: kind, Hash: policy.HashCode(kind, code)}
		}
		change = AdmitRequest(set, p, owner, now)
	}
	acc, err := c.commit.Submit(ctx, change)
	if err != nil {
		return a, err
	}
	p.Hash, p.Delivery = "", nil
	return c.approval(set, p, owner, acc.Decided), nil
}

// notWaiting says what to do about a person who is named by their id and still waits, was turned down or was let in already, and about an owner who
// is not known. nil = the approval goes on.
func (c *Controller) notWaiting(ctx context.Context, kind channels.Kind, word string, owner sessions.Ownership) error {
	approve := fmt.Sprintf("parley pairing approve %s CODE", kind)
	if owner == sessions.AnyOwner {
		approve += " --owner"
	}
	asking, err := c.store.Pairings(ctx, time.Now())
	if err != nil {
		return err
	}
	for _, p := range asking {
		switch {
		case p.Channel != kind || string(p.User) != word:
		case p.Rejected:
			return sessions.WithText(sessions.ErrConflict, "%s:%s was turned down; to let this person ask again: parley pairing remove %[1]s %[2]s", kind, word)
		default:
			return sessions.WithText(sessions.ErrConflict, "%s:%s still waits for approval; approve the code that the bot gave this person: %s", kind, word, approve)
		}
	}
	by := letInBy(c.settings(), kind, channels.UserID(word))
	switch {
	case owner != sessions.AnyOwner:
		people, err := c.store.Admitted(ctx)
		if slices.ContainsFunc(people, func(p sessions.Admitted) bool { return p.Channel == kind && string(p.User) == word && !p.Owner }) {
			return sessions.WithText(sessions.ErrNotFound, "%s:%s was let in already; to make this person an owner: parley pairing approve %[1]s %[2]s --owner", kind, word)
		}
		return err
	case by == byOwners:
		return sessions.WithText(sessions.ErrConflict, "%s:%s is an owner already, by %s", kind, word, by)
	case by != "":
		return sessions.WithText(sessions.ErrConflict, "the bot gives %s:%s no code, because allowFrom lets this person in; to make this person an owner, add %[1]s:%[2]s to %s and run: parley reload", kind, word, byOwners)
	}
	return sessions.WithText(sessions.ErrNotFound, "no person on %s has this code or this id; let the person write to the bot, then approve the code that the bot gives: %s", kind, approve)
}

// byOwners is the key of the configuration's owners.
const byOwners = "commands.ownerAllowFrom"

// letInBy names the list of the configuration that lets a person write in a direct chat without a code. "" = none.
func letInBy(set *settings.Snapshot, kind channels.Kind, user channels.UserID) string {
	who := set.Person(kind, channels.Sender{ID: user})
	if set.Owners.Is(kind, who) {
		return byOwners
	}
	for ref, a := range set.Accounts {
		if ref.Channel == kind && a.Access.Admit(policy.Facts{Event: channels.Message, Address: channels.Address{Channel: kind, Account: ref.Account, Type: channels.Direct, Chat: channels.ChatID(user)}, Sender: who}).Outcome == policy.Admit {
			return "allowFrom of the account " + string(ref.Account)
		}
	}
	return ""
}

// approval says what became of a person.
func (c *Controller) approval(set *settings.Snapshot, p sessions.Pairing, owner sessions.Ownership, d *sessions.Decided) sessions.Approval {
	in := written(set, p.Channel, p.Account, p.User, p.Address)
	a := sessions.Approval{Pairing: p, Handover: set.Handover(in)}
	if d != nil {
		a.Owner, a.First, a.Moved = d.Owner, d.Owner && owner == sessions.FirstOwner, d.Moved
	}
	a.Owner = a.Owner || set.Owners.Is(p.Channel, in.Sender)
	return a
}

// Foresee says what an approval is going to do, for an answer that is committed with it.
func (c *Controller) Foresee(ctx context.Context, set *settings.Snapshot, p sessions.Pairing) (sessions.Approval, error) {
	d := sessions.Decided{}
	if ownership(set, p.Channel, p.User, sessions.FirstOwner) == sessions.FirstOwner {
		others, err := c.store.EverAdmitted(ctx)
		if err != nil {
			return sessions.Approval{}, err
		}
		d.Owner = !others
	}
	return c.approval(set, p, sessions.FirstOwner, &d), nil
}

// TurnDown rejects the request that a code belongs to; ErrNotFound when none waits for it. The person is not told, and gets no new code
// for sessions.RejectedFor.
func (c *Controller) TurnDown(ctx context.Context, kind channels.Kind, code string) error {
	_, err := c.commit.Submit(ctx, sessions.Change{Ops: []sessions.Op{sessions.DecidePairing{Channel: kind, Hash: policy.HashCode(kind, code), Time: time.Now()}}})
	return err
}
