package endpoints

import (
	"encoding/json"
	"fmt"
)

// Refusal is an answer that is no success, or that replaces a success.
type Refusal struct {
	Status int
	Type   string // Content-Type; empty = application/json
	Body   string
	Header map[string]string
}

// Check looks at a request; nil = it may pass.
type Check func(*Call) *Refusal

// Failure answers a request that passed the checks in another way; nil = it is answered.
type Failure func(*Call) *Refusal

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // the table's own values always encode
	}
	return string(b)
}

// raw is a refusal with a body as it is.
func raw(status int, body string) *Refusal { return &Refusal{Status: status, Body: body} }

// plain is a refusal whose body is text.
func plain(status int, body string) *Refusal {
	return &Refusal{Status: status, Body: body, Type: "text/plain; charset=utf-8"}
}

// openAI is OpenAI's shape. param and code may be nil.
func openAI(status int, kind string, param, code any, format string, args ...any) *Refusal {
	return raw(status, encode(obj{"error": obj{"message": fmt.Sprintf(format, args...), "type": kind, "param": param, "code": code}}))
}

// invalid is OpenAI's shape of a request that is wrong.
func invalid(param, code any, format string, args ...any) *Refusal {
	return openAI(400, "invalid_request_error", param, code, format, args...)
}

// claude is Anthropic's shape.
func claude(status int, kind, format string, args ...any) *Refusal {
	return raw(status, encode(obj{"type": "error", "error": obj{"type": kind, "message": fmt.Sprintf(format, args...)}, "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy"}))
}

// google is the shape of Gemini's OpenAI endpoint: a list of one.
func google(status int, word, format string, args ...any) *Refusal {
	return raw(status, encode(list{obj{"error": obj{"code": status, "message": fmt.Sprintf(format, args...), "status": word}}}))
}

// router is OpenRouter's shape: what the provider behind it said is text inside of metadata.
func router(status int, provider, said string) *Refusal {
	return raw(status, encode(obj{"error": obj{"message": "Provider returned error", "code": status, "metadata": obj{"raw": said, "provider_name": provider}}, "user_id": "user_2x"}))
}

// mistral is Mistral's shape.
func mistral(status int, kind, code, format string, args ...any) *Refusal {
	return raw(status, encode(obj{"object": "error", "message": fmt.Sprintf(format, args...), "type": kind, "param": nil, "code": code}))
}

// vllm is the shape of vLLM's server.
func vllm(status int, format string, args ...any) *Refusal {
	return raw(status, encode(obj{"error": obj{"message": fmt.Sprintf(format, args...), "type": "BadRequestError", "param": nil, "code": status}}))
}

// llama is the shape of llama.cpp's server.
func llama(status int, kind, format string, args ...any) *Refusal {
	return raw(status, encode(obj{"error": obj{"code": status, "message": fmt.Sprintf(format, args...), "type": kind}}))
}

// ollama is the shape of Ollama's OpenAI-compatible API.
func ollama(status int, format string, args ...any) *Refusal {
	return raw(status, encode(obj{"error": obj{"message": fmt.Sprintf(format, args...), "type": "api_error", "param": nil, "code": nil}}))
}

// fastAPI is the shape of servers that validate with pydantic.
func fastAPI(kind string, where list, msg string, input any) *Refusal {
	return raw(422, encode(obj{"detail": list{obj{"type": kind, "loc": where, "msg": msg, "input": input}}}))
}

// detail is the shape {"detail": text}.
func detail(status int, format string, args ...any) *Refusal {
	return raw(status, encode(obj{"detail": fmt.Sprintf(format, args...)}))
}

// message is the shape {"message": text}.
func message(status int, format string, args ...any) *Refusal {
	return raw(status, encode(obj{"message": fmt.Sprintf(format, args...)}))
}

// grok is xAI's shape: code is a sentence, error is text.
func grok(status int, code, format string, args ...any) *Refusal {
	return raw(status, encode(obj{"code": code, "error": fmt.Sprintf(format, args...)}))
}

// with gives the refusal with a header more.
func (no *Refusal) with(name, value string) *Refusal {
	out := *no
	out.Header = map[string]string{name: value}
	for k, v := range no.Header {
		out.Header[k] = v
	}
	return &out
}

// failOnce fails the first request that fits; nil = any.
func failOnce(fits func(*Call) bool, r *Refusal) Failure { return upTo(1, fits, r) }

// upTo fails so many requests that fit.
func upTo(n int, fits func(*Call) bool, r *Refusal) Failure {
	key := fmt.Sprintf("failure %p", r)
	return func(c *Call) *Refusal {
		if fits != nil && !fits(c) || c.memory.times(key) >= n {
			return nil
		}
		return r
	}
}

// asked says whether the last message of a person is a text.
func asked(word string) func(*Call) bool {
	return func(c *Call) bool { return matches(word, c.Asked()) && c.Last().Role == "user" }
}

// afterTool says whether the last message is a tool's result.
func afterTool(c *Call) bool { return c.Last().Role == "tool" }

// always fails every request that fits; nil = any.
func always(fits func(*Call) bool, r *Refusal) Failure {
	return func(c *Call) *Refusal {
		if fits != nil && !fits(c) {
			return nil
		}
		return r
	}
}
