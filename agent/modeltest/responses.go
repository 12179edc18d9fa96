package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Responses is OpenAI's Responses protocol: POST …/responses. Its thinking is a reasoning item: Thinking its summary, Signature its
// encrypted content; Redacted is one without a summary.
const Responses Protocol = "responses"

// inputItem is an item of a request, or of an answer.
type inputItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	ID        string          `json:"id"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments *string         `json:"arguments"`
	Content   json.RawMessage `json:"content"`
	Output    json.RawMessage `json:"output"`
	Summary   *[]contentPart  `json:"summary"`
	Encrypted string          `json:"encrypted_content"`
}

// responsesInput reads the items of a request as strictly as OpenAI does.
type responsesInput struct {
	out   []Message
	ids   map[string]bool
	calls map[string]bool
	after bool // the item before is a reasoning item
}

func (r *Request) parseResponses() error {
	var in struct {
		Model        string
		Stream       bool
		Store        *bool
		Instructions string
		Input        []inputItem
		Tools        []struct {
			Type, Name, Description string
			Parameters              json.RawMessage
		}
	}
	if err := json.Unmarshal(r.Raw, &in); err != nil {
		return fmt.Errorf("reading a responses request: %w", err)
	}
	r.Model, r.Stream, r.System = in.Model, in.Stream, in.Instructions
	for _, t := range in.Tools {
		if t.Type != "function" || t.Name == "" || len(t.Parameters) == 0 {
			return errors.New("a tool without type, name or parameters")
		}
		r.Tools = append(r.Tools, Tool{t.Name, t.Description, t.Parameters})
	}
	all := responsesInput{ids: make(map[string]bool), calls: make(map[string]bool)}
	for i, it := range in.Input {
		if err := all.add(it); err != nil {
			return fmt.Errorf("input[%d]: %w", i, err)
		}
	}
	if all.after {
		return errors.New("a reasoning item was provided without its required following item")
	}
	r.Messages = all.out
	return nil
}

func (a *responsesInput) add(it inputItem) error {
	prefix := map[string]string{"message": "msg", "function_call": "fc", "reasoning": "rs"}[it.Type]
	switch {
	case it.ID != "" && a.ids[it.ID]:
		return fmt.Errorf("duplicate item found with id %s", it.ID)
	case it.ID != "" && !strings.HasPrefix(it.ID, prefix), len(it.ID) > 64:
		return fmt.Errorf("invalid id %q: expected one that begins with %q", it.ID, prefix)
	}
	a.ids[it.ID] = it.ID != ""
	own := it.Type == "reasoning" || it.Type == "function_call" || it.Type == "message" && it.Role == "assistant"
	if a.after && !own {
		return errors.New("the item before, of type reasoning, was provided without its required following item")
	}
	a.after = it.Type == "reasoning"
	switch it.Type {
	case "message":
		return a.message(it)
	case "function_call":
		if it.CallID == "" || it.Name == "" || it.Arguments == nil || len(it.CallID) > 64 {
			return errors.New("a function call without call_id, name or arguments")
		}
		m := a.assistant()
		m.ToolCalls = append(m.ToolCalls, ToolCall{it.CallID, it.Name, *it.Arguments})
		a.calls[it.CallID] = true
	case "function_call_output":
		if !a.calls[it.CallID] {
			return fmt.Errorf("no tool call found for function call output with call_id %s", it.CallID)
		}
		text, images, err := a.parts(it.Output, "input_text")
		if err != nil {
			return err
		}
		a.out = append(a.out, Message{Role: "tool", ToolCallID: it.CallID, Text: text, Images: images})
	case "reasoning":
		if it.Summary == nil || it.ID != "" && it.Encrypted == "" {
			return fmt.Errorf("item with id %q not found: items are not persisted when store is set to false", it.ID)
		}
		m, text := a.assistant(), ""
		for _, p := range *it.Summary {
			text += p.Text
		}
		if text == "" {
			m.Redacted = it.Encrypted
		} else {
			m.Thinking, m.Signature = text, it.Encrypted
		}
	default:
		return fmt.Errorf("invalid value %q: supported values are message, function_call, function_call_output and reasoning", it.Type)
	}
	return nil
}

func (a *responsesInput) message(it inputItem) error {
	kind := "input_text"
	if it.Role == "assistant" {
		kind = "output_text"
	}
	text, images, err := a.parts(it.Content, kind)
	if err != nil {
		return err
	}
	switch it.Role {
	case "assistant":
		a.assistant().Text += text
	case "user":
		a.out = append(a.out, Message{Role: "user", Text: text, Images: images})
	default:
		return fmt.Errorf("a message of the role %q", it.Role)
	}
	return nil
}

// assistant gives the message of the assistant that the items at hand belong to.
func (a *responsesInput) assistant() *Message {
	if n := len(a.out); n == 0 || a.out[n-1].Role != "assistant" {
		a.out = append(a.out, Message{Role: "assistant"})
	}
	return &a.out[len(a.out)-1]
}

func (a *responsesInput) parts(raw json.RawMessage, kind string) (text string, images int, err error) {
	if len(raw) > 0 && raw[0] == '"' {
		return text, 0, json.Unmarshal(raw, &text)
	}
	ps, err := parts(raw)
	for _, p := range ps {
		switch {
		case p.Type == kind:
			text += p.Text
		case p.Type == "input_image" && kind == "input_text":
			images++
		default:
			return "", 0, fmt.Errorf("invalid value %q: supported value is %q", p.Type, kind)
		}
	}
	return text, images, err
}

// responsesEvent is an event of the stream.
func responsesEvent(kind string, fields string) []byte {
	return fmt.Appendf(nil, "event: %s\ndata: {\"type\":\"%s\",\"sequence_number\":1%s}\n\n", kind, kind, fields)
}

func quoted(s string) string { return string(quote(nil, s)) }

// responseObject is the answer as an event tells it.
func (a *answer) responseObject(status, output, usage string) string {
	if usage == "" {
		usage = "null"
	}
	details := "null"
	switch a.reply.Stop {
	case "length", "max_tokens":
		details = `{"reason":"max_output_tokens"}`
	case "content_filter", "refusal":
		details = `{"reason":"content_filter"}`
	}
	if status == "in_progress" {
		details = "null"
	} else if details != "null" {
		status = "incomplete"
	}
	return fmt.Sprintf(`{"id":"resp_%s","object":"response","created_at":1,"status":%q,"error":null,"incomplete_details":%s,"instructions":%s,"model":%s,"output":[%s],"usage":%s}`,
		a.id, status, details, quoted(a.req.System), quoted(a.req.Model), output, usage)
}

func (a *answer) responsesUsage() string {
	u := a.reply.Usage
	return fmt.Sprintf(`{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":%d}`,
		u.Input, u.CacheRead, u.Output, u.Input+u.Output)
}

