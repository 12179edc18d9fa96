package endpoints

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

// ResponsesWire is how an endpoint of the Responses API writes. The zero value is OpenAI's way, without reasoning.
type ResponsesWire struct {
	Frame
	Reasons bool // a reasoning item stands in front of each answer
	Whole   bool
	Edit    func(c *Call, p *Piece)
	Last    func(c *Call, pieces []Piece) []Piece
	Status  func(c *Call, response obj) // changes the response of the last event
}

func rawJSON(s string) json.RawMessage { return json.RawMessage(s) }

// included reports whether a request asks for encrypted reasoning.
func included(c *Call) bool {
	all, _ := c.Body["include"].(list)
	return slices.Contains(all, any("reasoning.encrypted_content"))
}

// items are the output of an answer.
func (w ResponsesWire) items(c *Call, s Say) (out []obj) {
	n := c.memory.times("items")
	if w.Reasons && s.Reasoning != "" {
		item := obj{"type": "reasoning", "id": fmt.Sprintf("rs_68af%04d", n), "status": "completed", "summary": list{obj{"type": "summary_text", "text": s.Reasoning}}}
		if included(c) {
			item["encrypted_content"] = c.memory.opaque(str(item["id"]))
		}
		out = append(out, item)
	}
	if s.Text != "" {
		out = append(out, obj{"type": "message", "id": fmt.Sprintf("msg_68af%04d", n), "role": "assistant", "status": "completed",
			"content": list{obj{"type": "output_text", "text": s.Text, "annotations": list{}, "logprobs": list{}}}})
	}
	for i, k := range s.Calls {
		c.memory.think(callID(c.Made()+i), s.Reasoning)
		out = append(out, obj{"type": "function_call", "id": fmt.Sprintf("fc_68af%04d%d", n, i), "call_id": callID(c.Made() + i),
			"name": k.Name, "arguments": k.Args, "status": "completed"})
	}
	return out
}

// Wire gives the writer.
func (w ResponsesWire) Wire() Wire {
	return func(rw http.ResponseWriter, c *Call, s Say) {
		items := w.items(c, s)
		usage := obj{"input_tokens": len(c.Raw)/4 + 1, "output_tokens": len(s.Text)/4 + 2, "total_tokens": len(c.Raw)/4 + len(s.Text)/4 + 3,
			"input_tokens_details": obj{"cached_tokens": 0}, "output_tokens_details": obj{"reasoning_tokens": 0}}
		response := obj{"id": "resp_68af4030592c81938ec0a5fbab4a3e9f", "object": "response", "created_at": 1764000000, "status": "completed",
			"model": c.Body["model"], "output": items, "usage": usage, "error": nil, "incomplete_details": nil, "store": false}
		if w.Status != nil {
			w.Status(c, response)
		}
		if stream, _ := c.Body["stream"].(bool); !stream || w.Whole {
			send(rw, "application/json", encode(response), 0)
			return
		}
		pieces := responsePieces(items, response)
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

// responsePieces are an answer as events.
func responsePieces(items []obj, response obj) (out []Piece) {
	event := func(kind string, data obj) {
		data["type"], data["sequence_number"] = kind, len(out)
		out = append(out, Piece{Kind: kind, Event: kind, Data: data})
	}
	begun := obj{}
	for k, v := range response {
		begun[k] = v
	}
	begun["status"], begun["output"], begun["usage"] = "in_progress", list{}, nil
	event("response.created", obj{"response": begun})
	event("response.in_progress", obj{"response": begun})
	for i, item := range items {
		started := obj{}
		for k, v := range item {
			started[k] = v
		}
		started["status"] = "in_progress"
		id := item["id"]
		switch str(item["type"]) {
		case "reasoning":
			started["summary"] = list{}
			event("response.output_item.added", obj{"output_index": i, "item": started})
			text := str(objects(item["summary"])[0]["text"])
			event("response.reasoning_summary_part.added", obj{"item_id": id, "output_index": i, "summary_index": 0, "part": obj{"type": "summary_text", "text": ""}})
			for _, half := range both(text) {
				event("response.reasoning_summary_text.delta", obj{"item_id": id, "output_index": i, "summary_index": 0, "delta": half})
			}
			event("response.reasoning_summary_text.done", obj{"item_id": id, "output_index": i, "summary_index": 0, "text": text})
		case "message":
			part := objects(item["content"])[0]
			started["content"] = list{}
			event("response.output_item.added", obj{"output_index": i, "item": started})
			event("response.content_part.added", obj{"item_id": id, "output_index": i, "content_index": 0, "part": obj{"type": part["type"], "text": "", "annotations": list{}}})
			field, kind := "text", "response.output_text"
			if str(part["type"]) == "refusal" {
				field, kind = "refusal", "response.refusal"
			}
			for _, half := range both(str(part[field])) {
				event(kind+".delta", obj{"item_id": id, "output_index": i, "content_index": 0, "delta": half})
			}
			event(kind+".done", obj{"item_id": id, "output_index": i, "content_index": 0, field: part[field]})
			event("response.content_part.done", obj{"item_id": id, "output_index": i, "content_index": 0, "part": part})
		case "function_call":
			started["arguments"] = ""
			event("response.output_item.added", obj{"output_index": i, "item": started})
			for _, half := range both(str(item["arguments"])) {
				event("response.function_call_arguments.delta", obj{"item_id": id, "output_index": i, "delta": half})
			}
			event("response.function_call_arguments.done", obj{"item_id": id, "output_index": i, "arguments": item["arguments"]})
		}
		event("response.output_item.done", obj{"output_index": i, "item": item})
	}
	last := "response.completed"
	switch str(response["status"]) {
	case "incomplete":
		last = "response.incomplete"
	case "failed":
		last = "response.failed"
	}
	event(last, obj{"response": response})
	return out
}
