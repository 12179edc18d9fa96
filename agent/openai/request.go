package openai

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"parley/agent"
	"parley/agent/lessons"
	"parley/agent/wire"
	"parley/sessions"
	"parley/tools"
)

// placeholder stands for the reasoning of a step that has none where an endpoint wants some. Moonshot refuses an empty text.
const (
	placeholder     = " "
	saidPlaceholder = "(no reasoning)" // where a space is taken for nothing
)

// skipSignature stands for the signature of a call that another model made, as Google documents it.
const skipSignature = `{"google":{"thought_signature":"skip_thought_signature_validator"}}`

// filledContent is the text of a message with calls only where an endpoint wants one that is not empty.
const filledContent = "(tool call)"

// bodyPrefix is the beginning of a request's body, and what of it an endpoint may refuse.
type bodyPrefix struct {
	ids       map[string]string // of calls whose id the endpoint wants back as it was, by the one in the transcript
	body      []byte
	pictures  []string // base64
	roles     []string // of the messages
	reasoning bool
	thoughts  []string // names of the fields that it is in
	thoughtAt []lessons.Place
	steps     bool
}

// encodeMessages begins the body of a request: a prompt's system text and messages, with room behind them for more bytes. It appends
// to a buffer instead of filling types: encoding those takes ten times as long, in every turn.
func encodeMessages(p agent.Prompt, o plan, more int) bodyPrefix {
	msgs := agent.Repair(p.Messages, o.target)
	size := len(p.System) + 64
	opaque := false
	for i := range msgs {
		for j := range msgs[i].Content {
			c := &msgs[i].Content[j]
			size += len(c.Text) + len(c.Data) + blockBytes
			if c.Type == sessions.ToolCallBlock {
				size += len(c.ID) + len(c.Name) + len(c.Arguments) + callBytes
			}
			if c.Opaque != nil {
				size, opaque = size+len(c.Opaque.Data), true
			}
		}
	}
	w := bodyPrefix{body: append(make([]byte, 0, size+size/8+more), `{"messages":[`...), roles: make([]string, 0, len(msgs)+1), thoughts: []string{}}
	asList, system := o.lists(), p.System
	if system != "" && o.system {
		w.text(append(w.body, `{"role":"system","content":`...), system, asList.system)
		w.body, w.roles = append(w.body, "},"...), append(w.roles, "system")
		system = ""
	}
	field := cmp.Or(o.renamed, o.field, "reasoning_content")
	if opaque {
		if o.renamed == "" {
			field = ownField(msgs, field)
		}
		if o.reasoning == "" && !o.target.Plain {
			o.reasoning = wantedBack(msgs)
		}
	}
	for i := range msgs {
		switch m := &msgs[i]; m.Role {
		case sessions.User:
			if system != "" {
				m.Content = slices.Insert(slices.Clone(m.Content), 0, sessions.Block{Type: sessions.TextBlock, Text: system}) // msgs are this request's own
				system = ""
			}
			w.body = append(w.body, `{"role":"user","content":`...)
			w.roles = append(w.roles, "user")
			w.user(m.Content, asList.user)
		case sessions.Assistant:
			w.body = append(w.body, `{"role":"assistant","content":`...)
			w.roles = append(w.roles, "assistant")
			w.assistant(m, &o, asList.assistant, field, i > 0 && msgs[i-1].Role == sessions.ToolResult)
		case sessions.ToolResult:
			w.body = wire.Quote(append(w.body, `{"role":"tool","tool_call_id":`...), cmp.Or(w.ids[m.ToolCallID], m.ToolCallID))
			if o.named && m.ToolName != "" {
				w.body = wire.Quote(append(w.body, `,"name":`...), m.ToolName)
			}
			w.text(append(w.body, `,"content":`...), wire.Text(m.Content), asList.tool)
			w.roles = append(w.roles, "tool")
		}
		w.body = append(w.body, "},"...)
	}
	w.body = append(bytes.TrimSuffix(w.body, []byte{','}), ']')
	return w
}

// How much a message of one block, and a call, are besides their texts, in bytes.
const (
	blockBytes = 40
	callBytes  = 96
)

