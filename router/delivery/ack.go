package delivery

import (
	"context"
	"sync"

	"parley/channels"
	"parley/router/settings"
	"parley/sessions"
)

// Acks shows people that their messages were taken: an emoji below them, where the platform has reactions. It is best effort: one call
// at a time for each account, in order, and nothing waits for it. Reactions are not paced: see the adapters for what platforms say.
type acks struct {
	mu     sync.Mutex
	life   context.Context // from start
	queues map[settings.AccountRef][]func(context.Context)
	wg     sync.WaitGroup
}

// MaxAcks bounds the calls that wait for one account; what comes on top is left out.
const maxAcks = 256

func (a *acks) start(ctx context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.life, a.queues = ctx, make(map[settings.AccountRef][]func(context.Context))
}

// add queues a call for an account and returns at once.
func (a *acks) add(ref settings.AccountRef, call func(context.Context)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.life == nil || a.life.Err() != nil || len(a.queues[ref]) >= maxAcks {
		return
	}
	a.queues[ref] = append(a.queues[ref], call)
	if len(a.queues[ref]) == 1 {
		a.wg.Go(func() { a.drain(ref) })
	}
}

// drain makes an account's calls and ends when there are none left.
func (a *acks) drain(ref settings.AccountRef) {
	for {
		a.mu.Lock()
		if len(a.queues[ref]) == 0 || a.life.Err() != nil {
			delete(a.queues, ref)
			a.mu.Unlock()
			return
		}
		call := a.queues[ref][0]
		a.mu.Unlock()
		call(a.life)
		a.mu.Lock()
		a.queues[ref] = a.queues[ref][1:]
		a.mu.Unlock()
	}
}

// ReadReceipt shows whoever wrote that the message was taken: only when it caused something that is answered.
func (g *Dispatcher) ReadReceipt(in channels.Inbound, acc sessions.Accepted) {
	if acc.Duplicate || acc.Session.Key == "" || g.caps(in.Address).Acknowledger == nil {
		return
	}
	g.acks.add(settings.Ref(in.Address), func(ctx context.Context) { g.sendReceipt(ctx, acc.Session.Key, in.Address, in.ID) })
}

// AddReaction puts the reaction below a message that was taken: never below one that came twice.
func (g *Dispatcher) AddReaction(in channels.Inbound, acc sessions.Accepted) {
	set := g.settings()
	if acc.Duplicate || acc.Run.ID == "" || !set.Acks(in.Address, in.Parent, acc.Session) || g.caps(in.Address).Reactor == nil {
		return
	}
	g.acks.add(settings.Ref(in.Address), func(ctx context.Context) {
		g.react(ctx, acc.Run.Key, in.Address, in.ID, set.Messages.AckReaction)
	})
}

// RemoveReactions takes the reactions away from the messages that a run answered or ended without an answer (messages.removeAckAfterReply).
func (g *Dispatcher) RemoveReactions(id sessions.RunID) {
	if m := g.settings().Messages; id == "" || m.AckReaction == "" || !m.RemoveAckAfterReply {
		return
	}
	g.acks.add(settings.AccountRef{}, func(ctx context.Context) {
		run, err := g.store.GetRun(ctx, id)
		if err != nil || run.Kind != sessions.TurnRun && run.Kind != sessions.CompactRun {
			return
		}
		s, err := g.store.Get(ctx, run.Key)
		if err != nil {
			return
		}
		steps, err := g.store.Steps(ctx, id)
		if err != nil {
			return
		}
		for _, m := range append(sessions.MergedMessages(run, steps), run.Input) {
			g.removeReaction(s, m.Provenance)
		}
	})
}

func (g *Dispatcher) removeReaction(s sessions.Session, p *sessions.Provenance) {
	if p == nil || p.Kind != sessions.ExternalUser || p.Message == "" {
		return
	}
	parent := sessions.ParentChat(sessions.Place{Chat: p.Address, Session: s.Key})
	if g.settings().Acks(p.Address, parent, s) && g.caps(p.Address).Reactor != nil {
		g.acks.add(settings.Ref(p.Address), func(ctx context.Context) { g.react(ctx, s.Key, p.Address, channels.MessageID(p.Message), "") })
	}
}
