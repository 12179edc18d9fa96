package responses

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"parley/agent"
	"parley/sessions"
)

func textBlock(s string) sessions.Block { return sessions.Block{Type: sessions.TextBlock, Text: s} }

func thoughtBlock(s string) sessions.Block {
	return sessions.Block{Type: sessions.ThinkingBlock, Text: s}
}

func callBlock(id, name, args string) sessions.Block {
	return sessions.Block{Type: sessions.ToolCallBlock, ID: id, Name: name, Arguments: json.RawMessage(args)}
}

func blocks(b ...sessions.Block) []sessions.Block { return append([]sessions.Block{}, b...) }

func delta(fields string) string { return `{"type":"response.output_text.delta",` + fields + `}` }

// TestDialects feeds what servers send, and should not.
func TestDialects(t *testing.T) {
	t.Parallel()
	const created = `{"type":"response.created","response":{"status":"in_progress","model":"m-1","output":[],"error":null,"usage":null}}`
	end := completed()
	for _, c := range []struct {
		name, body string
		want       []sessions.Block // nil = Broken
		stop       string           // empty = the one that fits
		usage      sessions.Usage
	}{
		// source: platform.openai.com/docs/api-reference/responses-streaming
		{"OpenAI", "event: response.created\n" + events(created, `{"type":"response.in_progress","response":{}}`,
			`{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}`,
			`{"type":"response.reasoning_summary_part.added","item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}`,
			`{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"one"}`,
			`{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":1,"delta":"two"}`,
			`{"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"one"},{"type":"summary_text","text":"two"}]}}`,
			`{"type":"response.output_item.added","output_index":1,"item":{"id":"msg_1","type":"message","role":"assistant","content":[]}}`,
			`{"type":"response.content_part.added","item_id":"msg_1","output_index":1,"content_index":0,"part":{"type":"output_text","text":""}}`,
			delta(`"item_id":"msg_1","output_index":1,"content_index":0,"delta":"he","obfuscation":"xx"`), delta(`"item_id":"msg_1","output_index":1,"content_index":0,"delta":"llo"`),
			`{"type":"response.output_text.done","item_id":"msg_1","output_index":1,"content_index":0,"text":"hello"}`,
			`{"type":"response.output_item.done","output_index":1,"item":`+hello+`}`,
			`{"type":"response.completed","response":{"status":"completed","output":[{"id":"rs_1","type":"reasoning","summary":[]},`+hello+`],"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":4},"output_tokens":3,"output_tokens_details":{"reasoning_tokens":2}}}}`),
			blocks(thoughtBlock("one\n\ntwo"), textBlock("hello")), agent.StopEnd, sessions.Usage{Input: 9, Output: 3, CacheRead: 4}},
		{"only the end", events(completed(thinking, hello, weather)), blocks(thoughtBlock("hm"), textBlock("hello"), callBlock("call_1", "weather", `{"at":"Berlin"}`)), agent.StopToolUse, sessions.Usage{}},
		// source: BerriAI/litellm#32724, open-webui/open-webui#27800
		{"an end without items", events(created, delta(`"item_id":"msg_1","output_index":0,"delta":"hello"`), `{"type":"response.output_item.done","output_index":0,"item":`+hello+`}`, `{"type":"response.output_item.done","output_index":1,"item":`+weather+`}`, end),
			blocks(textBlock("hello"), callBlock("call_1", "weather", `{"at":"Berlin"}`)), agent.StopToolUse, sessions.Usage{}},
		{"pieces only, then the end mark", events(delta(`"delta":"he"`), delta(`"delta":"llo"`), "[DONE]"), blocks(textBlock("hello")), agent.StopEnd, sessions.Usage{}},
		{"neither end nor end mark", events(created, delta(`"delta":"he"`)), nil, "", sessions.Usage{}},
		{"nothing but the end mark", events("[DONE]"), nil, "", sessions.Usage{}},
		{"keep-alives, unknown events and items", ": PROCESSING\n\n" + events(`{"type":"keepalive","sequence_number":3}`, `{"type":"response.web_search_call.searching","item_id":"ws_1"}`,
			`{"type":"response.output_item.added","output_index":0,"item":{"id":"ws_1","type":"web_search_call"}}`, delta(`"output_index":1,"delta":"hello"`), end), blocks(textBlock("hello")), agent.StopEnd, sessions.Usage{}},
		{"the type in the name only", "event: response.output_text.delta\ndata: {\"delta\":\"hello\"}\n\nevent: response.completed\ndata: {\"response\":{\"status\":\"completed\"}}\n\n", blocks(textBlock("hello")), agent.StopEnd, sessions.Usage{}},
		// source: vercel/ai#18548, BerriAI/litellm#30072: Copilot's ids differ in every event
		{"ids that change", events(`{"type":"response.output_item.added","output_index":0,"item":{"id":"a","type":"reasoning","summary":[]}}`,
			`{"type":"response.reasoning_summary_text.delta","item_id":"b","output_index":0,"summary_index":0,"delta":"h"}`, `{"type":"response.reasoning_summary_text.delta","item_id":"c","output_index":0,"summary_index":0,"delta":"m"}`,
			`{"type":"response.output_item.done","output_index":0,"item":{"id":"d","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}}`,
			`{"type":"response.output_item.added","output_index":1,"item":{"id":"e","type":"message","role":"assistant","content":[]}}`,
			delta(`"item_id":"f","output_index":1,"delta":"hel"`), delta(`"item_id":"g","output_index":1,"delta":"lo"`),
			`{"type":"response.output_item.done","output_index":1,"item":{"id":"h","type":"message","content":[{"type":"output_text","text":"hello"}]}}`,
			`{"type":"response.output_item.added","output_index":2,"item":{"id":"i","type":"function_call","call_id":"call_1","name":"weather","arguments":""}}`,
			`{"type":"response.function_call_arguments.delta","item_id":"j","output_index":2,"delta":"ciphertext"}`,
			`{"type":"response.function_call_arguments.done","item_id":"k","output_index":2,"arguments":"{\"at\":\"Berlin\"}"}`,
			completed(strings.Replace(thinking, "rs_1", "l", 1), strings.Replace(hello, "msg_1", "m", 1), strings.Replace(weather, "fc_1", "n", 1))),
			blocks(thoughtBlock("hm"), textBlock("hello"), callBlock("call_1", "weather", `{"at":"Berlin"}`)), agent.StopToolUse, sessions.Usage{}},
		// source: EricLBuehler/mistral.rs#1944, RESMP-DEV/ccr-rust#25 (no output_index)
		{"ids that change, no places", events(delta(`"item_id":"a","delta":"hello"`), `{"type":"response.output_text.done","item_id":"b","text":"hello"}`,
			`{"type":"response.output_item.done","item":`+strings.Replace(hello, "msg_1", "c", 1)+`}`, completed(strings.Replace(hello, "msg_1", "d", 1))), blocks(textBlock("hello")), agent.StopEnd, sessions.Usage{}},
		{"ids that change in each piece, no places", events(`{"type":"response.output_item.added","item":{"id":"a","type":"reasoning","summary":[]}}`, `{"type":"response.reasoning_summary_text.delta","item_id":"b","delta":"h"}`, `{"type":"response.reasoning_summary_text.delta","item_id":"c","delta":"m"}`,
			`{"type":"response.output_item.done","item":`+strings.Replace(thinking, "rs_1", "d", 1)+`}`, delta(`"item_id":"e","delta":"hel"`), delta(`"item_id":"f","delta":"lo"`), `{"type":"response.output_text.done","item_id":"g","text":"hello"}`,
			`{"type":"response.output_item.added","item":{"id":"h","type":"function_call","call_id":"call_1","name":"weather","arguments":""}}`, `{"type":"response.function_call_arguments.delta","item_id":"i","delta":"{\"at\":"}`,
			`{"type":"response.function_call_arguments.delta","item_id":"j","delta":"\"Berlin\"}"}`, end), blocks(thoughtBlock("hm"), textBlock("hello"), callBlock("call_1", "weather", `{"at":"Berlin"}`)), agent.StopToolUse, sessions.Usage{}},
		{"two texts, no places", events(delta(`"item_id":"a","delta":"one"`), `{"type":"response.output_text.done","item_id":"a","text":"one"}`, delta(`"item_id":"b","delta":"two"`), `{"type":"response.output_text.done","item_id":"b","text":"two"}`, end), blocks(textBlock("one"), textBlock("\n\ntwo")), agent.StopEnd, sessions.Usage{}},
		// source: BerriAI/litellm#36375: one place for all, no announcement
		{"one place for all", events(`{"type":"response.reasoning_summary_text.delta","item_id":"r1","output_index":0,"delta":"h"}`, `{"type":"response.reasoning_summary_text.delta","item_id":"r2","output_index":0,"delta":"m"}`,
			delta(`"item_id":"msg_1","output_index":0,"delta":"hello"`),
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"weather","arguments":""}}`,
			`{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":"{\"at\":\"Berlin\"}"}`,
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_2","call_id":"call_2","name":"weather","arguments":""}}`,
			`{"type":"response.function_call_arguments.delta","item_id":"fc_2","output_index":0,"delta":"{}"}`, completed(hello, weather, `{"type":"function_call","id":"fc_2","call_id":"call_2","name":"weather","arguments":"{}"}`)),
			blocks(thoughtBlock("hm"), textBlock("hello"), callBlock("call_1", "weather", `{"at":"Berlin"}`), callBlock("call_2", "weather", `{}`)), agent.StopToolUse, sessions.Usage{}},
		// source: earendil-works/pi#6009: OpenRouter completes items out of order
		{"completed out of order", events(`{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning"}}`, `{"type":"response.output_item.added","output_index":1,"item":{"id":"fc_1","type":"function_call"}}`,
			`{"type":"response.output_item.done","output_index":1,"item":`+weather+`}`, `{"type":"response.output_item.done","output_index":0,"item":`+thinking+`}`, end),
			blocks(thoughtBlock("hm"), callBlock("call_1", "weather", `{"at":"Berlin"}`)), agent.StopToolUse, sessions.Usage{}},
		// source: invergent-ai/surogate#175: the order of the whole answer counts
		{"the order of the whole answer", events(delta(`"item_id":"msg_1","output_index":0,"delta":"hello"`), `{"type":"response.reasoning_text.delta","item_id":"rs_1","output_index":1,"content_index":0,"delta":"hm"}`, completed(thinking, hello)),
			blocks(thoughtBlock("hm"), textBlock("hello")), agent.StopEnd, sessions.Usage{}},
		{"the order of places", events(delta(`"item_id":"msg_1","output_index":1,"delta":"hello"`), `{"type":"response.reasoning_text.delta","item_id":"rs_1","output_index":0,"delta":"hm"}`, end), blocks(thoughtBlock("hm"), textBlock("hello")), agent.StopEnd, sessions.Usage{}},
		{"ids without places", events(`{"type":"response.function_call_arguments.delta","item_id":"fc_1","delta":"{\"at\":"}`, `{"type":"response.function_call_arguments.delta","item_id":"fc_2","delta":"{}"}`, `{"type":"response.function_call_arguments.delta","item_id":"fc_1","delta":"\"Berlin\"}"}`,
			completed(`{"type":"function_call","id":"fc_1","call_id":"call_1","name":"weather"}`, `{"type":"function_call","id":"fc_2","call_id":"call_2","name":"list"}`)),
			blocks(callBlock("call_1", "weather", `{"at":"Berlin"}`), callBlock("call_2", "list", `{}`)), agent.StopToolUse, sessions.Usage{}},
		{"done items only, as xAI sends calls", events(`{"type":"response.output_item.added","output_index":0,"item":`+weather+`}`, `{"type":"response.output_item.done","output_index":0,"item":`+weather+`}`, end), blocks(callBlock("call_1", "weather", `{"at":"Berlin"}`)), agent.StopToolUse, sessions.Usage{}},
		{"all of a call at its beginning", events(`{"type":"response.output_item.added","item":`+weather+`}`, end), blocks(callBlock("call_1", "weather", `{"at":"Berlin"}`)), agent.StopToolUse, sessions.Usage{}},
		{"two texts", events(delta(`"item_id":"a","output_index":0,"delta":"one"`), delta(`"item_id":"b","output_index":1,"delta":"two"`), end), blocks(textBlock("one"), textBlock("\n\ntwo")), agent.StopEnd, sessions.Usage{}},
		{"a refusal", events(`{"type":"response.refusal.delta","item_id":"a","output_index":0,"delta":"I will "}`, `{"type":"response.refusal.delta","item_id":"a","output_index":0,"delta":"not."}`, `{"type":"response.refusal.done","item_id":"a","output_index":0,"refusal":"I will not."}`,
			completed(`{"type":"message","id":"a","content":[{"type":"refusal","refusal":"I will not."}]}`)), blocks(textBlock("I will not.")), agent.StopFilter, sessions.Usage{}},
		{"a refusal after text", events(completed(`{"type":"message","id":"a","content":[{"type":"output_text","text":"Well. "},{"type":"refusal","refusal":"No."}]}`)), blocks(textBlock("Well. No.")), agent.StopEnd, sessions.Usage{}},
		{"cut off at the limit", events(delta(`"delta":"hel"`), `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}}`), blocks(textBlock("hel")), agent.StopLength, sessions.Usage{}},
		{"cut off in a call", events(`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"weather"}}`, `{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"at"}`, `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}`),
			blocks(callBlock("call_1", "weather", `{"at`)), agent.StopLength, sessions.Usage{}},
		{"filtered", events(delta(`"delta":"hel"`), `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}}`), blocks(textBlock("hel")), agent.StopFilter, sessions.Usage{}},
		{"half a call, then the end mark", events(`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"weather"}}`, `{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"at"}`, "[DONE]"), nil, "", sessions.Usage{}},
		{"no arguments, no ids", events(`{"type":"response.output_item.done","item":{"type":"function_call","name":"list","call_id":"c"}}`, `{"type":"response.output_item.done","item":{"type":"function_call","name":"list","arguments":null,"id":"fc_9"}}`, end), blocks(callBlock("c", "list", "{}"), callBlock("fc_9", "list", "{}")), agent.StopToolUse, sessions.Usage{}},
		{"odd types", events(`{"type":"response.output_text.delta","output_index":"0","item_id":7,"delta":{"text":"hello"}}`, `{"type":"response.output_item.done","output_index":1.0,"item":{"type":"function_call","id":3,"call_id":4,"name":"list","arguments":{"a":1}}}`,
			`{"type":"response.reasoning.delta","delta":{"text":"hm"}}`, `["odd"]`, `"odd"`, `7`,
			`{"type":"response.completed","response":{"status":"completed","model":5,"error":{},"output":{"no":"list"},"usage":{"input_tokens":"9","output_tokens":3.0}}}`),
			blocks(textBlock("hello"), callBlock("4", "list", `{"a":1}`), thoughtBlock("hm")), agent.StopToolUse, sessions.Usage{Input: 9, Output: 3}},
		{"thoughts in tags", events(delta(`"delta":"<th"`), delta(`"delta":"ink>\nhm</thi"`), delta(`"delta":"nk>\n\nhello"`), end), blocks(thoughtBlock("hm"), textBlock("hello")), agent.StopEnd, sessions.Usage{}},
		{"an end tag alone", events(delta(`"delta":"hm\n</think>\n\nhel"`), delta(`"delta":"lo"`), end), blocks(thoughtBlock("hm"), textBlock("hello")), agent.StopEnd, sessions.Usage{}},
		// source: openclaw/openclaw#89473
		{"thoughts in tags behind words", events(delta(`"delta":"hello\n<th"`), delta(`"delta":"ink>hm</think>\nthere"`), end), blocks(thoughtBlock("hm"), textBlock("hello\nthere")), agent.StopEnd, sessions.Usage{}},
		{"the whole as JSON", `{"id":"resp_1","object":"response","status":"completed","error":null,"model":"m-2","output":[` + hello + `],"usage":{"input_tokens":1,"output_tokens":2}}`, blocks(textBlock("hello")), agent.StopEnd, sessions.Usage{Input: 1, Output: 2}},
		{"the whole as JSON, cut off", `{"object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[` + hello + `]}`, blocks(textBlock("hello")), agent.StopLength, sessions.Usage{}},
		{"the whole as JSON, not ready", `{"object":"response","status":"queued","output":[]}`, nil, "", sessions.Usage{}},
		{"lines of JSON", delta(`"delta":"hello"`) + "\n" + end + "\n", blocks(textBlock("hello")), agent.StopEnd, sessions.Usage{}},
		{"half of the whole", `{"object":"response","status":"completed","output":[`, nil, "", sessions.Usage{}},
		{"failed without a reason", events(`{"type":"response.failed","response":{"status":"failed","error":null}}`), nil, "", sessions.Usage{}},
		{"a web page", "<html><body>Welcome!</body></html>", nil, "", sessions.Usage{}},
		{"nothing", "", nil, "", sessions.Usage{}},
		{"an empty answer", events(end), blocks(), agent.StopEnd, sessions.Usage{}},
		{"calls without end", events(strings.Repeat(`{"type":"response.output_item.done","item":{"type":"function_call","name":"f","arguments":"{}"}}`+"\n\ndata: ", 200) + end), nil, "", sessions.Usage{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m, _ := against(t, Config{}, reply{body: c.body})
			g := ask(t, m, agent.Prompt{})
			if c.want == nil {
				want := agent.Broken
				if c.name == "a web page" {
					want = agent.BadAddress
				}
				if class(g.err) != want {
					t.Fatalf("got %+v, %v", g.answer, g.err)
				}
				return
			}
			if g.err != nil {
				t.Fatal(g.err)
			}
			if diff := cmp.Diff(c.want, blocks(g.answer.Content...), cmpopts.IgnoreFields(sessions.Block{}, "Opaque")); diff != "" {
				t.Error(diff)
			}
			if g.answer.Stop != c.stop || g.answer.Usage != c.usage {
				t.Errorf("stop %q, usage %+v", g.answer.Stop, g.answer.Usage)
			}
			if text := (sessions.Message{Content: g.answer.Content}).Text(); g.text != text {
				t.Errorf("shown %q, answered %q", g.text, text)
			}
		})
	}
}

