package openai

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"parley/gateway/api"
	"parley/sessions"
)

// responseRequest is what matters of a request for a response.
type responseRequest struct {
	Model        string `json:"model"`
	Input        input  `json:"input"`
	Instructions string `json:"instructions"`
	Stream       bool   `json:"stream"`
	User         string `json:"user"`
	Previous     string `json:"previous_response_id"`
	Store        *bool  `json:"store"`
	Background   bool   `json:"background"`
	Reasoning    *struct {
		Effort string `json:"effort"`
	} `json:"reasoning"`
	Conversation json.RawMessage `json:"conversation"`
	Prompt       json.RawMessage `json:"prompt"`
	Text         *struct {
		Format *format `json:"format"`
	} `json:"text"`
	Metadata map[string]string `json:"metadata"`
	refused
}

// input is a text, or a list of messages.
type input []message

// UnmarshalJSON refuses items that are no messages.
func (in *input) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		m := message{Role: "user"}
		if err := json.Unmarshal(text, &m.Text.text); err != nil {
			return err
		}
		*in = input{m}
		return nil
	}
	var list []message
	if err := json.Unmarshal(text, &list); err != nil {
		if p, ok := errors.AsType[*problem](err); ok {
			return p
		}
		return bad("input", "input is a text or a list of messages")
	}
	for _, m := range list {
		if m.Type == "reasoning" { // of another model, given back
			continue
		}
		if m.Type != "" && m.Type != "message" {
			return unsupported("input", "input: an item of the type %.50q is not taken: messages only", m.Type)
		}
		*in = append(*in, m)
	}
	return nil
}

// readResponse decodes the body of a request for a response.
func readResponse(text []byte) (q responseRequest, o order, err error) {
	if err = decode(text, &q); err != nil {
		return q, o, err
	}
	o = order{model: q.Model, user: q.User, previous: q.Previous, keep: respKept}
	if q.Store != nil && !*q.Store {
		o.keep = loneKept
	}
	given := func(v json.RawMessage) bool { return len(v) > 0 && string(v) != "null" }
	switch {
	case q.Model == "":
		return q, o, bad("model", "model is missing: it names an agent; parley is the default one")
	case q.Background:
		return q, o, unsupported("background", "background: not here; POST /api/agent begins a run and does not wait")
	case given(q.Conversation):
		return q, o, unsupported("conversation", "conversation: not here; user keeps a session, previous_response_id goes on with one")
	case given(q.Prompt):
		return q, o, unsupported("prompt", "prompt: there are no stored prompts here; use instructions")
	}
	if err = q.check(); err != nil {
		return q, o, err
	}
	if q.Text != nil {
		if err = q.Text.Format.check("text.format"); err != nil {
			return q, o, err
		}
	}
	if q.Reasoning != nil {
		if o.thinking, err = thinking("reasoning.effort", q.Reasoning.Effort); err != nil {
			return q, o, err
		}
	}
	if o.talk, err = listen("input", q.Input); err != nil {
		return q, o, err
	}
	o.talk.system = strings.TrimSpace(q.Instructions + "\n\n" + o.talk.system)
	return q, o, nil
}

const responsePrefix = "resp_"

// goOn finds the session that an earlier response was given in.
func (h *handler) goOn(r *http.Request, a sessions.AgentID, previous string) (place, error) {
	p := api.Caller(r.Context())
	none := refuse(http.StatusNotFound, "previous_response_id", "previous_response_not_found", "previous_response_id: there is no response %.100q, or its session has ended", previous)
	id, ok := strings.CutPrefix(previous, responsePrefix)
	if !ok || id == "" {
		return place{}, none
	}
	run, err := h.Store.GetRun(r.Context(), sessions.RunID(id))
	if errors.Is(err, sessions.ErrNotFound) || err == nil && !mine(run.Key, p) && !p.Scope.Allows(api.Admin) {
		return place{}, none
	} else if err != nil {
		return place{}, err
	}
	s, err := h.Store.Get(r.Context(), run.Key)
	switch {
	case errors.Is(err, sessions.ErrNotFound), err == nil && (s.Archived || s.ID != run.Session):
		return place{}, none
	case err != nil:
		return place{}, err
	case s.Agent != a:
		return place{}, bad("model", "the response %s was given by the agent %q, and the model names %q", previous, s.Agent, a)
	}
	return place{key: s.Key}, nil
}

