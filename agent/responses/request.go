package responses

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"parley/agent"
	"parley/agent/lessons"
	"parley/agent/wire"
	"parley/sessions"
	"parley/tools"
)

// request is one body, and what it consists of.
type request struct {
	body    []byte
	sent    lessons.Sent
	specs   []tools.Spec // what was sent of the tools
	schemas wire.Form
}

// consists gives what the request consists of.
func (r *request) consists() lessons.Sent {
	r.sent.Loose = r.schemas == 0 && slices.ContainsFunc(r.specs, func(s tools.Spec) bool { return !wire.IsPlain(s) })
	return r.sent
}

// offered gives the schema of a tool that is offered.
func (r *request) offered(name string) (json.RawMessage, bool) {
	for i := range r.specs {
		if r.specs[i].Name == name {
			return r.specs[i].Schema, true
		}
	}
	return nil, false
}

// wantedLimit is the length of an answer for endpoints that want one to be named, in tokens.
const wantedLimit = "8192"

// undo gives the arguments of calls as the tools' own schemas want them.
func (r *request) undo(a *agent.Answer) { r.schemas.Undo(a, r.specs) }

// minTokens is the shortest answer that OpenAI takes a limit for.
const minTokens = 16

// reserved are the fields of a body that the configuration cannot replace.
var reserved = []string{"input", "instructions", "model", "stream", "tools"}

// encode makes a request: messages and tools first, what differs by call last. It appends to a buffer instead of filling
// types: encoding those takes ten times as long, in every turn.
func (m *Model) encode(p agent.Prompt, set agent.ModelSettings, call *lessons.Call, at lessons.Endpoint) (*request, error) {
	r := &request{sent: lessons.Sent{Instructions: p.System, Messages: p.Messages, Extras: lessons.Extras(set)}}
	takesTools := call.Takes(lessons.Tools, agent.ToolsSetting(p, set))
	encodedTools, err := m.encodeTools(r, p, set, takesTools, call)
	if err != nil {
		return nil, err
	}
	h := history{call: call, at: at, set: set, sent: &r.sent, noTools: !takesTools, toolPictures: m.host == openAI || m.host == azure}
	instructions := p.System
	if !call.Takes(lessons.System, set.System) || refused(call, "instructions", "text") {
		h.system, instructions = p.System, ""
	}
	b := h.encode(p, len(encodedTools)+len(instructions)+restBytes)
	if encodedTools != nil {
		b = append(append(b, `,"tools":`...), encodedTools...)
	}
	if instructions != "" {
		r.sent.System = true
		r.sent.Params = append(r.sent.Params, lessons.Param{Name: "instructions", Value: "text", Fixed: true})
		b = wire.Quote(append(b, `,"instructions":`...), instructions)
	}
	b = wire.Quote(append(b, `,"model":`...), p.Model)
	e := &fields{b: b, call: call, own: set.Body, sent: &r.sent}
	m.options(e, p, set)
	if r.sent.Stream = call.Takes(lessons.Stream, set.Stream); r.sent.Stream { // left out otherwise: some servers refuse the key
		e.b = append(e.b, `,"stream":true`...)
	}
	if err := e.body(); err != nil {
		return nil, err
	}
	r.body = append(e.b, '}')
	return r, nil
}

// restBytes is room for what a request says besides messages and tools.
const restBytes = 512

// refused reports whether a parameter with a value is left out.
func refused(call *lessons.Call, name, value string) bool {
	_, send := call.Param(name, value)
	return !send
}

