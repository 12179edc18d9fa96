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

// fail ends the events with an error. Some clients look for response.failed, others for an event named error, with its fields beside the
// type, as documented, or in an object, as OpenAI sends it. A client that went away needs neither.
func (e *events) fail(p *problem) {
	if p.ended {
		e.x.fail(p)
		if e.send("response.failed", fields{"response": e.x}) != nil {
			return
		}
	}
	_ = e.send("error", fields{"message": p.Message, "code": p.Code, "param": p.Param, "error": p})
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
func (t *pendingTurn) responseStream(w http.ResponseWriter, r *http.Request, x *response) {
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
		e.fail(t.problem(w, err))
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
