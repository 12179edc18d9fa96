package inbound

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"parley/channels"
	"parley/router/settings"
	"parley/router/turn"
	"parley/sessions"
)

const maxContextBytes = 32 << 10 // of all that one turn is shown

// NewContextLine returns the context line of a message that was not meant for the bot; nil = none.
func NewContextLine(set *settings.Snapshot, in channels.Inbound, key sessions.Key, text string) *sessions.ContextLine {
	if text = turn.WithNames(text, in.Media); text == "" {
		return nil
	}
	text = turn.Quoted(in.Quote) + PassedOn(in, channels.TypedQuotes(text))
	return &sessions.ContextLine{Key: key, Sender: string(in.Sender.ID), Name: channels.SenderName(in.Sender), Text: channels.CutText(text, settings.MaxContextLine), Message: in.ID, Time: in.Time, Keep: set.ContextLimit()}
}

// appendEvents gives the event that keeps a line, if there is one.
func appendEvents(line *sessions.ContextLine) []sessions.SkipEvent {
	if line == nil {
		return nil
	}
	return []sessions.SkipEvent{sessions.AppendContext(*line)}
}

// PassedOn says of words that their sender passed them on.
func PassedOn(in channels.Inbound, text string) string {
	if !in.Forwarded {
		return text
	}
	return "[forwarded from " + cmp.Or(turn.OriginName(in.Origin), "somebody else") + "]\n" + text
}

// attachContext puts the context lines in front of the message that a run answers: a block of its own, no part of the text. The commit that
// queues the run removes it from what waits to be shown.
func (r *Receiver) attachContext(ctx context.Context, set *settings.Snapshot, c *sessions.Change) error {
	lines, err := r.store.ContextLines(ctx, c.Run.Key)
	if err != nil {
		return fmt.Errorf("read context lines: %w", err)
	}
	if len(lines) == 0 {
		return nil
	}
	c.Session.Ops = append(c.Session.Ops, sessions.ConsumeContext{UpTo: lines[len(lines)-1].Seq})
	lines = r.earlier.join(&c.Run.Run, lines)
	if lines = newestLines(lines, set.ContextLimit()); len(lines) > 0 {
		c.Run.Input.Content = slices.Insert(c.Run.Input.Content, 0, sessions.NewContextBlock(lines))
	}
	return nil
}

// newestLines gives the newest lines that one turn is shown; those that the host itself says are no group talk, and most does not bound them.
func newestLines(lines []sessions.ContextLine, most int) []sessions.ContextLine {
	talk, room, first := 0, maxContextBytes, 0
	for i, l := range slices.Backward(lines) {
		if !l.FromHost() {
			if talk++; talk > most {
				continue
			}
		}
		if room -= len(l.Text) + len(l.Name); room < 0 {
			first = i + 1
			break
		}
	}
	return slices.DeleteFunc(lines[first:], func(l sessions.ContextLine) bool {
		if l.FromHost() {
			return false
		}
		talk--
		return talk >= most
	})
}
