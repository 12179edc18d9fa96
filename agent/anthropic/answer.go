package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"parley/agent"
	"parley/agent/wire"
	"parley/sessions"
)

// stops gives what the words mean by which the API, or a server that translates another one, says why an answer ended. Others mean that
// it is complete.
var stops = map[string]string{
	"max_tokens": agent.StopLength, "model_context_window_exceeded": agent.StopLength, "length": agent.StopLength,
	"refusal": agent.StopFilter, "content_filter": agent.StopFilter, "content_filtered": agent.StopFilter, "sensitive": agent.StopFilter,
	"safety": agent.StopFilter, "guardrail_intervened": agent.StopFilter, "blocked": agent.StopFilter, "error_toxic": agent.StopFilter,
}

// deliver hands the answer over.
func (s *stream) deliver() error {
	answer := &agent.Answer{Model: s.by, Stop: agent.StopEnd, Usage: s.spent.Add(s.usage.counted())}
	if stop, ok := stops[strings.ReplaceAll(strings.ToLower(s.stop), "-", "_")]; ok {
		answer.Stop = stop
	}
	for _, p := range append(s.before[:len(s.before):len(s.before)], s.parts...) {
		b := p.block(s.from)
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
	speaks := func(b sessions.Block) bool {
		return b.Type == sessions.ToolCallBlock || b.Type == sessions.TextBlock && strings.TrimSpace(b.Text) != ""
	}
	if s.stop == "model_context_window_exceeded" && !slices.ContainsFunc(answer.Content, speaks) { // the prompt filled it
		return s.t.Failed(agent.TooLong, s.stop)
	}
	bounded(answer.Content)
	wire.CallsInReasoning(answer, s.tool)
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
