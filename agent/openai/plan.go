package openai

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"parley/agent"
	"parley/agent/lessons"
	"parley/agent/wire"
	"parley/tools"
)

// plan is what a request consists of besides its texts: settings first, then what the endpoint is known to refuse.
type plan struct {
	target    agent.Target
	system    bool   // there is a system message; otherwise its text is in front of the first message
	reasoning string // of earlier steps: lessons.SendReasoning, SendSignatures, PlaceholderSignatures, OmitReasoning, or "" = where providers want it
	said      bool   // where a step has no reasoning, words stand for it, not a space
	all       bool   // reasoning of all own steps goes back, not only of those with tools
	field     string // where reasoning goes that the endpoint did not send in a field itself; "" = reasoning_content
	renamed   string // the field that all reasoning goes back in, whatever it came in; "" = the one that it came in
	content   string // of messages with calls: "" = null without a text, lessons.EmptyContent, FilledContent or CallsOnly
	stream    bool
	tools     []tools.Spec
	schemas   wire.Form
	strict    string // of each tool: "true", "false", or "" = not sent
	forms     []lessons.Param
	objects   bool // arguments of calls are objects, not texts
	refusal   bool // messages of the model have an empty field for what it refused
	named     bool // results of tools have the name of their tool
	params    []param
	extras    []string // lessons.Extras of the settings
}

// param is an optional field of the body.
type param struct {
	lessons.Param
	json []byte // nil = not sent
}

// plan says what to send at this moment of a call.
func (m *Model) plan(p agent.Prompt, s agent.ModelSettings, call *lessons.Call, at lessons.Endpoint) plan {
	out := plan{system: call.Takes(lessons.System, s.System), stream: call.Takes(lessons.Stream, s.Stream),
		content: call.Use(lessons.Content), schemas: call.SchemaForm()}
	switch s.Reasoning.SendBack {
	case "on":
		out.reasoning, out.all = lessons.SendReasoning, true
	case "off":
		out.reasoning = lessons.OmitReasoning
	default:
		out.reasoning = call.Use(lessons.Reasoning)
		if said := strings.ToLower(call.Said(lessons.Reasoning)); strings.Contains(said, "reasoning") && !strings.Contains(said, "reasoning_") {
			out.field = "reasoning"
		}
		if out.said = out.reasoning == lessons.SayReasoning; out.said {
			out.reasoning = lessons.SendReasoning
		}
		out.all = out.reasoning == lessons.SendReasoning
	}
	if name := call.Name(lessons.ThoughtField); name != lessons.ThoughtField {
		out.renamed = name
	}
	toolsOff := !call.Takes(lessons.Tools, agent.ToolsSetting(p, s))
	if !toolsOff {
		out.tools = call.Offer(p.Tools)
	}
	roles := call.Use(lessons.Roles)
	out.target = agent.Target{
		From: at.String(), Label: at.Label(), Zone: p.Zone, Thinking: out.reasoning != lessons.OmitReasoning,
		Plain:        toolsOff || call.Told(),
		PlainUntil:   call.ToldUntil(),
		ThinkingFrom: call.ReasoningFrom(),
		OneCall:      call.Off(lessons.OneCall, ""), PlainNames: call.Off(lessons.ToolNames, ""),
		ShortIDs: call.Off(lessons.CallIDs, ""), IDs: call.IDs(), AfterTool: roles == lessons.AfterTool, UserOnly: roles == lessons.UserOnly,
		MaxText: call.MaxText(),
		Picture: call.Picture(s.Images, p.Messages),
	}
	out.forms = formsOf(out.tools, call)
	out.named, out.strict = formOf(out.forms, lessons.ResultName) == lessons.NameSent, formOf(out.forms, lessons.StrictTools)
	out.objects, out.refusal = formOf(out.forms, lessons.CallArguments) == lessons.AsObject, formOf(out.forms, lessons.AnswerRefusal) == lessons.Null
	out.extras = lessons.Extras(s)
	out.params = m.params(p, s, call, &out)
	return out
}

// unknownForms are the forms of a request to an endpoint of which nothing is known. Those of contents come first. Then come askedForms more,
// which change when an endpoint asks for it; the last one is that of tools. The list itself is never changed.
var unknownForms = append(new(lessons.Call).ContentForms(), lessons.Param{Name: lessons.ResultName, Value: lessons.Unset},
	new(lessons.Call).FormOf(lessons.CallArguments, lessons.AsText, lessons.AsObject), new(lessons.Call).FormOf(lessons.AnswerRefusal, lessons.Unset, lessons.Null),
	lessons.Param{Name: lessons.StrictTools, Words: strictWords, Value: lessons.Unset, Next: nextStrict})

