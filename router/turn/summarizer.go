package turn

import (
	"context"
	"fmt"

	"parley/agent"
	"parley/sessions"
)

// MaxRefusedParts bounds the refused requests of one compaction.
const MaxRefusedParts = 12

// summarizer has a model sum up messages, and leaves out those that its provider refuses.
type summarizer struct {
	c       *compaction
	id      string
	who     agent.Turn
	look    string
	room    agent.Room
	covered int // tokens that the summary stands for

	text    string // the summary so far
	taken   string // the newest summary that was in a request which the provider took
	calls   int
	refused int   // requests
	err     error // of the newest of them
	leftOut int   // messages
	undone  bool  // the summary before was refused
}

// add sums up messages behind the summary so far. It divides refused messages into halves by turns, until the refused turn is found, and
// leaves that out.
func (w *summarizer) add(ctx context.Context, msgs []sessions.Message) error {
	before := w.text
	for _, lines := range agent.Chunks(msgs, w.room.Chunk) {
		err := w.write(ctx, lines)
		if err == nil {
			continue
		}
		if !agent.IsRefusal(nil, err) {
			return err
		}
		w.refused, w.err = w.refused+1, err
		if at := middle(msgs); at > 0 && w.refused < MaxRefusedParts {
			w.text = before
			if err := w.add(ctx, msgs[:at]); err != nil {
				return err
			}
			return w.add(ctx, msgs[at:])
		}
		return w.without(ctx, msgs, before)
	}
	return nil
}

// without continues after a refused turn. The summary so far may be the reason as well, if the provider never took it.
func (w *summarizer) without(ctx context.Context, msgs []sessions.Message, before string) error {
	w.text = before
	if before == "" || before == w.taken || w.refused >= MaxRefusedParts {
		w.leftOut += len(msgs)
		return nil
	}
	w.text = ""
	for _, lines := range agent.Chunks(msgs, w.room.Chunk) {
		err := w.write(ctx, lines)
		switch {
		case err == nil:
			continue
		case !agent.IsRefusal(nil, err):
			return err
		}
		w.text, w.refused, w.leftOut = before, w.refused+1, w.leftOut+len(msgs)
		return nil
	}
	w.undone = true
	return nil
}

func (w *summarizer) write(ctx context.Context, lines string) error {
	w.calls++
	text, err := w.c.write(ctx, fmt.Sprintf("%s-%d", w.id, w.calls), w.who, PromptFacts{Before: w.text, Look: w.look, Lines: lines})
	if err == nil {
		w.taken, w.text = w.text, agent.CutSummary(text, w.room.Summary, w.covered)
	}
	return err
}

// middle returns where messages are divided between two turns, about in their middle; 0 if they are of one turn.
func middle(msgs []sessions.Message) (at int) {
	for i := 1; i < len(msgs); i++ {
		if begins := msgs[i].Run != msgs[i-1].Run || msgs[i].Run == "" && msgs[i].Role == sessions.User; begins && (at == 0 || i <= len(msgs)/2) {
			at = i
		}
	}
	return at
}
