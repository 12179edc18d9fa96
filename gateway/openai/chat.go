package openai

import (
	"encoding/json"
	"net/http"

	"parley/gateway/api"
	"parley/sessions"
)

// chatRequest is what matters of a request for a chat completion. Everything else is accepted and has no effect: sampling is the
// agent's model's.
type chatRequest struct {
	Model    string    `json:"model"`
	Messages []message `json:"messages"`
	Stream   bool      `json:"stream"`
	Options  *struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
	User   string `json:"user"`
	N      *int   `json:"n"`
	Effort string `json:"reasoning_effort"`
	clientTools
	Modalities []string `json:"modalities"`
	Format     *format  `json:"response_format"`
}

// clientTools are the tools that a client offers, in all forms of both endpoints. An agent never calls them.
type clientTools struct {
	Tools     json.RawMessage `json:"tools"`
	Choice    json.RawMessage `json:"tool_choice"`
	Functions json.RawMessage `json:"functions"`
	Function  json.RawMessage `json:"function_call"`
}

type format struct {
	Type string `json:"type"`
}

func (f *format) check(param string) error {
	if f != nil && f.Type != "" && f.Type != "text" {
		return unsupported(param, "%s: only text is supported; describe the form of the answer in the message", param)
	}
	return nil
}

// check refuses tools that the client expects to be called, unless the configuration says that they are ignored.
func (q clientTools) check(ignore bool) error {
	if ignore {
		return nil
	}
	for _, x := range []struct {
		param, choiceName string
		tools, choice     json.RawMessage
	}{{"tools", "tool_choice", q.Tools, q.Choice}, {"functions", "function_call", q.Functions, q.Function}} {
		if isEmptyJSON(x.tools) || string(x.choice) == `"none"` {
			continue
		}
		return unsupported(x.param, "%[1]s: agents of parley use their own tools, not the client's. Leave %[1]s out, set %[2]s to none, or set gateway.openai.tools to ignore in parley's configuration for clients that always send %[1]s", x.param, x.choiceName)
	}
	return nil
}

// isEmptyJSON reports whether a value is missing, null or an empty list.
func isEmptyJSON(v json.RawMessage) bool {
	var list []json.RawMessage
	return len(v) == 0 || string(v) == "null" || json.Unmarshal(v, &list) == nil && len(list) == 0
}

// efforts are the words of the API for how long a model thinks, as parley has them.
var efforts = map[string]string{"": "", "none": "off", "minimal": "minimal", "low": "low", "medium": "medium", "high": "high", "xhigh": "high"}

func thinking(param, effort string) (string, error) {
	t, ok := efforts[effort]
	if !ok {
		return "", bad(param, "%s %.50q: use none, minimal, low, medium, high or xhigh", param, effort)
	}
	return t, nil
}

// readChat decodes the body of a chat completion.
func readChat(text []byte, ignoreTools bool) (q chatRequest, o order, err error) {
	if err = decode(text, &q); err != nil {
		return q, o, err
	}
	o = order{model: q.Model, user: q.User, keep: oneRequestTTL}
	switch {
	case q.Model == "":
		return q, o, bad("model", "model is missing: it names an agent; parley is the default agent")
	case q.N != nil && *q.N != 1:
		return q, o, unsupported("n", "n: an agent gives one answer")
	}
	for _, m := range q.Modalities {
		if m != "text" {
			return q, o, unsupported("modalities", "modalities: text only")
		}
	}
	if err = q.check(ignoreTools); err != nil {
		return q, o, err
	}
	if err = q.Format.check("response_format"); err != nil {
		return q, o, err
	}
	if o.thinking, err = thinking("reasoning_effort", q.Effort); err != nil {
		return q, o, err
	}
	o.talk, err = listen("messages", q.Messages)
	return q, o, err
}

func (h *handler) chat(w http.ResponseWriter, r *http.Request) {
	q, turn, err := begin(h, w, r, "chat", readChat)
	if err != nil {
		Fail(w, err)
		return
	}
	defer turn.close()
	c := completion{ID: "chatcmpl-" + string(turn.run.ID), Object: "chat.completion", Created: turn.run.Created.Unix(), Model: q.Model}
	if q.Stream {
		c.Object = "chat.completion.chunk"
		turn.chatStream(w, r, c, q.Options != nil && q.Options.Usage)
		return
	}
	ans, err := turn.wait(r.Context(), nil, nil)
	if err != nil {
		Fail(w, turn.problem(w, err))
		return
	}
	c.Choices = []choice{{Message: &said{Role: "assistant", Content: &ans.text, Refusal: ans.refusal}, Finish: &ans.finish}}
	c.Usage = chatUsageOf(ans.usage)
	api.WriteJSON(w, http.StatusOK, c)
}

// completion is an answer, or a chunk of one.
type completion struct {
	ID      string     `json:"id"`
	Object  string     `json:"object"`
	Created int64      `json:"created"`
	Model   string     `json:"model"`
	Choices []choice   `json:"choices"`
	Usage   *chatUsage `json:"usage,omitempty"`
}

type choice struct {
	Index   int     `json:"index"`
	Message *said   `json:"message,omitempty"`
	Delta   *said   `json:"delta,omitempty"`
	Finish  *string `json:"finish_reason"`
	Log     *string `json:"logprobs"`
}

type said struct {
	Role    string  `json:"role,omitempty"`
	Content *string `json:"content,omitempty"`
	Refusal *string `json:"refusal,omitempty"`
}

type chatUsage struct {
	Prompt     int           `json:"prompt_tokens"`
	Completion int           `json:"completion_tokens"`
	Total      int           `json:"total_tokens"`
	Details    promptDetails `json:"prompt_tokens_details"`
}

type promptDetails struct {
	Cached int `json:"cached_tokens"`
}

func chatUsageOf(u sessions.Usage) *chatUsage {
	return &chatUsage{Prompt: u.Input, Completion: u.Output, Total: u.Total(), Details: promptDetails{u.CacheRead}}
}

// chatStream answers with chunks: the role, the text as it grows, why it ended, what it cost, and [DONE].
func (t *pendingTurn) chatStream(w http.ResponseWriter, r *http.Request, c completion, usage bool) {
	s := startStream(w)
	chunk := func(d said, finish *string) error {
		c.Choices = []choice{{Delta: &d, Finish: finish}}
		return s.data("", c)
	}
	text := func(delta string) error {
		if delta == "" {
			return nil
		}
		return chunk(said{Content: &delta}, nil)
	}
	empty := ""
	if err := chunk(said{Role: "assistant", Content: &empty}, nil); err != nil {
		t.left(r.Context())
		return
	}
	var g grow
	ans, err := t.wait(r.Context(), func(soFar string) error { return text(g.next(soFar)) }, s.ping)
	if err != nil {
		_ = s.data("", map[string]*problem{"error": t.problem(w, err)}) // a client that went away needs none
		return
	}
	if text(g.last(ans.text)) != nil || ans.refusal != nil && chunk(said{Refusal: ans.refusal}, nil) != nil || chunk(said{}, &ans.finish) != nil {
		return
	}
	if usage {
		c.Choices, c.Usage = []choice{}, chatUsageOf(ans.usage)
		if s.data("", c) != nil {
			return
		}
	}
	_ = s.raw("data: [DONE]\n\n")
}