// ownField gives the field in which the endpoint sent reasoning in a history, otherwise where nothing is known of it.
func ownField(msgs []sessions.Message, otherwise string) string {
	for _, m := range msgs {
		for _, b := range m.Content {
			if b.Type == sessions.ThinkingBlock && b.Opaque != nil && len(b.Opaque.Data) > 0 {
				if f := readOpaque(b.Opaque.Data).Field; f != "" && f != fieldTags && f != fieldParts {
					return f
				}
			}
		}
	}
	return otherwise
}

// wantedBack tells from an endpoint's own steps what it wants with those that others made: signatures, reasoning, or nothing ("").
func wantedBack(msgs []sessions.Message) string {
	wants := ""
	for _, m := range msgs {
		if m.Role != sessions.Assistant || len(m.ToolCalls()) == 0 {
			continue
		}
		for _, b := range m.Content {
			if b.Opaque == nil || len(b.Opaque.Data) == 0 {
				continue
			}
			switch data := readOpaque(b.Opaque.Data); {
			case data.hasSignature():
				return lessons.SendSignatures
			case data.Field != "" && data.Field != fieldTags && data.Field != fieldParts:
				wants = lessons.SendReasoning
			}
		}
	}
	return wants
}

// back is what of an assistant message goes back to the endpoint that made it.
type back struct {
	thinking string
	data     opaque
	own      bool // there is reasoning
}

// backOf collects it.
func backOf(m *sessions.Message) (out back) {
	for i := range m.Content {
		b := &m.Content[i]
		if b.Opaque == nil && b.Type != sessions.ThinkingBlock {
			continue
		}
		var data opaque
		if b.Opaque != nil {
			data = readOpaque(b.Opaque.Data)
		}
		if b.Type == sessions.ThinkingBlock && b.Text != "" {
			if out.own {
				out.thinking += "\n\n"
			}
			out.thinking, out.own = out.thinking+b.Text, true
		}
		if data.Field != "" {
			out.data.Field, out.data.Open, out.data.Close = data.Field, data.Open, data.Close
		}
		if data.Extra != nil {
			out.data.Extra = data.Extra
		}
		if data.Sealed != nil {
			out.data.Sealed = data.Sealed
		}
		if data.Provider != nil {
			out.data.Provider = data.Provider
		}
		if data.Blocks != nil {
			out.data.Blocks = data.Blocks
		}
		if data.Part != nil {
			out.data.Part = data.Part
		}
		if data.Rest != nil {
			out.data.Rest = data.Rest
		}
		switch {
		case data.Details == nil:
		case out.data.Details == nil, out.data.Details[0] != '[', data.Details[0] != '[': // texts are not joined
			out.data.Details = data.Details
		default: // two lists become one
			out.data.Details = slices.Concat(bytes.TrimSuffix(out.data.Details, []byte{']'}), []byte{','}, bytes.TrimPrefix(data.Details, []byte{'['}))
		}
	}
	return out
}

// assistant appends an assistant message's content, reasoning and calls. step says that it follows the result of a tool.
func (w *bodyPrefix) assistant(m *sessions.Message, o *plan, asList bool, field string, step bool) {
	text := wire.Text(m.Content)
	calls := m.HasToolCalls()
	var give back
	if o.reasoning != lessons.OmitReasoning && !o.target.Plain {
		give = backOf(m)
	}
	if o.renamed != "" && give.own {
		give.data.Field = o.renamed
	}
	if o.reasoning == lessons.PlaceholderSignatures {
		give.data.Details, give.data.Extra, give.data.Provider, give.data.Blocks, give.data.Rest = nil, nil, nil, nil, nil
	}
	if calls && o.content == lessons.CallsOnly {
		text, give.own = "", give.own && give.data.Field != fieldTags && give.data.Field != fieldParts
	}
	inText := give.own && (give.data.Field == fieldTags || give.data.Field == fieldParts)
	switch {
	case inText && give.data.Field == fieldTags:
		w.body = wire.Quote(w.body, give.data.Open+give.thinking+give.data.Close+text)
	case inText:
		w.roles[len(w.roles)-1] = lessons.Blocks
		w.body = wire.Quote(append(w.body, `[{"type":"thinking","thinking":[{"type":"text","text":`...), give.thinking)
		w.body = append(appendFields(append(w.body, `}]`...), give.data.Part), '}')
		if text != "" {
			w.body = wire.Quote(append(w.body, `,{"type":"text","text":`...), text)
			w.body = append(w.body, '}')
		}
		w.body = append(w.body, ']')
	case text != "":
		w.text(w.body, text, asList)
	default:
		w.body = append(w.body, map[string]string{"": "null", lessons.CallsOnly: "null", lessons.EmptyContent: `""`, lessons.FilledContent: `"` + filledContent + `"`}[o.content]...)
	}
	if o.refusal {
		w.body = append(w.body, `,"refusal":null`...)
	}
	w.reasoning = w.reasoning || inText
	if give.data.Rest != nil {
		w.body, w.reasoning = appendFields(w.body, give.data.Rest), true
		for name := range fieldsOf(give.data.Rest) {
			w.thought(name)
		}
	}
	if !o.target.Plain && !inText && (give.data.Rest == nil || !repeats(give.data.Rest, o.renamed)) {
		w.reasoningField(&give, o, field, calls || step)
	}
	if give.data.Extra != nil {
		w.body, w.reasoning = append(append(w.body, `,"extra_content":`...), give.data.Extra...), true
	}
	if give.data.Sealed != nil {
		w.body, w.reasoning = append(append(w.body, `,"reasoning_opaque":`...), give.data.Sealed...), true
	}
	if give.data.Provider != nil {
		w.body, w.reasoning = append(append(w.body, `,"provider_specific_fields":`...), give.data.Provider...), true
	}
	if give.data.Blocks != nil {
		w.body, w.reasoning = append(append(w.body, `,"thinking_blocks":`...), give.data.Blocks...), true
	}
	if calls {
		w.calls(m.Content, o)
	}
}

