package wire

import (
	"bytes"
	"encoding/json"
	"strings"
)

// oddLine takes a line in that no event stream has: a field whose name is written otherwise, an event without a field, or the rest of one
// that was not put on one line. Everything else is junk.
func (e *Events) oddLine(line []byte) (ev Event, ok bool) {
	if field, value, found := bytes.Cut(line, []byte{':'}); found {
		name := strings.ToLower(strings.TrimFunc(string(field), isPadding))
		if isField := name == "data" || name == "event" || name == "id" || name == "retry"; isField && name != string(field) {
			e.next = append([]byte(name+":"), value...)
			return Event{}, false
		}
	}
	half := opensValue(e.data) && len(e.data)+len(line) < maxLine && !(closesValue(bytes.TrimRight(e.data, " \t\r\n")) && json.Valid(e.data))
	switch inner := unquoted(bytes.TrimFunc(line, isPadding)); {
	case half:
		e.data = append(append(e.data, bytes.Repeat([]byte{'\n'}, e.gap+1)...), line...)
		e.gap = 0
	case opensValue(inner) && json.Valid(inner):
		return Event{Name: e.name, Data: inner, Value: true}, true
	case isEnd(line):
		return Event{Name: e.name, Data: bytes.Clone(line)}, true
	default:
		e.junk = append(e.junk, line[:min(len(line), maxJunk-len(e.junk))]...)
	}
	return Event{}, false
}

// isNextEvent reports whether a line begins another event, and is not the rest of one that was cut in two.
func isNextEvent(field string, value []byte) bool {
	switch field {
	case "event", "id", "retry":
		return true
	case "data":
		return opensValue(value) || isEnd(value)
	}
	return false
}

// maxMark is the longest mark of an end, in bytes.
const maxMark = 24

// IsEnd reports whether an event is the mark behind an answer: [DONE], as servers write it.
//
// source: cline/cline#1786, mistralai/mistral-vibe#793
func (ev *Event) IsEnd() bool {
	if len(ev.Data) > 2*maxMark && ev.Data[0] == '{' {
		return false
	}
	data := bytes.TrimSpace(ev.Data)
	if bytes.HasPrefix(data, []byte("[DONE]")) {
		return true
	}
	if len(data) > maxMark {
		return false
	}
	switch strings.ToLower(strings.Trim(string(data), " \t\"'[]<>{}()")) {
	case "done", `done":true`, `done": true`:
		return true
	case "", "null":
		return endNames[ev.Name]
	}
	return false
}

func isEnd(line []byte) bool { return (&Event{Data: line}).IsEnd() }

// endNames are names of events behind an answer.
var endNames = map[string]bool{"done": true, "end": true, "close": true, "complete": true, "completed": true, "finish": true, "stop": true, "message_stop": true, "[DONE]": true}
