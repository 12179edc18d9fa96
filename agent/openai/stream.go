package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"parley/agent"
	"parley/agent/wire"
	"parley/agent/wire/markup"
	"parley/sessions"
	"parley/tools"
)

// The bounds of an answer that is kept, in bytes.
const (
	maxText      = 4 << 20
	maxThinking  = 4 << 20
	maxArguments = 4 << 20  // of all calls
	maxCalls     = 128      // a number
	maxLate      = 4096     // a number: messages in the events of a stream
	maxSealed    = 32 << 20 // of what goes back, as it comes; sessions.MaxOpaque is for what is kept of it
)

// thinkingCut stands at the end of reasoning that was longer.
const thinkingCut = "\n[the rest of the reasoning was left out]"

// stream reads one answer.
type stream struct {
	t         *wire.Try
	yield     func(agent.Delta) bool
	tools     []tools.Spec
	schemas   wire.Form                                 // in which those of the tools were sent
	from      string                                    // the endpoint, as sessions.Opaque.From has it
	begun     func()                                    // told of the first good event
	returned  bool                                      // all reasoning goes back to the endpoint
	unread    func(raw []byte)                          // told of what could not be read
	judge     func(said string, calls bool) wire.Ending // decides about an answer that did not say that it is at its end
	chunk     chunk                                     // of the event at hand
	content   joiner                                    // content as it came
	reason    joiner                                    // reasoning as it came
	visible   markup.Reader                             // of the content
	thought   strings.Builder                           // all reasoning
	field     string                                    // where reasoning came; fieldContent and fieldParts for content
	details   details                                   // reasoning_details
	thinks    details                                   // thinking_blocks
	part      map[string]any                            // further fields of the part of content that has reasoning
	extra     json.RawMessage                           // extra_content of the message
	special   json.RawMessage                           // provider_specific_fields of the message
	sealed    json.RawMessage                           // reasoning_opaque of the message
	opaque    int                                       // bytes of all of these as they came
	rest      map[string]json.RawMessage                // fields of the message under other names that the endpoint wants back
	isOneText bool                                      // the newest event is plain, and its last text is its content
	plain     plainEvent                                // the newest event without such fields
	calls     []*call
	beside    []toolCall // of other choices than the first
	index     int        // of the choice that is read, -1 = none came
	events    int        // of this choice
	highest   int        // index so far
	size      int        // of the arguments of all calls
	late      []*delta   // messages in the events of a stream: they count where nothing came in pieces
	finish    string
	elsewhere string // the finish of another choice: it counts where this one has none
	model     string
	usage     usage

	pictures pictures        // that the model made
	isAside  bool            // the words at hand are not the model's own
	aside    strings.Builder // such words

	declined bool // a refusal was read, beside the content
	filtered bool // Azure says that a filter refused the prompt: an answer without a word is a refusal then
	started  bool
	whole    bool   // a whole message was read
	done     bool   // the end mark was read
	odd      bool   // a part of it could not be read
	counted  bool   // what the whole answer cost was read, behind it
	stray    []byte // the first event that is no object: it may say why there is no answer
	other    []byte // the first event of another API
	notice   []byte // words beside the answer: an error where nothing of it follows
	yielded  bool   // something was handed over
	stopped  bool   // the reader has stopped
	answered bool   // the answer was handed over, with what it cost
}

// Fields in which reasoning can come that is no field of its own.
const (
	fieldTags  = "content"       // in tags in the text
	fieldParts = "content.parts" // in a list of parts
)