// options adds the optional parameters.
func (m *Model) options(e *fields, p agent.Prompt, set agent.ModelSettings) {
	if e.take(lessons.Param{Name: "store", Value: "false", Fixed: true}) != "" {
		e.b = append(e.b, `,"store":false`...)
	}
	const encrypted = "reasoning.encrypted_content"
	if e.take(lessons.Param{Name: "include", Value: encrypted, Words: []string{"encrypted content", "encrypted_content", encrypted}}) != "" {
		e.b = append(e.b, `,"include":["`+encrypted+`"]`...)
	}
	if len(e.sent.Tools) > 0 { // sent when an endpoint asks for it
		if v := e.take(lessons.Param{Name: lessons.ParallelCalls, Value: lessons.Unset, Next: []string{"false"}}); v != "" {
			e.b = append(append(e.b, `,"parallel_tool_calls":`...), v...)
		}
		if v := e.take(lessons.Param{Name: "tool_choice", Value: lessons.Unset, Next: []string{"auto"}}); v != "" {
			e.b = wire.Quote(append(e.b, `,"tool_choice":`...), v)
		}
	}
	m.reasoning(e, p, set)
	m.limit(e, p)
	for _, f := range []struct {
		name, setting string
		value         *float64
	}{{"temperature", "temperature", set.Temperature}, {"top_p", "topP", set.TopP}} {
		q := lessons.Param{Name: f.name, Value: lessons.Unset, Next: []string{"1"}} // sent when an endpoint asks for it
		if f.value != nil {
			q = lessons.Param{Name: f.name, Value: strconv.FormatFloat(*f.value, 'g', -1, 64), Fixed: true, Setting: f.setting}
		}
		if v := e.take(q); v != "" {
			e.b = append(append(e.b, `,"`+f.name+`":`...), v...)
		}
	}
	if m.host != otherHost && p.Session != "" { // others may not know it; the session's name itself is nobody else's business
		sum := sha256.Sum256([]byte(p.Session))
		if v := e.take(lessons.Param{Name: "prompt_cache_key", Value: hex.EncodeToString(sum[:16]), Varies: true}); v != "" {
			e.b = wire.Quote(append(e.b, `,"prompt_cache_key":`...), v)
		}
	}
}

// reasoning adds how much the model is to think, and that it tells of it.
func (m *Model) reasoning(e *fields, p agent.Prompt, set agent.ModelSettings) {
	if _, own := set.Body["reasoning"]; own {
		return
	}
	want, next, told := effort(p, set)
	// The words for thinking in general mean the effort where one is sent, and the summary otherwise.
	general := []string{"reasoning", "reasoning_effort", "reasoning effort", "invalid_reasoning_effort", "effort", "thinking", "think value", "think"}
	sum := lessons.Param{Name: "reasoning.summary", Words: []string{"reasoning summaries", "reasoning summary", "reasoning_summary", "summary"}, Value: "auto", Next: []string{"detailed", "concise"}}
	lever := lessons.Param{Name: "reasoning.effort", Words: general, Value: want, Next: next, Effort: true, Fixed: set.Reasoning.Levels != nil}
	if lever.Fixed {
		lever.Setting = "reasoning.levels"
	}
	if want == lessons.Unset {
		lever.Words = general[1:]
		sum.Words = append(sum.Words, general[0])
	}
	summary := ""
	if told && want != "none" && (want != lessons.Unset || m.host == openAI || m.host == azure) {
		summary = e.take(sum)
	}
	level := e.take(lever)
	if level == "none" {
		summary = ""
	}
	if level == "" && summary == "" {
		return
	}
	e.b = append(e.b, `,"reasoning":{`...)
	if level != "" {
		e.b = append(wire.Quote(append(e.b, `"effort":`...), level), ',')
	}
	if summary != "" {
		e.b = append(wire.Quote(append(e.b, `"summary":`...), summary), ',')
	}
	e.b = append(bytes.TrimSuffix(e.b, []byte{','}), '}')
}

// effort gives the effort to ask for, lessons.Unset = none; other efforts that the model takes; and whether it can be told at all.
func effort(p agent.Prompt, set agent.ModelSettings) (want string, next []string, told bool) {
	levels := p.Levels
	if set.Reasoning.Levels != nil {
		levels = set.Reasoning.Levels
	}
	if levels != nil && len(levels) == 0 {
		return lessons.Unset, nil, false
	}
	want = p.Thinking
	switch {
	case want == "":
		return lessons.Unset, levels, true
	case want == "off":
		want = "none"
	}
	if want == "none" { // asked for until it is refused
		return cmp.Or(agent.OffOf(set.Reasoning.Levels), lessons.Unset), levels, true
	}
	if levels == nil {
		return want, levels, true
	}
	if want = lessons.Nearest(want, levels); want == "" {
		want = lessons.Unset
	}
	return want, levels, true
}

