package chain

import (
	"context"
	"errors"

	"parley/channels"
	"parley/sessions"
)

// Strictest gives, of the sessions that a chat has written to, one whose policy lets nothing out there, else the one that is meant: a
// chat that is denied in one of them is not reached by way of another.
func (a *Advancer) Strictest(ctx context.Context, meant sessions.Session, to channels.Address) (sessions.Session, error) {
	denying, err := a.Denying(ctx, meant, to)
	if len(denying) > 0 {
		meant = denying[0]
	}
	return meant, err
}

// Denying returns, of the session that is meant and those that a chat has written to, the ones whose policy lets nothing out there: the
// one that is meant first, then the newest.
func (a *Advancer) Denying(ctx context.Context, meant sessions.Session, to channels.Address) (out []sessions.Session, err error) {
	decide := a.settings().Decide(to)
	if !decide(meant).Allowed() {
		out = append(out, meant)
	}
	keys, err := a.store.Known(ctx, to)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		s, err := a.store.Get(ctx, key)
		if err != nil && !errors.Is(err, sessions.ErrNotFound) {
			return nil, err
		}
		if err == nil && s.Key != meant.Key && !decide(s).Allowed() {
			out = append(out, s)
		}
	}
	return out, nil
}

// Voice is the session in whose name something is posted into a chat: of a job's session, which has no chat of its own, the one that
// heard from that chat last. ok is false when the store could not be asked before the host stopped.
func (a *Advancer) Voice(ctx context.Context, s sessions.Session, to channels.Address) (voice sessions.Session, ok bool) {
	if s.Key.Kind() != sessions.KindCron || to.IsZero() {
		return s, true
	}
	var keys []sessions.Key
	ok = a.retry.Do(ctx, "known", func(ctx context.Context) (err error) {
		keys, err = a.store.Known(ctx, to)
		return err
	})
	if !ok || len(keys) == 0 {
		return s, ok
	}
	r := &reader{a: a, ctx: ctx, ok: true}
	if chat := r.find(keys[0]); chat != nil {
		s = *chat
	}
	return s, r.ok
}
