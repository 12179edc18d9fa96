package endpoints

import (
	"fmt"
	"net/http"
)

// MessagesWire is how an endpoint of Anthropic's messages writes. The zero value is Anthropic's way without thinking.
type MessagesWire struct {
	Frame
	Thinks   func(*Call) bool // nil = when the request says so
	Unsigned bool             // thinking has no signature, as compatible endpoints send it
	Redacted bool             // thinking comes as redacted_thinking
	ID       func(made int) string
	Whole    bool
	Edit     func(c *Call, p *Piece)
	Last     func(c *Call, pieces []Piece) []Piece
}

// thinks reports whether a request turns thinking on.
func thinks(c *Call) bool {
	t, _ := c.Body["thinking"].(obj)
	return str(t["type"]) == "enabled" || str(t["type"]) == "adaptive"
}

// Wire gives the writer.
func (w MessagesWire) Wire() Wire {
	return func(rw http.ResponseWriter, c *Call, s Say) {
		on := w.Thinks
		if on == nil {
			on = thinks
		}
		if !on(c) {
			s.Reasoning = ""
		}
		id := w.ID
		if id == nil {
			id = func(made int) string { return fmt.Sprintf("toolu_01A09q90qw90lq917835%04d", made) }
		}
		for i := range s.Calls {
			s.Calls[i].ID = id(c.Made() + i)
			c.memory.think(s.Calls[i].ID, s.Reasoning)
		}
		blocks := w.blocks(c, s)
		stop := s.Finish
		switch {
		case stop != "":
		case len(s.Calls) > 0:
			stop = "tool_use"
		default:
			stop = "end_turn"
		}
		usage := obj{"input_tokens": len(c.Raw)/4 + 1, "output_tokens": len(s.Text)/4 + 2, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
		if stream, _ := c.Body["stream"].(bool); !stream || w.Whole {
			send(rw, "application/json", encode(obj{"id": "msg_013Zva2CMHLNnXjNJJKqJ2EF", "type": "message", "role": "assistant", "model": c.Body["model"],
				"content": blocks, "stop_reason": stop, "stop_sequence": nil, "usage": usage}), 0)
			return
		}
		pieces := claudePieces(c, blocks, stop, usage)
		for i := range pieces {
			if w.Edit != nil {
				w.Edit(c, &pieces[i])
			}
		}
		if w.Last != nil {
			pieces = w.Last(c, pieces)
		}
		w.write(rw, pieces, "")
	}
}

// blocks are the content of an answer.
func (w MessagesWire) blocks(c *Call, s Say) (out []obj) {
	switch {
	case s.Reasoning == "":
	case w.Redacted:
		out = append(out, obj{"type": "redacted_thinking", "data": c.memory.opaque(s.Reasoning)})
	case w.Unsigned:
		out = append(out, obj{"type": "thinking", "thinking": s.Reasoning})
	default:
		out = append(out, obj{"type": "thinking", "thinking": s.Reasoning, "signature": c.memory.opaque(s.Reasoning)})
	}
	if s.Text != "" {
		out = append(out, obj{"type": "text", "text": s.Text})
	}
	for _, k := range s.Calls {
		out = append(out, obj{"type": "tool_use", "id": k.ID, "name": k.Name, "input": rawJSON(k.Args)})
	}
	return out
}

func claudeEvent(kind string, data obj) Piece {
	data["type"] = kind
	return Piece{Kind: kind, Event: kind, Data: data}
}

// claudePieces are an answer as events.
func claudePieces(c *Call, blocks []obj, stop string, usage obj) []Piece {
	out := []Piece{claudeEvent("message_start", obj{"message": obj{"id": "msg_013Zva2CMHLNnXjNJJKqJ2EF", "type": "message", "role": "assistant",
		"model": c.Body["model"], "content": list{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage}}), claudeEvent("ping", obj{})}
	for i, b := range blocks {
		start := obj{}
		for k, v := range b {
			start[k] = v
		}
		var deltas []obj
		split := func(field, kind string) {
			for _, half := range both(str(b[field])) {
				deltas = append(deltas, obj{"type": kind, field: half})
			}
			start[field] = ""
		}
		switch str(b["type"]) {
		case "text":
			split("text", "text_delta")
		case "thinking":
			split("thinking", "thinking_delta")
			if sig, ok := b["signature"]; ok {
				start["signature"] = ""
				deltas = append(deltas, obj{"type": "signature_delta", "signature": sig})
			}
		case "tool_use":
			start["input"] = obj{}
			for _, half := range both(encode(b["input"])) {
				deltas = append(deltas, obj{"type": "input_json_delta", "partial_json": half})
			}
		}
		out = append(out, claudeEvent("content_block_start", obj{"index": i, "content_block": start}))
		for _, d := range deltas {
			out = append(out, claudeEvent("content_block_delta", obj{"index": i, "delta": d}))
		}
		out = append(out, claudeEvent("content_block_stop", obj{"index": i}))
	}
	return append(out, claudeEvent("message_delta", obj{"delta": obj{"stop_reason": stop, "stop_sequence": nil}, "usage": obj{"output_tokens": usage["output_tokens"]}}),
		claudeEvent("message_stop", obj{}))
}
