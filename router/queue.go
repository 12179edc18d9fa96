package router

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"parley/channels"
	"parley/router/lane"
	"parley/router/settings"
	"parley/sessions"
)

// maxQuiet bounds how long a collected turn is held back by messages that keep coming, as a multiple of the quiet time.
const maxQuiet = 10

// queueOf is the queue of a run's session, as it stands now.
func (r *Router) queueOf(ctx context.Context, run sessions.Run) (settings.QueueRule, error) {
	s, err := r.store.Get(ctx, run.Key)
	if err != nil {
		return settings.QueueRule{}, fmt.Errorf("reading the session: %w", err)
	}
	return r.settings.Load().Queue(s, run.Reply.Channel), nil
}

// batch picks from what waits in a session, oldest first, the messages that a turn may answer as well: those right behind it that
// are answered in the same place and in the same way. What is between two messages keeps its place between them.
func batch(run sessions.Run, queued []sessions.Run) (out []sessions.Run) {
	for _, q := range queued {
		switch {
		case q.ID == run.ID:
		case run.Alone || q.Alone:
			return out
		case sessions.IsFresh(q) && q.Session == run.Session && q.Reply == run.Reply && q.Model == run.Model && q.Timeout == run.Timeout && q.Thinking == run.Thinking && q.System == run.System:
			out = append(out, q)
		default:
			return out
		}
	}
	return out
}

// calm waits, without the lane's slot, until it is quiet in a session whose messages are collected. Only messages that came while
// the session was busy wait, and those that the platform's app may have cut: any other begins at once. It is false when nothing waits, or no further run is to begin.
func (r *Router) calm(ctx context.Context, key sessions.Key) bool {
	since, parts := r.lanes.LastFinished(key)
	if since.IsZero() && !parts {
		return true
	}
	began := time.Now()
	for {
		head, err := r.store.ListRuns(ctx, sessions.RunQuery{Key: key, Status: sessions.Queued, Oldest: true, Limit: 1})
		if err != nil { // claim insists
			r.log.Error("cannot list the runs that wait", keySession, key, keyErr, err)
			return true
		}
		if len(head) == 0 {
			return false
		}
		left := max(r.untilRest(ctx, head[0], began), r.untilQuiet(ctx, head[0], since, began))
		if left <= 0 {
			return true
		}
		on := false
		if lane.WithoutSlot(ctx, func() { on = r.lanes.Sleep(ctx, key, left) }); !on {
			return false
		}
	}
}

// untilQuiet says how long the messages that wait are held back still, of which head is the first. since is when the session was last
// busy, began when somebody began to wait for quiet.
func (r *Router) untilQuiet(ctx context.Context, head sessions.Run, since, began time.Time) time.Duration {
	if !sessions.IsFresh(head) || head.Alone || !head.Created.Before(since) {
		return 0
	}
	q, err := r.queueOf(ctx, head)
	if err != nil || q.Mode != sessions.Collect && q.Mode != sessions.Steer {
		return 0 // an error shows again where the turn is composed
	}
	queued, err := sessions.QueuedRuns(ctx, r.store, head.Key)
	if err != nil {
		return 0
	}
	newest := head
	if more := batch(head, queued); len(more) > 0 {
		newest = more[len(more)-1]
	}
	until := newest.Created.Add(q.Quiet)
	if latest := since.Add(maxQuiet * q.Quiet); latest.Before(until) {
		until = latest
	}
	return min(until.Sub(r.ages.Now()), maxQuiet*q.Quiet-time.Since(began)) // the clock may have been set back
}

// gather has a turn that begins take up what waits with it. It gives what the turn has so far: what an earlier attempt recorded,
// and the messages that were taken up. The answer then goes to the newest of them.
func (r *Router) gather(ctx context.Context, set *settings.Snapshot, s sessions.Session, run *sessions.Run, again bool, told ended) (steps []sessions.Message, err error) {
	if run.Attempt > 1 || again {
		if steps, err = r.store.Steps(ctx, run.ID); err != nil {
			return nil, fmt.Errorf("reading the steps: %w", err)
		}
	}
	if run.Kind != sessions.TurnRun {
		return steps, nil
	}
	if !slices.ContainsFunc(steps, func(m sessions.Message) bool { return m.Role == sessions.Assistant }) {
		taken, err := r.collect(ctx, set.Queue(s, run.Reply.Channel), *run, told)
		if err != nil {
			return nil, fmt.Errorf("taking up what waits: %w", err)
		}
		if len(taken) > 0 { // what it took up before is among it
			steps = taken
		}
	}
	replyToNewest(run, steps)
	return steps, nil
}

// collect takes up the messages that the mode puts into one turn: all of them, or, where each has a turn of its own, only those
// above the cap, when they are cut short.
func (r *Router) collect(ctx context.Context, q settings.QueueRule, run sessions.Run, told ended) ([]sessions.Message, error) {
	open, err := r.store.CountOpen(ctx, run.Key)
	if err != nil || open < 2 { // the run itself is one
		return nil, err
	}
	if _, parts := r.lanes.LastFinished(run.Key); q.Mode == sessions.Followup && open <= q.Most && !parts {
		return nil, nil // as it is of nearly every message: nothing is read for it
	}
	queued, err := sessions.QueuedRuns(ctx, r.store, run.Key)
	if err != nil {
		return nil, err
	}
	more := batch(run, queued)
	if len(more) == 0 {
		return nil, nil
	}
	take := sessions.AbsorbQuery{Kind: sessions.TurnRun, Full: q.Most, Short: shorten}
	if q.Mode == sessions.Followup {
		parts, err := r.gestureOf(ctx, run, more)
		if err != nil {
			return nil, err
		}
		take.Full = 1
		if more = more[:max(0, len(more)-q.Most)]; len(more) <= len(parts) || q.Drop != sessions.DropSummarize {
			more, take.Full = parts, 0
		}
		if len(more) == 0 {
			return nil, nil
		}
	}
	take.Only = idsOf(more)
	return r.absorb(ctx, run, take, told)
}