// repeats reports whether the further fields of a message have its reasoning, in the field where the endpoint wants it; "" = any.
func repeats(rest json.RawMessage, renamed string) bool {
	fields := fieldsOf(rest)
	if renamed != "" {
		return fields[renamed] != nil
	}
	return fields["thinking"] != nil || fields["reasoning"] != nil
}

// fieldsOf reads an object; nil where it is none.
func fieldsOf(raw json.RawMessage) (fields map[string]json.RawMessage) {
	_ = json.Unmarshal(raw, &fields)
	return fields
}

// thought notes a field of the message at hand that has reasoning.
func (w *bodyPrefix) thought(name string) {
	w.thoughtAt = append(w.thoughtAt, lessons.Place{Message: len(w.roles) - 1, Field: name})
	if !slices.Contains(w.thoughts, name) {
		w.thoughts = append(w.thoughts, name)
	}
}

// reasoningField appends reasoning in a field of its own: of steps of a turn that called tools always, of other messages where an
// endpoint wants all. source: api-docs.deepseek.com/guides/thinking_mode, openrouter.ai/docs/use-cases/reasoning-tokens
func (w *bodyPrefix) reasoningField(give *back, o *plan, field string, step bool) {
	if give.data.Details != nil {
		w.body, w.reasoning = append(append(w.body, `,"reasoning_details":`...), give.data.Details...), true
		if o.renamed == "" {
			return
		}
	}
	switch {
	case give.own && (step || o.all):
		if give.data.Field != "" {
			field = give.data.Field
		}
	case o.reasoning == lessons.SendReasoning && (step || o.said):
		if give.thinking = placeholder; o.said {
			give.thinking = saidPlaceholder
		}
	default:
		return
	}
	w.body = append(wire.Quote(append(w.body, ','), field), ':')
	w.body, w.reasoning = wire.Quote(w.body, give.thinking), true
	w.thought(field)
}

// calls appends the tool calls of a message.
func (w *bodyPrefix) calls(blocks []sessions.Block, o *plan) {
	w.steps = true
	next := `,"tool_calls":[`
	for _, c := range blocks {
		if c.Type != sessions.ToolCallBlock {
			continue
		}
		var own ofCall
		placeholders := o.reasoning == lessons.PlaceholderSignatures
		if c.Opaque != nil && o.reasoning != lessons.OmitReasoning && !placeholders {
			own = readOpaque(c.Opaque.Data).ofCall
		}
		id, extra := c.ID, []byte(own.CallExtra)
		if own.CallID != "" && !o.target.ShortIDs && o.target.IDs == nil {
			id = own.CallID
			if w.ids == nil {
				w.ids = make(map[string]string)
			}
			w.ids[c.ID] = id
		}
		w.body = wire.Quote(append(append(w.body, next...), `{"type":"function","id":`...), id)
		if extra == nil && next != "," && (placeholders || c.Opaque == nil && o.reasoning == lessons.SendSignatures) {
			extra = []byte(skipSignature) // of parallel calls the first has the signature
		}
		if extra != nil {
			w.body, w.reasoning = append(append(w.body, `,"extra_content":`...), extra...), true
		}
		w.body, w.reasoning = own.Call.appendTo(w.body), w.reasoning || own.Call != nil || own.Function != nil
		w.body = wire.Quote(append(w.body, `,"function":{"name":`...), c.Name)
		w.body = append(w.body, `,"arguments":`...)
		if o.objects {
			w.body = append(w.body, c.Arguments...)
		} else {
			w.body = wire.Quote(w.body, string(c.Arguments))
		}
		w.body, next = append(own.Function.appendTo(w.body), "}}"...), ","
	}
	w.body = append(w.body, ']')
}