func (s *stream) read(body io.Reader) error {
	s.visible.Tools, s.index, s.highest = s.offered, noIndex, noIndex
	s.chunk.Choices = make([]choice, 0, 1) // one answer was asked for
	events := wire.NewEvents(body, chunkObjects...)
	defer events.Close()
	for !s.done && !s.stopped {
		ev, err := events.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			if s.finish != "" {
				break
			}
			return s.t.Error(fmt.Errorf("the answer was cut off: %w", err))
		}
		if ev.Long {
			s.unread(ev.Data)
			continue
		}
		if err := s.event(ev); err != nil {
			return err
		}
	}
	if s.finish == "" {
		s.finish = s.elsewhere
	}
	switch {
	case s.stopped:
		return nil
	case s.other != nil && !s.started:
		return s.t.OtherAPI(s.other)
	case s.stray != nil && !s.started:
		return s.t.StreamError(s.stray)
	case s.notice != nil:
		return s.t.StreamError(s.notice)
	case s.finish != "" || s.done || s.whole || s.filtered || s.counted:
		return s.end()
	case events.Junk() != "":
		return s.t.NoStream(events.Junk())
	case events.Alone() != nil && !s.started:
		return s.t.StreamError(events.Alone())
	case s.chunk.Choices == nil && !s.started:
		return s.t.Broken("the answer has no message")
	}
	ending := wire.CutOff
	if s.isFull() && !s.odd {
		ending = s.judge(s.all(), len(s.calls) > 0)
	}
	return s.t.Unmarked(ending, &s.yield, &s.answered, s.end)
}

// isFull reports whether an answer that did not say that it is at its end may be complete: it has a text or calls, and no call is cut off.
func (s *stream) isFull() bool {
	for _, c := range s.calls {
		if c.name == "" || !c.complete() {
			return false
		}
	}
	return len(s.calls) > 0 || strings.TrimSpace(s.content.text.String()+s.content.held) != ""
}

// all gives the text and the calls so far.
func (s *stream) all() string {
	said := s.content.text.String() + s.content.held
	for _, c := range s.calls {
		said += "\n" + c.name + c.arguments.String()
	}
	return said
}

// offered gives the schema of a tool that the request had.
func (s *stream) offered(name string) (json.RawMessage, bool) {
	for i := range s.tools {
		if s.tools[i].Name == name {
			return s.tools[i].Schema, true
		}
	}
	return nil, false
}

// event takes one event in.
func (s *stream) event(ev wire.Event) error {
	data := bytes.TrimSpace(ev.Data)
	switch {
	case ev.IsEnd():
		s.done = true
		return nil
	case len(data) == 0:
		return nil
	case strings.EqualFold(ev.Name, "error"):
		return s.t.StreamError(data)
	}
	var more []chunk
	odd := false
	if text, ok := s.otherText(data); ok {
		s.chunk.Choices[0].Delta.Content = text
	} else {
		more, odd = s.chunk.decode(data)
	}
	if odd {
		s.odd = true
		s.unread(data)
		if s.stray == nil && data[0] != '{' && data[0] != '[' {
			s.stray = bytes.Clone(data)
		}
	}
	switch {
	case s.plain.matches(data):
	case mayBeSealed(data):
		s.plain.head = s.plain.head[:0]
		s.keepSealed(data)
	default:
		s.plain.set(data)
	}
	s.isOneText = !odd && len(more) == 0 && s.plain.isContent(data, s.chunk.Choices)
	if err := s.add(data, ev.Value); err != nil {
		return err
	}
	for _, c := range more {
		s.chunk = c
		if err := s.add(data, ev.Value); err != nil {
			return err
		}
	}
	return nil
}

