package delivery

import (
	"context"
	"log/slog"
	"sync"

	"parley/channels"
	"parley/router/settings"
	"parley/sessions"
)

// reactionQueue makes calls one at a time for each account, in order, and nothing waits for them. Its mutex is a leaf but for that of lifetime.
type reactionQueue struct {
	life *lifetime

	mu     sync.Mutex
	queues map[settings.AccountRef][]func(context.Context)
}

// maxQueuedReactions bounds the calls that wait for one account; further ones are dropped.
const maxQueuedReactions = 256

func newReactionQueue(life *lifetime) *reactionQueue {
	return &reactionQueue{life: life, queues: make(map[settings.AccountRef][]func(context.Context))}
}

// add queues a call for an account and returns at once.
func (a *reactionQueue) add(ref settings.AccountRef, call func(context.Context)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.life.isRunning() || len(a.queues[ref]) >= maxQueuedReactions {
		return
	}
	a.queues[ref] = append(a.queues[ref], call)
	if len(a.queues[ref]) == 1 {
		a.life.begin(func(ctx context.Context) { a.drain(ctx, ref) })
	}
}

// drain makes an account's calls and ends when there are none left.
func (a *reactionQueue) drain(ctx context.Context, ref settings.AccountRef) {
	for {
		a.mu.Lock()
		if len(a.queues[ref]) == 0 || ctx.Err() != nil {
			delete(a.queues, ref)
			a.mu.Unlock()
			return
		}
		call := a.queues[ref][0]
		a.mu.Unlock()
		call(ctx)
		a.mu.Lock()
		a.queues[ref] = a.queues[ref][1:]
		a.mu.Unlock()
	}
}

// reactions shows people that their messages were accepted: an emoji below them, or the platform's own indicator, where the platform has it. It is best
// effort. Reactions are not paced: see the adapters for what platforms say.
type reactions struct {
	store    Store
	settings func() *settings.Snapshot
	accounts *accounts
	hints    *hints
	log      *slog.Logger
	calls    *reactionQueue
	refusals refusals
}

// receipt shows the person who wrote that the message was taken: only when it caused something that is answered.
func (r *reactions) receipt(in channels.Inbound, acc sessions.Accepted) {
	if acc.Duplicate || acc.Session.Key == "" || r.accounts.caps(in.Address).Acknowledger == nil {
		return
	}
	key, to, id := acc.Session.Key, in.Address, in.ID // a call that waits keeps no more than it needs
	r.calls.add(settings.Ref(to), func(ctx context.Context) { r.sendReceipt(ctx, key, to, id) })
}

// add puts the reaction below a message that was taken: never below one that came twice.
func (r *reactions) add(in channels.Inbound, acc sessions.Accepted) {
	set := r.settings()
	if acc.Duplicate || acc.Run.ID == "" || !set.Acks(in.Address, in.Parent, acc.Session) || r.accounts.caps(in.Address).Reactor == nil {
		return
	}
	key, to, id := acc.Run.Key, in.Address, in.ID
	r.calls.add(settings.Ref(to), func(ctx context.Context) { r.react(ctx, key, to, id, set.Messages.AckReaction) })
}

// removeAll removes the reactions from the messages that a run answered or ended without an answer (messages.removeAckAfterReply).
func (r *reactions) removeAll(id sessions.RunID) {
	if m := r.settings().Messages; id == "" || m.AckReaction == "" || !m.RemoveAckAfterReply {
		return
	}
	r.calls.add(settings.AccountRef{}, func(ctx context.Context) {
		run, err := r.store.GetRun(ctx, id)
		if err != nil || run.Kind != sessions.TurnRun && run.Kind != sessions.CompactRun {
			return
		}
		s, err := r.store.Get(ctx, run.Key)
		if err != nil {
			return
		}
		steps, err := r.store.Steps(ctx, id)
		if err != nil {
			return
		}
		for _, m := range append(sessions.MergedMessages(run, steps), run.Input) {
			r.remove(s, m.Provenance)
		}
	})
}

func (r *reactions) remove(s sessions.Session, p *sessions.Provenance) {
	if p == nil || p.Kind != sessions.ExternalUser || p.Message == "" {
		return
	}
	parent := sessions.ParentChat(sessions.Place{Chat: p.Address, Session: s.Key})
	if r.settings().Acks(p.Address, parent, s) && r.accounts.caps(p.Address).Reactor != nil {
		r.calls.add(settings.Ref(p.Address), func(ctx context.Context) { r.react(ctx, s.Key, p.Address, channels.MessageID(p.Message), "") })
	}
}
