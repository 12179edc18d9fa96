package lessons

import (
	"errors"
	"testing"

	"parley/agent"
	"parley/agent/wire"
)

// TestFailedOnce: an error that says that the server failed teaches nothing, at whatever status it comes and whatever it names: the same request is
// made again.
// source: platform.openai.com/docs/guides/error-codes (server_error), docs.aws.amazon.com/bedrock/latest/APIReference/CommonErrors.html (InternalFailure)
func TestFailedOnce(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 400, 403, 404, 422, 429, 500, 503} {
		for _, body := range []string{
			`{"error":{"message":"Internal error","param":"stream","type":"server_error"}}`,
			`{"error":{"message":"Internal server error","param":"tools","type":"server_error","code":"internal_error"}}`,
			`{"error":{"message":"An error occurred while processing your request","param":"stream_options","type":"server_error"}}`,
			`{"error":{"message":"The server had an error while processing your request","param":"max_tokens","type":"server_error"}}`,
			`{"error":{"message":"Something went wrong","param":"stream","code":500}}`,
			`{"error":{"message":"Bad gateway","param":"tools","code":502}}`,
			`{"error":{"message":"Request timed out","param":"stream","type":"timeout"}}`,
			`{"error":{"message":"Gateway timeout","param":"stream","code":"504"}}`,
			`{"error":{"message":"deadline exceeded","param":"reasoning_effort","type":"timeout_error"}}`,
			`{"error":{"message":"Overloaded","param":"stream","type":"overloaded_error"}}`,
			`{"error":{"message":"Service unavailable","param":"tools","type":"service_unavailable"}}`,
			`{"error":{"message":"unexpected role in upstream response: system"}}`,
			`{"error":{"message":"invalid tool in upstream response"}}`,
			`{"error":{"message":"unexpected field stream_options in provider response"}}`,
			`{"error":{"message":"failed to decode upstream tool response"}}`,
			`{"error":{"message":"Worker crashed","param":"tools"}}`,
			`{"error":{"message":"CUDA error: device-side assert triggered","param":"max_tokens"}}`,
			`{"error":{"message":"Internal failure","param":"system","code":"InternalFailure"}}`,
			`{"error":{"message":"Error processing stream: connection reset by peer","param":"stream"}}`,
			`{"error":{"message":"Unexpected server error while handling 'tools'","type":"api_error"}}`,
			`{"error":{"code":"internal_error","message":"An unexpected error has occurred with tools","type":"internal_error"}}`,
			`{"error":{"message":"Unknown error in stream","type":"unknown_error"}}`,
			`{"error":{"message":"发生内部错误，请重试","param":"stream"}}`,
		} {
			b, asked := NewBook(Config{}), 0
			_, last := ask(t, b, "", func(request) error {
				if asked++; asked > 1 {
					return nil
				}
				f := wire.ReadFault([]byte(body))
				f.Status = status
				return &agent.ModelError{Class: f.Class(), Status: status, Said: f.Text, Err: f}
			})
			if len(b.Known()) > 0 || !last.stream || !last.system || len(last.tools) != 3 || len(last.params) != 3 || last.roles != "" {
				t.Errorf("%d %s: sent %+v, known %+v", status, body, last, b.Known())
			}
		}
	}
}

// TestFailedOften: what a server fails with, in the same words, is found out all the same.
func TestFailedOften(t *testing.T) {
	t.Parallel()
	b := NewBook(Config{})
	fails := func(r request) error {
		if !r.stream {
			return nil
		}
		return refusal(400, `{"error":{"message":"Internal error","param":"stream","type":"server_error"}}`)
	}
	for i, most := range []int{2, 2, 0, 0} {
		if refused, last := ask(t, b, "", fails); refused > most || last.stream {
			t.Errorf("call %d: %d refused, %+v", i, refused, last)
		}
	}
}

