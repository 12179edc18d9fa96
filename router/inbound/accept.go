package inbound

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"parley/channels"
	"parley/policy"
	"parley/router/command"
	"parley/router/settings"
	"parley/router/turn"
	"parley/sessions"
)

// ErrNoAccount says that the configuration does not name the account: who may write there is not known, so the event stays with the platform.
var ErrNoAccount = errors.New("the account is not in the configuration")

// Accept takes one event from an adapter; it is a channels.Inbox. One transaction remembers the event and what it causes: a run,
// or a command's effect and answer, or the reason why nothing happens. Nil means that all of it is on disk.
func (r *Receiver) Accept(ctx context.Context, in channels.Inbound) (err error) {
	in = r.settings().Known(in)
	a, err := r.take(ctx, in)
	if err != nil {
		defer channels.RecoverPanic(r.log, "accept", &err)
		return r.quarantine(ctx, a, in, err)
	}
	r.refused.forget(in)
	r.refused.clear(in.Address)
	return nil
}

// take is one try of Accept.
func (r *Receiver) take(ctx context.Context, in channels.Inbound) (a sessions.Arrival, err error) {
	defer channels.RecoverPanic(r.log, "accept", &err)
	if _, there := r.settings().Accounts[settings.Ref(in.Address)]; !there {
		return a, fmt.Errorf("accept message %s from %s: %w", in.ID, in.Address, ErrNoAccount)
	}
	if a, err = r.Arrival(ctx, in); err != nil {
		return a, fmt.Errorf("accept message %s from %s: %w", in.ID, in.Address, err)
	}
	a.Digest = digest(in)
	move, moved := sessions.FindEvent[sessions.MoveChat](a.Skip)
	if moved { // before anything comes from there
		r.moving(in, move.To)
	}
	var acc sessions.Accepted
	revised := r.revising(a.Skip)
	defer func() { revised(acc.Revised || err != nil) }() // who cannot know looks
	lane := r.lanes.Reserve(a.Change, r.settings())
	defer func() { lane.End(acc, err) }()
	acc, err = r.commit.Accept(ctx, a)
	if moved { // also when that could not be stored: what is made from now on leaves for the new place, behind what waits
		r.gate.Relocate(in.Address, move.To)
	}
	if err != nil {
		r.commit.NoteUncertain(ctx, err)
		return a, fmt.Errorf("accept message %s from %s: %w", in.ID, in.Address, err)
	}
	r.metrics.accepted(in.Address.Channel, result(a, acc))
	if a.Change != nil {
		r.watchers.Change(*a.Change, acc)
	}
	r.gate.ReadReceipt(in, acc)
	r.gate.AddReaction(in, acc)
	if a.Change != nil {
		r.commit.Abort(*a.Change, acc)
	}
	if moved {
		r.settings().Moved.Stored()
		r.commit.Uncertain.Store(true) // what waited in the old session may wait in another one now: follow looks
	}
	if a.Skip != nil {
		r.log.Debug("nothing to do", keyMessage, in.ID, keyAddress, in.Address.String(), keyReason, a.Skip.Reason)
	}
	if acc.Adopted {
		r.log.Info("the conversation of a new owner moved", keySession, acc.Session.Key, "from", a.Change.Session.From)
	}
	r.commit.AfterCommit(ctx, acc)
	r.joins(ctx, acc)
	return a, nil
}

// revising keeps the turn that answers a changed message from recording and ending until the change is committed, which the returned
// func says.
func (r *Receiver) revising(k *sessions.Skip) (done func(revised bool)) {
	if k == nil {
		return func(bool) {}
	}
	for i, e := range k.Events {
		if a, ok := e.(sessions.AmendRun); ok && a.By != "" {
			if done, ok := r.lanes.PauseRun(a.Key, a.By); ok {
				return done
			}
			a.By = ""
			k.Events[i] = a
		}
	}
	return func(bool) {}
}

