package cron

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"parley/channels"
	"parley/sessions"
)

// The bounds of jobs that people make.
const (
	MaxJobs    = 1000 // in all
	MaxJobText = 32 << 10
	MaxJobName = 80 // characters
)

// LastChat stands for the chat that wrote last to an agent's main session, where an address is asked for. The host's own page is none:
// nobody is told of what is posted there.
const LastChat = "last"

// ChatOf reads an address to post to: a chat that has written to this host before, or LastChat. One that has moved is where it is now. "" is
// none.
func (s *Scheduler) ChatOf(ctx context.Context, agentID sessions.AgentID, text string) (to channels.Address, err error) {
	if text == "" {
		return to, nil
	}
	if text == LastChat {
		return s.lastChat(ctx, agentID)
	}
	if to, err = channels.ParseAddress(text); err != nil {
		return to, sessions.BadRequest("to: %v", err)
	}
	to = s.settings().Moved.Current(to)
	known, err := s.store.Known(ctx, to)
	if err == nil && len(known) == 0 {
		err = sessions.BadRequest("to: the chat %.200s has never written to this host: write something there first", text)
	}
	return to, err
}

// lastChat finds LastChat.
func (s *Scheduler) lastChat(ctx context.Context, agentID sessions.AgentID) (to channels.Address, err error) {
	chats, err := s.store.Writers(ctx, s.settings().MainKey(agentID))
	if err != nil {
		return to, err
	}
	for _, chat := range chats {
		if !s.gate.Internal(chat) {
			return chat, nil
		}
	}
	const toOwn = "to become an owner: parley pairing approve CHANNEL CODE --owner, or add your id to commands.ownerAllowFrom and run parley reload"
	if len(chats) > 0 {
		return to, sessions.BadRequest("to: there is no last chat: only the page has written to the main session of %s, and a post there notifies no person; write to the agent on a platform first, as an owner, or name an address; %s", agentID, toOwn)
	}
	return to, sessions.BadRequest("to: no owner has written to the main session of %s yet, so there is no last chat; %s", agentID, toOwn)
}

// MakeJob makes a scheduled job because a person asked for it; without an agent it is the default one's. What it says goes to the chat
// that to names, as ChatOf reads it, else to j.To. The same source makes it once: a repeat gets what the first one made, whatever has
// changed since.
func (s *Scheduler) MakeJob(ctx context.Context, source string, j sessions.Job, to string) (sessions.Job, error) {
	j.ID, j.Created, j.From = sessions.IDFor(source, "job"), s.now(), ""
	if j.Agent == "" {
		_, j.Agent = s.settings().Agents.IDs()
	}
	if was, made, err := s.jobMade(ctx, source, j); made || err != nil {
		return was, err
	}
	if err := s.checkJob(&j); err != nil {
		return j, err
	}
	if to != "" {
		var err error
		if j.To, err = s.ChatOf(ctx, j.Agent, to); err != nil {
			return j, err
		}
	}
	all, err := s.store.ListJobs(ctx, "")
	switch {
	case err != nil:
		return j, err
	case len(all) >= MaxJobs:
		return j, sessions.BadRequest("there are %d jobs, the maximum: remove some first", len(all))
	}
	if err := nameFree(all, j); err != nil {
		return j, err
	}
	if err := s.comes(&j); err != nil {
		return j, err
	}
	acc, err := s.commit.Submit(ctx, sessions.Change{IdempotencyKey: source, Ops: []sessions.Op{sessions.PutJob(j)}})
	if err == nil && acc.Duplicate {
		if was, err := s.store.GetJob(ctx, j.ID); err == nil || !errors.Is(err, sessions.ErrNotFound) {
			return was, err
		}
	}
	s.wakeJobs()
	return j, err
}

// nameFree reports that another job has the name already: commands find a job by it.
func nameFree(all []sessions.Job, j sessions.Job) error {
	for _, other := range all {
		if j.Name != "" && other.ID != j.ID && strings.EqualFold(other.Name, j.Name) {
			return fmt.Errorf("%w: name: a job named %q already exists (%s): choose another name, or change that job", sessions.ErrConflict, other.Name, other.ID)
		}
	}
	return nil
}

// jobMade finds the job that a source made before. Of one that is over, or removed, it knows what was asked for, and when it was due.
func (s *Scheduler) jobMade(ctx context.Context, source string, j sessions.Job) (was sessions.Job, made bool, err error) {
	if source == "" {
		return j, false, nil
	}
	if was, err = s.store.GetJob(ctx, j.ID); !errors.Is(err, sessions.ErrNotFound) {
		return was, err == nil, err
	}
	paths, err := s.store.Trace(ctx, source)
	if err != nil || len(paths) == 0 {
		return j, false, err
	}
	j.Created = paths[0].Accepted
	times, err := s.store.Occurrences(ctx, j.ID, 1)
	if len(times) > 0 && !j.At.IsZero() {
		j.At = times[0].Due
	}
	return j, err == nil, err
}

