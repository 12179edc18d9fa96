package agent

import (
	"context"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"testing"
)

// pieces is a model that answers in pieces.
type pieces []string

func (p pieces) Stream(context.Context, Prompt) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		for _, s := range p {
			if !yield(Delta{Text: s}, nil) {
				return
			}
		}
		yield(Delta{Final: &Answer{Stop: StopEnd}}, nil)
	}
}

// TestLongDrafts: a short answer is passed on with each piece, a long one in steps that are a small part of it.
func TestLongDrafts(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{100: 100, 100_000: 2_000} {
		drafts, last, most := 0, 0, 0
		r := &turnRun{log: slog.New(slog.DiscardHandler), uncounted: &sync.Map{}, Turn: Turn{OnText: func(s string) {
			drafts++
			most, last = max(most, len(s)-last), len(s)
		}}}
		r.candidates = []Candidate{{Label: "p/m", Model: pieces(strings.Split(strings.Repeat("word ", n), " "))}}
		_, _, _ = r.stream(t.Context(), Prompt{}, false)
		if drafts == 0 || drafts > want || most > 1+last/draftParts+8 {
			t.Errorf("%d pieces: %d drafts, the longest step %d of %d bytes", n, drafts, most, last)
		}
	}
}
