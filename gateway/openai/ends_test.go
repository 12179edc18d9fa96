package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/gateway/api"
	"parley/router/event"
	"parley/router/inbound"
	"parley/sessions"
)

// host is a router of which each run ends in the same way, and a store that knows that run.
type host struct {
	run   sessions.Run       // Status, Result and the rest of how it ends
	steps []sessions.Message // what it recorded
	err   error              // of Outcome
	fault error              // of Say
	hangs bool               // Outcome waits until its context ends
	onSay func()
	draft string // is told before the end
	told  chan struct{}
}

func (h *host) Submit(_ context.Context, w inbound.Request) (inbound.Submitted, error) {
	if h.onSay != nil {
		h.onSay()
	}
	if h.fault != nil {
		return inbound.Submitted{}, h.fault
	}
	h.run.ID, h.run.Key, h.run.System = "r1", w.Session, w.System
	h.run.SetExtras(sessions.RunExtras{Client: w.Client})
	return inbound.Submitted{Run: sessions.Run{ID: "r1", Key: w.Session, Status: sessions.Queued}}, nil
}

func (h *host) Watch(event.Filter) (<-chan event.Event, func()) {
	if h.draft == "" {
		return nil, func() {}
	}
	h.told = make(chan struct{})
	events := make(chan event.Event)
	go func() {
		events <- event.Event{Run: "r1", Text: h.draft}
		close(h.told)
	}()
	return events, func() {}
}

func (h *host) Outcome(ctx context.Context, _ sessions.RunID) (sessions.Run, error) {
	if h.hangs {
		<-ctx.Done()
		return sessions.Run{}, ctx.Err()
	}
	if h.told != nil {
		<-h.told
	}
	return h.run, h.err
}

func (h *host) CancelRun(context.Context, string, sessions.RunID) ([]sessions.RunID, int, error) {
	return nil, 0, nil
}

func (h *host) Get(context.Context, sessions.Key) (sessions.Session, error) {
	return sessions.Session{}, sessions.ErrNotFound
}

func (h *host) GetRun(context.Context, sessions.RunID) (sessions.Run, error) {
	if h.run.ID == "" {
		return sessions.Run{}, sessions.ErrNotFound
	}
	return h.run, nil
}

func (h *host) Steps(context.Context, sessions.RunID) ([]sessions.Message, error) {
	return h.steps, nil
}