// joins has the running turn begin again with a message that belongs to what it answers, while it has shown nothing.
func (r *Receiver) joins(ctx context.Context, acc sessions.Accepted) {
	if acc.Duplicate || acc.Run.With() == "" || acc.Claimed != nil {
		return
	}
	_, by, err := r.worker.Merger.Before(ctx, acc.Run)
	if err != nil { // then it has the next turn
		r.log.Error("cannot list the runs of a session", keySession, acc.Run.Key, keyErr, err)
		return
	}
	if by != "" && !r.gate.HasPreview(by) {
		r.lanes.RestartTry(acc.Run.Key, by)
	}
}

// skipped is an event that causes nothing.
func skipped(in channels.Inbound, why string) sessions.Arrival {
	return sessions.Arrival{In: in, Skip: &sessions.Skip{Reason: why}}
}

// isPart reports whether group talk belongs to a message that was meant for the bot, and whose turn is open.
func (r *Receiver) isPart(ctx context.Context, in channels.Inbound, key sessions.Key, agentID sessions.AgentID, text string, owner bool) (bool, error) {
	if !r.lanes.Busy(key) || in.Sender.Bot {
		return false, nil
	}
	last, _, err := r.worker.Merger.Before(ctx, *turn.NewRun(in, key, agentID, text, nil, owner))
	return last != "", err
}

func result(a sessions.Arrival, acc sessions.Accepted) string {
	switch {
	case acc.Duplicate:
		return "duplicate"
	case a.Skip != nil && a.Skip.Listed:
		return "unreadable"
	case a.Skip != nil:
		return "skipped"
	case a.Change.Run == nil:
		return "command"
	}
	return "run"
}

// Arrival decides what an event causes. It reads, it changes nothing but pairing requests.
func (r *Receiver) Arrival(ctx context.Context, in channels.Inbound) (sessions.Arrival, error) {
	switch {
	case in.Event == channels.Unreadable:
		return sessions.Arrival{In: in, Skip: &sessions.Skip{Reason: cmp.Or(in.Reason, "unreadable"), Listed: true}}, nil
	case in.SentByThisLogin && in.ByHand:
		return r.byHand(ctx, in)
	case in.SentByThisLogin:
		return skipped(in, "our own "+string(in.Event)), nil
	case in.Event != channels.Message:
		return r.happened(ctx, in)
	}
	if _, own, err := r.store.OwnMessage(ctx, in.Address, in.ID); err != nil {
		return sessions.Arrival{}, err
	} else if own {
		return skipped(in, "echo of the bot's own message"), nil
	}
	set := r.settings()
	owner := set.Owners.Is(in.Address.Channel, in.Sender)
	s, err := r.place(ctx, set, in)
	if err != nil {
		return sessions.Arrival{}, err
	}
	key, agentID, text := s.Key, s.Agent, cmp.Or(in.Addressed, in.Text)
	if in.Address.Type.Several() && command.ForAnotherBot(text) {
		return skipped(in, "a command for another bot"), nil
	}
	cmd, arg, isCommand := r.commands.Parse(text)
	isCommand = isCommand && !in.Forwarded && !in.Sender.Bot // the person who writes a command means it
	stop, own, err := false, false, error(nil)
	if !isCommand {
		if stop, own, err = r.commands.IsStop(ctx, s, in, text, owner); err != nil {
			return sessions.Arrival{}, err
		}
	}
	verdict, err := r.admission.Admit(ctx, set, in, s, owner, isCommand || stop && own)
	if err != nil {
		return sessions.Arrival{}, err
	}
	switch verdict.Outcome {
	case policy.Pair:
		if err := r.admission.Pair(ctx, set, in, key); err != nil {
			return sessions.Arrival{}, err
		}
		return skipped(in, "pairing: "+verdict.Reason), nil
	case policy.Admit:
	case policy.Remember:
		part, err := r.isPart(ctx, in, key, agentID, text, owner)
		if err != nil {
			return sessions.Arrival{}, err
		}
		if !part { // which needs no mention: what it belongs to had one
			line := NewContextLine(set, in, key, text)
			if m := r.part(in, s, text, owner); m != nil && line != nil {
				r.earlier.note(key, *m, line.Text, time.Now())
			}
			return sessions.Arrival{In: in, Skip: &sessions.Skip{Reason: verdict.Reason, Events: appendEvents(line)}}, nil
		}
	default:
		r.admission.LogIgnored(in, verdict)
		return skipped(in, verdict.Reason), nil
	}
	fresh := sessions.Session{Key: key, Agent: agentID, Title: titleOf(in, key), Last: set.Moved.Current(in.Address)}
	if stop {
		cmd, arg, isCommand = r.commands.Parse("/stop")
	}
	if isCommand {
		res, err := r.commands.Execute(ctx, cmd, command.Call{Name: cmd.Name, Arg: arg, In: in, Set: set, Session: s, Owner: owner})
		return sessions.Arrival{In: in, Change: res.On(fresh)}, err
	}
	if strings.TrimSpace(text) == "" && len(in.Media) == 0 {
		return skipped(in, "no text and no file"), nil
	}
	run, err := r.runFor(ctx, s, in, text, owner)
	if err != nil {
		return sessions.Arrival{}, err
	}
	return r.arrives(ctx, set, s, in, &sessions.Change{Session: &sessions.Target{Session: fresh}, Run: &sessions.Enqueue{Run: *run}})
}

