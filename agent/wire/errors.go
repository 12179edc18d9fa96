package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"parley/agent"
)

// maxErrorText bounds what is kept of a provider's words, in bytes.
const maxErrorText = 600

// atOnce is a Retry-After of zero: agent.Retry reads 0 as "nothing was asked for".
const atOnce = -1

// Error makes a *agent.ModelError of what ended the try. err is what the SDK said; nil = nothing.
func (t *Try) Error(err error) error { return t.modelError(err) }

func (t *Try) modelError(err error) *agent.ModelError {
	e := &agent.ModelError{Provider: t.c.name, Tries: 1}
	if t.res != nil {
		e.Status = t.res.StatusCode
	}
	cause := context.Cause(t.ctx)
	switch {
	case t.parent.Err() != nil:
		e.Class, e.Err = agent.Timeout, t.parent.Err()
	case e.Status >= 300:
		f := readFault(t.head)
		if f.text == "" {
			f.text = plain(err)
		}
		e.Class, e.Err = classify(e.Status, f), errors.New(t.c.Text(f.text))
		e.RetryAfter = retryAfter(t.res.Header, time.Now())
	case cause != nil && !errors.Is(cause, errStopped):
		e.Class, e.Err = agent.Timeout, cause
	case t.res == nil:
		e.Class, e.Err = t.c.network(err)
	default:
		e.Class, e.Err = agent.Broken, t.broken(err)
	}
	return e
}

// Broken makes the error of an answer that made no sense.
func (t *Try) Broken(format string, args ...any) error { return t.Error(fmt.Errorf(format, args...)) }

// StreamError makes the error of an error event inside a stream: raw is its JSON.
func (t *Try) StreamError(raw []byte) error {
	e := t.modelError(errors.New("an error inside the answer"))
	if e.Class != agent.Broken {
		return e
	}
	f := readFault(raw)
	status := 0
	if n, err := strconv.Atoi(f.code); err == nil && n >= 400 && n < 600 {
		status, e.Status = n, n // OpenRouter and others put the HTTP status there
	}
	e.Class, e.Err = classify(status, f), errors.New(t.c.Text(f.text))
	return e
}

// fault is an error as a provider words it.
type fault struct {
	kind string // rate_limit_error, …
	code string // model_not_found, insufficient_quota, 502, …
	text string
}

// readFault reads the usual shapes of an error body: {"error": {"message", "type", "code"}}, {"error": "text"}, {"message": "text"},
// {"detail": "text"}. Anything else is taken as text.
func readFault(raw []byte) fault {
	var outer struct {
		Error           json.RawMessage
		Message, Detail any
	}
	if json.Unmarshal(raw, &outer) != nil {
		if start := strings.ToLower(strings.TrimSpace(string(raw))); strings.HasPrefix(start, "<!doctype html") || strings.HasPrefix(start, "<html") {
			return fault{text: "the answer is a web page, no JSON (is baseUrl right?)"}
		}
		return fault{text: string(raw)}
	}
	var inner struct{ Message, Type, Code any }
	var text string
	switch {
	case json.Unmarshal(outer.Error, &text) == nil && text != "":
		return fault{text: text}
	case json.Unmarshal(outer.Error, &inner) == nil && inner.Message != nil:
		return fault{word(inner.Type), word(inner.Code), word(inner.Message)}
	case outer.Message != nil:
		return fault{text: word(outer.Message)}
	case outer.Detail != nil:
		return fault{text: word(outer.Detail)}
	}
	return fault{text: string(raw)}
}