// ask sends a request of Ann's to the endpoints of a host.
func (h *host) ask(done <-chan struct{}, method, path, body string, header ...string) *httptest.ResponseRecorder {
	handler := Handler(Deps{Host: h, Receiver: h, Store: h, Done: done, Log: slog.New(slog.DiscardHandler), On: func() bool { return true }, IgnoreTools: func() bool { return false },
		Agents: func() ([]sessions.AgentID, sessions.AgentID) { return []sessions.AgentID{"main"}, "main" }})
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r = r.WithContext(api.With(r.Context(), api.Principal{Name: "ann", Scope: api.Write}))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

// repeaters are the rules by which clients repeat a request that was answered with an error.
// source: openai/openai-node src/client.ts shouldRetry; openai/openai-python _base_client.py _should_retry
// source: vercel/ai packages/provider/src/errors/api-call-error.ts
// source: langchain-ai/langchainjs libs/langchain-core/src/utils/async_caller.ts STATUS_NO_RETRY, as it was before 413 was added
// source: BerriAI/litellm litellm/utils.py _should_retry
var repeaters = map[string]func(w *httptest.ResponseRecorder) bool{
	"OpenAI's SDKs": func(w *httptest.ResponseRecorder) bool {
		if told, err := strconv.ParseBool(w.Header().Get("X-Should-Retry")); err == nil {
			return told
		}
		return usual(w.Code)
	},
	"AI SDK, LiteLLM": func(w *httptest.ResponseRecorder) bool { return usual(w.Code) },
	"LangChain.js": func(w *httptest.ResponseRecorder) bool {
		return w.Code >= 300 && !slices.Contains([]int{400, 401, 402, 403, 404, 405, 406, 407, 409}, w.Code)
	},
}

func usual(status int) bool {
	return status == 408 || status == 409 || status == 429 || status >= 500
}

// repeatsStream is the AI SDK's rule for an error in a stream before the first word: the words of its code and type stand for a status.
// source: vercel/ai packages/openai, throwIfOpenAIStreamErrorBeforeOutput
func repeatsStream(p problem) bool {
	told := strings.ToLower(*p.Code + " " + p.Type)
	if strings.Contains(told, "rate_limit") {
		return true
	}
	return !slices.ContainsFunc([]string{"authentication", "permission", "not_found", "invalid", "bad_request"}, func(s string) bool { return strings.Contains(told, s) })
}

func step(text, stop string) sessions.Message {
	return sessions.Message{Role: sessions.Assistant, Content: sessions.TextContent(text), Stop: stop}
}

const (
	chatBody     = `{"model": "parley", "messages": [{"role": "user", "content": "x"}]%s}`
	responseBody = `{"model": "parley", "input": "x"%s}`
)

// Each way in which a run that was begun may end without an answer is told in its own words, and no client begins another run for it.
func TestBegunIsNotRepeated(t *testing.T) {
	t.Parallel()
	notice := step("The language model had a problem. Please try again in a moment.", "error")
	for name, x := range map[string]struct {
		host         host
		stops        bool // the host, while the run is running
		code, says   string
		storedStatus string // of the response afterwards; "" = the run has not ended
	}{
		"failed":              {host: host{run: sessions.Run{Status: sessions.Failed}, steps: []sessions.Message{step("Let me see.", "toolUse"), notice}}, code: "run_failed", says: "The language model had a problem. Please try again in a moment.", storedStatus: "failed"},
		"failed without word": {host: host{run: sessions.Run{Status: sessions.Failed}}, code: "run_failed", says: "the run failed; parley's log has the reason", storedStatus: "failed"},
		"timeout":             {host: host{run: sessions.Run{Status: sessions.TimedOut}}, code: "run_timeout", says: "the run timed out", storedStatus: "failed"},
		"stopped":             {host: host{run: sessions.Run{Status: sessions.Stopped}}, code: "run_stopped", says: "the run was stopped before it had an answer", storedStatus: "cancelled"},
		"wordless":            {host: host{run: sessions.Run{Status: sessions.Done}, steps: []sessions.Message{step("", "stop")}}, code: "empty_answer", says: "The language model gave an empty answer.", storedStatus: "failed"},
		"blank":               {host: host{run: sessions.Run{Status: sessions.Done, Result: " \n"}, steps: []sessions.Message{step(" \n", "stop")}}, code: "empty_answer", says: "The language model gave an empty answer.", storedStatus: "failed"},
		"store":               {host: host{err: errors.New("disk on fire")}, code: "internal_error", says: "internal error of the host"},
		"conflict":            {host: host{err: sessions.ErrConflict}, code: "conflict", says: sessions.ErrConflict.Error()},
		"full disk":           {host: host{err: context.DeadlineExceeded}, code: "timeout", says: "the request took too long and was aborted"},
		"stopping":            {host: host{hangs: true}, stops: true, code: "stopping", says: "parley is stopping; the run r1 continues after its restart: "},
	} {
		for endpoint, body := range map[string]string{"/v1/chat/completions": chatBody, "/v1/responses": responseBody} {
			for _, stream := range []string{"", `, "stream": true`} {
				t.Run(name+endpoint+stream, func(t *testing.T) {
					t.Parallel()
					h := x.host
					done := make(chan struct{})
					if x.stops {
						h.onSay = func() { close(done) }
					}
					w := h.ask(done, http.MethodPost, endpoint, strings.Replace(body, "%s", stream, 1))
					var p problem
					if stream == "" {
						p = failure(t, w, w.Body.Bytes())
						for client, repeats := range repeaters {
							if repeats(w) {
								t.Errorf("%s repeat a run for %d %v", client, w.Code, w.Header())
							}
						}
						if w.Code == http.StatusBadRequest {
							t.Error("it cannot be told from a request that is wrong")
						}
					} else {
						p = streamFailure(t, w.Body.String(), endpoint == "/v1/responses", x.storedStatus != "")
						if repeatsStream(p) {
							t.Errorf("the AI SDK repeats a run for %s %s", *p.Code, p.Type)
						}
					}
					if *p.Code != x.code || !strings.HasPrefix(p.Message, x.says) || p.Param != nil {
						t.Errorf("it says %s %q", *p.Code, p.Message)
					}
					if endpoint != "/v1/responses" || x.storedStatus == "" {
						return
					}
					g := h.ask(nil, http.MethodGet, "/v1/responses/resp_r1", "")
					var got response
					if err := json.Unmarshal(g.Body.Bytes(), &got); err != nil || g.Code != http.StatusOK || got.Status != x.storedStatus || len(got.Output) != 0 {
						t.Fatalf("afterwards it is %d %s, %v", g.Code, g.Body, err)
					}
					if x.storedStatus == "failed" && (got.Error == nil || got.Error.Message != p.Message) {
						t.Errorf("afterwards its error is %+v", got.Error)
					}
				})
			}
		}
	}
}

// failure reads the error that a request is answered with.
func failure(t *testing.T, w *httptest.ResponseRecorder, text []byte) problem {
	t.Helper()
	var x struct{ Error problem }
	if err := json.Unmarshal(text, &x); err != nil || w.Code < 400 || x.Error.Code == nil {
		t.Fatalf("no error: %d %s", w.Code, text)
	}
	return x.Error
}

// streamFailure reads the error at the end of a stream, in all forms that clients look for.
func streamFailure(t *testing.T, stream string, isResponse, ended bool) problem {
	t.Helper()
	var names []string
	var last, failed map[string]json.RawMessage
	for event := range strings.SplitSeq(strings.TrimSuffix(stream, "\n\n"), "\n\n") {
		name, data, _ := strings.Cut(event, "data: ")
		last = nil
		if err := json.Unmarshal([]byte(data), &last); err != nil {
			t.Fatalf("%q: %v", event, err)
		}
		if name = strings.TrimSuffix(strings.TrimPrefix(name, "event: "), "\n"); name == "response.failed" {
			failed = last
		}
		names = append(names, name)
		if strings.Contains(data, `"finish_reason":"`) || name == "response.completed" {
			t.Errorf("it ends well: %s", event)
		}
	}
	var p problem
	if err := json.Unmarshal(last["error"], &p); err != nil || p.Code == nil {
		t.Fatalf("the last event is %s: %v", last, err)
	}
	if !isResponse {
		return p
	}
	var flat struct {
		Type, Code, Message string
	}
	text, _ := json.Marshal(last)
	if err := json.Unmarshal(text, &flat); err != nil || flat.Type != "error" || flat.Code != *p.Code || flat.Message != p.Message || names[len(names)-1] != "error" {
		t.Errorf("the last event is %s %s", names[len(names)-1], text)
	}
	var x struct {
		Status string
		Error  responseError
	}
	if ended != slices.Contains(names, "response.failed") {
		t.Errorf("the events are %q", names)
	} else if ended && (json.Unmarshal(failed["response"], &x) != nil || x.Status != "failed" || x.Error.Message != p.Message) {
		t.Errorf("the response failed with %s", failed["response"])
	}
	return p
}

// A request that changed nothing, or whose idempotency key gives the same run again, may be repeated, and says when.
func TestMayBeRepeated(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		stopsBefore bool
		header      []string
		status      int
		begun       bool
	}{
		"before it is begun": {true, nil, http.StatusServiceUnavailable, false},
		"with a key":         {false, []string{keyHeader, "k"}, http.StatusServiceUnavailable, true},
		"without a key":      {false, nil, http.StatusNotAcceptable, true},
	} {
		for endpoint, body := range map[string]string{"/v1/chat/completions": chatBody, "/v1/responses": responseBody} {
			t.Run(name+endpoint, func(t *testing.T) {
				t.Parallel()
				done, begun := make(chan struct{}), false
				h := host{hangs: true, onSay: func() { begun = true; close(done) }}
				if x.stopsBefore {
					close(done)
				}
				w := h.ask(done, http.MethodPost, endpoint, strings.Replace(body, "%s", "", 1), x.header...)
				p := failure(t, w, w.Body.Bytes())
				again := x.status == http.StatusServiceUnavailable
				if w.Code != x.status || *p.Code != codeStopping || begun != x.begun || again != (w.Header().Get("Retry-After") == "5") || again != (w.Header().Get("X-Should-Retry") == "") {
					t.Errorf("%d %v %s, begun: %t", w.Code, w.Header(), w.Body, begun)
				}
				if endpoint == "/v1/responses" && x.begun && !again && !strings.Contains(p.Message, "GET /v1/responses/resp_r1") {
					t.Errorf("it does not say where its answer will be: %s", p.Message)
				}
			})
		}
	}
}

