package anthropic

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"parley/agent"
	"parley/agent/wire"
	"parley/sessions"
	"parley/tools"
)

// The bounds of one answer.
const (
	maxParts     = 512
	maxText      = 4 << 20 // bytes of text
	maxThinking  = 4 << 20 // bytes of thinking; more is left out
	maxArguments = 4 << 20 // bytes of the arguments of all calls
)

// stopEndTurn is the API's word for an answer that is complete.
const stopEndTurn = "end_turn"

// stream reads one answer.
type stream struct {
	m        *Model
	t        *wire.Try
	model    string
	from     string // as sessions.Opaque names the endpoint
	yield    func(agent.Delta) bool
	good     func()                                    // called once, when the first piece of the answer has come
	judge    func(said string, calls bool) wire.Ending // decides about an answer that did not say that it is at its end
	before   []*answerBlock                            // of the answers that this one continues
	spent    sessions.Usage                            // by them
	mayPause bool
	schemas  wire.Form    // in which those of the tools were sent
	specs    []tools.Spec // the tools that may be called: models write calls into their text
	returned bool         // the endpoint is sent thinking without signature
	closes   bool         // its text is expected to begin as reasoning without an opening tag

	parts    []*answerBlock
	usage    usage
	by       string // the model that answers, as the server names it
	stop     string // why the answer ended; empty = not said yet
	started  bool   // a piece was handed on: the request cannot be made again without a word
	accepted bool   // good was called
	stopped  bool   // the reader wants no more
	answered bool   // the answer was handed over, with what it cost

	text, thinking, arguments, opaque int // bytes kept
	isJSON                            bool
	marked                            bool // the answer said that it is at its end
	odd                               bool // a part of it could not be read

	early json.RawMessage // content that stood in the event which begins or ends the answer: it counts where no other comes
	other []byte          // the first event of another API
}

// event is one event, as far as it is looked at. A whole answer has the fields of a message in it.
type event struct {
	Type    string          `json:"type"`
	Index   *int            `json:"index"`
	Delta   delta           `json:"delta"`
	Block   json.RawMessage `json:"content_block"`
	Message json.RawMessage `json:"message"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`

	Content    json.RawMessage `json:"content"`
	Model      string          `json:"model"`
	StopReason string          `json:"stop_reason"`
}

type delta struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	Thinking    string `json:"thinking"`
	Signature   string `json:"signature"`
	PartialJSON string `json:"partial_json"`
	StopReason  string `json:"stop_reason"`
	Usage       *usage `json:"usage"`
}

func (d *delta) saysNothing() bool {
	return d.Text == "" && d.Thinking == "" && d.Signature == "" && d.PartialJSON == "" && d.StopReason == ""
}

