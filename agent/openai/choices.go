package openai

import (
	"math"
	"reflect"

	"parley/agent/wire"
)

const (
	noIndex  = math.MinInt // of no choice
	maxIndex = 1 << 20     // of one that is read
)

// isRead reports whether a choice belongs to the answer. One was asked for: it is the first that says something, whose index may be any number,
// or count the pieces. source: huggingface/text-generation-inference#1648
func (s *stream) isRead(o *choice) bool {
	counts := o.Index == s.index+1 && o.Index > s.highest && s.events == 1 && len(s.chunk.Choices) == 1
	s.highest = max(s.highest, o.Index)
	if o.Index != s.index && o.Index <= maxIndex && (s.index == noIndex || s.finish == "" && (counts || s.saidNothing())) {
		s.index, s.events = o.Index, 0
	}
	if o.Index != s.index {
		if wire.IsEnding(o.FinishReason) {
			s.elsewhere = o.FinishReason
		}
		return false
	}
	s.events++
	return true
}

// repeats reports whether a message, behind the end of the answer, is the one before once more.
func (s *stream) repeats(m *delta) bool {
	if n := len(s.late); n > 0 {
		return reflect.DeepEqual(s.late[n-1], m)
	}
	return s.whole && m.Content == s.content.text.String()+s.content.held
}

// saidNothing reports whether nothing of an answer has come.
func (s *stream) saidNothing() bool {
	return s.content.text.Len() == 0 && s.content.held == "" && s.thought.Len() == 0 && s.reason.held == "" && len(s.calls) == 0 && len(s.late) == 0
}