// text appends a content that is a text, or a list with it.
func (w *bodyPrefix) text(body []byte, text string, asList bool) {
	if !asList {
		w.body = wire.Quote(body, text)
		return
	}
	w.body = append(wire.Quote(append(body, `[{"type":"text","text":`...), text), `}]`...)
}

// lists says of which roles the content of messages is a list.
type lists struct{ system, user, assistant, tool bool }

func (o *plan) lists() lists {
	is := func(role string) bool { return lessons.IsList(o.forms, role) }
	return lists{is("system"), is("user"), is("assistant"), is("tool")}
}

// user appends a user message's content: a plain text where it can be, because some servers know nothing else.
func (w *bodyPrefix) user(blocks []sessions.Block, asList bool) {
	isImage := func(c sessions.Block) bool { return c.Type == sessions.ImageBlock }
	if !slices.ContainsFunc(blocks, isImage) {
		w.text(w.body, wire.Text(blocks), asList)
		return
	}
	b := w.body
	for i, c := range blocks {
		b = append(b, "[,"[min(i, 1)])
		switch ok, instead := wire.Image(c); {
		case !isImage(c):
			b = wire.Quote(append(b, `{"type":"text","text":`...), c.Text)
		case !ok:
			b = wire.Quote(append(b, `{"type":"text","text":`...), instead)
		default:
			w.pictures = append(w.pictures, c.Data)
			b = wire.Quote(append(b, `{"type":"image_url","image_url":{"url":`...), "data:"+c.MIME+";base64,"+c.Data)
			b = append(b, '}')
		}
		b = append(b, '}')
	}
	w.body = append(b, ']')
}

func encodeTools(specs []tools.Spec, schema func(tools.Spec) json.RawMessage, strict string) ([]byte, error) {
	type function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  any             `json:"parameters"`
		Strict      json.RawMessage `json:"strict,omitempty"`
	}
	type tool struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	out := make([]tool, 0, len(specs))
	for _, s := range specs {
		out = append(out, tool{"function", function{s.Name, s.Description, schema(s), json.RawMessage(strict)}})
	}
	return wire.JSON(out)
}

// encodedTools gives the tools of a request as JSON; nil = none.
func (m *Model) encodedTools(o plan) ([]byte, error) {
	if o.strict != "" && len(o.tools) > 0 {
		return encodeTools(o.tools, o.schemas.Schema, o.strict)
	}
	return m.tools[o.schemas].Encode(o.tools, func(specs []tools.Spec) ([]byte, error) { return encodeTools(specs, o.schemas.Schema, "") })
}

// restBytes is room for what a request says besides messages and tools.
const restBytes = 512

// encode makes the body of a request: it appends the rest to its messages.
func encode(p agent.Prompt, o plan, messages, encodedTools []byte) []byte {
	b := messages
	if encodedTools != nil {
		b = append(append(b, `,"tools":`...), encodedTools...)
	}
	b = wire.Quote(append(b, `,"model":`...), p.Model)
	for _, q := range o.params {
		if q.json != nil {
			b = append(wire.Quote(append(b, ','), q.Name), ':')
			b = append(b, q.json...)
		}
	}
	if o.stream { // left out otherwise: some servers refuse the key
		b = append(b, `,"stream":true`...)
	}
	return append(b, '}')
}

// cacheKey names a session to the provider's prompt cache. Its name is nobody else's business.
func cacheKey(session string) string {
	sum := sha256.Sum256([]byte(session))
	return hex.EncodeToString(sum[:16])
}