const askedForms = 4

// formsOf says in which forms a request has its messages and tools.
func formsOf(specs []tools.Spec, call *lessons.Call) []lessons.Param {
	n := len(unknownForms) - 1 + min(len(specs), 1)
	if call.KnowsNothing() {
		return unknownForms[:n:n]
	}
	forms := append(call.ContentForms(), unknownForms[len(unknownForms)-askedForms:n]...)
	for i := len(unknownForms) - askedForms; i < len(forms); i++ {
		if value, send := call.Param(forms[i].Name, forms[i].Value); send && value != forms[i].Value {
			forms[i].Value, forms[i].Next = value, slices.DeleteFunc(slices.Clone(forms[i].Next), func(v string) bool { return v == value })
		}
	}
	return forms
}

// formOf gives the value that is sent for a form; "" = none.
func formOf(forms []lessons.Param, name string) string {
	if i := slices.IndexFunc(forms, func(p lessons.Param) bool { return p.Name == name }); i >= 0 && forms[i].Value != lessons.Unset {
		return forms[i].Value
	}
	return ""
}

// params gives the optional fields: what parley sets, then the user's own, which win.
func (m *Model) params(p agent.Prompt, s agent.ModelSettings, call *lessons.Call, so *plan) []param {
	out := make([]param, 0, 6)
	add := func(q lessons.Param, encode func(string) []byte) {
		if inBody(s.Body, q) {
			return
		}
		value, send := call.Param(q.Name, q.Value)
		if !send {
			value = lessons.Unset
		}
		out = append(out, param{Param: q})
		r := &out[len(out)-1]
		if slices.Contains(q.Next, value) {
			r.Next = slices.DeleteFunc(slices.Clone(q.Next), func(v string) bool { return v == value })
		}
		if r.Value = value; send {
			r.json = encode(value)
		}
	}
	limit := lessons.Param{Name: call.Name("max_tokens"), Words: limitNames, Value: lessons.Unset, Next: nextLimit} // sent when an endpoint asks for it
	if limit.Name == "max_tokens" && m.at.official {
		limit.Name = "max_completion_tokens"
	}
	if most := cmp.Or(p.MaxTokens, m.maxTokens); most > 0 {
		limit.Value, limit.Next = strconv.Itoa(most), nil
		if p.MaxTokens == 0 {
			limit.Setting = "maxTokens"
		}
	}
	add(limit, literal)
	effort, next := effortOf(p, s)
	if m.at.switches && p.Thinking == "off" && canBeTold(p, s) {
		add(lessons.Param{Name: "thinking", Value: "disabled"}, func(v string) []byte { return append(wire.Quote([]byte(`{"type":`), v), '}') })
		effort, next = lessons.Unset, nil
	}
	add(lessons.Param{Name: "reasoning_effort", Value: effort, Words: effortWords, Next: next, Effort: true}, quoted)
	if m.at.official && p.Session != "" { // others may not know it
		add(lessons.Param{Name: "prompt_cache_key", Value: cacheKey(p.Session), Varies: true}, quoted)
	}
	if s.Temperature == nil {
		add(lessons.Param{Name: "temperature", Value: lessons.Unset, Next: nextOne}, literal)
	} else {
		add(lessons.Param{Name: "temperature", Words: lessons.TemperatureWords, Value: decimal(*s.Temperature), Fixed: true, Setting: "temperature"}, literal)
	}
	if s.TopP != nil {
		add(lessons.Param{Name: "top_p", Words: []string{"topp"}, Value: decimal(*s.TopP), Fixed: true, Setting: "topP"}, literal)
	}
	if len(so.tools) > 0 { // sent when an endpoint asks for it
		add(lessons.Param{Name: lessons.ParallelCalls, Value: lessons.Unset, Next: nextFalse}, literal)
		add(lessons.Param{Name: "tool_choice", Value: lessons.Unset, Next: nextChoice}, quoted)
	}
	if !so.stream { // sent when an endpoint asks for it. source: help.aliyun.com/zh/model-studio/error-code
		add(lessons.Param{Name: "enable_thinking", Value: lessons.Unset, Next: nextFalse}, literal)
	}
	if so.stream {
		add(lessons.Param{Name: lessons.StreamOptions, Words: usageWords, Value: "include_usage"}, includeUsage)
	}
	return append(out, bodyParams(s.Body, call, so)...)
}

// wantedLimit is the length of an answer for endpoints that want one to be named, in tokens.
const wantedLimit = "8192"

