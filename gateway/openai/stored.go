package openai

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"parley/gateway/api"
	"parley/sessions"
)

// cancelTimeout bounds the wait for the end of a run that is cancelled.
const cancelTimeout = 10 * time.Second

// record is what a response shows of its request beside what the run has. It is stored with the run.
type record struct {
	Model        string            `json:"model"`
	Instructions int               `json:"instructions,omitempty"` // bytes at the head of Run.System
	Previous     string            `json:"previous,omitempty"`
	User         string            `json:"user,omitempty"`
	Effort       string            `json:"effort,omitempty"`
	Metadata     map[string]string `json:"metadata,omitempty"`
	Stream       bool              `json:"stream,omitempty"`
}

// recordOf encodes what is kept of a request; nil for one that says store: false.
func recordOf(q responseRequest) (json.RawMessage, error) {
	if q.Store != nil && !*q.Store {
		return nil, nil
	}
	k := record{Model: strings.TrimSpace(q.Model), Instructions: len(strings.TrimSpace(q.Instructions)), Previous: q.Previous, Metadata: q.Metadata, Stream: q.Stream}
	if len(q.User) <= maxUser {
		k.User = q.User
	}
	if q.Reasoning != nil {
		k.Effort = q.Reasoning.Effort
	}
	return json.Marshal(k)
}

// request gives the request of a stored run, as far as a response shows it.
func (k record) request(run sessions.Run) (q responseRequest) {
	q = responseRequest{Model: k.Model, Instructions: run.System[:min(k.Instructions, len(run.System))], Previous: k.Previous, User: k.User, Metadata: k.Metadata}
	if k.Effort != "" {
		q.Reasoning = &reasoning{Effort: k.Effort}
	}
	return q
}

// findStored finds the stored response that a request names. One that is not there, was not to be stored or is another's is not found.
func (h *handler) findStored(r *http.Request) (run sessions.Run, k record, err error) {
	return h.stored(r, r.PathValue("id"))
}

// stored finds a stored response by its id.
func (h *handler) stored(r *http.Request, id string) (run sessions.Run, k record, err error) {
	run, found, err := h.runOf(r, id)
	switch {
	case err != nil:
		return run, k, err
	case !found || len(run.Client()) == 0:
		return run, k, refuse(http.StatusNotFound, "response_id", "response_not_found", "unknown response %.100q", id)
	}
	return run, k, json.Unmarshal(run.Client(), &k)
}

// storedResponse answers with a response as it is now.
func (h *handler) storedResponse(w http.ResponseWriter, r *http.Request) {
	run, k, err := h.findStored(r)
	if err == nil && r.URL.Query().Get("stream") == "true" {
		err = unsupported("stream", "stream: a stored response cannot be streamed again; ask without stream until its status is neither queued nor in_progress")
	}
	if err != nil {
		Fail(w, err)
		return
	}
	h.show(r.Context(), w, run, k)
}

// show answers with the response of a run.
func (h *handler) show(ctx context.Context, w http.ResponseWriter, run sessions.Run, k record) {
	x, err := h.responseOf(ctx, run, k)
	if err != nil {
		Fail(w, err)
		return
	}
	api.WriteJSON(w, http.StatusOK, x)
}