// TestFailedWithWordsOfRefusal: what a gateway answers as its own failure is a refusal when the same request meets the same words, which name a
// part of it; and no lesson before a second call meets them.
// source: BerriAI/litellm#11267 (APIConnectionError around Ollama's words), continuedev/continue#13259 (502 around a 400)
func TestFailedWithWordsOfRefusal(t *testing.T) {
	t.Parallel()
	for status, body := range map[int]string{
		500: `{"error":{"message":"litellm.APIConnectionError: OllamaException - {\"error\":\"gemma3:4b does not support tools\"}","code":"500"}}`,
		502: `{"error":{"message":"Upstream 400: This model does not support tools","code":502}}`,
		503: `{"error":{"message":"No provider supports tool use for this model","code":503}}`,
	} {
		b := NewBook(Config{})
		refuses := func(r request) error {
			if len(r.tools) == 0 {
				return nil
			}
			return refusal(status, body)
		}
		for i, most := range []int{2, 1, 0} {
			if refused, last := askTries(t, b, "", 3, refuses); refused > most || len(last.tools) > 0 {
				t.Errorf("%d, call %d: %d refused, %+v", status, i, refused, last)
			}
			if known := b.Known(); i == 0 && len(known) > 0 {
				t.Errorf("%d: known after one call: %+v", status, known)
			}
		}
	}
}

// TestFailedForAWhile: a failure that names a part and passes with the next call is no lesson.
func TestFailedForAWhile(t *testing.T) {
	t.Parallel()
	b := NewBook(Config{})
	askTries(t, b, "", 3, func(r request) error {
		if len(r.tools) == 0 {
			return nil
		}
		return refusal(503, `{"error":{"message":"upstream error: the tool parser does not support this model","code":503}}`)
	})
	refused, last := ask(t, b, "", func(request) error { return nil })
	if refused > 0 || len(last.tools) != 3 || len(b.Known()) > 0 {
		t.Errorf("%d refused, %+v, known %+v", refused, last, b.Known())
	}
}

// TestFailedWithoutWords: a server that fails twice without a reason, or closes the connection, is asked without a part that it may have died of. An
// outage costs neither the tools of an endpoint that takes them nor those of the next call.
// source: sgl-project/sglang#9166 (500 to each request with tools), mudler/LocalAI#10256
func TestFailedWithoutWords(t *testing.T) {
	t.Parallel()
	fails := func(request) error { return refusal(500, "Internal Server Error") }
	works := func(request) error { return nil }
	b := NewBook(Config{})
	askTries(t, b, "", 3, fails)
	if _, last := askTries(t, b, "", 3, works); len(last.tools) != 3 || len(b.Known()) > 0 {
		t.Errorf("after an outage: %+v, known %+v", last, b.Known())
	}
	if _, last := askTries(t, b, "", 3, fails); len(last.tools) != 3 {
		t.Errorf("in an outage: %+v", last)
	}
	for _, text := range []string{"EOF", "read tcp 127.0.0.1:1->127.0.0.1:2: read: connection reset by peer"} {
		c := NewBook(Config{}).Call(at, "")
		closed := &agent.ModelError{Class: agent.Unreachable, Err: errors.New(text)}
		sent := Sent{Pictures: []string{"p"}, Steps: true}
		if c.Refused(t.Context(), closed, sent) || !c.Refused(t.Context(), closed, sent) || !c.images {
			t.Errorf("%s: the picture is sent still", text)
		}
		if sent.Pictures = nil; !c.Refused(t.Context(), closed, sent) || c.Use(History) == "" {
			t.Errorf("%s: the calls are sent still", text)
		}
		if c.Refused(t.Context(), closed, sent) {
			t.Errorf("%s: without an end", text)
		}
	}
	refused := &agent.ModelError{Class: agent.Unreachable, Err: errors.New("dial tcp 127.0.0.1:1: connect: connection refused")}
	c := NewBook(Config{}).Call(at, "")
	for range 3 {
		if c.Refused(t.Context(), refused, Sent{Pictures: []string{"p"}, Steps: true}) {
			t.Error("a server that is down costs the picture")
		}
	}
}
