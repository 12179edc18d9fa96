package turn

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"parley/channels"
	"parley/router/clock"
	"parley/router/lane"
	"parley/router/rights"
	"parley/router/settings"
	"parley/sessions"
)

// Merger finds what waits in a session that a turn answers as well, and how long the turn is held back for it.
type Merger struct {
	store    sessions.Store
	settings func() *settings.Snapshot
	ages     *clock.Steady
	lanes    *lane.Executor
	rights   *rights.Resolver
	log      *slog.Logger
}

// queueOf returns the current queue of a run's session.
func (m *Merger) queueOf(ctx context.Context, run sessions.Run) (settings.QueueRule, error) {
	s, err := m.store.Get(ctx, run.Key)
	if err != nil {
		return settings.QueueRule{}, fmt.Errorf("read the session: %w", err)
	}
	return m.settings().Queue(s, run.Reply.Channel), nil
}

// mergeable picks from what waits in a session, oldest first, the messages that a turn may answer as well: those right behind it that
// are answered in the same place and in the same way. What is between two messages keeps its place between them.
func mergeable(run sessions.Run, queued []sessions.Run) (out []sessions.Run) {
	for _, q := range queued {
		switch {
		case q.ID == run.ID:
		case run.Exclusive || q.Exclusive:
			return out
		case sessions.IsFresh(q) && q.Session == run.Session && q.Reply == run.Reply && q.Model == run.Model && q.Timeout == run.Timeout && q.Thinking == run.Thinking && q.System == run.System:
			out = append(out, q)
		default:
			return out
		}
	}
	return out
}

// mergeWaiting merges what waits with a turn that begins into it. It gives what the turn has so far: what an earlier attempt recorded,
// and the messages that were merged. The answer then goes to the newest of them.
func (w *Worker) mergeWaiting(ctx context.Context, set *settings.Snapshot, s sessions.Session, run *sessions.Run, again bool, told ended) (steps []sessions.Message, err error) {
	if run.Attempt > 1 || again {
		if steps, err = w.store.Steps(ctx, run.ID); err != nil {
			return nil, fmt.Errorf("read the steps: %w", err)
		}
	}
	if run.Kind != sessions.TurnRun {
		return steps, nil
	}
	if !slices.ContainsFunc(steps, func(m sessions.Message) bool { return m.Role == sessions.Assistant }) {
		taken, err := w.coalesce(ctx, set.Queue(s, run.Reply.Channel), *run, told)
		if err != nil {
			return nil, fmt.Errorf("merge queued messages: %w", err)
		}
		if len(taken) > 0 { // including messages that an earlier try merged
			steps = taken
		}
	}
	replyToNewest(run, steps)
	return steps, nil
}

// coalesce merges the messages that the mode puts into one turn: all of them, or, where each has a turn of its own, only those
// above the cap, when they are cut short.
func (w *Worker) coalesce(ctx context.Context, q settings.QueueRule, run sessions.Run, told ended) ([]sessions.Message, error) {
	open, err := w.store.CountOpen(ctx, run.Key)
	if err != nil || open < 2 { // the run itself is one
		return nil, err
	}
	if _, parts := w.lanes.LastFinished(run.Key); q.Mode == sessions.Followup && open <= q.Cap && !parts {
		return nil, nil // as it is of nearly every message: nothing is read for it
	}
	queued, err := sessions.QueuedRuns(ctx, w.store, run.Key)
	if err != nil {
		return nil, err
	}
	more := mergeable(run, queued)
	if len(more) == 0 {
		return nil, nil
	}
	take := sessions.MergeQuery{Kind: sessions.TurnRun, Full: q.Cap, Short: shorten}
	if q.Mode == sessions.Followup {
		parts, err := w.Merger.gestureOf(ctx, run, more)
		if err != nil {
			return nil, err
		}
		take.Full = 1
		if more = more[:max(0, len(more)-q.Cap)]; len(more) <= len(parts) || q.Drop != sessions.DropSummarize {
			more, take.Full = parts, 0
		}
		if len(more) == 0 {
			return nil, nil
		}
	}
	take.Only = idsOf(more)
	return w.absorb(ctx, run, take, told)
}

// steerable says what of the messages that wait the running turn merges at its next step; none unless the mode is steer.
func (m *Merger) steerable(ctx context.Context, run sessions.Run) ([]sessions.RunID, error) {
	open, err := m.store.CountOpen(ctx, run.Key)
	if err != nil || open < 2 { // the run itself is one
		return nil, err
	}
	q, err := m.queueOf(ctx, run)
	if err != nil || q.Mode != sessions.Steer {
		return nil, err
	}
	queued, err := sessions.QueuedRuns(ctx, m.store, run.Key)
	if err != nil {
		return nil, err
	}
	return idsOf(mergeable(run, queued)), nil
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

// shorten cuts a message to a line, which says what else came with it. The texts that came with other messages, such as a forward ahead of
// its comment, are a line of their own in front: an edit of the message replaces the last text.
func shorten(m sessions.Message) []sessions.Block {
	var ahead, own string
	last := m.LastText()
	for i, b := range m.Content {
		switch {
		case b.Type != sessions.TextBlock:
		case i < last:
			ahead += b.Text
		default:
			own = b.Text
		}
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
		heard += len(b.ContextLines())
	}
	text := cutLine(own)
	if pictures > 0 {
		text += " [with " + channels.Plural(pictures, "picture") + "]"
	}
	if heard > 0 {
		text += " [behind " + channels.Plural(heard, "message") + " of the group]"
	}
	out := sessions.TextContent(strings.TrimSpace(text))
	if ahead = cutLine(ahead); ahead != "" {
		out = append(sessions.TextContent(ahead+"\n"), out...)
	}
	return append(out, files...)
}

// cutLine gives a text as one line of at most maxShort characters.
func cutLine(s string) string {
	line := []rune(strings.Join(strings.Fields(s), " "))
	if len(line) > maxShort {
		line = append(line[:maxShort-1], '…')
	}
	return string(line)
}
