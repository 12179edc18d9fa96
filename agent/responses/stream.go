package responses

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"parley/agent"
	"parley/agent/wire"
	"parley/sessions"
)

// stream reads one answer.
type stream struct {
	t      *wire.Try
	yield  func(agent.Delta) bool
	from   string                                                   // the endpoint, as opaque data names it
	good   func()                                                   // is called once, when a part of an answer came
	unread func(what string, raw []byte)                            // is told of what cannot be read
	judge  func(said string, calls bool) wire.Ending                // decides about an answer that did not say that it is at its end
	tools  func(name string) (schema json.RawMessage, offered bool) // models write calls of them into their text
	undo   func(*agent.Answer)                                      // turns the arguments of calls back from the form of schemas that was sent; may be nil
	closes bool                                                     // its text is expected to begin as reasoning without an opening tag

	ev       event
	outputs  outputs
	last     *output // which the newest event was about
	model    string
	usage    sessions.Usage
	ending   string  // how the answer ended: completed or incomplete; empty = not yet
	reason   string  // why it is incomplete
	begun    bool    // a part of an answer came
	notice   []byte  // words beside the answer: an error where nothing of it follows
	other    []byte  // the first event of another API
	odd      bool    // a part of it could not be read
	answered bool    // the answer was handed over, with what it cost
	stopped  bool    // the reader wants no more
	shownIn  *output // of which text was yielded last
	ordered  bool    // outputs are in the order of the whole answer

	opaqueOver bool // there is more for the provider than is kept
	unpaired   bool // a reasoning item cannot be sent back

	textBytes, thoughtBytes, argumentBytes, begunBytes, opaqueBytes int // kept so far
}

// The bounds of what is kept of an answer, in bytes.
const (
	maxText      = 4 << 20
	maxThinking  = 4 << 20 // the rest is left out, and said to be
	maxArguments = 4 << 20
	maxCalls     = 128
	maxOutputs   = 1024
)

var errDone = errors.New("the answer is complete")

// read reads an answer of any form.
func (s *stream) read(body io.Reader) error {
	events := wire.NewEvents(body, eventObjects...)
	defer events.Close()
	var err error
	marked := false // the stream says that it is at its end
	for more := true; more && err == nil; {
		var e wire.Event
		if e, err = events.Next(); err != nil {
			break
		}
		data := bytes.TrimSpace(e.Data)
		switch {
		case e.IsEnd():
			marked, more = true, false
		case len(data) == 0:
		case e.Long:
			s.unread("an event that is too long", e.Data)
		default:
			more, err = s.take(e.Name, data)
		}
	}
	e, known := errors.AsType[*agent.ModelError](err)
	behind := known && (e.Class == agent.Overloaded || e.Class == agent.Broken) && s.isDone()
	switch {
	case s.stopped:
		return nil
	case known && !behind:
		return err
	case s.ending != "":
		return s.end()
	case behind:
	case err != nil && !errors.Is(err, io.EOF):
		return s.t.Error(fmt.Errorf("the answer was cut off: %w", err))
	case marked && len(s.outputs) > 0:
		return s.end()
	case s.other != nil && !s.begun:
		return s.t.OtherAPI(s.other)
	case s.notice != nil:
		return s.failed(nil, s.notice)
	case events.Junk() != "" && !s.begun:
		return s.t.NoStream(events.Junk())
	case events.Alone() != nil && !s.begun:
		return s.t.StreamError(events.Alone())
	}
	ending := wire.CutOff
	if said, calls, full := s.all(); full && !s.odd {
		ending = s.judge(said, calls)
	}
	err = s.t.Unmarked(ending, &s.yield, &s.answered, s.end)
	if lost, ok := errors.AsType[*agent.ModelError](err); ok && behind {
		e.Part, e.PartSpent = lost.Part, lost.PartSpent
		return e
	}
	return err
}

// isDone reports whether each item of the answer, among them a text or a call, was told to be complete: a server that fails behind them has lost its
// last word alone. source: openai/codex#27185 (Bedrock)
func (s *stream) isDone() bool {
	_, _, full := s.all()
	return full && !slices.ContainsFunc(s.outputs, func(o *output) bool { return !o.done })
}

// all gives the texts and calls so far, and whether that may be a complete answer: none of the calls is cut off.
func (s *stream) all() (said string, calls, full bool) {
	for _, o := range s.outputs {
		switch o.kind {
		case message:
			said += o.text.String() + "\n"
		case call:
			args := o.args.String()
			if args == "" {
				args = o.begun
			}
			if o.name == "" || !o.done && !json.Valid([]byte(args)) {
				return "", calls, false
			}
			said, calls = said+o.name+args+"\n", true
		}
	}
	return said, calls, strings.TrimSpace(said) != ""
}