// responseOf makes the response of a stored run, as its request was or will be answered.
func (h *handler) responseOf(ctx context.Context, run sessions.Run, k record) (*response, error) {
	x := newResponse(run, k.request(run))
	switch run.Status {
	case sessions.Queued:
		x.Status = "queued"
		return x, nil
	case sessions.Running:
		return x, nil
	case sessions.Stopped:
		x.Status = "cancelled"
		return x, nil
	}
	steps, err := h.Store.Steps(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	a, err := answerOf(run, steps)
	if p, failed := errors.AsType[*problem](err); failed {
		x.fail(p)
		return x, nil
	} else if err != nil {
		return nil, err
	}
	if k.Stream {
		a.text = streamed(steps, a.text)
	}
	x.done(a)
	return x, nil
}

// streamed is an answer as its stream showed it: the text between tool calls stands above it.
func streamed(steps []sessions.Message, last string) string {
	var g grow
	var all strings.Builder
	for _, m := range steps {
		if m.Role == sessions.Assistant && len(m.ToolCalls()) > 0 {
			all.WriteString(g.next(strings.TrimRight(m.Text(), " \t\r\n")))
		}
	}
	all.WriteString(g.last(last))
	return all.String()
}

// storedInput answers with the one message that the agent was given: what the request said before it is quoted in it.
func (h *handler) storedInput(w http.ResponseWriter, r *http.Request) {
	run, _, err := h.findStored(r)
	if err != nil {
		Fail(w, err)
		return
	}
	in := inputItem{ID: itemPrefix + run.Input.ID, Type: "message", Status: "completed", Role: "user", Content: []inputPart{}}
	if text := run.Input.Text(); text != "" {
		in.Content = append(in.Content, inputPart{Type: "input_text", Text: &text})
	}
	for _, b := range run.Input.Content {
		if b.Type == sessions.ImageBlock {
			in.Content = append(in.Content, inputPart{Type: "input_image", Detail: "auto"})
		}
	}
	api.WriteJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []inputItem{in}, "first_id": in.ID, "last_id": in.ID, "has_more": false})
}

// inputItem is a message of a request.
type inputItem struct {
	ID      string      `json:"id"`
	Type    string      `json:"type"`
	Status  string      `json:"status"`
	Role    string      `json:"role"`
	Content []inputPart `json:"content"`
}

// inputPart is a text or a picture; of a picture only that it was there.
type inputPart struct {
	Type   string  `json:"type"`
	Text   *string `json:"text,omitempty"`
	Detail string  `json:"detail,omitempty"`
}

// cancelResponse stops the run of a response and answers with what became of it. A run that has ended stays as it is.
func (h *handler) cancelResponse(w http.ResponseWriter, r *http.Request) {
	run, k, err := h.findStored(r)
	if err != nil {
		Fail(w, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), cancelTimeout)
	defer cancel()
	if _, _, err = h.Host.CancelRun(ctx, "openai:cancel:"+string(run.ID), run.ID); err == nil {
		run, err = h.ended(ctx, run.ID)
	}
	if err != nil {
		Fail(w, err)
		return
	}
	h.show(r.Context(), w, run, k)
}

// ended waits for the end of a run, and gives it as it is when ctx ends before.
func (h *handler) ended(ctx context.Context, id sessions.RunID) (sessions.Run, error) {
	run, err := h.Host.Outcome(ctx, id)
	if ctx.Err() != nil {
		return h.Store.GetRun(context.WithoutCancel(ctx), id)
	}
	return run, err
}

// itemReference is the type of an item that stands for the message of an earlier response: the AI SDK sends one for each answer.
const itemReference = "item_reference"

// maxReferences is how many references a request may have.
const maxReferences = 500

// resolve puts the texts of earlier responses in the place of references to them.
func (h *handler) resolve(r *http.Request, msgs []message) error {
	n := 0
	for i := range msgs {
		m := &msgs[i]
		if m.Type != itemReference {
			continue
		}
		if n++; n > maxReferences {
			return bad("input", "input: at most %d references to earlier items", maxReferences)
		}
		var id string
		if err := json.Unmarshal(m.ID, &id); err != nil {
			return bad("input", "input: an item_reference needs an id, which must be a text")
		}
		run, k, err := h.stored(r, responsePrefix+strings.TrimPrefix(id, itemPrefix))
		if p, ok := errors.AsType[*problem](err); ok && p.status == http.StatusNotFound {
			return refuse(http.StatusNotFound, "input", "item_not_found", "input: unknown item %.100q", id)
		} else if err != nil {
			return err
		}
		x, err := h.responseOf(r.Context(), run, k)
		if err != nil {
			return err
		}
		for _, out := range x.Output {
			m.Text.text = out.Content[0].Text
		}
	}
	return nil
}