// usage is what was counted so far. Fields that a server leaves out or sets to 0 keep what was said before.
type usage struct {
	Input      int `json:"input_tokens"`
	Output     int `json:"output_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	Prompt     int `json:"prompt_tokens"`     // servers that translate another API and forget to rename
	Completion int `json:"completion_tokens"` // them
}

func (u *usage) add(n usage) {
	for _, f := range []struct {
		to  *int
		was [2]int
	}{{&u.Input, [2]int{n.Input, n.Prompt}}, {&u.Output, [2]int{n.Output, n.Completion}}, {&u.CacheRead, [2]int{n.CacheRead}}, {&u.CacheWrite, [2]int{n.CacheWrite}}} {
		for _, v := range f.was {
			if v > 0 {
				*f.to = v
				break
			}
		}
	}
}

// counted counts the whole prompt as input, as other providers do: what came from the cache or went into it is a part of it.
func (u usage) counted() sessions.Usage {
	return sessions.Usage{Input: u.Input + u.CacheRead + u.CacheWrite, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}
}

// read reads an answer to its end. nil = it was handed over, or the reader wants no more.
func (s *stream) read(body io.Reader) error {
	in := wire.NewEvents(body, "message", "delta", "content_block", "content", "usage")
	defer in.Close()
	for {
		e, err := in.Next()
		if err != nil {
			return s.ended(err, in)
		}
		if e.Long {
			s.unread("an event that is too long", e.Data)
			continue
		}
		name, data := e.Name, bytes.TrimSpace(e.Data)
		if e.IsEnd() {
			if err := s.takeEarly(); err != nil || s.stopped {
				return err
			}
			if s.marked = s.marked || len(s.parts) > 0; s.marked {
				return s.end()
			}
			return s.ended(io.EOF, in)
		}
		s.isJSON = s.isJSON || e.Value
		done, err := s.event(name, data)
		if err != nil || s.stopped {
			return err
		}
		if done {
			return s.end()
		}
	}
}

// ended judges an answer that came to an end without saying so.
func (s *stream) ended(err error, in *wire.Events) error {
	if early := s.takeEarly(); early != nil || s.stopped {
		return early
	}
	switch {
	case s.stop != "":
		return s.end() // all of it has come
	case s.other != nil && !s.accepted:
		return s.t.OtherAPI(s.other)
	case !errors.Is(err, io.EOF):
		return s.t.Error(fmt.Errorf("the answer was cut off: %w", err))
	case s.isJSON && len(s.parts) > 0:
		return s.end()
	case in.Junk() != "" && !s.accepted:
		return s.t.NoStream(in.Junk())
	case in.Alone() != nil && !s.accepted:
		return s.t.StreamError(in.Alone())
	}
	ending := wire.CutOff
	if said, calls, full := s.all(); full && !s.odd {
		ending = s.judge(said, calls)
	}
	return s.t.Unmarked(ending, &s.yield, &s.answered, s.end)
}

// all gives the texts and calls so far, and whether that may be a complete answer: none of the calls is cut off.
func (s *stream) all() (said string, calls, full bool) {
	for _, p := range s.parts {
		switch p.kind {
		case textPart:
			said += string(p.text) + "\n"
		case callPart:
			if args := p.arguments(); p.name == "" || !json.Valid(args) {
				return "", calls, false
			}
			said, calls = said+p.name+string(p.text)+"\n", true
		}
	}
	return said, calls, strings.TrimSpace(said) != ""
}

// event takes one event in. done: the answer is complete.
func (s *stream) event(name string, data []byte) (done bool, err error) {
	var list []json.RawMessage
	if len(data) > 0 && data[0] == '[' && json.Unmarshal(data, &list) == nil {
		return s.several(name, list)
	}
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		if fixed, ok := wire.Repair(data); ok {
			return s.event(name, fixed)
		}
		if many := wire.Several(data); len(many) > 1 {
			return s.several(name, many)
		}
		if !e.loosely(data) {
			s.unread("an event that is not a JSON object", data)
			return false, nil
		}
		s.unread("a field of an unexpected type", data)
	}
	if e.Delta.saysNothing() && e.Block == nil && e.Message == nil && len(e.Content) <= len("[]") {
		if fixed, ok := wire.MendTwice(data, "delta", "text", "content"); ok { // said twice
			return s.event(name, fixed)
		}
		if e.Type == "" {
			if inside, inner := wire.Enveloped(data); inner != nil {
				return s.event(cmp.Or(inside, name), inner)
			}
		}
	}
	if e.Type == "" {
		e.Type = name
	}
	if e.Type == "error" || wire.IsError(e.Error) {
		return false, s.t.StreamError(data)
	}
	for _, u := range [...]*usage{e.Usage, e.Delta.Usage} {
		if u != nil {
			s.usage.add(*u)
		}
	}
	switch e.Type {
	case "content_block_delta":
		if err := s.delta(e.Index, &e.Delta, data); err != nil || s.stopped || e.Delta.Thinking == "" || e.Delta.Signature == "" {
			return false, err
		}
		return false, s.delta(e.Index, &delta{Signature: e.Delta.Signature}, data) // some servers send it with the last piece of thinking
	case "content_block_start":
		return false, s.startBlock(e.Index, e.Block)
	case "message_start":
		s.message(e.Message)
	case "message_delta":
		s.accept()
		s.setStop(e.Delta.StopReason)
		s.setStop(e.StopReason)
	case "message_stop":
		s.accept()
		s.marked = true
		s.message(e.Message)
		return true, s.takeEarly()
	case "ping", "content_block_stop":
	default:
		if !s.accepted && s.other == nil && s.t.IsOther(data) {
			s.other = bytes.Clone(data)
			return false, nil
		}
		if e.Type == "message" || len(e.Content) > 0 && !isNull(e.Content) {
			return true, s.whole(&e, data)
		}
	}
	return false, nil
}

// unread logs a part of an answer that cannot be read and is left out.
func (s *stream) unread(what string, raw []byte) {
	s.odd = true
	s.m.unread.Log(s.t, s.m.log, s.m.name+"/"+s.model, what, raw)
}

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

func (s *stream) setStop(reason string) {
	if wire.IsEnding(reason) {
		s.stop, s.marked = reason, true
	}
}

// accept says that the endpoint took the request.
func (s *stream) accept() {
	if !s.accepted && s.good != nil {
		s.good()
	}
	s.accepted = true
}

// message reads what a stream begins with: some servers put content there.
func (s *stream) message(raw json.RawMessage) {
	var e event
	if len(raw) == 0 {
		return
	}
	if json.Unmarshal(raw, &e) != nil && !e.loosely(raw) {
		return
	}
	if e.Model != "" {
		s.by = e.Model
	}
	if e.Usage != nil {
		s.usage.add(*e.Usage)
	}
	if len(e.Content) > 2 && !isNull(e.Content) { // more than []
		s.early = bytes.Clone(e.Content)
		s.setStop(e.StopReason)
	}
}

// takeEarly takes content in that stood in an event which begins or ends an answer. source: langchain-ai/langchain#34408
func (s *stream) takeEarly() error {
	if len(s.parts) > 0 || s.early == nil {
		return nil
	}
	return s.blocks(s.early)
}

// several takes a list of events in.
func (s *stream) several(name string, list []json.RawMessage) (done bool, err error) {
	for _, x := range list {
		if done, err = s.event(name, x); done || err != nil || s.stopped {
			break
		}
	}
	return done, err
}

// blocks takes whole blocks in.
func (s *stream) blocks(content json.RawMessage) error {
	for _, raw := range listOf(content) {
		if err := s.startBlock(nil, raw); err != nil || s.stopped {
			return err
		}
	}
	return nil
}

// whole reads an answer that came in one piece.
func (s *stream) whole(e *event, data []byte) error {
	s.accept()
	s.by = e.Model
	s.setStop(e.StopReason)
	if err := s.blocks(e.Content); err != nil || s.stopped {
		return err
	}
	for _, raw := range callsBeside(data) {
		if err := s.startBlock(nil, raw); err != nil || s.stopped {
			return err
		}
	}
	if s.stop == "" && len(s.parts) > 0 {
		s.stop = stopEndTurn
	}
	return nil
}

// listOf gives the values of a list; another value is a list of itself.
func listOf(raw json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		return list
	}
	return []json.RawMessage{raw}
}

// end ends an answer, or says that it was paused.
func (s *stream) end() error {
	if err := s.flush(); err != nil || s.stopped {
		return err
	}
	if s.stop == "" {
		if len(s.parts) == 0 {
			return s.t.Broken("the answer ended without a reason")
		}
		s.stop = stopEndTurn // some servers leave it out
	}
	s.t.Drain()
	if s.stop == "pause_turn" && s.mayPause && len(s.parts) > 0 && !s.hasCalls() {
		return errPaused
	}
	return s.deliver()
}