// add takes the chunk at hand in. value says that it stood alone: it may be a whole answer.
func (s *stream) add(data []byte, value bool) error {
	c := &s.chunk
	if len(c.Choices) == 0 && !s.started && !wire.IsError(c.Error) {
		if s.other == nil && s.t.IsOther(data) {
			s.other = bytes.Clone(data)
		}
		if s.other != nil {
			return nil
		}
	}
	if len(c.Choices) == 0 && c.Usage == nil && !says(c.Blocked) && !says(c.BlockedSnake) && wire.IsNotice(data) {
		if s.finish == "" {
			s.notice = bytes.Clone(data)
		}
		return nil
	}
	if wire.IsError(c.Error) || len(c.Choices) == 0 && (says(c.Blocked) || says(c.BlockedSnake)) || c.Groq != nil && wire.IsError(c.Groq.Error) || len(c.Choices) == 0 && (c.Usage == nil || bytes.Contains(data, []byte(`base_resp`))) && isFault(data) {
		return s.t.StreamError(data)
	}
	if c.isUnknown(data) {
		s.unread(data)
	}
	if c.Model != "" {
		s.model = c.Model
	}
	s.filtered = s.filtered || c.filtered()
	s.count(c.Usage)
	s.counted = s.counted || len(c.Choices) == 0 && c.Usage != nil && s.isFull()
	if c.Groq != nil {
		s.count(c.Groq.Usage)
	}
	for i := range c.Choices {
		o := &c.Choices[i]
		if wire.IsError(o.Error) {
			return s.t.StreamError(data)
		}
		if !s.isRead(o) {
			s.others(o)
			continue
		}
		s.count(o.Usage)
		before := s.finish
		if wire.IsEnding(o.FinishReason) {
			s.finish = o.FinishReason
		}
		if wire.IsBroken(o.Native) {
			s.finish = o.Native
		}
		d := &o.Delta
		if before != "" && o.Message != nil && d.empty() && s.repeats(o.Message) {
			continue
		}
		if s.finish != "" && o.Usage == nil && c.Usage == nil && bytes.Contains(data, []byte(`completion_tokens`)) {
			s.count(usageIn(data))
		}
		if o.Message != nil && d.empty() && !value && len(s.late) < maxLate {
			s.late = append(s.late, o.Message)
		}
		if o.Message != nil && d.empty() && value {
			d, s.whole = o.Message, s.whole || value
			for n := range d.ToolCalls {
				d.ToolCalls[n].Index = n
			}
		}
		if d.Content == "" {
			d.Content = o.Text
			s.whole = s.whole || value && o.Text != ""
		}
		if !d.empty() || s.finish != "" && !wire.IsFailing(s.finish) {
			s.good()
		}
		if !d.empty() || s.finish != "" && s.isFull() {
			s.notice = nil
		}
		s.t.Ending(s.finish != "" && (d.empty() || before == "" && s.isFull())) // one that says so with every piece goes on
		if err := s.delta(d); err != nil {
			return err
		}
	}
	return nil
}

// good notes that the request was taken: an error in front of all content is a refusal.
func (s *stream) good() {
	if !s.started {
		s.started = true
		s.begun()
	}
}

// count keeps what the provider counted: the newest counts, because some servers send a running total.
func (s *stream) count(u *usage) {
	if u != nil && u.counted() != (sessions.Usage{}) {
		s.usage = *u
	}
}

// isFault reports whether an event without an answer is an error that is not called so.
func isFault(data []byte) bool {
	var f struct {
		Object, Type, Message, Detail, Msg, Code, Status, Choices json.RawMessage
		Base                                                      struct {
			Code json.RawMessage `json:"status_code"`
		} `json:"base_resp"` // MiniMax. source: platform.minimax.io/docs/api-reference/errorcode
		Response struct{ Error json.RawMessage } // Tencent. source: cloud.tencent.com/document/product/1729/101838
	}
	if json.Unmarshal(data, &f) != nil {
		return false
	}
	if string(f.Object) == `"error"` || string(f.Type) == `"error"` || says(f.Base.Code) {
		return true
	}
	return len(f.Choices) == 0 && (wire.IsError(f.Message) || wire.IsError(f.Detail) || wire.IsError(f.Msg) || wire.IsError(f.Response.Error))
}