func (h *handler) responses(w http.ResponseWriter, r *http.Request) {
	q, turn, err := begin(h, w, r, "responses", readResponse)
	if err != nil {
		Fail(w, err)
		return
	}
	defer turn.close()
	x := newResponse(turn.run, q)
	if q.Stream {
		turn.responseStream(w, r, x)
		return
	}
	ans, err := turn.wait(r.Context(), nil, nil)
	if err != nil {
		Fail(w, err)
		return
	}
	x.done(ans)
	api.WriteJSON(w, http.StatusOK, x)
}

// response is a response, under way or done.
type response struct {
	ID           string            `json:"id"`
	Object       string            `json:"object"`
	Created      int64             `json:"created_at"`
	Completed    *int64            `json:"completed_at"`
	Status       string            `json:"status"`
	Background   bool              `json:"background"`
	Error        *responseError    `json:"error"`
	Incomplete   *incomplete       `json:"incomplete_details"`
	Instructions *string           `json:"instructions"`
	MaxOutput    *int              `json:"max_output_tokens"`
	Model        string            `json:"model"`
	Output       []item            `json:"output"`
	Parallel     bool              `json:"parallel_tool_calls"`
	Previous     *string           `json:"previous_response_id"`
	Reasoning    map[string]any    `json:"reasoning"`
	Store        bool              `json:"store"`
	Temperature  float64           `json:"temperature"`
	Text         map[string]format `json:"text"`
	ToolChoice   string            `json:"tool_choice"`
	Tools        []string          `json:"tools"`
	TopP         float64           `json:"top_p"`
	Truncation   string            `json:"truncation"`
	Usage        *responseUsage    `json:"usage"`
	User         *string           `json:"user"`
	Metadata     map[string]string `json:"metadata"`
}

type responseError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type incomplete struct {
	Reason string `json:"reason"`
}

// item is the one message that a response has.
type item struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Status  string `json:"status"`
	Role    string `json:"role"`
	Content []text `json:"content"`
}

type text struct {
	Type        string   `json:"type"`
	Text        string   `json:"text"`
	Annotations []string `json:"annotations"`
	Log         []string `json:"logprobs"`
}

func textOf(s string) text {
	return text{Type: "output_text", Text: s, Annotations: []string{}, Log: []string{}}
}

type responseUsage struct {
	Input         int           `json:"input_tokens"`
	InputDetails  promptDetails `json:"input_tokens_details"`
	Output        int           `json:"output_tokens"`
	OutputDetails struct {
		Reasoning int `json:"reasoning_tokens"` // is part of Output, and not counted by itself
	} `json:"output_tokens_details"`
	Total int `json:"total_tokens"`
}

func newResponse(run sessions.Run, q responseRequest) *response {
	x := &response{ID: responsePrefix + string(run.ID), Object: "response", Created: run.Created.Unix(), Status: "in_progress", Model: q.Model, Output: []item{},
		Reasoning: map[string]any{"effort": nil, "summary": nil}, Store: q.Store == nil || *q.Store, Temperature: 1, TopP: 1,
		Text: map[string]format{"format": {Type: "text"}}, ToolChoice: "none", Tools: []string{}, Truncation: "disabled", Metadata: q.Metadata}
	if x.Metadata == nil {
		x.Metadata = map[string]string{}
	}
	if q.Reasoning != nil && q.Reasoning.Effort != "" {
		x.Reasoning["effort"] = q.Reasoning.Effort
	}
	for _, o := range []struct {
		from string
		to   **string
	}{{q.Instructions, &x.Instructions}, {q.Previous, &x.Previous}, {q.User, &x.User}} {
		if o.from != "" {
			*o.to = &o.from
		}
	}
	return x
}

// message is the response's one item, with the text so far.
func (x *response) message(status, words string) item {
	m := item{ID: "msg_" + strings.TrimPrefix(x.ID, responsePrefix), Type: "message", Status: status, Role: "assistant", Content: []text{}}
	if status != "in_progress" {
		m.Content = append(m.Content, textOf(words))
	}
	return m
}

// done fills in how it ended well.
func (x *response) done(a answer) {
	now := time.Now().Unix()
	x.Status, x.Completed = "completed", &now
	switch a.finish {
	case "length":
		x.Status, x.Completed, x.Incomplete = "incomplete", nil, &incomplete{"max_output_tokens"}
	case "content_filter":
		x.Status, x.Completed, x.Incomplete = "incomplete", nil, &incomplete{"content_filter"}
	}
	x.Output = []item{x.message(x.Status, a.text)}
	x.Usage = &responseUsage{Input: a.usage.Input, InputDetails: promptDetails{a.usage.CacheRead}, Output: a.usage.Output, Total: a.usage.Total()}
}