// What each request's parameters share; nobody changes these.
var (
	strictWords = []string{"strict", "strictness"}
	nextStrict  = []string{"false", "true"}
	nextLimit   = []string{wantedLimit}
	nextChoice  = []string{"auto"}
	nextFalse   = []string{"false"}
	nextOne     = []string{"1"}
	usageWords  = []string{"include_usage"}
	usageJSON   = []byte(`{"include_usage":true}`)
)

func includeUsage(string) []byte { return usageJSON }

func literal(v string) []byte { return []byte(v) }
func quoted(v string) []byte  { return wire.Quote(nil, v) }

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// ownFields are the fields of a request that no setting replaces.
var ownFields = []string{"messages", "model", "stream", "tools"}

// limitNames are the names of the length of an answer: a request has one of them.
var limitNames = []string{"max_tokens", "max_completion_tokens"}

// inBody reports whether the user's own fields have one of parley's, perhaps in other words. Off is said in any case.
func inBody(body map[string]any, q lessons.Param) bool {
	if len(body) == 0 {
		return false
	}
	names := []string{q.Name}
	switch {
	case slices.Contains(limitNames, q.Name):
		names = limitNames
	case q.Effort && q.Value != "none":
		names = append(names, "reasoning", "thinking")
	}
	return slices.ContainsFunc(names, func(name string) bool { _, ok := body[name]; return ok })
}

// bodyParams gives the user's own fields, in a stable order. One is left out only when an error names it.
func bodyParams(body map[string]any, call *lessons.Call, so *plan) (out []param) {
	names := make([]string, 0, len(body))
	for name := range body {
		switch {
		case slices.Contains(ownFields, name):
		case len(so.tools) == 0 && (name == "tool_choice" || name == "parallel_tool_calls"):
		case !so.stream && name == "stream_options":
		default:
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		raw, err := wire.JSON(body[name])
		if err != nil {
			continue // the configuration was read: only NaN and the like
		}
		p, raw := call.BodyField(name, raw)
		out = append(out, param{p, raw})
	}
	return out
}

// effortWords are other names for how much a model thinks.
var effortWords = []string{"reasoning.effort", "reasoningeffort", "reasoning effort", "effort", "thinking_level", "thinking level", "thinking_budget", "thinking budget", "thinking", "think", "reasoning"}

// canBeTold reports whether a model can be told how much to think, as far as that is known.
func canBeTold(p agent.Prompt, s agent.ModelSettings) bool {
	if s.Reasoning.Levels != nil {
		return len(s.Reasoning.Levels) > 0
	}
	return p.Levels == nil || len(p.Levels) > 0
}

// effortOf gives the effort to ask for, lessons.Unset for none, and other ones that are near.
func effortOf(p agent.Prompt, s agent.ModelSettings) (effort string, next []string) {
	level := p.Thinking
	if level == "off" {
		level = "none"
	}
	levels := s.Reasoning.Levels
	if levels == nil {
		levels = p.Levels
	}
	switch {
	case level == "", !canBeTold(p, s):
		return lessons.Unset, nil
	case levels == nil:
		levels = agent.Efforts
	case level == "none": // off is asked for until it is refused
		if level = agent.OffOf(s.Reasoning.Levels); level == "" {
			return lessons.Unset, nil
		}
	default:
		if level = lessons.Nearest(level, levels); level == "" {
			return lessons.Unset, nil
		}
	}
	for rest := levels; ; {
		rest = slices.DeleteFunc(slices.Clone(rest), func(l string) bool { return l == level || slices.Contains(next, l) })
		near := lessons.Nearest(level, rest)
		if near == "" || len(next) > 8 {
			return level, next
		}
		next = append(next, near)
	}
}

// sent says what a request had, for the reader of its refusal.
func (o plan) sent(p agent.Prompt, w *bodyPrefix) lessons.Sent {
	out := lessons.Sent{Pictures: w.pictures, System: o.system && p.System != "", Stream: o.stream, Reasoning: w.reasoning, Thoughts: w.thoughts, ThoughtAt: w.thoughtAt, Steps: w.steps, Instructions: p.System, Messages: p.Messages}
	out.Extras = o.extras
	out.Roles, out.Params = w.roles, slices.Clone(o.forms)
	for _, q := range o.params {
		if q.json == nil {
			q.Value = lessons.Unset
		}
		out.Params = append(out.Params, q.Param)
	}
	for _, t := range o.tools {
		out.Tools = append(out.Tools, t.Name)
		out.Loose = out.Loose || o.schemas == 0 && !wire.IsPlain(t)
	}
	return out
}