// arrives decides what else a message causes whose run is in c: a new transcript, a place in the queue or none, what was said before it.
func (r *Receiver) arrives(ctx context.Context, set *settings.Snapshot, s sessions.Session, in channels.Inbound, c *sessions.Change) (sessions.Arrival, error) {
	if err := r.autoReset(ctx, set, s, in.Address, c); err != nil {
		return sessions.Arrival{}, err
	}
	if c.Session != nil && s.Turns == 0 && s.Context == 0 && set.Owners.Is(in.Address.Channel, in.Sender) {
		if h := set.Handover(in); h.To == s.Key && h.From != h.To { // what the sender said before they were an owner
			c.Session.From = h.From
		}
	}
	full, err := r.applyQueueLimit(ctx, set, s, in, c)
	switch {
	case err != nil:
		return sessions.Arrival{In: in, Change: c}, err
	case full != nil:
		return sessions.Arrival{In: in, Skip: full}, nil
	}
	if err := r.attachContext(ctx, set, c); err != nil {
		return sessions.Arrival{}, err
	}
	return sessions.Arrival{In: in, Change: c}, nil
}

// place gives the session that an event belongs to, as it stands; only Key and Agent are set when it is new. A chat that another one
// became goes on in the session of that one.
func (r *Receiver) place(ctx context.Context, set *settings.Snapshot, in channels.Inbound) (sessions.Session, error) {
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

// runFor makes the run of a message, with its files and those that it quotes, and what it was sent with.
func (r *Receiver) runFor(ctx context.Context, s sessions.Session, in channels.Inbound, text string, owner bool) (*sessions.Run, error) {
	run := turn.NewRun(in, s.Key, s.Agent, text, turn.AllFiles(in), owner)
	run.Input.Provenance.Cut = r.atLimit(in)
	if in.Address.Type.Several() {
		f := policy.FactsOf(in)
		f.Patterns = r.settings().Mentions[s.Agent]
		run.Input.Provenance.Addressed = f.Addressed()
	}
	before, _, err := r.worker.Merger.Before(ctx, *run)
	x := run.Extras()
	x.With = before
	run.SetExtras(x)
	return run, err
}

// titleOf is what people call the session of a message: the chat's title, or the name of the person whose direct chat it is. A session that
// several people share has none.
func titleOf(in channels.Inbound, key sessions.Key) string {
	if title := channels.TitleOf(in); title != "" || in.SentByThisLogin || in.Sender.Name == "" {
		return title
	}
	switch p, err := key.Parse(); {
	case err != nil:
	case p.Form == sessions.FormPeer, p.Form == sessions.FormChannelPeer, p.Form == sessions.FormAccountPeer:
		return channels.SenderName(channels.Sender{Name: in.Sender.Name})
	}
	return ""
}
