package chain

import (
	"context"
	"errors"

	"parley/channels"
	"parley/sessions"
)

// MostRestrictive returns the first session of Denying, or meant where none denies: a chat that one of its sessions denies is not reached
// through another. It reads the store and returns its errors.
func (a *Advancer) MostRestrictive(ctx context.Context, meant sessions.Session, to channels.Address) (sessions.Session, error) {
	denying, err := a.Denying(ctx, meant, to)
	if len(denying) > 0 {
		meant = denying[0]
	}
	return meant, err
}

// Denying returns the sessions whose send policy denies a chat, among meant and the sessions that the chat has written to: meant first,
// then the newest.
func (a *Advancer) Denying(ctx context.Context, meant sessions.Session, to channels.Address) (out []sessions.Session, err error) {
	decide := a.settings().SendPolicyTo(to)
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

// SpeakingSession returns the session in whose name a text is posted into a chat. A job's session has no chat of its own: the session that
// the chat last wrote to speaks for it. It asks the store until that answers; ok is false when the host stopped first.
func (a *Advancer) SpeakingSession(ctx context.Context, s sessions.Session, to channels.Address) (speaking sessions.Session, ok bool) {
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