// take takes one piece of the answer in. more is false when the answer is complete or the reader has stopped.
func (s *stream) take(name string, data []byte) (more bool, err error) {
	if data[0] == '[' {
		var list []json.RawMessage
		if err := json.Unmarshal(data, &list); err != nil {
			return s.repaired(name, data)
		}
		for _, x := range list {
			if more, err := s.take(name, x); err != nil || !more {
				return more, err
			}
		}
		return true, nil
	}
	ev := &s.ev
	if err := ev.read(data); err != nil {
		return s.repaired(name, data)
	}
	if ev.Type == "" && ev.Delta == "" && ev.Item == nil && ev.Response == nil && ev.Output == nil {
		if inside, inner := wire.Enveloped(data); inner != nil {
			return s.take(cmp.Or(inside, name), inner)
		}
	}
	if ev.Type == "" && (ev.Output == nil || strings.HasPrefix(name, "response.")) {
		ev.Type = name
	}
	if !s.begun && s.other == nil && !strings.HasPrefix(ev.Type, "response.") && s.t.IsOther(data) {
		s.other = bytes.Clone(data)
	}
	if !s.begun && s.other != nil {
		return true, nil
	}
	if strings.HasPrefix(ev.Type, "response.") {
		s.notice = nil
	}
	if err := s.handle(ev, data); err != nil {
		if errors.Is(err, errDone) {
			return false, nil
		}
		return false, err
	}
	return !s.stopped, nil
}

// repaired takes an event that could not be read, as far as that is possible. Otherwise it is left out.
func (s *stream) repaired(name string, data []byte) (more bool, err error) {
	if fixed, ok := wire.Repair(data); ok {
		return s.take(name, fixed)
	}
	if several := wire.Several(data); len(several) > 1 {
		for _, x := range several {
			if more, err = s.take(name, x); err != nil || !more {
				return more, err
			}
		}
		return true, nil
	}
	s.odd = true
	s.unread("an event", data)
	return true, nil
}

// handle does what an event says. errDone = it was the last one.
func (s *stream) handle(ev *event, data []byte) error {
	switch ev.Type {
	case "response.output_text.delta":
		if ev.Delta == "" {
			ev.again(data)
		}
		return s.say(s.find(message, ev), cmp.Or(ev.Delta, ev.Text), false)
	case "response.function_call_arguments.delta":
		return s.argue(s.find(call, ev), ev.Delta)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return s.think(s.find(reasoning, ev), ev.Type, ev.Delta, ev.Part)
	case "response.output_item.added":
		return s.added(ev)
	case "response.output_item.done":
		return s.done(ev)
	case "response.created", "response.in_progress", "response.queued":
		s.progress(ev.Response)
		return nil
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled", "response.done":
		return s.terminal(ev, strings.TrimPrefix(ev.Type, "response."), ev.Response, data)
	case "error", "response.error":
		return s.failed(ev.Error, data)
	}
	return s.others(ev, data)
}

// others handles the events that are rare, or named otherwise by some servers.
func (s *stream) others(ev *event, data []byte) error {
	kind, moment := ev.Type, ""
	if i := strings.LastIndexByte(kind, '.'); i >= 0 {
		kind, moment = kind[:i], kind[i+1:]
	}
	has := func(word string) bool { return strings.Contains(kind, word) }
	switch {
	case ev.Type == "" || ev.Type == "response":
		return s.whole(ev, data)
	case has("refusal") && moment == "delta":
		return s.say(s.find(message, ev), ev.Delta, true)
	case has("refusal") && moment == "done":
		return s.saidPart(s.find(message, ev), partIndex(data), ev.Refusal, true)
	case (has("function_call") || has("tool_call")) && (has("arguments") || has("input")) && moment == "delta":
		return s.argue(s.find(call, ev), ev.Delta)
	case (has("function_call") || has("tool_call")) && (has("arguments") || has("input")) && moment == "done":
		if len(ev.Arguments) == 0 {
			var custom struct{ Input json.RawMessage }
			_ = json.Unmarshal(data, &custom) // what cannot be read says nothing
			ev.Arguments = custom.Input
		}
		if o := s.find(call, ev); arguments(ev.Arguments) != "" {
			return s.argued(o, arguments(ev.Arguments))
		}
	case strings.HasSuffix(kind, "_part") && moment == "done":
		return s.part(ev, data, has("reasoning"))
	case has("reasoning") && moment == "delta":
		return s.think(s.find(reasoning, ev), ev.Type, ev.Delta, ev.Part)
	case has("reasoning") && has("text") && moment == "done":
		if o := s.find(reasoning, ev); o.thoughts.Len() == 0 {
			return s.think(o, ev.Type, ev.Text, ev.Part)
		}
	case (strings.HasSuffix(kind, "text") || has("audio") && has("transcript")) && moment == "delta":
		return s.say(s.find(message, ev), cmp.Or(ev.Delta, ev.Text), false)
	case strings.HasSuffix(kind, "output_text") && moment == "done":
		return s.saidPart(s.find(message, ev), partIndex(data), ev.Text, false)
	case wire.IsError(ev.Error):
		return s.failed(ev.Error, data)
	}
	return nil
}