// limit adds the longest answer.
func (m *Model) limit(e *fields, p agent.Prompt) {
	n := p.MaxTokens
	if n <= 0 {
		n = m.maxTokens
	}
	name := "max_output_tokens"
	if e.call.Off(lessons.Rename, "max_tokens") {
		name = e.call.Name("max_tokens")
	}
	longest := lessons.Param{Name: name, Value: lessons.Unset, Next: []string{wantedLimit}} // sent when an endpoint asks for it
	if n > 0 {
		longest.Value, longest.Next = strconv.Itoa(max(n, minTokens)), nil
		if p.MaxTokens <= 0 {
			longest.Setting = "maxTokens"
		}
	}
	if v := e.take(longest); v != "" {
		e.b = append(append(e.b, `,"`+name+`":`...), v...)
	}
}

// encodeTools gives the tools that are offered, nil = none, and notes them in r.
func (m *Model) encodeTools(r *request, p agent.Prompt, set agent.ModelSettings, takesTools bool, call *lessons.Call) ([]byte, error) {
	if len(p.Tools) == 0 || !takesTools {
		return nil, nil
	}
	specs := call.Offer(p.Tools)
	if len(specs) == 0 {
		return nil, nil
	}
	r.specs, r.schemas, r.sent.ToolForms = specs, call.SchemaForm(), nestable
	for _, s := range specs {
		r.sent.Tools = append(r.sent.Tools, s.Name)
	}
	e := fields{call: call, own: set.Body, sent: &r.sent}
	strict := e.take(lessons.Param{Name: lessons.StrictTools, Value: "false", Words: []string{"strict", "strictness"}, Next: []string{"true"}, Fixed: true})
	kept := &m.tools
	switch strict {
	case "":
		kept = &m.unstrict
	case "true":
		kept = &m.strict
	}
	return kept[r.schemas].Encode(specs, func(specs []tools.Spec) ([]byte, error) { return encodeTools(specs, r.schemas, strict) })
}

// nestable is the other form of definitions.
var nestable = []string{lessons.ToolsNested}

func encodeTools(specs []tools.Spec, form wire.Form, isStrict string) ([]byte, error) {
	type definition struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      *bool           `json:"strict,omitempty"` // false: OpenAI's own default is true, which most schemas do not fulfil
	}
	type tool struct {
		Type string `json:"type"`
		*definition
		Function *definition `json:"function,omitempty"`
	}
	var strict *bool
	if isStrict != "" {
		strict = new(isStrict == "true")
	}
	out := make([]tool, 0, len(specs))
	for _, s := range specs {
		d := &definition{Name: s.Name, Description: s.Description, Parameters: form.Schema(s), Strict: strict}
		if form&wire.Nested != 0 {
			out = append(out, tool{Type: "function", Function: d})
		} else {
			out = append(out, tool{Type: "function", definition: d})
		}
	}
	return wire.JSON(out)
}

// fields adds optional parameters to a body, as far as neither the endpoint refuses nor the configuration replaces them.
type fields struct {
	b    []byte
	call *lessons.Call
	own  map[string]any // the configuration's fields
	sent *lessons.Sent
}

// take gives the value that a parameter is sent with, "" = it is not sent, and notes it as sent. p.Value may be lessons.Unset: an
// error may then ask for a value.
func (e *fields) take(p lessons.Param) string {
	if _, own := e.own[p.Name]; own {
		return ""
	}
	use, send := e.call.Param(p.Name, p.Value)
	if !send {
		if p.Value == lessons.Unset {
			e.sent.Params = append(e.sent.Params, p)
		}
		return ""
	}
	p.Value = use
	e.sent.Params = append(e.sent.Params, p)
	return use
}

// body adds the configuration's own fields, sorted by name.
func (e *fields) body() error {
	for _, name := range slices.Sorted(maps.Keys(e.own)) {
		if slices.Contains(reserved, name) {
			continue
		}
		value, err := wire.JSON(e.own[name])
		if err != nil {
			return err
		}
		p, value := e.call.BodyField(name, value)
		if value == nil {
			continue
		}
		e.sent.Params = append(e.sent.Params, p)
		e.b = append(append(wire.Quote(append(e.b, ','), name), ':'), value...)
	}
	return nil
}

// hasPictures reports whether blocks have a picture.
func hasPictures(blocks []sessions.Block) bool {
	return slices.ContainsFunc(blocks, func(b sessions.Block) bool { return b.Type == sessions.ImageBlock })
}
