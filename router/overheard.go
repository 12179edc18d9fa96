package router

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"parley/channels"
	"parley/router/settings"
	"parley/sessions"
)

const heardBytes = 32 << 10 // of all that one turn is shown

// overheard is what is kept of a message that was not meant for the bot; nil = nothing.
func overheard(set *settings.Snapshot, in channels.Inbound, key sessions.Key, text string) *sessions.Overheard {
	if text = withNames(text, in.Media); text == "" {
		return nil
	}
	text = quoted(in.Quote) + passedOn(in, channels.TypedQuotes(text))
	return &sessions.Overheard{Key: key, Sender: string(in.Sender.ID), Name: channels.SenderName(in.Sender), Text: channels.CutText(text, settings.MaxContextLine), Message: in.ID, Time: in.Time, Keep: set.ContextLimit()}
}

// passedOn says of words that their sender passed them on.
func passedOn(in channels.Inbound, text string) string {
	if !in.Forwarded {
		return text
	}
	return "[forwarded from " + cmp.Or(originName(in.Origin), "somebody else") + "]\n" + text
}

// hear puts what was overheard in front of the message that a run answers: a block of its own, no part of the text. The commit that
// queues the run removes it from what waits to be shown.
func (r *Router) hear(ctx context.Context, set *settings.Snapshot, e *sessions.Effects) error {
	lines, err := r.store.Overheard(ctx, e.Run.Key)
	if err != nil {
		return fmt.Errorf("reading what was overheard: %w", err)
	}
	if len(lines) == 0 {
		return nil
	}
	e.Heard = lines[len(lines)-1].Seq
	lines = r.earlier.join(e.Run, lines)
	if lines = newestHeard(lines, set.ContextLimit()); len(lines) > 0 {
		e.Run.Input.Content = slices.Insert(e.Run.Input.Content, 0, sessions.HeardBlock(lines))
	}
	return nil
}

// newestHeard gives the newest lines that one turn is shown.
func newestHeard(lines []sessions.Overheard, most int) []sessions.Overheard {
	lines = lines[max(0, len(lines)-most):]
	room := heardBytes
	for i, l := range slices.Backward(lines) {
		if room -= len(l.Text) + len(l.Name); room < 0 {
			return lines[i+1:]
		}
	}
	return lines
}