// What is no failure stays an answer: silence that the agent chose, and an answer that is cut off or refused.
func TestEmptyAnswers(t *testing.T) {
	t.Parallel()
	call := sessions.Message{Role: sessions.Assistant, Stop: "toolUse", Content: []sessions.Block{{Type: sessions.ToolCallBlock, ID: "c", Name: "sessions_yield"}}}
	for name, x := range map[string]struct {
		run             sessions.Run
		steps           []sessions.Message
		finish, refusal string
		status          string
	}{
		"silence": {sessions.Run{Result: "NO_REPLY"}, []sessions.Message{step("NO_REPLY", "stop")}, "stop", "", "completed"},
		"yield":   {sessions.Run{}, []sessions.Message{call, {Role: sessions.ToolResult, Stop: "yield"}, step("", "stop")}, "stop", "", "completed"},
		"length":  {sessions.Run{}, []sessions.Message{step("", "length")}, "length", "", "incomplete"},
		"refused": {sessions.Run{}, []sessions.Message{step("", "filter")}, "content_filter", "The language model refused to answer.", "incomplete"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := host{run: x.run, steps: x.steps}
			h.run.Status = sessions.Done
			var got struct {
				Choices []struct {
					Message struct{ Content, Refusal string }
					Finish  string `json:"finish_reason"`
				}
			}
			w := h.ask(nil, http.MethodPost, "/v1/chat/completions", strings.Replace(chatBody, "%s", "", 1))
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK || got.Choices[0].Message.Content != "" || got.Choices[0].Finish != x.finish || got.Choices[0].Message.Refusal != x.refusal {
				t.Errorf("the completion is %d %s", w.Code, w.Body)
			}
			w = h.ask(nil, http.MethodPost, "/v1/chat/completions", strings.Replace(chatBody, "%s", `, "stream": true`, 1))
			if text := w.Body.String(); !strings.Contains(text, `"finish_reason":"`+x.finish+`"`) || !strings.HasSuffix(text, "data: [DONE]\n\n") || x.refusal != "" && !strings.Contains(text, `"refusal":"`+x.refusal+`"`) {
				t.Errorf("the stream is %s", text)
			}
			var r response
			w = h.ask(nil, http.MethodPost, "/v1/responses", strings.Replace(responseBody, "%s", "", 1))
			if err := json.Unmarshal(w.Body.Bytes(), &r); err != nil || w.Code != http.StatusOK || r.Status != x.status {
				t.Errorf("the response is %d %s", w.Code, w.Body)
			}
		})
	}
}