// TestStreamErrors: errors inside of an answer have the class that fits.
func TestStreamErrors(t *testing.T) {
	t.Parallel()
	failed := func(code, message string) string {
		return events(`{"type":"response.created","response":{}}`, fmt.Sprintf(`{"type":"response.failed","response":{"status":"failed","output":[],"instructions":"prompt is too long","error":{"code":%q,"message":%q}}}`, code, message))
	}
	for _, c := range []struct {
		name, body string
		want       agent.ErrorClass
	}{
		// source: earendil-works/pi#1458
		{"rate", failed("rate_limit_exceeded", "Requests to the … Operation have exceeded token rate limit"), agent.RateLimited},
		// source: zendev-sh/goai#88
		{"rate, nested, with headers", events(`{"type":"error","error":{"type":"tokens","code":"rate_limit_exceeded","headers":{"x-ratelimit-limit-requests":"500"},"message":"Rate limit reached for gpt-4o in organization org-abc on tokens per min (TPM): Limit 30000, Used 25265, Requested 8020. Please try again in 6.57s.","param":null},"sequence_number":2}`), agent.RateLimited},
		// source: openai/openai-dotnet#881
		{"rate, Azure's words", events(`{"type":"error","sequence_number":2,"error":{"type":"too_many_requests","code":"too_many_requests","message":"Too Many Requests","param":null}}`), agent.RateLimited},
		{"server", failed("server_error", "An error occurred while processing your request. You can retry your request."), agent.Overloaded},
		{"server, flat", events(`{"type":"error","code":"server_error","message":"The server had an error","param":null,"sequence_number":1}`), agent.Overloaded},
		{"overload", failed("server_is_overloaded", "Our servers are currently overloaded. Please try again later."), agent.Overloaded},
		{"refused content", failed("invalid_prompt", "Invalid prompt: your prompt was flagged as potentially violating our usage policy."), agent.Refused},
		{"credit", failed("insufficient_quota", "You exceeded your current quota, please check your plan and billing details."), agent.NoCredit},
		{"too long", failed("context_length_exceeded", "Your input exceeds the context window of this model. Please adjust your input and try again."), agent.TooLong},
		{"a picture", failed("invalid_image", "The image data you provided does not represent a valid image."), agent.BadRequest},
		{"a picture, by policy", failed("image_content_policy_violation", "The image may contain content that is not allowed."), agent.Refused},
		{"an error in other words", `{"detail":"Rate limited: too many requests","code":"too_many_requests"}`, agent.RateLimited},
		{"an error as JSON", `{"error":{"message":"The server had an error","type":"server_error","code":null}}`, agent.Overloaded},
		{"an error in a list", `[{"error":{"message":"Too fast","code":429,"status":"RESOURCE_EXHAUSTED"}}]`, agent.RateLimited},
		{"a failed answer as JSON", `{"object":"response","status":"failed","error":{"code":"server_error","message":"no"},"output":[]}`, agent.Overloaded},
		{"an error after text", events(delta(`"delta":"hel"`), `{"type":"error","error":{"type":"server_error","code":"server_error","message":"no"}}`), agent.Overloaded},
	} {
		m, s := against(t, Config{}, reply{body: c.body})
		g := ask(t, m, agent.Prompt{})
		if class(g.err) != c.want || g.answer != nil {
			t.Errorf("%s: %v", c.name, g.err)
		}
		if n := len(s.bodies); n > 2 {
			t.Errorf("%s: %d requests", c.name, n)
		}
	}
}