// content notes that a part of an answer came.
func (s *stream) content() {
	if !s.begun {
		s.begun = true
		s.good()
	}
}

// progress reads what is said of an answer that has just begun.
func (s *stream) progress(raw json.RawMessage) {
	r, ok := readResponse(raw)
	if !ok {
		return
	}
	if r.Model != "" {
		s.model = r.Model
	}
	if u, ok := usageOf(r.Usage); ok {
		s.usage = u // the newest counts
	}
}

// whole reads an answer in one piece, or an event without a name.
func (s *stream) whole(ev *event, data []byte) error {
	switch {
	case says(ev.Response):
		r, _ := readResponse(ev.Response)
		return s.terminal(ev, r.Status, ev.Response, data)
	case wire.IsError(ev.Error) && ev.Output == nil:
		return s.failed(ev.Error, data)
	case ev.Output == nil && ev.Object != "response" && wire.IsNotice(data):
		s.notice = bytes.Clone(data)
		return nil
	case ev.Object == "response" || ev.Output != nil || ev.Status != "":
		return s.terminal(ev, ev.Status, data, data)
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(data, &all) == nil && (wire.IsError(all["detail"]) || wire.IsError(all["message"]) || wire.IsError(all["errors"])) {
		return s.failed(nil, data)
	}
	s.unread("an event without a type", data)
	return nil
}

// terminal reads the end of an answer, with all of it or without.
func (s *stream) terminal(ev *event, status string, raw, data []byte) error {
	if !says(raw) { // source: pjq/sap-ai-core-llm-proxy#35 (the answer is the event)
		raw = data
	}
	r, ok := readResponse(raw)
	if !ok {
		s.unread("the end of an answer", raw)
	}
	if status == "done" || status == "" {
		status = r.Status
	}
	status = strings.ToLower(status)
	s.progress(data)
	s.progress(raw)
	switch {
	case wire.IsError(r.Error):
		return s.failed(r.Error, nil)
	case status == "failed":
		if wire.IsError(ev.Error) {
			return s.failed(ev.Error, data)
		}
		return s.t.Broken("the server reported a failed answer")
	case status == "cancelled", status == "in_progress", status == "queued":
		return s.t.Broken("the server returned an incomplete answer: %s", status)
	}
	s.content()
	if len(s.outputs) == 0 && !says(r.Output) {
		if fixed, ok := wire.MendTwice(raw, eventObjects...); ok { // said twice
			r, _ = readResponse(fixed)
		}
	}
	if err := s.settle(r.Output); err != nil {
		return err
	}
	if text := wordsOf(r.Text); len(s.outputs) == 0 && text != "" {
		if err := s.said(s.add(&output{kind: message, index: -1}), text, false); err != nil {
			return err
		}
	}
	s.ending, s.reason = "completed", ""
	if reason := r.reason(); status == "incomplete" || reason != "" {
		s.ending, s.reason = "incomplete", reason
	}
	return errDone
}

// failed makes the error of an answer that says that it failed.
func (s *stream) failed(what json.RawMessage, data []byte) error {
	raw := data
	if wire.IsError(what) {
		raw = append(append([]byte(`{"error":`), what...), '}')
	}
	err := s.t.StreamError(raw)
	e, ok := errors.AsType[*agent.ModelError](err)
	f, known := errors.AsType[*wire.Fault](err)
	if !ok || !known {
		return err
	}
	if e.Class != agent.Broken {
		return err
	}
	for _, code := range f.Codes {
		switch {
		case strings.Contains(code, "content_policy"):
			e.Class = agent.Refused
		case s.t.HasSpoken(): // it did not refuse the request
		case strings.HasPrefix(code, "invalid_"), strings.HasPrefix(code, "unsupported_"), strings.Contains(code, "image"):
			e.Class = agent.BadRequest // it says what is wrong with the request
		default:
			continue
		}
		break
	}
	return err
}

// pass hands a piece to the reader.
func (s *stream) pass(d agent.Delta) error {
	s.t.Spoke()
	if !s.stopped && !s.yield(d) {
		s.stopped = true
	}
	return nil
}
