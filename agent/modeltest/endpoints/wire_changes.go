package endpoints

import (
	"net/http"
	"strings"
)

// phased labels messages of the Responses API as OpenAI does since gpt-5.3-codex.
func phased(rw http.ResponseWriter, c *Call, s Say) {
	label := "final_answer"
	if len(s.Calls) > 0 {
		label = "commentary"
	}
	ResponsesWire{Reasons: true, Edit: func(_ *Call, p *Piece) {
		if item, ok := p.Data["item"].(obj); ok && item["type"] == "message" {
			item["phase"] = label
		}
		response, _ := p.Data["response"].(obj)
		all, _ := response["output"].([]obj)
		for _, item := range all {
			if item["type"] == "message" {
				item["phase"] = label
			}
		}
	}}.Wire()(rw, c, s)
}

// trailingReasoning puts a reasoning item behind the text of the answer to hello.
func trailingReasoning(rw http.ResponseWriter, c *Call, s Say) {
	w := ResponsesWire{Reasons: true}
	if c.Asked() != "hello" || s.Text == "" {
		w.Wire()(rw, c, s)
		return
	}
	w.Last = func(c *Call, pieces []Piece) []Piece {
		item := obj{"type": "reasoning", "id": "rs_68aflast", "summary": list{}, "encrypted_content": c.memory.opaque("rs_68aflast")}
		last := pieces[len(pieces)-1]
		response := obj{}
		for k, v := range last.Data["response"].(obj) {
			response[k] = v
		}
		response["output"] = append(append([]obj{}, response["output"].([]obj)...), item)
		last.Data["response"] = response
		added := Piece{Kind: "response.output_item.added", Event: "response.output_item.added", Data: obj{"type": "response.output_item.added", "output_index": 2, "item": item}}
		done := Piece{Kind: "response.output_item.done", Event: "response.output_item.done", Data: obj{"type": "response.output_item.done", "output_index": 2, "item": item}}
		return append(pieces[:len(pieces)-1:len(pieces)-1], added, done, last)
	}
	w.Wire()(rw, c, s)
}

// reasoningFollowed wants a message or a call of the assistant behind each reasoning item.
func reasoningFollowed(c *Call) *Refusal {
	items := objects(c.Body["input"])
	for i, item := range items {
		if str(item["type"]) != "reasoning" {
			continue
		}
		next := obj{}
		if i+1 < len(items) {
			next = items[i+1]
		}
		if kind := str(next["type"]); kind != "function_call" && kind != "reasoning" && str(next["role"]) != "assistant" {
			return invalid("input", nil, "Item '%s' of type 'reasoning' was provided without its required following item.", str(item["id"]))
		}
	}
	return nil
}

// schemaOf gives the name and the schema of a tool of any API.
func schemaOf(t obj) (name string, schema obj) {
	f, ok := t["function"].(obj)
	if !ok {
		f = t
	}
	schema, _ = f["parameters"].(obj)
	if schema == nil {
		schema, _ = f["input_schema"].(obj)
	}
	return str(f["name"]), schema
}

// schemasWith refuses tools whose schema, at its top, is bad.
func schemasWith(bad func(obj) bool, no func(tool int, name string) *Refusal) Check {
	return func(c *Call) *Refusal {
		for i, t := range objects(c.Body["tools"]) {
			if name, schema := schemaOf(t); bad(schema) {
				return no(i, name)
			}
		}
		return nil
	}
}

// deepSchemas refuses tools with a schema that is bad anywhere.
func deepSchemas(bad func(obj) bool, no *Refusal) Check {
	return func(c *Call) *Refusal {
		for _, t := range objects(c.Body["tools"]) {
			_, schema := schemaOf(t)
			if walk(schema, []string{""}, func(_ []string, s obj) bool { return bad(s) }) != nil {
				return no
			}
		}
		return nil
	}
}

// rearguing is a wire that changes the pieces of arguments: whole is all that the call's arguments are.
func rearguing(pieces func(whole string) []string) Wire {
	return ChatWire{AtOnce: true, Last: func(_ *Call, all []Piece) (out []Piece) {
		for _, p := range all {
			ks := p.calls()
			if len(ks) == 0 {
				out = append(out, p)
				continue
			}
			for i, part := range pieces(str(function(ks[0])["arguments"])) {
				if i == 0 {
					function(ks[0])["arguments"] = part
					out = append(out, p)
					continue
				}
				out = append(out, Piece{Kind: "arguments", Data: obj{"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": list{obj{"index": 0, "finish_reason": nil, "delta": obj{
					"tool_calls": list{obj{"index": ks[0]["index"], "function": obj{"arguments": part}}}}}}}})
			}
		}
		return out
	}}.Wire()
}

// growing are the beginnings of a text, each longer than the one before.
func growing(s string) (out []string) {
	for n := 3; n < len(s); n += 3 {
		out = append(out, s[:n])
	}
	return append(out, s, s)
}

// secondChoice puts the calls of a whole answer into a choice of their own.
func secondChoice(_ *Call, whole obj) {
	first := objects(whole["choices"])[0]
	m := first["message"].(obj)
	calls, there := m["tool_calls"]
	if !there {
		return
	}
	delete(m, "tool_calls")
	m["content"] = "Let me look."
	whole["choices"] = list{first, obj{"index": 1, "finish_reason": "tool_calls", "message": obj{"role": "assistant", "content": nil, "tool_calls": calls}}}
}

// opaqueReasoning adds GitHub Copilot's fields: the reasoning as text, and all of it in a form that only the endpoint reads.
func opaqueReasoning(c *Call, pieces []Piece) (out []Piece) {
	thought := ""
	for _, p := range pieces {
		if p.Kind == "reasoning" {
			thought += str(p.delta()["reasoning_text"])
		} else if thought != "" && p.Kind != "role" {
			out = append(out, Piece{Kind: "opaque", Data: obj{"id": "x", "choices": list{obj{"index": 0, "delta": obj{"role": "assistant", "content": nil, "reasoning_opaque": c.memory.opaque(thought)}}}}})
			thought = ""
		}
		out = append(out, p)
	}
	return out
}

// opaqueBack wants reasoning_opaque with the calls that it came with.
func opaqueBack(c *Call) *Refusal {
	return assistants(c, func(i int, m obj) *Refusal {
		calls := objects(m["tool_calls"])
		if len(calls) == 0 || !c.memory.ours(str(calls[0]["id"])) {
			return nil
		}
		if of, ok := c.memory.owner(str(m["reasoning_opaque"])); !ok || !strings.HasPrefix(of, Musing) {
			return raw(400, `{"error":{"message":"invalid request body","code":"invalid_request_body"}}`)
		}
		return nil
	})
}

// longItemIDs makes the ids of items 400 characters long.
func longItemIDs(rw http.ResponseWriter, c *Call, s Say) {
	longer := func(item obj) {
		if id := str(item["id"]); id != "" && len(id) < 100 {
			item["id"] = id + strings.Repeat("x", 400-len(id))
		}
	}
	ResponsesWire{Reasons: true, Edit: func(_ *Call, p *Piece) {
		if item, ok := p.Data["item"].(obj); ok {
			longer(item)
		}
		if response, ok := p.Data["response"].(obj); ok {
			all, _ := response["output"].([]obj)
			for _, item := range all {
				longer(item)
			}
		}
		if id := str(p.Data["item_id"]); id != "" {
			p.Data["item_id"] = id + strings.Repeat("x", 400-len(id))
		}
	}}.Wire()(rw, c, s)
}