// steering says what of the messages that wait the turn at work takes up at its next step; none unless the mode is steer.
func (r *Router) steering(ctx context.Context, run sessions.Run) ([]sessions.RunID, error) {
	open, err := r.store.CountOpen(ctx, run.Key)
	if err != nil || open < 2 { // the run itself is one
		return nil, err
	}
	q, err := r.queueOf(ctx, run)
	if err != nil || q.Mode != sessions.Steer {
		return nil, err
	}
	queued, err := sessions.QueuedRuns(ctx, r.store, run.Key)
	if err != nil {
		return nil, err
	}
	return idsOf(batch(run, queued)), nil
}

// replyToNewest has the answer of a batch refer to its newest message.
func replyToNewest(run *sessions.Run, taken []sessions.Message) {
	for _, m := range slices.Backward(taken) {
		if p := m.Provenance; run.ReplyTo != "" && m.Role == sessions.User && p != nil && p.Kind == sessions.ExternalUser && p.Message != "" {
			run.ReplyTo = channels.MessageID(p.Message)
			return
		}
	}
}

func idsOf(runs []sessions.Run) []sessions.RunID {
	ids := make([]sessions.RunID, len(runs))
	for i, run := range runs {
		ids[i] = run.ID
	}
	return ids
}

// maxShort is the length of a message that was cut to a line, in characters.
const maxShort = 160

// shorten cuts a message to a line, which says what else came with it.
func shorten(m sessions.Message) []sessions.Block {
	line := []rune(strings.Join(strings.Fields(m.Text()), " "))
	if len(line) > maxShort {
		line = append(line[:maxShort-1], '…')
	}
	pictures, heard := 0, 0
	var files []sessions.Block // a line each: they can still be read
	for _, b := range m.Content {
		switch b.Type {
		case sessions.ImageBlock:
			pictures++
		case sessions.FileBlock:
			files = append(files, b)
		}
		heard += len(b.Heard())
	}
	text := string(line)
	if pictures > 0 {
		text += " [with " + channels.Plural(pictures, "picture") + "]"
	}
	if heard > 0 {
		text += " [behind " + channels.Plural(heard, "message") + " of the group]"
	}
	return append(sessions.TextContent(strings.TrimSpace(text)), files...)
}

// line has a message that comes while its session is busy wait its turn: it may end the turn at work, or make others give way. Of what
// is not answered then people are told. refused says why it is not taken; "" when it is.
func (r *Router) line(ctx context.Context, set *settings.Snapshot, s sessions.Session, in channels.Inbound, e *sessions.Effects) (refused string, err error) {
	if !r.lanes.Busy(s.Key) {
		return "", nil
	}
	q := set.Queue(s, e.Run.Reply.Channel)
	e.Interrupt = q.Mode == sessions.Interrupt && e.Run.With == "" // what is at work for another chat goes on: the store looks
	most := q.Most
	if q.Drop == sessions.DropSummarize {
		most += settings.ShortLines
	}
	if open, err := r.store.CountOpen(ctx, s.Key); err != nil || open < most { // all that wait are among them
		return "", err
	}
	queued, err := sessions.QueuedRuns(ctx, r.store, s.Key)
	if err != nil {
		return "", err
	}
	n := 0
	for _, run := range queued {
		if sessions.IsFresh(run) && !run.Alone && run.Reply == e.Run.Reply { // others do not pay for what one chat sends
			n++
		}
	}
	switch {
	case n < most:
		return "", nil
	case q.Drop == sessions.DropNew:
		*e = sessions.Effects{Deliveries: r.sayFull(set, in, s.Key, "so I did not take your last one. Please send it again later.")}
		return fmt.Sprintf("%d messages of this chat wait, the most it may have (messages.queue.cap)", n), nil
	}
	e.Drop = n - most + 1
	e.Deliveries = r.sayFull(set, in, s.Key, "so I drop the oldest of them. Please send again later what has no answer.")
	return "", nil
}

// sayFull tells the chat of a message that some are not answered: once for each turn that they wait for, as it is the same delivery.
func (r *Router) sayFull(set *settings.Snapshot, in channels.Inbound, key sessions.Key, what string) []sessions.Delivery {
	id := uuid.NewSHA1(uuid.NameSpaceOID, []byte("full queue of "+string(key)+" for "+in.Address.String()+" behind "+r.lanes.TurnToken(key)))
	d := sessions.Delivery{ID: sessions.DeliveryID(id.String()), Kind: sessions.Notice, Session: key, To: in.Address,
		Text: "⚙️ Too many messages are waiting here, " + what, Expires: time.Now().Add(set.Delivery.TTL(sessions.Notice))}
	if in.Address.Type.Several() {
		d.ReplyTo = in.ID
	}
	return []sessions.Delivery{d}
}
