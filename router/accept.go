package router

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"parley/channels"
	"parley/policy"
	"parley/router/settings"
	"parley/sessions"
)

// errNoAccount: nobody knows who may write there, so the event stays with the platform.
var errNoAccount = errors.New("the account is not in the configuration")

// Accept takes one event from an adapter; it is a channels.Inbox. One transaction remembers the event and what it causes: a run,
// or a command's effect and answer, or the reason why nothing happens. Nil means that all of it is on disk.
func (r *Router) Accept(ctx context.Context, in channels.Inbound) (err error) {
	in = r.settings.Load().Known(in)
	a, err := r.take(ctx, in)
	if err != nil {
		defer channels.RecoverPanic(r.log, "accept", &err)
		return r.setAside(ctx, a, in, err)
	}
	r.refused.taken(in)
	r.refused.readable(in.Address)
	return nil
}

// take is one try of Accept.
func (r *Router) take(ctx context.Context, in channels.Inbound) (a sessions.Arrival, err error) {
	defer channels.RecoverPanic(r.log, "accept", &err)
	if _, there := r.settings.Load().Accounts[settings.Ref(in.Address)]; !there {
		return a, fmt.Errorf("accepting message %s from %s: %w", in.ID, in.Address, errNoAccount)
	}
	if a, err = r.arrival(ctx, in); err != nil {
		return a, fmt.Errorf("accepting message %s from %s: %w", in.ID, in.Address, err)
	}
	a.Digest = digest(in)
	if !a.Moved.IsZero() { // before anything comes from there
		r.moving(in, a.Moved)
	}
	var acc sessions.Accepted
	revised := r.revising(a.Amend)
	defer func() { revised(acc.Revised || err != nil) }() // whoever cannot know looks
	lane := r.lanes.Reserve(&a.Effects, r.settings.Load())
	defer func() { lane.End(acc, err) }()
	if acc, err = r.store.Accept(ctx, a); err != nil {
		r.unsure(ctx, err)
		return a, fmt.Errorf("accepting message %s from %s: %w", in.ID, in.Address, err)
	}
	r.metrics.ofInbound().accepted(in.Address.Channel, result(a, acc))
	r.watchers.Effects(a.Effects, acc)
	r.gate.ReadReceipt(in, acc)
	r.gate.AddReaction(in, acc)
	r.abort(a.Effects, acc)
	if !a.Moved.IsZero() {
		r.gate.Relocate(in.Address, a.Moved)
		r.doubt.Store(true) // what waited in the old session may wait in another one now: follow looks
	}
	if a.Skip != "" {
		r.log.Debug("nothing to do", keyMessage, in.ID, keyAddress, in.Address.String(), keyReason, a.Skip)
	}
	r.follow(ctx, acc)
	r.joins(ctx, acc)
	return a, nil
}

// revising keeps the turn that answers a changed message from recording and ending until the change is committed, which the returned
// func says.
func (r *Router) revising(a *sessions.Amend) (done func(revised bool)) {
	if a != nil && a.By != "" {
		if done, ok := r.lanes.Hold(a.Key, a.By); ok {
			return done
		}
		a.By = ""
	}
	return func(bool) {}
}

// joins has the turn at work begin again with a message that belongs to what it answers, while it has shown nothing.
func (r *Router) joins(ctx context.Context, acc sessions.Accepted) {
	if acc.Duplicate || acc.Run.With == "" || acc.Claimed != nil {
		return
	}
	_, by, err := r.before(ctx, acc.Run)
	if err != nil { // then it has the next turn
		r.log.Error("cannot list the runs of a session", keySession, acc.Run.Key, keyErr, err)
		return
	}
	if by != "" && !r.gate.HasPreview(by) {
		r.lanes.Again(acc.Run.Key, by)
	}
}

// isPart reports whether group talk belongs to a message that was meant for the bot, and whose turn is open.
func (r *Router) isPart(ctx context.Context, in channels.Inbound, key sessions.Key, agentID sessions.AgentID, text string, owner bool) (bool, error) {
	if !r.lanes.Busy(key) || in.Sender.Bot {
		return false, nil
	}
	last, _, err := r.before(ctx, *newRun(in, key, agentID, text, nil, owner))
	return last != "", err
}

