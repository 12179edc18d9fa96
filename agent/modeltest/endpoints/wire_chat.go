package endpoints

import (
	"fmt"
	"net/http"
	"strings"
)

// ChatWire is how an endpoint of chat completions writes. The zero value is OpenAI's way, without reasoning.
type ChatWire struct {
	Frame
	// Reasoning is the field of a delta that holds reasoning, or one of tags, lone, content: at the front of the text in <think> tags;
	// before a </think> that nothing opened; as parts of a content list (Mistral). Empty = it is not sent.
	Reasoning string
	Tag       string // with tags and lone; empty = think
	ID        func(made int) string
	Whole     bool // JSON instead of a stream, whatever was asked for
	NoUsage   bool
	AtOnce    bool // each call in one piece, as Ollama and Gemini send them
	Edit      func(c *Call, p *Piece)
	Last      func(c *Call, pieces []Piece) []Piece // at the end: all of them
	Answer    func(c *Call, whole obj)              // changes the JSON of an answer that is no stream
}

// callID is OpenAI's form of a call id.
func callID(made int) string { return fmt.Sprintf("call_Ab3dEf6hIj9kLm2nOp5qR%03d", made) }

// Wire gives the writer.
func (w ChatWire) Wire() Wire {
	return func(rw http.ResponseWriter, c *Call, s Say) {
		w.number(c, &s)
		if w.Reasoning == "content" {
			c.memory.times("thinking parts")
		}
		stream, _ := c.Body["stream"].(bool)
		if !stream || w.Whole {
			answer := w.whole(c, s)
			if w.Answer != nil {
				w.Answer(c, answer)
			}
			kind := w.ContentType
			if kind == "" {
				kind = "application/json"
			}
			send(rw, kind, encode(answer), 0)
			return
		}
		pieces := w.pieces(c, s)
		for i := range pieces {
			if w.Edit != nil {
				w.Edit(c, &pieces[i])
			}
		}
		if w.Last != nil {
			pieces = w.Last(c, pieces)
		}
		w.write(rw, pieces, "[DONE]")
	}
}

// number gives the calls their ids, and remembers the reasoning that they came with.
func (w ChatWire) number(c *Call, s *Say) {
	id := w.ID
	if id == nil {
		id = callID
	}
	for i := range s.Calls {
		s.Calls[i].ID = id(c.Made() + i)
		thought := s.Reasoning
		if w.Reasoning == "" {
			thought = ""
		}
		c.memory.think(s.Calls[i].ID, thought)
	}
}

// finish is the finish reason.
func (s Say) finish() string {
	switch {
	case s.Finish != "":
		return s.Finish
	case len(s.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func (s Say) usage(c *Call) obj {
	in := s.Used
	if in == 0 {
		in = len(c.Raw)/4 + 1
	}
	out := len(s.Text)/4 + 2
	return obj{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out}
}

// tagged gives the text with the reasoning in it, where the wire writes it so.
func (w ChatWire) tagged(s Say) string {
	tag := w.Tag
	if tag == "" {
		tag = "think"
	}
	switch {
	case s.Reasoning == "":
	case w.Reasoning == "tags":
		return "<" + tag + ">\n" + s.Reasoning + "\n</" + tag + ">\n\n" + s.Text
	case w.Reasoning == "lone":
		return s.Reasoning + "\n</" + tag + ">\n\n" + s.Text
	}
	return s.Text
}

// apart reports whether reasoning has a field of its own.
func (w ChatWire) apart() bool {
	return w.Reasoning != "" && w.Reasoning != "tags" && w.Reasoning != "lone"
}

func (w ChatWire) pieces(c *Call, s Say) []Piece {
	chunk := func(kind string, delta obj, finish any) Piece {
		return Piece{Kind: kind, Data: obj{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1764000000, "model": c.Body["model"],
			"choices": list{obj{"index": 0, "delta": delta, "finish_reason": finish}}}}
	}
	out := []Piece{chunk("role", obj{"role": "assistant", "content": ""}, nil)}
	if w.apart() && s.Reasoning != "" {
		for _, half := range both(s.Reasoning) {
			out = append(out, chunk("reasoning", w.reasoned(half), nil))
		}
	}
	if text := w.tagged(s); text != "" {
		for _, half := range both(text) {
			out = append(out, chunk("text", obj{"content": half}, nil))
		}
	}
	for i, k := range s.Calls {
		first, rest := halves(k.Args)
		if w.AtOnce {
			first, rest = k.Args, ""
		}
		out = append(out, chunk("call", obj{"tool_calls": list{obj{"index": i, "id": k.ID, "type": "function",
			"function": obj{"name": k.Name, "arguments": first}}}}, nil))
		if rest != "" {
			out = append(out, chunk("arguments", obj{"tool_calls": list{obj{"index": i, "function": obj{"arguments": rest}}}}, nil))
		}
	}
	out = append(out, chunk("finish", obj{}, s.finish()))
	if !w.NoUsage && c.Has("stream_options") {
		p := chunk("usage", nil, nil)
		p.Data["choices"], p.Data["usage"] = list{}, s.usage(c)
		out = append(out, p)
	}
	return out
}

func both(s string) []string {
	a, b := halves(s)
	return []string{a, b}
}

// reasoned is a delta with reasoning.
func (w ChatWire) reasoned(s string) obj {
	switch w.Reasoning {
	case "content":
		return obj{"content": list{obj{"type": "thinking", "thinking": list{obj{"type": "text", "text": s}}}}}
	case "reasoning_details":
		return obj{"reasoning": s, "reasoning_details": list{obj{"type": "reasoning.text", "text": s, "format": "unknown", "index": 0}}}
	}
	return obj{w.Reasoning: s}
}

func (w ChatWire) whole(c *Call, s Say) obj {
	message := obj{"role": "assistant", "content": w.tagged(s)}
	if w.apart() && s.Reasoning != "" {
		for k, v := range w.reasoned(s.Reasoning) {
			message[k] = v
		}
		if w.Reasoning == "content" {
			message["content"] = append(message["content"].(list), obj{"type": "text", "text": s.Text})
		}
	}
	var all list
	for _, k := range s.Calls {
		all = append(all, obj{"id": k.ID, "type": "function", "function": obj{"name": k.Name, "arguments": k.Args}})
	}
	if all != nil {
		message["tool_calls"] = all
		if strings.TrimSpace(s.Text) == "" && w.Reasoning != "content" {
			message["content"] = nil
		}
	}
	return obj{"id": "chatcmpl-1", "object": "chat.completion", "created": 1764000000, "model": c.Body["model"],
		"choices": list{obj{"index": 0, "message": message, "finish_reason": s.finish()}}, "usage": s.usage(c)}
}

// delta gives the delta of a piece of chat completions.
func (p *Piece) delta() obj {
	for _, ch := range objects(p.Data["choices"]) {
		d, _ := ch["delta"].(obj)
		return d
	}
	return obj{}
}

// choice gives the first choice.
func (p *Piece) choice() obj {
	for _, ch := range objects(p.Data["choices"]) {
		return ch
	}
	return obj{}
}

// calls gives the calls of a piece.
func (p *Piece) calls() []obj { return objects(p.delta()["tool_calls"]) }
