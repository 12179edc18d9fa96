package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"parley/agent"
	"parley/agent/wire"
	"parley/sessions"
)

// maxCalls bounds the tool calls of one message.
const maxCalls = 128

// chunk is one event of a stream, as far as it is looked at.
type chunk struct {
	Model   string
	Choices []struct {
		Index        int
		Delta        delta
		Message      delta  // in an answer that is not a stream
		FinishReason string `json:"finish_reason"`
	}
	Usage *usage
	Error json.RawMessage
}

type delta struct {
	Content   string
	Refusal   string
	Reasoning string // OpenRouter, Ollama
	Thinking  string `json:"reasoning_content"` // DeepSeek, vLLM
	ToolCalls []struct {
		Index    int
		ID       string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

func (u usage) counted() sessions.Usage {
	return sessions.Usage{Input: u.Prompt, Output: u.Completion, CacheRead: u.Details.Cached}
}

// stream reads one streamed answer.
type stream struct {
	t        *wire.Try
	res      *http.Response
	yield    func(agent.Delta) bool
	text     strings.Builder
	thinking strings.Builder
	calls    sdk.ChatCompletionAccumulator // puts the pieces of tool calls together
	slots    map[int]int                   // the server's index of a call → ours
	finish   string
	model    string
	usage    usage
	answered bool // the answer was handed over, with what it cost
}

func (s *stream) read() error {
	events := ssestream.NewDecoder(s.res)
	done := false
	for !done && events.Next() {
		data := bytes.TrimSpace(events.Event().Data)
		switch {
		case len(data) == 0:
			continue
		case bytes.HasPrefix(data, []byte("[DONE]")):
			done = true
			continue
		case !utf8.Valid(data):
			return s.t.Broken("an event is not valid UTF-8")
		}
		var c chunk
		if err := json.Unmarshal(data, &c); err != nil {
			return s.t.Broken("an event is not valid JSON: %w", err)
		}
		if len(c.Error) > 0 && string(c.Error) != "null" {
			return s.t.StreamError(data)
		}
		if more, err := s.add(c); err != nil || !more {
			return err
		}
	}
	if err := events.Err(); err != nil && s.finish == "" {
		return s.t.Error(fmt.Errorf("the answer was cut off: %w", err))
	}
	if s.finish == "" && !done {
		return s.t.Broken("the stream ended before the answer was complete")
	}
	return s.end()
}

// add takes one event in. more is false when the reader has stopped.
func (s *stream) add(c chunk) (more bool, err error) {
	if c.Model != "" {
		s.model = c.Model
	}
	if c.Usage != nil && c.Usage.Prompt+c.Usage.Completion > 0 {
		s.usage = *c.Usage // the newest counts: some servers send a running total
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue // one answer was asked for
		}
		d := choice.Delta
		if choice.FinishReason != "" {
			s.finish = choice.FinishReason
		}
		if thought := d.Thinking; thought != "" || d.Reasoning != "" {
			if thought == "" {
				thought = d.Reasoning
			}
			s.thinking.WriteString(thought)
			if !s.yield(agent.Delta{Thinking: thought}) {
				return false, nil
			}
		}
		if text := d.Content + d.Refusal; text != "" {
			s.text.WriteString(text)
			if !s.yield(agent.Delta{Text: text}) {
				return false, nil
			}
		}
		if err := s.addCalls(d); err != nil {
			return false, err
		}
	}
	return true, nil
}

// addCalls gives pieces of tool calls to the SDK's accumulator, under indexes that it can be trusted with: servers count from 1,
// leave the index out, give every call the index 0, or repeat a call's name in every piece.
func (s *stream) addCalls(d delta) error {
	for _, c := range d.ToolCalls {
		if s.slots == nil {
			s.slots = make(map[int]int)
		}
		slot, ok := s.slots[c.Index]
		if ok {
			have := s.call(slot)
			switch {
			case c.Function.Name == "":
			case c.ID != "" && c.ID == have.ID, c.ID == "" && c.Function.Name == have.Function.Name && !json.Valid([]byte(have.Function.Arguments)):
				c.Function.Name = "" // said before
			case have.Function.Name != "":
				ok = false
			}
		}
		if !ok {
			slot = len(s.calledSoFar())
			if slot >= maxCalls {
				return s.t.Broken("more than %d tool calls in one message", maxCalls)
			}
			s.slots[c.Index] = slot
		}
		var piece sdk.ChatCompletionChunkChoiceDeltaToolCall
		piece.Index, piece.ID = int64(slot), c.ID
		piece.Function.Name, piece.Function.Arguments = c.Function.Name, c.Function.Arguments
		s.calls.AddChunk(sdk.ChatCompletionChunk{Choices: []sdk.ChatCompletionChunkChoice{{
			Delta: sdk.ChatCompletionChunkChoiceDelta{ToolCalls: []sdk.ChatCompletionChunkChoiceDeltaToolCall{piece}},
		}}})
	}
	return nil
}

func (s *stream) calledSoFar() []sdk.ChatCompletionMessageToolCallUnion {
	if len(s.calls.Choices) == 0 {
		return nil
	}
	return s.calls.Choices[0].Message.ToolCalls
}

func (s *stream) call(slot int) sdk.ChatCompletionMessageToolCallUnion { return s.calledSoFar()[slot] }

// end makes the answer.
func (s *stream) end() error {
	s.t.Drain()
	answer := &agent.Answer{Model: s.model, Usage: s.usage.counted()}
	if s.thinking.Len() > 0 {
		answer.Content = append(answer.Content, sessions.Block{Type: sessions.ThinkingBlock, Text: s.thinking.String()})
	}
	if s.text.Len() > 0 {
		answer.Content = append(answer.Content, sessions.Block{Type: sessions.TextBlock, Text: s.text.String()})
	}
	calls := s.calledSoFar()
	for _, c := range calls {
		args := json.RawMessage(c.Function.Arguments)
		switch {
		case s.finish == "" && !json.Valid(args) && len(args) > 0:
			return s.t.Broken("the stream ended inside a tool call")
		case len(bytes.TrimSpace(args)) == 0 && s.finish != "length": // at the limit, arguments may have been cut off
			args = json.RawMessage("{}")
		}
		id := c.ID
		if id == "" {
			id = agent.NewCallID()
		}
		answer.Content = append(answer.Content, sessions.Block{Type: sessions.ToolCallBlock, ID: id, Name: c.Function.Name, Arguments: args})
	}
	switch {
	case s.finish == "error":
		return s.t.Broken("the server says that the answer failed")
	case s.finish == "length":
		answer.Stop = agent.StopLength
	case len(calls) > 0:
		answer.Stop = agent.StopToolUse
	case s.finish == "content_filter":
		answer.Stop = agent.StopFilter
	default:
		answer.Stop = agent.StopEnd
	}
	s.answered = true
	s.yield(agent.Delta{Final: answer})
	return nil
}

// readWhole reads the answer of a server that does not stream.
func (s *stream) readWhole() error {
	t := s.t
	var c chunk
	if err := json.NewDecoder(s.res.Body).Decode(&c); err != nil {
		return t.Error(fmt.Errorf("reading the answer: %w", err))
	}
	if c.Usage != nil {
		s.usage = *c.Usage
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return t.StreamError(fmt.Appendf(nil, `{"error":%s}`, c.Error))
	}
	if len(c.Choices) == 0 || c.Choices[0].FinishReason == "" {
		return t.Broken("the answer holds no message")
	}
	for i := range c.Choices {
		c.Choices[i].Delta = c.Choices[i].Message
		for n := range c.Choices[i].Delta.ToolCalls {
			c.Choices[i].Delta.ToolCalls[n].Index = n
		}
	}
	if more, err := s.add(c); err != nil || !more {
		return err
	}
	return s.end()
}
