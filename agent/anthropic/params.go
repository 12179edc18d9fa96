package anthropic

import (
	"slices"
	"strconv"
	"strings"

	"parley/agent"
	"parley/agent/lessons"
	"parley/agent/wire"
)

// The ways in which instructions are sent.
const (
	systemBlocks = "blocks" // a list of text blocks, which can have a mark
	systemText   = "text"   // a plain text
	systemOff    = "off"    // in front of the first message
)

// The values of thinking.type.
const (
	adaptive = "adaptive" // with an effort
	enabled  = "enabled"  // with a number of tokens
	disabled = "disabled"
	// betweenTools is the lowest setting of models that do not take disabled. source: platform.claude.com/docs/en/models/sonnet-5-5/migration-guide
	betweenTools = "between_tools"
)

// asked is how one request is put: what the settings and lessons of its endpoint say.
type asked struct {
	call *lessons.Call
	body map[string]any // fields that the configuration sets: nothing else is sent for them

	system      string // systemBlocks, systemText or systemOff
	stream      bool
	noTools     bool
	told        bool // calls and results are told as text
	schemas     wire.Form
	stubs       bool
	noReasoning bool // of earlier steps
	placeholder bool // calls that no thinking came before get an empty one
	everywhere  bool // so do texts
	unsigned    bool // thinking without signature gets an empty one

	forms             []lessons.Param // of the content of messages
	temperature, topP string
	params            []lessons.Param
}

