package lessons

import (
	"slices"
	"testing"

	"parley/sessions"
)

// FuzzRead: whatever an error says, only what was sent is changed.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"tools are not supported", `{"error":{"message":"reasoning_effort 'high' is not supported","param":"stream"}}`, "set reasoning_effort to 'none'", "max_tokens must be at most 5",
		"image_url is an unknown variant", "Invalid schema for function 'look'", "reasoning_content must be passed back", "thought_signature is missing", "roles must alternate", "system role not supported", "content is required",
		"Tool call id must be a-z with a length of 9", "array too long: at most 2 tools", "use /v1/responses instead of chat/completions"} {
		f.Add(400, s, uint16(0xffff))
		f.Add(500, s, uint16(0))
	}
	f.Add(400, "0", uint16(1<<9)) // nothing is understood, and only the schemas are left to change
	f.Fuzz(func(t *testing.T, status int, body string, parts uint16) {
		has := func(bit int) bool { return parts>>bit&1 == 1 }
		var sent Sent
		sent.Params = append(sent.Params, Param{Name: "reasoning_effort", Value: map[bool]string{true: "high", false: Unset}[has(0)], Next: []string{"medium", "low"}, Effort: true})
		if has(1) {
			sent.Params = append(sent.Params, Param{Name: "max_tokens", Value: "32000"})
		}
		if has(2) {
			sent.Tools = []string{"look", "list", "send"}
		}
		if has(3) {
			sent.Pictures = []string{"aGk="}
		}
		sent.ToolImages, sent.System, sent.Stream, sent.Reasoning, sent.Steps, sent.Loose = has(4), has(5), has(6), has(7), has(8), has(9)
		c := NewBook(Config{}).Call(at, "")
		for n := 0; c.Refused(t.Context(), refusal(status, body), sent); n++ {
			if n > maxChanges {
				t.Fatal("changed without end")
			}
			for _, l := range c.changed.pending {
				if !sent.sentFor(l) {
					t.Fatalf("%d %q changes %+v, which was not sent: %+v", status, body, l, sent)
				}
			}
			for i := range sent.Params { // as a provider does
				value, send := c.Param(sent.Params[i].Name, map[bool]string{true: "high", false: Unset}[has(0)])
				if sent.Params[i].Name == "max_tokens" {
					value, send = c.Param("max_tokens", "32000")
				}
				if sent.Params[i].Value = Unset; send {
					sent.Params[i].Value = value
				}
			}
		}
	})
}

// sentFor reports whether a lesson is about something that was sent, or an unset effort that an error asks for.
func (s Sent) sentFor(l sessions.Lesson) bool {
	switch l.Kind {
	case Parameter:
		return l.Use != l.Value && slices.ContainsFunc(s.Params, func(p Param) bool { return p.Name == l.Name })
	case Rename:
		return slices.ContainsFunc(s.Params, func(p Param) bool { return slices.Contains(limits, p.Name) })
	case Images:
		return len(s.Pictures) > 0
	case ToolImages:
		return s.ToolImages
	case Tools, MaxTools, ToolTexts, ToolNames:
		return len(s.Tools) > 0
	case Schema: // with a name it is a form that any schema may have
		return s.Loose || l.Name != "" && len(s.Tools) > 0
	case MaxText:
		return len(s.Messages) > 0
	case Tool:
		return slices.Contains(s.Tools, l.Name)
	case System:
		return s.System
	case Stream:
		return s.Stream
	case Reasoning:
		return s.Steps || s.Reasoning
	case CallIDs, Content, Roles, History:
		return s.Steps
	}
	return false
}