// delta takes a piece of the answer in: reasoning first.
func (s *stream) delta(d *delta) error {
	s.pictures += d.Images
	if d.Role != roleUnsaid {
		s.isAside = d.Role == roleOther
	}
	if s.isAside && len(d.ToolCalls) == 0 {
		s.setAside(d)
		return nil
	}
	thought, field := d.thought(s.field)
	if len(d.Details) > 0 {
		if told := s.details.add(d.Details); thought == "" {
			thought, field = told, s.field
		}
	}
	if len(d.Blocks) > 0 {
		if told := s.thinks.add(d.Blocks); thought == "" {
			thought, field = told, s.field
		}
	}
	if thought != "" {
		if s.field == "" {
			s.field = field
		}
		if s.visible.TextLen() == 0 { // the server has taken the reasoning out
			s.visible.Closes = false
		}
		s.think(s.reason.add(thought, s.finish != ""))
	}
	for _, p := range d.parts {
		if !p.thinking {
			s.say(s.content.add(p.text, s.finish != ""))
			continue
		}
		if s.field == "" {
			s.field = fieldParts
		}
		for name, v := range p.rest {
			if s.isOver(len(name) + sizeOfValue(v)) {
				break
			}
			if s.part == nil {
				s.part = make(map[string]any)
			}
			s.part[name] = v
		}
		s.think(s.reason.add(p.text, s.finish != ""))
	}
	switch {
	case d.Content == "":
	case s.isThought(d):
		s.think(s.reason.add(d.Content, s.finish != ""))
	default:
		s.say(s.content.add(d.Content, s.finish != ""))
	}
	if d.Refusal != "" {
		if !s.declined && (s.content.text.Len() > 0 || s.content.held != "") { // it begins behind content
			s.say(s.content.add("\n\n", false))
		}
		s.declined = true
		s.say(s.content.add(d.Refusal, s.finish != ""))
	}
	s.keepOwn(d)
	if d.Audio.Transcript != "" { // of words that are spoken. source: openai/openai-python#2507, langfuse/langfuse-python#1831
		s.setAside(&delta{Content: d.Audio.Transcript})
	}
	if s.visible.TextLen() > maxText {
		return s.t.TooLarge("the text", maxText)
	}
	if d.FunctionCall != nil {
		if err := s.addCall(toolCall{Index: functionCall, Function: *d.FunctionCall}); err != nil {
			return err
		}
	}
	for _, c := range d.ToolCalls {
		if err := s.addCall(c); err != nil {
			return err
		}
	}
	return nil
}

// setAside keeps words that are not said to be the model's own: they count only where nothing else comes.
func (s *stream) setAside(d *delta) {
	s.aside.WriteString(d.Content[:min(len(d.Content), max(0, maxText-s.aside.Len()))])
	for _, p := range d.parts {
		s.aside.WriteString(p.text[:min(len(p.text), max(0, maxText-s.aside.Len()))])
	}
}

// thoughtMark marks content that is reasoning.
var thoughtMark = regexp.MustCompile(`"thought"\s*:\s*true\b`)

// isThought reports whether the content of a delta is reasoning by its mark alone, without tags. source: ai.google.dev/gemini-api/docs/openai
func (s *stream) isThought(d *delta) bool {
	if len(d.Extra) == 0 || !thoughtMark.Match(d.Extra) || strings.Contains(d.Content, "<thought") {
		return false
	}
	opened, _, _ := s.visible.Tags()
	return opened == ""
}

// say takes content in that is for people, as far as it is no markup.
func (s *stream) say(text string) {
	if text != "" {
		s.show(s.visible.Add(text))
	}
}

func (s *stream) show(p markup.Piece) {
	if p.Restart {
		s.give(agent.Delta{Restart: true})
	}
	s.think(p.Thinking)
	if p.Text != "" {
		s.give(agent.Delta{Text: p.Text})
	}
}

// think takes reasoning in. What is longer than the bound is dropped.
func (s *stream) think(text string) {
	if text == "" || s.thought.Len() > maxThinking {
		return
	}
	if s.thought.Len()+len(text) > maxThinking {
		text = strings.ToValidUTF8(text[:maxThinking-s.thought.Len()], "") + thinkingCut
		s.details.drop()
		s.thinks.drop()
	}
	s.thought.WriteString(text)
	s.give(agent.Delta{Thinking: text})
}

func (s *stream) give(d agent.Delta) {
	s.yielded = true
	s.t.Spoke()
	s.stopped = s.stopped || !s.yield(d)
}