// ask reads what the settings and lessons of an endpoint say. Settings win.
func (m *Model) ask(p agent.Prompt, set agent.ModelSettings, call *lessons.Call) asked {
	a := asked{
		call: call, body: set.Body, system: systemBlocks,
		stream:  call.Takes(lessons.Stream, set.Stream),
		noTools: !call.Takes(lessons.Tools, agent.ToolsSetting(p, set)),
		schemas: call.SchemaForm(),
		forms:   append(call.ContentForms("user", "assistant"), call.FormOf(lessons.TextBlocks, lessons.Apart, lessons.Joined)),
	}
	switch use := call.Use(lessons.Reasoning); set.Reasoning.SendBack {
	case "on":
		a.placeholder = !m.own
	case "off":
		a.noReasoning = true
	default:
		a.noReasoning = use == lessons.OmitReasoning
		a.everywhere = use == lessons.SayReasoning && !m.own
		a.placeholder = a.everywhere || use == lessons.SendReasoning && !m.own
	}
	a.told = a.noTools || call.Told()
	switch {
	case !call.Takes(lessons.System, set.System):
		a.system = systemOff
	case p.System != "" && a.param(lessons.Param{Name: lessons.SystemForm, Value: systemBlocks}) == "":
		a.system = systemText
	}
	if set.TopP != nil {
		a.topP = a.param(lessons.Param{Name: "top_p", Value: number(*set.TopP), Words: []string{"topp"}, Fixed: true, Setting: "topP"})
	}
	if set.Temperature != nil {
		a.temperature = a.param(lessons.Param{Name: "temperature", Words: lessons.TemperatureWords, Value: number(*set.Temperature), Fixed: true, Setting: "temperature"})
	}
	return a
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// param gives the value that a parameter is sent with, and notes that; empty = it is not sent.
func (a *asked) param(p lessons.Param) string {
	top, _, _ := strings.Cut(p.Name, ".")
	if _, own := a.body[top]; own && !slices.Contains(ownFields, top) {
		return ""
	}
	use, send := a.call.Param(p.Name, p.Value)
	if !send {
		return ""
	}
	p.Value = use
	a.params = append(a.params, p)
	return use
}

// wanted reports whether something is said of how tools are called, which is said when an endpoint asked for it: that a choice is made at all,
// or that the model makes one call in an answer.
// source: docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use#parallel-tool-use
func (a *asked) wanted(p lessons.Param) bool {
	if _, own := a.body["tool_choice"]; own {
		return false
	}
	p.Value = lessons.Unset
	use, send := a.call.Param(p.Name, p.Value)
	if send {
		p.Value = use
	}
	a.params = append(a.params, p)
	return send
}

// mark reports whether a prefix may end in a mark: that of the system text, the tools or the messages.
func (a *asked) mark(place string) bool {
	if _, send := a.call.Param(lessons.CacheMarks, "ephemeral"); !send {
		return false
	}
	return a.param(lessons.Param{Name: lessons.CacheMarks + "." + place, Value: "ephemeral"}) != ""
}

// allLevels are the efforts that the API knows.
var allLevels = []string{"low", "medium", "high", "xhigh", "max"}

// budgets says how many tokens a model may think.
var budgets = map[string]int{"minimal": 1024, "low": 2048, "medium": 8192, "high": 16384, "xhigh": 24576, "max": 32768}

// shortAnswer is the longest answer, in tokens, that is asked of a model that refuses a longer one without saying how long it may be.
const shortAnswer = 1024

// minBudget is the smallest number of tokens for thinking that the API takes.
const minBudget = 1024

// encodeParams appends how much to think and how long the answer may be. thoughtless: the model is in the middle of calls that no
// thinking came before; with a budget the API refuses to go on with those.
func (m *Model) encodeParams(b []byte, p agent.Prompt, a *asked, thoughtless bool) []byte {
	limit := p.MaxTokens
	if limit <= 0 {
		limit = m.maxTokens
	}
	given := limit > 0
	if !given {
		limit = DefaultMaxTokens
	}
	mode, effort, budget := m.thinking(p, a, thoughtless)
	if budget > 0 && (mode == enabled || !given) {
		limit += budget // it counts the thinking too
	}
	most := min(limit, shortAnswer) // where an error says that it is too long, but not how long it may be
	longest := lessons.Param{Name: "max_tokens", Value: strconv.Itoa(limit), Words: []string{"max tokens"}, Fixed: true}
	if given && p.MaxTokens <= 0 {
		longest.Setting = "maxTokens"
	}
	if use := a.param(longest); use != "" {
		if n, err := strconv.Atoi(use); err == nil && n > 0 {
			most = n
		}
	}
	if mode == enabled && budget >= most {
		budget = most / 2
	}
	switch {
	case mode == adaptive:
		b = append(b, `,"thinking":{"type":"adaptive"`...)
		if a.display() {
			b = append(b, `,"display":"summarized"`...)
		}
		b = append(b, '}')
		if effort != "" {
			b = append(wire.Quote(append(b, `,"output_config":{"effort":`...), effort), '}')
		}
	case mode == enabled && budget >= minBudget:
		b = append(strconv.AppendInt(append(b, `,"thinking":{"type":"enabled","budget_tokens":`...), int64(budget), 10), '}')
	case mode == enabled && budget == 0: // learned: it takes no number
		b = append(b, `,"thinking":{"type":"enabled"}`...)
	case mode == disabled, mode == betweenTools:
		b = append(append(append(b, `,"thinking":{"type":"`...), mode...), `"}`...)
	}
	if a.temperature != "" {
		b = append(append(b, `,"temperature":`...), a.temperature...)
	}
	if a.topP != "" {
		b = append(append(b, `,"top_p":`...), a.topP...)
	}
	if _, own := a.body["max_tokens"]; own {
		return b
	}
	return strconv.AppendInt(append(b, `,"max_tokens":`...), int64(most), 10)
}

func (a *asked) display() bool {
	return a.param(lessons.Param{Name: "thinking.display", Value: "summarized", Words: []string{"display"}}) != ""
}

// mustThink gives the mode of thinking that an endpoint wants, although nobody asked for any; empty = none is sent.
func (a *asked) mustThink() string {
	p := lessons.Param{Name: "thinking", Value: lessons.Unset, Next: []string{adaptive}, Effort: true}
	use, send := a.call.Param(p.Name, p.Value)
	if send {
		p.Value = use
	}
	a.params = append(a.params, p)
	return use
}

// thinking says how a model is told how much to think. Nested parameters come before those that they are in: errors name both.
func (m *Model) thinking(p agent.Prompt, a *asked, thoughtless bool) (mode, effort string, budget int) {
	levels := m.settings(p.Model).Reasoning.Levels
	if levels == nil {
		levels = p.Levels
	}
	if _, own := a.body["thinking"]; own || levels != nil && len(levels) == 0 {
		return "", "", 0
	}
	if p.Thinking == "" {
		return a.mustThink(), "", 0
	}
	if levels == nil {
		levels = allLevels
	}
	mode = disabled
	if p.Thinking != "off" {
		if mode, _ = a.call.Param("thinking", adaptive); mode == "" {
			return "", "", 0
		}
	}
	switch mode {
	case adaptive:
		if effort = lessons.Nearest(p.Thinking, levels); effort != "" {
			effort = a.param(lessons.Param{Name: "output_config.effort", Value: effort, Words: []string{"effort", "output_config", "reasoning_effort"}, Next: levels, Effort: true})
		}
		budget = budgets[p.Thinking]
	case enabled:
		if thoughtless {
			return "", "", 0
		}
		use := a.param(lessons.Param{Name: lessons.ThinkingBudget, Value: strconv.Itoa(budgets[p.Thinking]), Words: []string{"budget_tokens", "thinking_budget"}})
		budget, _ = strconv.Atoi(use) // "" = none
	}
	other := map[string]string{adaptive: enabled, enabled: adaptive}
	param := lessons.Param{Name: "thinking", Value: mode, Words: []string{"thinking.type", "reasoning"}, Effort: true}
	if next := other[mode]; next != "" {
		param.Next = []string{next}
	}
	if mode == disabled {
		param.Named = []string{betweenTools}
		if mode = a.param(param); mode == "" {
			mode = a.mustThink()
		}
		return mode, "", 0
	}
	a.params = append(a.params, param)
	return mode, effort, budget
}
