package router

import (
	"context"
	"fmt"
	"slices"

	"parley/channels"
	"parley/policy"
	"parley/router/event"
	"parley/router/settings"
	"parley/sessions"
)

// Identified is told by an account's adapter, before its first event, who the account is on its platform. An account that was the same one
// under a name that the configuration has no more has been renamed: sessions, people, waiting work and jobs follow. configured are the names
// that the configuration has on the channel. It may be repeated, and is until it works.
func (r *Router) Identified(ctx context.Context, ref settings.AccountRef, who channels.UserID, configured []channels.AccountID) error {
	if err := r.Gate.WaitLanded(ctx, ref.Channel, configured); err != nil {
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
	for _, was := range found.Denied {
		log.Warn("copied denials from the login's former account name", "was", was, "hint", "/send inherit in a chat lifts it there")
	}
	fresh := r.settings.Load().Moved.Rename(ref, found.Moved...)
	for _, was := range fresh {
		log.Warn("account renamed", "was", was, "hint", "write the new name in bindings and session.sendPolicy; until then the rules of the old name apply")
		r.Gate.AccountRenamed(settings.AccountRef{Channel: ref.Channel, Account: was}) //nolint:contextcheck // what waits is sent in the gate's own time, not the caller's
	}
	if len(fresh) > 0 {
		r.Committer.Uncertain.Store(true) // what waited in an old session may wait in another one now
		_ = r.Committer.Rescue(ctx)       // Uncertain stays set until a write works
	}
	return nil
}

// Patch changes a session's settings; a change of the send policy is effective for everything when it returns (contract P7).
func (r *Router) Patch(ctx context.Context, key sessions.Key, p sessions.Patch) (sessions.Session, error) {
	s, err := r.store.Patch(ctx, key, p)
	if err == nil {
		r.Events.Publish(event.Event{Kind: event.KindSession, Phase: event.PhasePatched, Session: s.Key})
	}
	if err == nil && p.SendPolicy != nil {
		err = r.Gate.WaitInFlight(ctx, s.Key) // key may be another name of it
	}
	return s, err
}

// Explain says which rule decides about sending to an address on behalf of a session, and why (contract P6). Without an address it is about
// what the session says in its own chat, and so with the address of a chat that writes to the named session. With another address it is about what
// is sent there from elsewhere, as Send does: there a session of the chat that denies wins.
func (r *Router) Explain(ctx context.Context, key sessions.Key, to channels.Address) (x Explanation, err error) {
	set := r.settings.Load()
	s, meant, to, err := r.deciding(ctx, key, set.Moved.Current(to))
	if err != nil {
		return x, err
	}
	decides := s
	if own, err := r.writesTo(ctx, set, to, meant); err != nil {
		return x, err
	} else if own && key != "" && s.Key != meant { // the other session decides only about what comes from elsewhere
		if decides, err = r.store.Get(ctx, meant); err != nil {
			return x, err
		}
	}
	subject, rules := set.PolicySubject(decides, to), set.Session.SendPolicy
	x = Explanation{Session: decides.Key, To: to, Verdict: rules.Evaluate(subject), Steps: rules.Explain(subject)}
	if s.Key != meant {
		x.Steps = slices.Insert(x.Steps, 0, policy.Step{Rule: "sessions of the chat", Action: policy.Deny, Matched: true,
			Why: fmt.Sprintf("this chat has also written to the session %s, whose policy denies, so the host sends nothing here from elsewhere. Answers of the session %s in its own chat do not depend on that", s.Key.Shown(), meant.Shown())})
	}
	if l := set.Listening(to); l.Rule != "" {
		x.Steps = slices.Insert(x.Steps, len(x.Steps)-1, l)
	}
	return x, nil
}

// writesTo reports whether a chat has written to a session, or writes to it from now on.
func (r *Router) writesTo(ctx context.Context, set *settings.Snapshot, to channels.Address, key sessions.Key) (bool, error) {
	known, err := r.store.Known(ctx, to)
	next, _, _ := set.Routes.Key(channels.Inbound{Event: channels.Message, Address: to, Sender: set.Person(to.Channel, channels.Sender{ID: channels.UserID(to.Chat)})})
	return next == key || slices.Contains(known, key), err
}

// Explanation shows how the send policy comes to a verdict.
type Explanation struct {
	Session sessions.Key // that decides; "" = none is known
	To      channels.Address
	Verdict policy.Verdict
	Steps   []policy.Step
}

// deciding gives the session whose policy decides, and the one that is meant.
func (r *Router) deciding(ctx context.Context, key sessions.Key, to channels.Address) (s sessions.Session, meant sessions.Key, _ channels.Address, err error) {
	if key == "" {
		known, err := r.store.Known(ctx, to)
		if err != nil || len(known) == 0 {
			return s, "", to, err
		}
		key = known[0]
	}
	if s, err = r.store.Get(ctx, key); err != nil {
		return s, key, to, err
	}
	if to.IsZero() {
		return s, key, s.Last, nil
	}
	s, err = r.Advancer.MostRestrictive(ctx, s, to)
	return s, key, to, err
}