// responsesItems are the items of the reply as they end.
func (a *answer) responsesItems() (out []string) {
	reason := func(summary, encrypted string) {
		out = append(out, fmt.Sprintf(`{"id":"rs_%s_%d","type":"reasoning","summary":[%s],"encrypted_content":%s}`, a.id, len(out), summary, quoted(encrypted)))
	}
	if r := a.reply; r.Thinking != "" {
		reason(`{"type":"summary_text","text":`+quoted(r.Thinking)+`}`, r.Signature)
	}
	if r := a.reply; r.Redacted != "" {
		reason("", r.Redacted)
	}
	if len(a.reply.Text) > 0 {
		out = append(out, fmt.Sprintf(`{"id":"msg_%s_%d","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"text":%s}]}`,
			a.id, len(out), quoted(strings.Join(a.reply.Text, ""))))
	}
	for _, c := range a.reply.ToolCalls {
		out = append(out, fmt.Sprintf(`{"id":"fc_%s_%d","type":"function_call","status":"completed","call_id":%s,"name":%s,"arguments":%s}`,
			a.id, len(out), quoted(c.ID), quoted(c.Name), quoted(c.Arguments)))
	}
	return out
}

func (a *answer) responsesEvents() (out [][]byte) {
	usage := ""
	if a.reply.EarlyUsage {
		usage, a.saying = a.responsesUsage(), a.said()
	}
	begin := `,"response":` + a.responseObject("in_progress", "", usage)
	out = append(out, append(responsesEvent("response.created", begin), responsesEvent("response.in_progress", begin)...))
	calls := 0
	for i, raw := range a.responsesItems() {
		a.blocks = i + 1
		var it inputItem
		if err := json.Unmarshal([]byte(raw), &it); err != nil {
			continue
		}
		at := fmt.Sprintf(`,"output_index":%d`, i)
		in := at + `,"item_id":` + quoted(it.ID)
		add := func(kind, fields string) { // what is not a piece of the answer comes with the piece before
			if e := responsesEvent(kind, fields); strings.HasSuffix(kind, ".delta") {
				out = append(out, e)
			} else {
				out[len(out)-1] = append(out[len(out)-1], e...)
			}
		}
		begun := map[string]string{
			"reasoning":     `{"id":%s,"type":"reasoning","summary":[]}`,
			"message":       `{"id":%s,"type":"message","status":"in_progress","role":"assistant","content":[]}`,
			"function_call": `{"id":%s,"type":"function_call","status":"in_progress","call_id":` + quoted(it.CallID) + `,"name":` + quoted(it.Name) + `,"arguments":""}`,
		}[it.Type]
		add("response.output_item.added", at+`,"item":`+strings.Replace(begun, "%s", quoted(it.ID), 1))
		switch it.Type {
		case "reasoning":
			for _, p := range *it.Summary {
				add("response.reasoning_summary_part.added", in+`,"summary_index":0,"part":{"type":"summary_text","text":""}`)
				add("response.reasoning_summary_text.delta", in+`,"summary_index":0,"delta":`+quoted(p.Text))
				add("response.reasoning_summary_text.done", in+`,"summary_index":0,"text":`+quoted(p.Text))
			}
		case "message":
			add("response.content_part.added", in+`,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}`)
			for _, t := range a.reply.Text {
				add("response.output_text.delta", in+`,"content_index":0,"delta":`+quoted(t))
			}
			add("response.output_text.done", in+`,"content_index":0,"text":`+quoted(strings.Join(a.reply.Text, "")))
		case "function_call":
			first, rest := halves(*it.Arguments)
			add("response.function_call_arguments.delta", in+`,"delta":`+quoted(first))
			if calls++; a.reply.Fault == HalfCall && calls == len(a.reply.ToolCalls) {
				return out
			}
			add("response.function_call_arguments.delta", in+`,"delta":`+quoted(rest))
			add("response.function_call_arguments.done", in+`,"arguments":`+quoted(*it.Arguments))
		}
		add("response.output_item.done", at+`,"item":`+raw)
	}
	return out
}

func (a *answer) responsesText(text string) []byte {
	return responsesEvent("response.output_text.delta", fmt.Sprintf(`,"output_index":%d,"item_id":"msg_more","delta":%s`, a.blocks, quoted(text)))
}

func (a *answer) responsesEnd() []byte {
	usage := ""
	if !a.reply.NoUsage {
		usage, a.saying = a.responsesUsage(), a.said()
	}
	kind, response := "response.completed", a.responseObject("completed", strings.Join(a.responsesItems(), ","), usage)
	if strings.Contains(response, `"status":"incomplete"`) {
		kind = "response.incomplete"
	}
	return responsesEvent(kind, `,"response":`+response)
}

func (a *answer) responsesWhole() []byte {
	return []byte(a.responseObject("completed", strings.Join(a.responsesItems(), ","), a.responsesUsage()))
}

const responsesOverload = `{"type":"error","sequence_number":2,"error":{"type":"server_error","code":"server_is_overloaded","message":"Our servers are currently overloaded. Please try again later.","param":null}}`

func responsesTooLong() Reply {
	return Reply{Status: http.StatusBadRequest,
		Body: `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`}
}
