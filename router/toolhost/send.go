package toolhost

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"parley/channels"
	"parley/policy"
	"parley/router/chain"
	"parley/sessions"
)

// SendRequest sends a text to a chat.
type SendRequest struct {
	Source  string // dedupe key; "" = never a repeat
	To      channels.Address
	Text    string
	Session sessions.Key // whose policy has a say as well, and whose transcript has it; "" = the session that the chat last wrote to
}

// Sent is the result of Send.
type Sent struct {
	Delivery sessions.Delivery
	Verdict  policy.Verdict // of the gate; until it has decided, how the policy stands now
}

// Send posts a text to a chat that has written to this host before. It is in the transcript of its session. Where the send policy lets nothing
// out now the error is a policy.BlockedError, and nothing is kept. The policy decides again when the text leaves, as about everything else:
// what it holds back then is in the ledger as withheld.
func (h *Host) Send(ctx context.Context, q SendRequest) (Sent, error) {
	if strings.TrimSpace(q.Text) == "" {
		return Sent{}, fmt.Errorf("%w: the text is empty", sessions.ErrBadRequest)
	}
	id := sessions.DeliveryID(sessions.IDFor(q.Source, "delivery"))
	if x, err := h.sent(ctx, id); !errors.Is(err, sessions.ErrNotFound) {
		return x, err
	}
	q.To = h.settings().Moved.Current(q.To) // one may know a chat by what it was
	there, err := h.ChatOf(ctx, q.To)
	if err != nil {
		return Sent{}, err
	}
	if q.Session == "" {
		q.Session = there[0]
	}
	s, err := h.store.Get(ctx, q.Session)
	if err != nil {
		return Sent{}, err
	}
	if s, err = h.chain.MostRestrictive(ctx, s, q.To); err != nil { // which is s itself unless one denies
		return Sent{}, err
	}
	verdict := h.settings().SendPolicyTo(q.To)(s)
	if !verdict.Allowed() {
		return Sent{}, &policy.BlockedError{Verdict: verdict}
	}
	c := h.chain.Posted(s.Key, s.Agent, q.Source, q.Text)
	c.Run.Input.Provenance = &sessions.Provenance{Kind: sessions.InternalSystem, Tool: chain.PostedByAPI}
	c.IdempotencyKey = q.Source
	c.Ops = []sessions.Op{sessions.EnqueueDelivery{ID: id, Kind: sessions.Posted, Session: s.Key, Run: c.Run.ID, Message: c.Run.Input.ID, To: q.To, Text: q.Text,
		Expires: time.Now().Add(h.settings().Delivery.TTL(sessions.Posted))}}
	acc, err := h.commit.Submit(ctx, *c)
	if err != nil {
		return Sent{}, err
	}
	if len(acc.Deliveries) == 0 { // the same request came at the same time
		return h.sent(ctx, id)
	}
	return Sent{acc.Deliveries[0], verdict}, nil
}

// CheckMayAnswer returns a policy.BlockedError when the send policy keeps the answer of a session from a chat: into a chat of its own that policy
// alone counts, into any other the policies of all sessions that the chat has written to.
func (h *Host) CheckMayAnswer(ctx context.Context, s sessions.Session, to channels.Address, own bool) error {
	decide := h.settings().SendPolicyTo(to)
	if !own {
		var err error
		if s, err = h.chain.MostRestrictive(ctx, s, to); err != nil {
			return err
		}
	}
	if v := decide(s); !v.Allowed() {
		return &policy.BlockedError{Verdict: v}
	}
	return nil
}

// sent is what became of a text that was sent before.
func (h *Host) sent(ctx context.Context, id sessions.DeliveryID) (Sent, error) {
	d, err := h.store.GetDelivery(ctx, id)
	if err != nil {
		return Sent{}, err
	}
	v, err := h.VerdictOf(ctx, d)
	return Sent{d, v}, err
}

// VerdictOf returns what the send policy decided about a delivery, or, until it has, how it stands now.
func (h *Host) VerdictOf(ctx context.Context, d sessions.Delivery) (policy.Verdict, error) {
	if d.Verdict != nil {
		return *d.Verdict, nil
	}
	s, err := h.store.Get(ctx, d.Session)
	if errors.Is(err, sessions.ErrNotFound) {
		s, err = sessions.Session{Key: d.Session, Agent: d.Session.Agent()}, nil
	}
	return h.settings().SendPolicyTo(d.To)(s), err
}