// unsure sets in motion what a write may have made although it failed: what is made later must not overtake it. In a store that goes on
// failing it looks once; what comes of the rest is looked for before the next write that works is followed. A write whose caller had gone
// away before it was begun has made nothing.
func (r *Router) unsure(ctx context.Context, err error) {
	untried := ctx.Err() != nil && errors.Is(err, ctx.Err())
	if !untried && !errors.Is(err, sessions.ErrNotFound) && !errors.Is(err, sessions.ErrConflict) && !r.doubt.Swap(true) {
		_ = r.heal(ctx) // the doubt stays until a write works
	}
}

func result(a sessions.Arrival, acc sessions.Accepted) string {
	switch {
	case acc.Duplicate:
		return "duplicate"
	case a.Listed:
		return "unreadable"
	case a.Skip != "":
		return "skipped"
	case a.Effects.Run == nil:
		return "command"
	}
	return "run"
}

// arrival decides what an event causes. It reads, it changes nothing but pairing requests.
func (r *Router) arrival(ctx context.Context, in channels.Inbound) (sessions.Arrival, error) {
	skip := func(why string) (sessions.Arrival, error) { return sessions.Arrival{In: in, Skip: why}, nil }
	switch {
	case in.Event == channels.Unreadable:
		return sessions.Arrival{In: in, Skip: cmp.Or(in.Reason, "unreadable"), Listed: true}, nil
	case in.SentByThisLogin && in.ByHand:
		return r.byHand(ctx, in)
	case in.SentByThisLogin:
		return skip("our own " + string(in.Event))
	case in.Event != channels.Message:
		return r.happened(ctx, in)
	}
	if _, own, err := r.store.OwnMessage(ctx, in.Address, in.ID); err != nil {
		return sessions.Arrival{}, err
	} else if own {
		return skip("our own message, as the platform shows it")
	}
	set := r.settings.Load()
	owner := set.Owners.Is(in.Address.Channel, in.Sender)
	s, err := r.place(ctx, set, in)
	if err != nil {
		return sessions.Arrival{}, err
	}
	key, agentID, text := s.Key, s.Agent, cmp.Or(in.Addressed, in.Text)
	if in.Address.Type.Several() && forAnotherBot(text) {
		return skip("a command for another bot")
	}
	cmd, arg, isCommand := r.parseCommand(text)
	isCommand = isCommand && !in.Forwarded && !in.Sender.Bot // whoever writes a command means it
	stop, own, err := false, false, error(nil)
	if !isCommand {
		if stop, own, err = r.stops(ctx, s, in, text, owner); err != nil {
			return sessions.Arrival{}, err
		}
	}
	verdict, err := r.admit(ctx, set, in, s, owner, isCommand || stop && own)
	if err != nil {
		return sessions.Arrival{}, err
	}
	switch verdict.Outcome {
	case policy.Pair:
		if err := r.pair(ctx, set, in, key); err != nil {
			return sessions.Arrival{}, err
		}
		return skip("pairing: " + verdict.Reason)
	case policy.Admit:
	case policy.Remember:
		part, err := r.isPart(ctx, in, key, agentID, text, owner)
		if err != nil {
			return sessions.Arrival{}, err
		}
		if !part { // which needs no mention: what it belongs to had one
			if m := r.part(in, s, text, owner); m != nil {
				r.earlier.note(key, *m, time.Now())
			}
			return sessions.Arrival{In: in, Skip: verdict.Reason, Overheard: overheard(set, in, key, text)}, nil
		}
	default:
		r.noteUnanswered(in, verdict)
		return skip(verdict.Reason)
	}
	fresh := sessions.Session{Key: key, Agent: agentID, Title: channels.TitleOf(in), Last: set.Moved.Current(in.Address)}
	if stop {
		cmd, arg, isCommand = r.parseCommand("/stop")
	}
	if isCommand {
		e, err := r.command(ctx, cmd, commandCall{name: cmd.name, arg: arg, in: in, set: set, session: s, owner: owner})
		e.Session = &fresh
		return sessions.Arrival{In: in, Effects: e}, err
	}
	if strings.TrimSpace(text) == "" && len(in.Media) == 0 {
		return skip("no text and no file")
	}
	run, err := r.runFor(ctx, s, in, text, owner)
	if err != nil {
		return sessions.Arrival{}, err
	}
	return r.arrives(ctx, set, s, in, sessions.Effects{Session: &fresh, Run: run})
}