func word(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

func (t *Try) broken(err error) error {
	if t.read.Load() == 0 {
		return errors.New("the answer was empty")
	}
	return errors.New(t.c.Text(plain(err)))
}

// network says why there is no answer at all.
func (c *Client) network(err error) (agent.ErrorClass, error) {
	text := c.Text(plain(err))
	if n, ok := errors.AsType[net.Error](err); ok && n.Timeout() {
		return agent.Timeout, fmt.Errorf("%s: %w", text, agent.ErrNoByte)
	}
	return agent.Unreachable, errors.New(text)
}

// plain is an error's text without the URL, which may carry a key in its query.
func plain(err error) string {
	if err == nil {
		return "no reason given"
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err.Error()
	}
	return err.Error()
}

// Text makes a provider's words fit for the log: without the key, of valid UTF-8, on one line and short.
func (c *Client) Text(s string) string {
	s = c.hide.Replace(s)
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if len(s) <= maxErrorText {
		return s
	}
	cut := maxErrorText
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// classify gives the class of what a provider said. status is 0 inside a stream that began well.
func classify(status int, f fault) agent.ErrorClass {
	for _, k := range []string{f.code, f.kind} {
		switch k {
		case "insufficient_quota", "billing_error": // comes as 429, but waiting does not help
			return agent.BadKey
		case "model_not_found":
			return agent.NoSuchModel
		}
	}
	if tooLong(status, f) {
		return agent.TooLong
	}
	switch s := status; {
	case s == http.StatusTooManyRequests:
		return agent.RateLimited
	case s == http.StatusRequestTimeout, s >= 500:
		return agent.Overloaded
	case s == http.StatusUnauthorized, s == http.StatusForbidden, s == http.StatusPaymentRequired:
		return agent.BadKey
	case s == http.StatusNotFound, s >= 400 && noSuchModel(f.text):
		return agent.NoSuchModel
	case s >= 300:
		return agent.BadRequest
	}
	for _, k := range []string{f.code, f.kind} {
		switch k {
		case "rate_limit_error", "rate_limit_exceeded":
			return agent.RateLimited
		case "overloaded_error", "api_error", "server_error", "timeout_error", "internal_server_error", "service_unavailable":
			return agent.Overloaded
		case "authentication_error", "permission_error":
			return agent.BadKey
		case "not_found_error":
			return agent.NoSuchModel
		case "invalid_request_error":
			return agent.BadRequest
		}
	}
	return agent.Broken
}

// tooLong reports whether a prompt was refused because of its length: by its code, or by words that providers use.
func tooLong(status int, f fault) bool {
	switch {
	case status == http.StatusRequestEntityTooLarge:
		return true
	case status == http.StatusTooManyRequests: // OpenAI and Groq: longer than a whole minute's allowance, so waiting does not help
		return strings.HasPrefix(f.text, "Request too large")
	case status != 0 && (status < 400 || status == http.StatusUnauthorized || status == http.StatusForbidden):
		return false
	}
	for _, k := range []string{f.code, f.kind} {
		switch k {
		case "context_length_exceeded", "exceed_context_size_error", "request_too_large":
			return true
		}
	}
	text := strings.ToLower(f.text)
	return slices.ContainsFunc(tooLongWords, func(words string) bool { return strings.Contains(text, words) })
}

// tooLongWords are in the errors about prompts that are too long, in lower case.
var tooLongWords = []string{
	"prompt is too long",                     // Anthropic
	"exceed context limit",                   // Anthropic, with max_tokens
	"maximum context length",                 // OpenAI, vLLM, OpenRouter, DeepSeek, Mistral
	"context_length_exceeded",                // inside of other texts
	"exceeds the context window",             // OpenAI
	"exceeds the available context size",     // llama.cpp
	"context size has been exceeded",         // llama.cpp
	"exceed context window",                  // llama-cpp-python
	"longer than the maximum model length",   // vLLM
	"too long to fit into the model",         // vLLM
	"exceeds model's maximum context",        // vLLM, TGI
	"longer than the model's context length", // SGLang
	"input length exceeds",                   // Ollama
	"exceeds the context length",             // Ollama
	"exceeded max context length",            // Ollama
	"greater than the context length",        // LM Studio
	"context length of only",                 // LM Studio
	"exceeds the maximum number of tokens",   // Gemini
	"maximum prompt length is",               // xAI
	"reduce the length of the messages",      // Groq
	"input is too long for requested model",  // Bedrock
	"tokens` + `max_new_tokens` must be <=",  // TGI, Together
	"context window exceeds limit",           // MiniMax
	"exceeded model token limit",             // Kimi
	"number of tokens in the prompt exceeds", // Cohere
}

func noSuchModel(text string) bool {
	text = strings.ToLower(text)
	if !strings.Contains(text, "model") {
		return false
	}
	for _, s := range []string{"not found", "does not exist", "not a valid model", "unknown model", "no such model"} {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

// retryAfter reads what a provider asks for: retry-after-ms, or Retry-After in seconds or as an HTTP date. 0 = nothing that can
// be read; negative = at once.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if d, ok := number(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	value := h.Get("Retry-After")
	if d, ok := number(value, time.Second); ok {
		return d
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if d := at.Sub(now); d > 0 {
		return d
	}
	return atOnce
}

func number(s string, unit time.Duration) (time.Duration, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	switch {
	case err != nil, f < 0, f != f: // f != f: NaN
		return 0, false
	case f == 0:
		return atOnce, true
	}
	return time.Duration(min(f*float64(unit), float64(365*24*time.Hour))), true
}
