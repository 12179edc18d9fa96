package toolhost

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"parley/channels"
	"parley/router/chain"
	"parley/sessions"
	"parley/tools"
)

// Post implements tools.Host. Two sessions have a say: the caller's own policy is asked now, that of the chat at delivery. The transcript
// that has the post is that of the session that is meant, whichever session denies.
func (h *Host) Post(ctx context.Context, q tools.PostRequest) (tools.PostResult, error) {
	set := h.settings()
	target, err := h.store.Get(ctx, q.Session)
	if err != nil {
		return tools.PostResult{}, err
	}
	// The call's own id, so that the same call again, after a crash, names the delivery that it made the first time.
	id := sessions.DeliveryID(uuid.NewSHA1(uuid.NameSpaceOID, []byte(q.Source)).String())
	if _, err = h.store.GetDelivery(ctx, id); err == nil {
		_, v, err := h.postedAs(ctx, set, q.From, target, q.To)
		return tools.PostResult{Delivery: id, Verdict: v}, err
	} else if !errors.Is(err, sessions.ErrNotFound) {
		return tools.PostResult{}, err
	}
	own, err := h.store.Get(ctx, q.From.Session.Key) // as it stands now: an owner may have said /send off since the turn began
	if err != nil {
		return tools.PostResult{}, err
	}
	if v := h.settings().SendPolicyTo(q.To)(own); !v.Allowed() {
		return tools.PostResult{Verdict: v}, nil
	}
	voice, verdict, err := h.postedAs(ctx, set, q.From, target, q.To)
	if err != nil {
		return tools.PostResult{}, err
	}
	files, err := h.postedFiles(ctx, q.Files, verdict.Allowed())
	if err != nil {
		return tools.PostResult{}, err
	}
	c := chain.PostedBy(h.chain.Posted(target.Key, target.Agent, q.Source, postedText(q.Text, files)), q.From.Session.Key, "message")
	c.IdempotencyKey, c.RequestedBy = q.Source, q.From.Run.ID
	c.Ops = []sessions.Op{sessions.EnqueueDelivery{ID: id, Kind: sessions.Posted, Session: voice.Key, Run: q.From.Run.ID, Message: c.Run.Input.ID,
		To: q.To, Text: q.Text, Files: files, Expires: time.Now().Add(set.Delivery.TTL(sessions.Posted))}}
	_, err = h.commit.Submit(ctx, *c)
	return tools.PostResult{Delivery: id, Verdict: verdict}, err
}

// ChatOf gives the sessions that a chat has written to, newest first; an error when nothing ever came from there.
func (h *Host) ChatOf(ctx context.Context, to channels.Address) ([]sessions.Key, error) {
	keys, err := h.store.Known(ctx, to)
	if err == nil && len(keys) == 0 {
		err = fmt.Errorf("%w: the chat %s has never written to this host: write something there first", sessions.ErrBadRequest, to)
	}
	return keys, err
}