// ChangeJob changes a job that anybody made. Its next time is computed again when its schedule changes, or it is switched on again; a time
// that was begun before does not begin again.
func (s *Scheduler) ChangeJob(ctx context.Context, source, id string, change func(*sessions.Job) error) (sessions.Job, error) {
	was, err := s.store.GetJob(ctx, id)
	if err != nil {
		return was, err
	}
	j := was
	if err := change(&j); err != nil {
		return j, err
	}
	if err := s.checkJob(&j); err != nil {
		return j, err
	}
	if j.Name != was.Name {
		all, err := s.store.ListJobs(ctx, "")
		if err == nil {
			err = nameFree(all, j)
		}
		if err != nil {
			return j, err
		}
	}
	same := j.At.Equal(was.At) && j.Every == was.Every && j.Cron == was.Cron && j.Zone == was.Zone
	if j.Every != was.Every && j.Every > 0 {
		j.Created = s.now() // it counts from now
	}
	switch {
	case same && j.Off: // also one that cannot go on
		j.Next = time.Time{}
	case !same || was.Off:
		if err := s.comes(&j); err != nil {
			return j, err
		}
	}
	if _, err := s.commit.Submit(ctx, sessions.Change{IdempotencyKey: source, Ops: []sessions.Op{sessions.PutJob(j)}}); err != nil {
		return j, err
	}
	s.wakeJobs()
	return s.store.GetJob(ctx, id)
}

// comes computes when a job comes next.
func (s *Scheduler) comes(j *sessions.Job) error {
	now := s.now()
	after := now
	if j.Last.After(after) { // the clock was set back since
		after = j.Last
	}
	next, err := j.After(after)
	if err == nil && next.IsZero() {
		err = fmt.Errorf("at is %s, which is in the past", j.At.Format(time.RFC3339))
	}
	if err != nil {
		return sessions.BadRequest("%v", err)
	}
	if j.Next = next; j.Off {
		j.Next = time.Time{}
	}
	return nil
}

// checkJob checks what a person asks for.
func (s *Scheduler) checkJob(j *sessions.Job) error {
	j.Name, j.Message = strings.TrimSpace(channels.OneLine(j.Name)), strings.TrimSpace(j.Message)
	ids, _ := s.settings().Agents.IDs()
	switch {
	case j.Message == "":
		return sessions.BadRequest("message is required: the text that the agent gets at that time")
	case len(j.Message) > MaxJobText:
		return sessions.BadRequest("message has %d bytes; %d are allowed", len(j.Message), MaxJobText)
	case len([]rune(j.Name)) > MaxJobName:
		return sessions.BadRequest("name has more than %d characters", MaxJobName)
	case !slices.Contains(ids, j.Agent):
		return sessions.BadRequest("there is no agent %.100q; there are %s", j.Agent, sessions.JoinIDs(ids))
	}
	if j.Model != "" {
		if err := s.modelKnown(j.Model); err != nil {
			return sessions.BadRequest("model: %v", err)
		}
	}
	return nil
}

// RunJob begins a job's turn now, because a person asked for it: its next time stays. One that is off can be begun, too. The same source
// begins it once, and while a turn of the job is queued or at work there is no further one (ErrConflict, which names that run).
func (s *Scheduler) RunJob(ctx context.Context, source, id string) (run sessions.Run, err error) {
	err = unlessBusy(func() (err error) {
		run, err = s.tryRunJob(ctx, source, id)
		return err
	})
	return run, err
}

// tryRunJob is RunJob, and gives ErrBusy where a turn of the job began meanwhile.
func (s *Scheduler) tryRunJob(ctx context.Context, source, id string) (sessions.Run, error) {
	if source != "" {
		if run, err := s.store.GetRun(ctx, sessions.RunID(sessions.IDFor(source, "run"))); !errors.Is(err, sessions.ErrNotFound) {
			return run, err
		}
	}
	j, err := s.store.GetJob(ctx, id)
	if err != nil {
		return sessions.Run{}, err
	}
	now := s.now()
	from, why, err := s.leftOut(ctx, j, now, now)
	switch {
	case err != nil:
		return sessions.Run{}, err
	case errors.Is(why, errBusy):
		return sessions.Run{}, fmt.Errorf("%w: %w", sessions.ErrConflict, why)
	case why != nil:
		return sessions.Run{}, sessions.BadRequest("%v", why)
	}
	if source == "" {
		source = "job:" + id + ":" + uuid.NewString()
	}
	chat, err := s.gate.LastChat(ctx, from)
	if err != nil {
		return sessions.Run{}, err
	}
	e := jobTurn(j, from, chat, source, now, false)
	acc, err := s.fired(ctx, sessions.Firing{Job: id, At: now, Change: e, Exclusive: true, Times: []sessions.Occurrence{{Due: now, Forced: true, Run: e.Run.ID}}})
	return acc.Run, err
}

// RemoveJob removes a job. What it has begun goes on, and its history stays.
func (s *Scheduler) RemoveJob(ctx context.Context, source, id string) error {
	if _, err := s.store.GetJob(ctx, id); err != nil {
		return err
	}
	return s.DropJob(ctx, source, id)
}
