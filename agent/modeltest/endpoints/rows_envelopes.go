package endpoints

import "strings"

// byNumber writes a list as an object, as PHP and Lua do with lists that have gaps.
func byNumber(of obj, key string) {
	if all := objects(of[key]); len(all) > 0 {
		of[key] = obj{"0": all[0]}
	}
}

// refusesResults is a validator that does not take the results of tools, and quotes its schema.
func refusesResults(c *Call) *Refusal {
	for _, item := range objects(c.Body["input"]) {
		if str(item["type"]) == "function_call_output" {
			return raw(400, `{"error":{"code":"invalid_prompt","message":"Invalid Responses API request"},"metadata":{"raw":"[\n  {\n    \"code\": \"invalid_union\",\n    \"errors\": [[{\"expected\":\"string\",\"code\":\"invalid_type\",\"path\":[],\"message\":\"Invalid input: expected string, received array\"}]],\n    \"path\": [\"input\"],\n    \"message\": \"Invalid input\"\n  }\n]"}}`)
		}
	}
	return nil
}

// incompleteOnce ends the first answer to hello as incomplete for a reason.
func incompleteOnce(reason string, most int) Wire {
	return ResponsesWire{Status: func(c *Call, response obj) {
		if c.Asked() == "hello" && c.memory.times("incomplete") < most {
			response["status"], response["incomplete_details"] = "incomplete", obj{"reason": reason}
		}
	}}.Wire()
}

// envelopes are endpoints with answers in other wrappings, and with words for success and failure in unusual places.
var envelopes = []Row{
	{ID: "an-error-that-says-success", Vendor: "Spark", Source: "https://www.xfyun.cn/doc/spark/HTTP%E8%B0%83%E7%94%A8%E6%96%87%E6%A1%A3.html", Does: "says in each chunk that its error is 0, success", Wire: edit(func(_ *Call, p *Piece) {
		p.Data["error"], p.Data["code"], p.Data["message"] = obj{"code": "0", "message": "success"}, 0, "Success"
	})},
	{ID: "an-error-that-is-the-word-null", Vendor: "a gateway", Source: "https://www.xfyun.cn/doc/spark/HTTP%E8%B0%83%E7%94%A8%E6%96%87%E6%A1%A3.html", Does: "writes the error that there is none as a text", Wire: edit(func(_ *Call, p *Piece) { p.Data["error"] = "null" })},
	{ID: "lists-by-number", Vendor: "a PHP gateway", Source: "https://www.php.net/manual/en/function.json-encode.php", Does: "writes lists as objects whose keys are numbers", Wire: edit(func(_ *Call, p *Piece) {
		byNumber(p.delta(), "tool_calls")
		byNumber(p.Data, "choices")
	})},
	{ID: "chunks-in-data", Vendor: "a gateway", Source: "https://www.xfyun.cn/doc/spark/HTTP%E8%B0%83%E7%94%A8%E6%96%87%E6%A1%A3.html", Does: "puts each chunk into an envelope", Wire: edit(func(_ *Call, p *Piece) { p.Data = obj{"code": 0, "message": "success", "data": p.Data} })},
	{ID: "answer-in-result", Vendor: "Cloudflare", Source: "https://developers.cloudflare.com/fundamentals/api/how-to/make-api-calls/", Does: "puts a whole answer into an envelope", Wire: ChatWire{Whole: true, Answer: func(_ *Call, whole obj) {
		inner := obj{}
		for k, v := range whole {
			inner[k] = v
			delete(whole, k)
		}
		whole["result"], whole["success"], whole["errors"], whole["messages"] = inner, true, list{}, list{}
	}}.Wire()},
	{ID: "calls-as-json-text", Vendor: "a gateway", Source: "https://www.php.net/manual/en/function.json-encode.php", Does: "writes the list of calls as a text of JSON", Wire: ChatWire{Whole: true, Answer: func(_ *Call, whole obj) {
		m, _ := objects(whole["choices"])[0]["message"].(obj)
		if calls, ok := m["tool_calls"]; ok {
			m["tool_calls"] = encode(calls)
		}
	}}.Wire()},
	{ID: "short-text-again-at-the-end", Vendor: "a gateway", Source: "openclaw/openclaw#142888", Does: "repeats a short text in its last chunk", Wire: ChatWire{Last: func(_ *Call, pieces []Piece) []Piece {
		var text strings.Builder
		for i := range pieces {
			text.WriteString(str(pieces[i].delta()["content"]))
			if pieces[i].Kind == "finish" {
				pieces[i].delta()["content"] = text.String()
			}
		}
		return pieces
	}}.Wire()},
	{ID: "tool-calls-object-in-the-text", Vendor: "llama.cpp", Source: "ggml-org/llama.cpp#14697", Does: "writes the field tool_calls into the text", Wire: plainWire, Mind: markup(func(k ToolCall) string {
		return encode(obj{"tool_calls": list{obj{"id": "call_1", "type": "function", "function": obj{"name": k.Name, "arguments": k.Args}}}})
	})},
	{ID: "incomplete-because-of-an-error", API: Responses, Vendor: "a gateway", Source: "https://platform.openai.com/docs/api-reference/responses/object", Does: "ends an answer as incomplete because it failed", Wire: incompleteOnce("server_error", 1)},
	{ID: "incomplete-for-no-known-reason", API: Responses, Vendor: "a gateway", Source: "https://platform.openai.com/docs/api-reference/responses/object", Does: "ends an answer as incomplete for a reason of its own", Wire: incompleteOnce("pause_turn", 9), Want: Expectation{Plain: `^echo: hello` + mayBeCut}},
	{ID: "output-text-alone", API: Responses, Vendor: "a gateway", Source: "https://platform.openai.com/docs/api-reference/responses/object", Does: "has the text of an answer in output_text only", Wire: ResponsesWire{Whole: true, Status: func(_ *Call, response obj) {
		if items, _ := response["output"].([]obj); len(items) == 1 && str(items[0]["type"]) == "message" {
			response["output"], response["output_text"] = list{}, objects(items[0]["content"])[0]["text"]
		}
	}}.Wire()},
	{ID: "invalid-prompt-of-a-validator", API: Responses, Vendor: "OpenRouter", Source: "openai/codex#12114", Does: "gives the code invalid_prompt to a request whose form it does not take", Checks: []Check{refusesResults}, Want: Expectation{Refused: Any, Again: Any, Lacks: []string{`provider refused`}}},
	{ID: "tencent-envelope", Vendor: "Tencent", Source: "https://cloud.tencent.com/document/product/1729/101838", Does: "answers 200 to a wrong key, with the error in an envelope", Checks: never(raw(200, `{"Response":{"Error":{"Code":"AuthFailure.SignatureFailure","Message":"The provided credentials could not be validated."},"RequestId":"x"}}`)), Want: dies(keyWords)},
	{ID: "sensitive-words-500", Vendor: "New API", Source: "QuantumNous/new-api#4499", Does: "answers 500 to a word of its list", Checks: []Check{refuseText("hello", raw(500, `{"error":{"code":"sensitive_words_detected","message":"user sensitive words detected","type":"new_api_error"}}`))}, Want: Expectation{Plain: refusedText, Refused: 1}},
}