// arrives decides what else a message causes whose run is in e: a new transcript, a place in the queue or none, what was said before it.
func (r *Router) arrives(ctx context.Context, set *settings.Snapshot, s sessions.Session, in channels.Inbound, e sessions.Effects) (sessions.Arrival, error) {
	if err := r.renew(ctx, set, s, in.Address, &e); err != nil {
		return sessions.Arrival{}, err
	}
	if full, err := r.line(ctx, set, s, in, &e); err != nil || full != "" {
		return sessions.Arrival{In: in, Skip: full, Listed: true, Effects: e}, err
	}
	if err := r.hear(ctx, set, &e); err != nil {
		return sessions.Arrival{}, err
	}
	return sessions.Arrival{In: in, Effects: e}, nil
}

// place gives the session that an event belongs to, as it stands; only Key and Agent are set when it is new. A chat that another one
// became goes on in the session of that one.
func (r *Router) place(ctx context.Context, set *settings.Snapshot, in channels.Inbound) (sessions.Session, error) {
	in.Address = set.Moved.Current(in.Address) // of a group that was given a new id, what was written just before may come later
	key, agentID, _ := set.Routes.Key(in)
	s, err := r.store.Get(ctx, key)
	if err != nil && !errors.Is(err, sessions.ErrNotFound) {
		return s, err
	}
	if s.Key == "" || s.Key == key {
		s.Key, s.Agent = key, agentID
	}
	return s, nil
}

// runFor makes the run of a message, with the quoted files that its session does not have, and what it was sent with.
func (r *Router) runFor(ctx context.Context, s sessions.Session, in channels.Inbound, text string, owner bool) (*sessions.Run, error) {
	files, err := r.filesOf(ctx, s, in)
	if err != nil {
		return nil, err
	}
	run := newRun(in, s.Key, s.Agent, text, files, owner)
	run.Input.Provenance.Cut = r.atLimit(in)
	run.With, _, err = r.before(ctx, *run)
	return run, err
}

func newRun(in channels.Inbound, key sessions.Key, agentID sessions.AgentID, text string, files []channels.Media, owner bool) *sessions.Run {
	id := sessions.RunID(uuid.NewString())
	run := &sessions.Run{ID: id, Kind: sessions.TurnRun, Key: key, Agent: agentID, Reply: in.Address, Source: string(in.ID), Input: sessions.Message{
		ID: uuid.NewString(), Role: sessions.User, Content: append(sessions.TextContent(spoken(in, text)), mediaBlocks(files)...), Time: in.Time, Run: id,
		Provenance: &sessions.Provenance{Kind: sessions.ExternalUser, Sender: string(in.Sender.ID), Name: cmp.Or(in.Sender.Name, in.Sender.Username),
			User: in.Sender.Username, Bot: in.Sender.Bot, Owner: owner, Forwarded: in.Forwarded, More: in.More, Album: in.Album, Origin: originName(in.Origin), Address: in.Address, Channel: in.Address.Channel, Message: string(in.ID)}}}
	if in.Address.Type.Several() {
		run.ReplyTo = in.ID
		if key.Kind() != sessions.KindGroup {
			run.Input.Provenance.Title = cmp.Or(channels.TitleOf(in), string(in.Address.Chat))
		}
	}
	return run
}

// admit asks the policy of the account whether this event may cause something.
func (r *Router) admit(ctx context.Context, set *settings.Snapshot, in channels.Inbound, s sessions.Session, owner, isCommand bool) (policy.Admission, error) {
	access := set.Accounts[settings.Ref(in.Address)].Access
	f := policy.FactsOf(in)
	f.Address = set.ConfigAddress(in.Address)
	f.Owner, f.Command, f.Activation = owner, isCommand, s.Settings.Activation
	f.Patterns = set.Mentions[s.Agent]
	a := access.Admit(f)
	if a.Outcome == policy.Admit || in.Address.Type != channels.Direct {
		return r.limitBots(ctx, set, in, s.Key, a)
	}
	var err error
	for _, id := range []channels.UserID{in.Sender.ID, in.Sender.Also} {
		if id == "" || f.Paired {
			continue
		}
		if f.Paired, err = r.store.Paired(ctx, in.Address.Channel, in.Address.Account, id); err != nil {
			return a, err
		}
	}
	if !f.Paired {
		return a, nil
	}
	return access.Admit(f), nil
}
