package openai

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"parley/gateway/api"
	"parley/sessions"
)

// responseRequest is what matters of a request for a response.
type responseRequest struct {
	Model        string          `json:"model"`
	Input        input           `json:"input"`
	Instructions string          `json:"instructions"`
	Stream       bool            `json:"stream"`
	User         string          `json:"user"`
	Previous     string          `json:"previous_response_id"`
	Store        *bool           `json:"store"`
	Background   bool            `json:"background"`
	Reasoning    *reasoning      `json:"reasoning"`
	Conversation json.RawMessage `json:"conversation"`
	Prompt       json.RawMessage `json:"prompt"`
	Text         *struct {
		Format *format `json:"format"`
	} `json:"text"`
	Metadata map[string]string `json:"metadata"`
	clientTools
}

// reasoning is how long the model thinks.
type reasoning struct {
	Effort string `json:"effort"`
}

// input is a text, or a list of items.
type input []message

// UnmarshalJSON takes both forms.
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
		return bad("input", "input must be a text or a list of messages")
	}
	*in = list
	return nil
}

// messages gives the items that are messages. A call of a tool, and its result, which another model or server made, is refused or left
// out; a result at the end stays, as what is no message of the user.
func (in input) messages(ignoreTools bool) (msgs []message, err error) {
	for i, m := range in {
		isResult := strings.HasSuffix(m.Type, "_call_output")
		switch {
		case m.Type == itemReference, m.Type == "" && m.Role == "" && m.ID != nil: // the API lets clients leave its type out
			msgs = append(msgs, message{Role: "assistant", Type: itemReference, ID: m.ID})
		case m.Type == "", m.Type == "message":
			msgs = append(msgs, m)
		case m.Type == "reasoning": // of another model, given back
		case ignoreTools && isResult && i == len(in)-1:
			msgs = append(msgs, message{Role: "tool"})
		case ignoreTools && (isResult || strings.HasSuffix(m.Type, "_call")):
		default:
			return nil, unsupported("input", "input: an item of the type %.50q is not supported: use messages", m.Type)
		}
	}
	return msgs, nil
}

// The bounds of metadata, which is kept with a response, as OpenAI has them. In bytes.
const (
	maxMetadata      = 16
	maxMetadataKey   = 64 * 4
	maxMetadataValue = 512 * 4
)

func checkMetadata(all map[string]string) error {
	if len(all) > maxMetadata {
		return bad("metadata", "metadata: at most %d pairs", maxMetadata)
	}
	for k, v := range all {
		if len(k) > maxMetadataKey || len(v) > maxMetadataValue {
			return bad("metadata", "metadata: the pair %.64q is too long: a key takes 64 characters, a value 512", k)
		}
	}
	return nil
}

// readResponse decodes the body of a request for a response.
func readResponse(text []byte, ignoreTools bool) (q responseRequest, o order, err error) {
	if err = decode(text, &q); err != nil {
		return q, o, err
	}
	o = order{model: q.Model, user: q.User, previous: q.Previous, keep: responseTTL}
	if q.Store != nil && !*q.Store {
		o.keep = oneRequestTTL
	}
	given := func(v json.RawMessage) bool { return len(v) > 0 && string(v) != "null" }
	switch {
	case q.Model == "":
		return q, o, bad("model", "model is missing: it names an agent; parley is the default agent")
	case q.Background:
		return q, o, unsupported("background", "background is not supported: POST /api/agent starts a run and does not wait")
	case given(q.Conversation):
		return q, o, unsupported("conversation", "conversation is not supported: user keeps a session, previous_response_id continues one")
	case given(q.Prompt):
		return q, o, unsupported("prompt", "prompt: stored prompts are not supported; use instructions")
	}
	if err = q.check(ignoreTools); err != nil {
		return q, o, err
	}
	if err = checkMetadata(q.Metadata); err != nil {
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
	msgs, err := q.Input.messages(ignoreTools)
	if err != nil {
		return q, o, err
	}
	if o.talk, err = listen("input", msgs); err != nil {
		return q, o, err
	}
	o.talk.system = strings.TrimSpace(q.Instructions + "\n\n" + o.talk.system)
	o.record, err = recordOf(q)
	return q, o, err
}

// The beginnings of the ids of a response and of the message in it; the id of the run follows.
const (
	responsePrefix = "resp_"
	itemPrefix     = "msg_"
)

// runOf finds the run of a response, when there is one that the caller may see.
func (h *handler) runOf(r *http.Request, response string) (run sessions.Run, found bool, err error) {
	id, ok := strings.CutPrefix(response, responsePrefix)
	if !ok || id == "" {
		return run, false, nil
	}
	p := api.Caller(r.Context())
	switch run, err = h.Store.GetRun(r.Context(), sessions.RunID(id)); {
	case errors.Is(err, sessions.ErrNotFound):
		return run, false, nil
	case err != nil:
		return run, false, err
	}
	return run, mine(run.Key, p) || p.Scope.Allows(api.Admin), nil
}

// goOn finds the session that an earlier response was given in.
func (h *handler) goOn(r *http.Request, a sessions.AgentID, previous string) (sessionPlace, error) {
	none := refuse(http.StatusNotFound, "previous_response_id", "previous_response_not_found", "previous_response_id: unknown response %.100q, or its session has ended", previous)
	run, found, err := h.runOf(r, previous)
	if err != nil {
		return sessionPlace{}, err
	} else if !found {
		return sessionPlace{}, none
	}
	s, err := h.Store.Get(r.Context(), run.Key)
	switch {
	case errors.Is(err, sessions.ErrNotFound), err == nil && (s.Archived || s.ID != run.Session):
		return sessionPlace{}, none
	case err != nil:
		return sessionPlace{}, err
	case s.Agent != a:
		return sessionPlace{}, bad("model", "the response %s belongs to the agent %q, but the model names %q", previous, s.Agent, a)
	}
	return sessionPlace{key: s.Key}, nil
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
		Fail(w, turn.problem(w, err))
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
		Reasoning int `json:"reasoning_tokens"` // is part of Output, and not counted separately
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
	m := item{ID: itemPrefix + strings.TrimPrefix(x.ID, responsePrefix), Type: "message", Status: status, Role: "assistant", Content: []text{}}
	if status != "in_progress" {
		m.Content = append(m.Content, textOf(words))
	}
	return m
}

// done fills in how it ended well.
func (x *response) done(a answer) {
	at := a.ended.Unix()
	x.Status, x.Completed = "completed", &at
	switch a.finish {
	case "length":
		x.Status, x.Completed, x.Incomplete = "incomplete", nil, &incomplete{"max_output_tokens"}
	case "content_filter":
		x.Status, x.Completed, x.Incomplete = "incomplete", nil, &incomplete{"content_filter"}
	}
	x.Output = []item{x.message(x.Status, a.text)}
	x.Usage = &responseUsage{Input: a.usage.Input, InputDetails: promptDetails{a.usage.CacheRead}, Output: a.usage.Output, Total: a.usage.Total()}
}

// fail fills in that it ended badly.
func (x *response) fail(p *problem) {
	x.Status, x.Error = "failed", &responseError{Code: "server_error", Message: p.Message}
}
