package sessions

import "strings"

// RefusedMark is what people and tools read about a message of a run that the provider refused.
const RefusedMark = "the model's provider refused this; it is not shown to the model any more"

// AloneMark is what people read about an answer that was given without what came before it.
const AloneMark = "the model's provider refused the request with what came before; this was answered without it"

// NoticeModel is the model of messages in which the host says why a run failed.
const NoticeModel = "parley/notice"

// IsRefusal reports whether a message ends a run whose request the provider refused. Earlier versions wrote no Refused: there the class of
// the error says so.
func (m Message) IsRefusal() bool {
	return m.Refused || m.Role == Assistant && m.Model == NoticeModel && strings.Contains(m.Error, ": bad_request (tries ")
}

// RefusedRuns returns the runs of a transcript that a provider refused; nil = none.
func RefusedRuns(msgs []Message) map[RunID]bool {
	var out map[RunID]bool
	for _, m := range msgs {
		if m.Run != "" && m.IsRefusal() {
			if out == nil {
				out = make(map[RunID]bool)
			}
			out[m.Run] = true
		}
	}
	return out
}