// TestWishedWait: how long to wait is read out of an answer that began well.
// source: zendev-sh/goai#88
func TestWishedWait(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"Please try again in 6.57s.": 6570 * time.Millisecond, "try again in 120ms": 120 * time.Millisecond, "try again in a moment": 0} {
		m, _ := against(t, Config{}, reply{body: events(fmt.Sprintf(`{"type":"error","error":{"code":"rate_limit_exceeded","message":%q}}`, text))})
		e, ok := errors.AsType[*agent.ModelError](ask(t, m, agent.Prompt{}).err)
		if !ok || e.RetryAfter != want {
			t.Errorf("%s: %v", text, e)
		}
	}
}

// TestNoSuchAPI: an address without this API says what to do.
func TestNoSuchAPI(t *testing.T) {
	t.Parallel()
	const elsewhere = "The requested model 'm' cannot be used with the Responses API."
	m, _ := against(t, Config{}, reply{status: 400, body: refusal(elsewhere, "model", "")})
	if err := ask(t, m, agent.Prompt{}).err; !strings.Contains(err.Error(), "openai-completions") {
		t.Error(err)
	}
	for body, want := range map[string]bool{"404 page not found": true, `{"detail":"Not Found"}`: true, refusal("The model `m` does not exist", "model", "model_not_found"): false} {
		m, s := against(t, Config{}, reply{status: 404, body: body})
		of := map[bool]agent.ErrorClass{true: agent.BadAddress, false: agent.NoSuchModel}[want]
		if err := ask(t, m, agent.Prompt{}).err; class(err) != of || strings.Contains(err.Error(), "openai-completions") != want || len(s.bodies) != 1 {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// TestUnreadableIsLogged: what cannot be read is logged once for each model, shortened.
func TestUnreadableIsLogged(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	m, _ := against(t, Config{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}, reply{body: events(`"`+strings.Repeat("odd", 200)+`"`, `{"type":"response.output_item.done","item":7}`, completed(hello))})
	for range 2 {
		if g := ask(t, m, agent.Prompt{}); g.text != "hello" {
			t.Fatal(g.err)
		}
	}
	told, bytes, _ := strings.Cut(log.String(), "level=DEBUG")
	if strings.Count(told, "unreadable") != 1 || len(told) > 300 || strings.Contains(told, "oddodd") || !strings.Contains(told, "600 bytes") { // docs/security.md
		t.Error(told)
	}
	if strings.Count(bytes, "unreadable") != 1 || len(bytes) > 600 || !strings.Contains(bytes, "oddodd") {
		t.Error(bytes)
	}
}

// TestLongThoughts: an answer is not lost because its framing is long, and what is kept of thoughts is bounded.
func TestLongThoughts(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for range 64_000 {
		b.WriteString(`data: {"type":"response.reasoning_text.delta","sequence_number":12345,"item_id":"rs_0123456789abcdef0123456789abcdef","output_index":0,"content_index":0,"delta":" token","obfuscation":"0123456789"}` + "\n\n")
	}
	m, _ := against(t, Config{}, reply{body: b.String() + fine.body})
	g := ask(t, m, agent.Prompt{})
	if g.err != nil || g.text != "hello" || len(g.answer.Content[0].Text) != 6*64_000 {
		t.Fatalf("%q, %v", g.text, g.err)
	}
	long := events(`{"type":"response.reasoning_text.delta","delta":"` + strings.Repeat("x", maxThinking-10) + `"}`)
	m, _ = against(t, Config{}, reply{body: long + long + fine.body})
	g = ask(t, m, agent.Prompt{})
	if g.err != nil || g.text != "hello" || len(g.thoughts) > maxThinking+100 || !strings.HasSuffix(g.thoughts, thoughtsCut) {
		t.Fatalf("%d bytes of thoughts, %v", len(g.thoughts), g.err)
	}
}

// TestOnlyTheClosingTag: of a model that sends only the closing tag no reasoning is shown once that is known. source: jundot/omlx#2623
func TestOnlyTheClosingTag(t *testing.T) {
	t.Parallel()
	body := reply{body: events(`{"type":"response.output_text.delta","output_index":0,"delta":"SECRET plan"}`, `{"type":"response.output_text.delta","output_index":0,"delta":"</think>Hel"}`,
		`{"type":"response.output_text.delta","output_index":0,"delta":"lo"}`, completed())}
	m, _ := against(t, Config{}, body)
	for i, want := range []string{"SECRET plan|Hel|lo", "Hel|lo"} {
		var shown []string
		for d, err := range m.Stream(t.Context(), agent.Prompt{Model: "m", Messages: []sessions.Message{user("hi")}}) {
			if err != nil {
				t.Fatal(err)
			}
			if d.Text != "" {
				shown = append(shown, d.Text)
			}
		}
		if got := strings.Join(shown, "|"); got != want {
			t.Errorf("answer %d shows %q, want %q", i, got, want)
		}
	}
}
