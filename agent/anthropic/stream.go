package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"unicode/utf8"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"parley/agent"
	"parley/agent/wire"
	"parley/sessions"
)

const stopContextFull sdk.StopReason = "model_context_window_exceeded"

// maxBlocks bounds the blocks of one answer.
const maxBlocks = 512

// stream reads one streamed answer.
type stream struct {
	t        *wire.Try
	yield    func(agent.Delta) bool
	message  sdk.Message
	answered bool             // the answer was handed over, with what it cost
	input    map[int64][]byte // arguments as they were written: the SDK turns those that are no JSON into {}, which would be executed
}

func (s *stream) read(res *http.Response) error {
	events := ssestream.NewStream[sdk.MessageStreamEventUnion](ssestream.NewDecoder(res), nil)
	for events.Next() {
		e := events.Current()
		if !utf8.ValidString(e.RawJSON()) {
			return s.t.Broken("an event is not valid UTF-8")
		}
		if len(s.message.Content) > maxBlocks {
			return s.t.Broken("more than %d blocks in one answer", maxBlocks)
		}
		if err := s.message.Accumulate(e); err != nil {
			return s.t.Error(err)
		}
		if e.Type == "message_stop" {
			return s.end()
		}
		if !s.pass(e) {
			return nil
		}
	}
	err := events.Err()
	if fault, ok := errors.AsType[*sdk.Error](err); ok {
		return s.t.StreamError([]byte(fault.RawJSON()))
	}
	if err != nil {
		return s.t.Error(fmt.Errorf("the answer was cut off: %w", err))
	}
	return s.t.Broken("the stream ended before the answer was complete")
}

// pass hands a piece of text or thinking on and reports whether the reader wants more.
func (s *stream) pass(e sdk.MessageStreamEventUnion) bool {
	switch {
	case e.Type != "content_block_delta":
	case e.Delta.Text != "":
		return s.yield(agent.Delta{Text: e.Delta.Text})
	case e.Delta.Thinking != "":
		return s.yield(agent.Delta{Thinking: e.Delta.Thinking})
	case e.Delta.PartialJSON != "":
		if s.input == nil {
			s.input = make(map[int64][]byte)
		}
		s.input[e.Index] = append(s.input[e.Index], e.Delta.PartialJSON...)
	}
	return true
}

// end makes the answer.
func (s *stream) end() error {
	s.t.Drain()
	answer := &agent.Answer{Model: s.message.Model, Stop: agent.StopEnd, Usage: usage(s.message.Usage)}
	cut := s.message.StopReason == sdk.StopReasonMaxTokens || s.message.StopReason == stopContextFull
	for i, b := range s.message.Content {
		switch b.Type {
		case "text":
			answer.Content = append(answer.Content, sessions.Block{Type: sessions.TextBlock, Text: b.Text})
		case "thinking":
			answer.Content = append(answer.Content, sessions.Block{Type: sessions.ThinkingBlock, Text: b.Thinking, Signature: b.Signature})
		case "redacted_thinking":
			answer.Content = append(answer.Content, sessions.Block{Type: sessions.ThinkingBlock, Data: b.Data})
		case "tool_use":
			args := json.RawMessage(s.input[int64(i)])
			if len(args) == 0 && !cut { // servers that do not stream arguments give them at the start of the block
				args = b.Input
			}
			id := b.ID
			if id == "" {
				id = agent.NewCallID()
			}
			answer.Content = append(answer.Content, sessions.Block{Type: sessions.ToolCallBlock, ID: id, Name: b.Name, Arguments: args})
			answer.Stop = agent.StopToolUse
		}
	}
	switch {
	case cut:
		answer.Stop = agent.StopLength
	case s.message.StopReason == sdk.StopReasonRefusal && answer.Stop == agent.StopEnd:
		answer.Stop = agent.StopFilter
	}
	if s.message.StopReason == "" {
		return s.t.Broken("the answer ended without a reason")
	}
	s.answered = true
	s.yield(agent.Delta{Final: answer})
	return nil
}

// usage counts the whole prompt as input, as other providers do: what came from the cache or went into it is a part of it.
func usage(u sdk.Usage) sessions.Usage {
	return sessions.Usage{
		Input:  int(u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens),
		Output: int(u.OutputTokens), CacheRead: int(u.CacheReadInputTokens), CacheWrite: int(u.CacheCreationInputTokens),
	}
}
