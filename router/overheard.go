package router

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"parley/channels"
	"parley/sessions"
)

// The bounds of what is kept for the next turn: group talk, and what people did to messages.
const (
	heardLines = 50       // messages.groupChat.historyLimit
	heardLine  = 2 << 10  // bytes of one message
	heardBytes = 32 << 10 // of all that one turn is shown
)

func (s *Settings) heardLimit() int {
	if n := s.Messages.GroupChat.HistoryLimit; n != nil {
		return *n
	}
	return heardLines
}

// overheard is what is kept of a message that was not meant for the bot; nil = nothing.
func overheard(set *Settings, in channels.Inbound, key sessions.Key, text string) *sessions.Overheard {
	if text = withNames(text, in.Media); text == "" {
		return nil
	}
	text = quoted(in.Quote) + passedOn(in, text)
	return &sessions.Overheard{Key: key, Sender: string(in.Sender.ID), Name: channels.SenderName(in.Sender), Text: channels.CutText(text, heardLine), Message: in.ID, Time: in.Time, Keep: set.heardLimit()}
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
func (r *Router) hear(ctx context.Context, set *Settings, e *sessions.Effects) error {
	lines, err := r.store.Overheard(ctx, e.Run.Key)
	if err != nil {
		return fmt.Errorf("reading what was overheard: %w", err)
	}
	if len(lines) == 0 {
		return nil
	}
	e.Heard = lines[len(lines)-1].Seq
	lines = r.earlier.join(e.Run, lines)
	if lines = newestHeard(lines, set.heardLimit()); len(lines) > 0 {
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
