package router

import (
	"context"
	"slices"

	"parley/channels"
	"parley/sessions"
)

// Identified is told by an account's adapter, before its first event, who the account is on its platform. An account that was the same one
// under a name that the configuration has no more has been renamed: sessions, people, waiting work and jobs follow. configured are the names
// that the configuration has on the channel. It may be repeated, and is until it works.
func (r *Router) Identified(ctx context.Context, ref AccountRef, who channels.UserID, configured []channels.AccountID) error {
	if err := r.gate.landed(ctx, ref.Channel, configured); err != nil {
		return err
	}
	found, err := r.store.Identify(ctx, sessions.Login{Channel: ref.Channel, Account: ref.Account, User: who, Configured: configured})
	if err != nil {
		return err
	}
	log := r.log.With("channel", ref.Channel, "account", ref.Account)
	for _, other := range found.Twice {
		log.Warn("two accounts share one login", "other", other, "hint", "remove one of them: the platform may disconnect one for the other")
	}
	fresh := r.settings.Load().former.rename(ref, found.Moved...)
	for _, was := range fresh {
		log.Warn("account renamed", "was", was, "hint", "write the new name where bindings and session.sendPolicy name the old one; until then they hold for it")
		r.gate.renamed(AccountRef{ref.Channel, was})
	}
	if len(fresh) > 0 {
		r.doubt.Store(true) // what waited in an old session may wait in another one now
		_ = r.heal(ctx)     // the doubt stays until a write works
	}
	return nil
}

// landed waits until what is on its way by accounts of a channel that the configuration has no more has landed; nothing if none has anything
// to send. They have no channel any more, so nothing new begins, and until the store knows of a new name what waits keeps its order.
func (g *gate) landed(ctx context.Context, kind channels.Kind, configured []channels.AccountID) error {
	g.mu.Lock()
	busy := false
	for ref, o := range g.outlets {
		busy = busy || ref.Channel == kind && o.ch == nil && len(o.queues) > 0 && !slices.Contains(configured, ref.Account)
	}
	g.mu.Unlock()
	if !busy {
		return nil
	}
	return g.settleAll(ctx)
}

// renamed lets what waits for an account leave by the one that took its place. A call that is under way all the same ends first.
func (g *gate) renamed(was AccountRef) {
	g.previews.move(g.settings().former.called)
	g.mu.Lock()
	life, o := g.life, g.outlets[was]
	var ended []*queue
	if o != nil {
		delete(g.outlets, was)
		close(o.ready)
		o.ready = make(chan struct{})
		for _, q := range o.queues {
			q.end()
			ended = append(ended, q)
		}
	}
	g.mu.Unlock()
	for _, q := range ended {
		<-q.done
		g.mu.Lock()
		rest := q.waiting
		for _, d := range rest {
			delete(g.known, d.ID)
		}
		g.mu.Unlock()
		for _, d := range rest {
			g.lookAgain(life, d.ID)
		}
	}
}