// A stored response says what its request was answered with: a stream shows the text between tool calls too.
func TestStoredText(t *testing.T) {
	t.Parallel()
	look := step("Let me look. ", "toolUse")
	look.Content = append(look.Content, sessions.Block{Type: sessions.ToolCallBlock, ID: "c", Name: "files"})
	for stream, want := range map[string]string{"": "Found.", `, "stream": true`: "Let me look.\n\nFound."} {
		h := host{run: sessions.Run{Status: sessions.Done, Result: "Found.\n", Ended: time.Now()}, steps: []sessions.Message{look, {Role: sessions.ToolResult}, step("Found.\n", "stop")}}
		h.ask(nil, http.MethodPost, "/v1/responses", strings.Replace(responseBody, "%s", stream, 1))
		w := h.ask(nil, http.MethodGet, "/v1/responses/resp_r1", "")
		var x response
		if err := json.Unmarshal(w.Body.Bytes(), &x); err != nil || x.Status != "completed" || x.Output[0].Content[0].Text != want {
			t.Errorf("the response%s is %s, %v", stream, w.Body, err)
		}
	}
}

// TestDraftThatBrokeOff: the item of a streamed response is the answer, without a draft in whose place it came.
// source: platform.openai.com/docs/api-reference/responses-streaming (response.output_text.done: the text that is finalized)
func TestDraftThatBrokeOff(t *testing.T) {
	t.Parallel()
	h := host{draft: "Draft one two ", run: sessions.Run{Status: sessions.Done, Result: "Final.", Ended: time.Now()}, steps: []sessions.Message{step("Final.", "stop")}}
	w := h.ask(nil, http.MethodPost, "/v1/responses", strings.Replace(responseBody, "%s", `, "stream": true`, 1))
	deltas, ended := "", ""
	for line := range strings.Lines(w.Body.String()) {
		var e struct {
			Type, Delta, Text string
			Response          response
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err)
		}
		switch deltas += e.Delta; e.Type {
		case "response.output_text.done":
			ended += e.Text
		case "response.completed":
			ended += "|" + e.Response.Output[0].Content[0].Text
		}
	}
	if !strings.HasPrefix(deltas, h.draft) || ended != "Final.|Final." {
		t.Errorf("deltas %q, at the end %q", deltas, ended)
	}
}

// When a run could not be begun, the status says whether that is sure.
func TestNotBegun(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		fault      error
		key        []string
		status     int
		retryAfter string
	}{
		"too many wait":       {fmt.Errorf("the session: %w", inbound.ErrQueueFull), nil, http.StatusTooManyRequests, "5"},
		"wrong words":         {fmt.Errorf("%w: x", sessions.ErrBadRequest), nil, http.StatusBadRequest, ""},
		"full disk":           {syscall.ENOSPC, nil, http.StatusServiceUnavailable, ""},
		"a fault":             {errors.New("connection reset"), nil, http.StatusNotAcceptable, ""},
		"a fault with a key":  {errors.New("connection reset"), []string{keyHeader, "k"}, http.StatusInternalServerError, ""},
		"too slow":            {context.DeadlineExceeded, nil, http.StatusNotAcceptable, ""},
		"too slow with a key": {context.DeadlineExceeded, []string{keyHeader, "k"}, http.StatusGatewayTimeout, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := host{fault: x.fault}
			w := h.ask(nil, http.MethodPost, "/v1/responses", strings.Replace(responseBody, "%s", "", 1), x.key...)
			if w.Code != x.status || w.Header().Get("Retry-After") != x.retryAfter || strings.Contains(w.Body.String(), "reset") {
				t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
			}
		})
	}
}
