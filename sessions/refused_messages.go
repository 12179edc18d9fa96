package sessions

import (
	"slices"
	"strings"
)

// MessageExtras are the fields that few messages have: what a provider refused of a message, or of the request that it answers, and what is
// filled in for readers. They stand beside it, so that messages stay small. Copies of a message share them: they are replaced, never changed.
type MessageExtras struct {
	Refused        bool     `json:"refused,omitempty"`    // a notice: the provider refused what its run asked. Prompts leave that run's messages out
	RefusedBy      string   `json:"refusedBy,omitempty"`  // with Refused: the model that the run had, provider/model; others are still shown its messages
	WithoutHistory bool     `json:"alone,omitempty"`      // an answer: the provider refused the request with what came before its run, and took it without
	Without        []string `json:"without,omitempty"`    // an answer: ids of messages of its run that the provider refused; the request had none of their content
	LeftOut        string   `json:"leftOut,omitempty"`    // the model that is not shown this any more, provider/model; filled by hosts for people, never stored
	Deliveries     []Mark   `json:"deliveries,omitempty"` // assistant messages: filled on reading, never stored
}

// extras reads MessageExtras.
func (m *Message) extras() MessageExtras {
	if m.MessageExtras == nil {
		return MessageExtras{}
	}
	return *m.MessageExtras
}

// Refused reads MessageExtras.Refused.
func (m Message) Refused() bool { return m.extras().Refused }

// RefusedBy reads MessageExtras.RefusedBy.
func (m Message) RefusedBy() string { return m.extras().RefusedBy }

// WithoutHistory reads MessageExtras.WithoutHistory.
func (m Message) WithoutHistory() bool { return m.extras().WithoutHistory }

// Without reads MessageExtras.Without.
func (m Message) Without() []string { return m.extras().Without }

// LeftOut reads MessageExtras.LeftOut.
func (m Message) LeftOut() string { return m.extras().LeftOut }

// Deliveries reads MessageExtras.Deliveries.
func (m Message) Deliveries() []Mark { return m.extras().Deliveries }

// SetDeliveries fills MessageExtras.Deliveries.
func (m *Message) SetDeliveries(marks []Mark) {
	if r := m.extras(); len(marks) > 0 || len(r.Deliveries) > 0 {
		r.Deliveries = marks
		m.MessageExtras = &r
	}
}

// SetRefused marks a notice: the provider refused what its run asked of a model.
func (m *Message) SetRefused(by string) {
	r := m.extras()
	r.Refused, r.RefusedBy = true, by
	m.MessageExtras = &r
}

// SetLeftOut notes the model that is not shown this any more.
func (m *Message) SetLeftOut(model string) {
	r := m.extras()
	r.LeftOut = model
	m.MessageExtras = &r
}

// RefusedMark is the note for people and tools on a message of a run that the provider refused.
const RefusedMark = "the model's provider refused this; the host no longer shows it to that model"

// WithoutHistoryMark is the note for people on an answer that was given without the messages before it.
const WithoutHistoryMark = "the model's provider refused the request with the earlier messages; the model answered without them"

// LeftOutMark is what people read about a message that the model MessageExtras.LeftOut is not shown, because a provider refused a request that
// had it, and perhaps others, in it.
const LeftOutMark = "not shown to %s: a provider refused a request that contained this"

// NoticeModel is the model of messages in which the host says why a run failed.
const NoticeModel = "parley/notice"

// StopFilter is Message.Stop of an answer that the model or a filter of its provider refused, or broke off.
const StopFilter = "filter"

// IsRefusal reports whether a message ends a run that the provider refused: its request, or to continue with the answer. The turn must not be
// in later requests then. Earlier versions wrote no Refused: there the class of the error says so.
//
// source: https://docs.claude.com/en/docs/test-and-evaluate/strengthen-guardrails/handle-streaming-refusals, the context is to be reset
func (m Message) IsRefusal() bool {
	return m.Refused() || m.Role == Assistant && (m.Stop == StopFilter || m.Model == NoticeModel && strings.Contains(m.Error, ": bad_request (tries "))
}

// RefusedRuns returns the runs of a transcript that a provider refused; nil = none.
func RefusedRuns(msgs []Message) map[RunID]bool { return RefusedRunsOf("", msgs) }

// RefusedRunsOf returns those of them that a model is not shown, as it was refused them; "" = any model. Earlier versions did not write
// which model that was: those runs count for every model.
func RefusedRunsOf(model string, msgs []Message) map[RunID]bool {
	var out map[RunID]bool
	for _, m := range msgs {
		if m.Run == "" || !m.IsRefusal() {
			continue
		}
		by := m.RefusedBy()
		if m.Stop == StopFilter {
			by = m.Model
		}
		if by != "" && model != "" && by != model {
			continue
		}
		if out == nil {
			out = make(map[RunID]bool)
		}
		out[m.Run] = true
	}
	return out
}

// Without returns the ids of all messages that answers among msgs were given without (Refusal.Without).
func Without(msgs []Message) (ids []string) {
	for _, m := range msgs {
		for _, id := range m.Without() {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// LeaveOut returns messages as a model is shown them whose provider refused some. A sentence stands in the place of a tool result, so
// that no call is without one. msgs stays unchanged, and is returned if it has none of the ids.
func LeaveOut(msgs []Message, ids []string) []Message {
	isOut := func(m Message) bool { return slices.Contains(ids, m.ID) }
	if !slices.ContainsFunc(msgs, isOut) {
		return msgs
	}
	out := make([]Message, 0, len(msgs))
	for _, m := range msgs {
		switch {
		case !isOut(m):
			out = append(out, m)
		case m.Role == ToolResult:
			m.Content, m.IsError = TextContent("The model's provider refused this result, so it is not shown. Go on without it, and say so."), true
			out = append(out, m)
		}
	}
	return out
}
