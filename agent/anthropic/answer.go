package anthropic

import (
	"encoding/json"

	"parley/agent"
	"parley/agent/wire"
	"parley/sessions"
)

// stopOf says how an answer ended by the word of the API, or of a server that translates another one. Words that say nothing of a limit or
// a refusal mean that it is complete.
func stopOf(word string) string {
	switch word = wire.EndingWord(word); {
	case word == "max_tokens", word == "length", wire.IsWindowFull(word):
		return agent.StopLength
	case wire.IsFiltered(word):
		return agent.StopFilter
	}
	return agent.StopEnd
}

// deliver hands the answer over.
func (s *stream) deliver() error {
	s.adopt()
	answer := &agent.Answer{Model: s.by, Stop: stopOf(s.stop), Usage: s.spent.Add(s.usage.counted())}
	for _, p := range append(s.before[:len(s.before):len(s.before)], s.parts...) {
		b := p.block(s.from, s.returned)
		switch p.kind {
		case textPart:
			if b.Text == "" {
				continue
			}
		case callPart:
			if answer.Stop == agent.StopFilter { // what was refused is not done
				continue
			}
			if answer.Stop == agent.StopLength && len(p.text) == 0 && !s.isJSON { // it was cut off: it is no call without arguments
				b.Arguments = nil
			}
			b.Arguments = wire.Arguments(b.Arguments)
			if b.ID == "" {
				b.ID = agent.NewCallID()
			}
			if answer.Stop == agent.StopEnd {
				answer.Stop = agent.StopToolUse
			}
		default:
			if b.Text == "" && len(b.Opaque.Data) == 0 {
				continue
			}
		}
		answer.Content = append(answer.Content, b)
	}
	if wire.IsWindowFull(s.stop) && answer.IsWordless() { // the prompt fills it
		return s.t.Failed(agent.TooLong, s.stop)
	}
	bounded(answer.Content)
	wire.CallsInReasoning(answer, s.tool)
	s.schemas.Undo(answer, s.specs)
	s.answered = true
	s.yield(agent.Delta{Final: answer})
	return nil
}

// bounded drops what has to be sent back when it is more than a message may have. Blocks that need it are then not sent back at all.
func bounded(blocks []sessions.Block) {
	n := 0
	for _, b := range blocks {
		if b.Opaque != nil {
			n += len(b.Opaque.Data)
		}
	}
	if n <= sessions.MaxOpaque {
		return
	}
	for _, b := range blocks {
		if b.Opaque != nil && len(b.Opaque.Data) > 0 {
			b.Opaque.Data = json.RawMessage(`{"cut":true}`)
		}
	}
}
