package anthropic

import (
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

// request is one request.
type request struct {
	body    []byte
	sent    lessons.Sent
	specs   []tools.Spec // the tools in it
	schemas wire.Form
	stubs   bool // they may not be called

	returned bool // thinking without signature goes back to the endpoint
}

// callable gives the tools that may be called.
func (r request) callable() []tools.Spec {
	if r.stubs {
		return nil
	}
	return r.specs
}

// refusable gives what of the request an endpoint may refuse.
func (r request) refusable() lessons.Sent {
	s := r.sent
	for _, spec := range r.specs {
		s.Tools = append(s.Tools, spec.Name)
		s.Loose = s.Loose || r.schemas == 0 && !wire.IsPlain(spec)
	}
	return s
}

// ownFields are fields of a request that the configuration cannot replace.
var ownFields = []string{"model", "messages", "system", "stream", "tools"}

// encode makes the body of a request. before is the answer so far, when a request continues it.
func (m *Model) encode(p agent.Prompt, at lessons.Endpoint, set agent.ModelSettings, call *lessons.Call, before []*answerBlock) (request, error) {
	a := m.ask(p, set, call)
	sent := &lessons.Sent{Stream: a.stream, System: a.system != systemOff && p.System != "", Instructions: p.System, Messages: p.Messages, Extras: lessons.Extras(set)}
	specs := m.offered(p, &a, call)
	c := conversation{own: m.own, ask: &a, sent: sent}
	if a.system == systemOff {
		c.lead = p.System
	}
	messages, err := c.encode(agent.Repair(p.Messages, m.target(at, p, set, &a, call)), before)
	if err != nil {
		return request{}, err
	}
	call.Shows(sent, a.forms)
	encodedTools, err := m.encodeTools(specs, &a)
	if err != nil {
		return request{}, err
	}
	b := make([]byte, 0, len(messages)+len(encodedTools)+len(p.System)+1024)
	b = wire.Quote(append(b, `{"model":`...), p.Model)
	if sent.System {
		b = encodeSystem(b, p.System, &a)
	}
	b = append(append(b, `,"messages":`...), messages...)
	if encodedTools != nil {
		b = append(append(b, `,"tools":`...), encodedTools...)
		if a.stubs && a.param(lessons.Param{Name: "tool_choice", Value: "none", Words: []string{"tool_choice.type"}}) != "" {
			b = append(b, `,"tool_choice":{"type":"none"}`...)
		}
		switch {
		case a.stubs:
		case a.wanted(lessons.Param{Name: lessons.ParallelCalls, Next: []string{"false"}, Words: []string{"disable_parallel_tool_use"}}):
			b = append(b, `,"tool_choice":{"type":"auto","disable_parallel_tool_use":true}`...)
		case a.wanted(lessons.Param{Name: "tool_choice", Next: []string{"auto"}, Words: []string{"tool_choice.type"}}):
			b = append(b, `,"tool_choice":{"type":"auto"}`...)
		}
	}
	b = m.encodeParams(b, p, &a, c.thoughtless)
	if b, err = a.encodeBody(b, shortAnswer); err != nil {
		return request{}, err
	}
	if a.stream { // left out otherwise: some servers refuse the key
		b = append(b, `,"stream":true`...)
	}
	sent.Params, sent.ToolForms = append(a.params, a.forms...), typable
	return request{append(b, '}'), *sent, specs, a.schemas, a.stubs, !m.own && !a.noReasoning}, nil
}

// target says what the transcript is made fit for.
func (m *Model) target(at lessons.Endpoint, p agent.Prompt, set agent.ModelSettings, a *asked, call *lessons.Call) agent.Target {
	return agent.Target{
		From: at.String(), Label: at.Label(), Zone: p.Zone, Thinking: !a.noReasoning, Plain: a.told, ShortIDs: call.Off(lessons.CallIDs, ""), IDs: call.IDs(),
		OneCall: call.Off(lessons.OneCall, ""), PlainNames: call.Off(lessons.ToolNames, ""),
		ThinkingFrom: call.ReasoningFrom(),
		PlainUntil:   call.ToldUntil(),
		AfterTool:    call.Use(lessons.Roles) == lessons.AfterTool, UserOnly: call.Use(lessons.Roles) == lessons.UserOnly, ToolPictures: !call.Off(lessons.ToolImages, ""),
		MaxText: call.MaxText(),
		Picture: call.Picture(set.Images, p.Messages),
	}
}

// offered gives the tools of a request. Without tools of its own these are stubs of those that the messages show: the API refuses
// messages with tool blocks when no tools are defined.
func (m *Model) offered(p agent.Prompt, a *asked, call *lessons.Call) []tools.Spec {
	if a.noTools || call.Bare() {
		return nil
	}
	specs := p.Tools
	if len(specs) == 0 && !a.told {
		specs = stubs(p.Messages)
		a.stubs = specs != nil
	}
	return call.Offer(specs)
}

// stubs names the tools that msgs show, once each.
func stubs(msgs []sessions.Message) []tools.Spec {
	var out []tools.Spec
	for _, m := range msgs {
		for _, c := range m.ToolCalls() {
			if !slices.ContainsFunc(out, func(s tools.Spec) bool { return s.Name == c.Name }) {
				out = append(out, tools.Spec{Name: c.Name, Description: "Not available in this turn."})
			}
		}
	}
	return out
}

// typable is the other form of definitions. source: platform.claude.com/docs/en/api/messages#body-tools (type: custom)
var typable = []string{lessons.ToolsTyped}

// encodeTools gives the tools in the API's form; nil = none. The result is shared and must not be changed.
func (m *Model) encodeTools(specs []tools.Spec, a *asked) ([]byte, error) {
	marked := len(specs) > 0 && a.mark("tools")
	type tool struct {
		Type        string          `json:"type,omitempty"`
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Schema      json.RawMessage `json:"input_schema"`
		Cache       *cacheControl   `json:"cache_control,omitempty"`
	}
	kept := &m.tools
	if marked {
		kept = &m.markedTools
	}
	return kept[a.schemas].Encode(specs, func(specs []tools.Spec) ([]byte, error) {
		out := make([]tool, 0, len(specs))
		for _, s := range specs {
			t := tool{Name: s.Name, Description: s.Description, Schema: a.schemas.Schema(s)}
			if a.schemas&wire.Typed != 0 {
				t.Type = "custom"
			}
			out = append(out, t)
		}
		if marked {
			out[len(out)-1].Cache = cacheHere
		}
		return wire.JSON(out)
	})
}

func encodeSystem(b []byte, text string, a *asked) []byte {
	if a.system == systemText {
		return wire.Quote(append(b, `,"system":`...), text)
	}
	b = append(b, `,"system":[{"type":"text",`...)
	if a.mark("system") {
		b = append(b, `"cache_control":{"type":"ephemeral"},`...)
	}
	return append(wire.Quote(append(b, `"text":`...), text), "}]"...)
}

// encodeBody appends the fields that the configuration adds, in a fixed order. One is left out, or has another value, only when an error
// names it.
func (a *asked) encodeBody(b []byte, fallback int) ([]byte, error) {
	for _, name := range slices.Sorted(maps.Keys(a.body)) {
		if slices.Contains(ownFields, name) {
			continue
		}
		raw, err := wire.JSON(a.body[name])
		if err != nil {
			return nil, err
		}
		p, raw := a.call.BodyField(name, raw)
		switch {
		case raw != nil:
			a.params = append(a.params, p)
		case name == "max_tokens": // the protocol wants a number
			raw = strconv.AppendInt(nil, int64(fallback), 10)
		default:
			continue
		}
		b = append(append(wire.Quote(append(b, ','), name), ':'), raw...)
	}
	return b, nil
}
