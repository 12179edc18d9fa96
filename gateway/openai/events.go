package openai

import (
	"maps"
	"net/http"
)

// fields are the fields of one event of a response.
type fields map[string]any

// events writes the events of one response, numbered.
type events struct {
	s *stream
	n int
	x *response
}

func (e *events) send(name string, f fields) error {
	all := fields{"type": name, "sequence_number": e.n}
	maps.Copy(all, f)
	e.n++
	return e.s.data(name, all)
}

// part sends an event about the text of the response's one message.
func (e *events) part(name string, f fields) error {
	all := fields{"item_id": e.x.message("", "").ID, "output_index": 0, "content_index": 0}
	maps.Copy(all, f)
	return e.send(name, all)
}

// all sends events until one cannot be sent.
func all(steps ...func() error) error {
	for _, do := range steps {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// responseStream answers with the events of a response.
func (t *turn) responseStream(w http.ResponseWriter, r *http.Request, x *response) {
	e := &events{s: startStream(w), x: x}
	if err := all(
		func() error { return e.send("response.created", fields{"response": x}) },
		func() error { return e.send("response.in_progress", fields{"response": x}) },
		func() error {
			return e.send("response.output_item.added", fields{"output_index": 0, "item": x.message("in_progress", "")})
		},
		func() error { return e.part("response.content_part.added", fields{"part": textOf("")}) },
	); err != nil {
		t.left(r.Context())
		return
	}
	var g grow
	sent := ""
	text := func(delta string) error {
		if delta == "" {
			return nil
		}
		sent += delta
		return e.part("response.output_text.delta", fields{"delta": delta, "logprobs": []string{}})
	}
	ans, err := t.wait(r.Context(), func(soFar string) error { return text(g.next(soFar)) }, e.s.ping)
	if err != nil {
		p := problemOf(w, err)
		x.Status, x.Error = "failed", &responseError{Code: "server_error", Message: p.Message}
		_ = e.send("response.failed", fields{"response": x}) // a client that went away needs none
		return
	}
	if text(g.last(ans.text)) != nil {
		return
	}
	ans.text = sent // what was shown is what the response says
	x.done(ans)
	_ = all(
		func() error {
			return e.part("response.output_text.done", fields{"text": sent, "logprobs": []string{}})
		},
		func() error { return e.part("response.content_part.done", fields{"part": textOf(sent)}) },
		func() error {
			return e.send("response.output_item.done", fields{"output_index": 0, "item": x.Output[0]})
		},
		func() error { return e.send("response."+x.Status, fields{"response": x}) },
	)
}
