package openai

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"parley/agent"
	"parley/sessions"
)

// TestSignedPartsGoBack: signatures go back to the endpoint that made them, where they stood.
// source: docs.litellm.ai/blog/gemini_3, docs.litellm.ai/docs/reasoning_content, docs.mistral.ai/api (ThinkChunk)
func TestSignedPartsGoBack(t *testing.T) {
	t.Parallel()
	const call = `"index":0,"id":"call_1","type":"function"`
	seal := "call_1__thought__" + strings.Repeat("EpgBCpUBAWkUfRPnWX0Lt8BP", 20)
	for name, c := range map[string]struct {
		pieces []string // deltas
		want   []string // in the next request
		hidden string   // in no text, name or id of the transcript
	}{
		"a call": {[]string{`{"tool_calls":[{` + call + `,"provider_specific_fields":{"thought_signature":"SIG"},"function":{"name":"look","arguments":"{}"}}]}`},
			[]string{`"id":"call_1","provider_specific_fields":{"thought_signature":"SIG"},"function"`}, "SIG"},
		"a field of a call": {[]string{`{"tool_calls":[{` + call + `,"thought_signature":"SIG","function":{"name":"look","arguments":"{}"}}]}`},
			[]string{`"id":"call_1","thought_signature":"SIG","function"`}, "SIG"},
		"a function": {[]string{`{"tool_calls":[{` + call + `,"function":{"name":"look","arguments":"{}","provider_specific_fields":{"thought_signature":"SIG"}}}]}`},
			[]string{`"arguments":"{}","provider_specific_fields":{"thought_signature":"SIG"}}`}, "SIG"},
		"a field of a function": {[]string{`{"tool_calls":[{` + call + `,"function":{"name":"look","arguments":{},"thoughtSignature":"SIG"}}]}`},
			[]string{`"arguments":"{}","thoughtSignature":"SIG"}`}, "SIG"},
		"another field of a call": {[]string{`{"tool_calls":[{` + call + `,"provider_metadata":{"google":{"thoughtSignature":"SIG"}},"signature":"SIG2","function":{"name":"look","arguments":"{}"}}]}`},
			[]string{`"id":"call_1","provider_metadata":{"google":{"thoughtSignature":"SIG"}},"signature":"SIG2","function"`}, "SIG"},
		"another field of a function": {[]string{`{"tool_calls":[{` + call + `,"function":{"name":"look","arguments":"{}","encrypted_state":"SIG"}}]}`},
			[]string{`"arguments":"{}","encrypted_state":"SIG"}`}, "SIG"},
		"other fields of the message": {[]string{`{"reasoning_content":"Hm"}`, `{"reasoning_signature":"SIG"}`, `{"encrypted_content":"SIG2"}`, `{"tool_calls":[{` + call + `,"function":{"name":"look","arguments":"{}"}}]}`},
			[]string{`"encrypted_content":"SIG2","reasoning_signature":"SIG"`, `"reasoning_content":"Hm"`}, "SIG"},
		"an object of reasoning": {[]string{`{"reasoning":{"encrypted_content":"SIG"}}`, `{"tool_calls":[{` + call + `,"function":{"name":"look","arguments":"{}"}}]}`},
			[]string{`"reasoning":{"encrypted_content":"SIG"}`}, "SIG"},
		// source: agno-agi/agno#5802, OpenRouterTeam/ai-sdk-provider#423
		"a signature in a piece of its own": {[]string{`{"reasoning_details":[{"type":"reasoning.text","text":"Let me ","format":"anthropic-claude-v1","index":0}]}`, `{"reasoning_details":[{"type":"reasoning.text","text":"look.","format":"anthropic-claude-v1","index":0}]}`,
			`{"reasoning_details":[{"type":"reasoning.text","signature":"SIG","format":"anthropic-claude-v1","index":0}]}`, `{"tool_calls":[{` + call + `,"function":{"name":"look","arguments":"{}"}}]}`},
			[]string{`"reasoning_details":[{"format":"anthropic-claude-v1","index":0,"signature":"SIG","text":"Let me look.","type":"reasoning.text"}]`}, "SIG"},
		"an id": {[]string{`{"tool_calls":[{"index":0,"id":"` + seal + `","type":"function","function":{"name":"look","arguments":"{}"}}]}`},
			[]string{`"id":"` + seal + `"`, `"tool_call_id":"` + seal + `"`}, "EpgB"},
		"thinking blocks": {[]string{`{"reasoning_content":"Hm","thinking_blocks":[{"type":"thinking","thinking":"Hm","signature":""}]}`,
			`{"thinking_blocks":[{"type":"thinking","thinking":"","signature":"SIG"}]}`, `{"tool_calls":[{` + call + `,"function":{"name":"look","arguments":"{}"}}]}`},
			[]string{`"thinking_blocks":[{"signature":"SIG","thinking":"Hm","type":"thinking"}]`}, "SIG"},
		// source: microsoft/vscode-copilot-chat (src/platform/thinking/common/thinking.ts)
		"the id of a thought": {[]string{`{"reasoning_text":"Hm","cot_id":"cot_7"}`, `{"tool_calls":[{` + call + `,"function":{"name":"look","arguments":"{}"}}]}`},
			[]string{`"cot_id":"cot_7"`, `"reasoning_text":"Hm"`}, "cot_7"},
		"a summary and its id": {[]string{`{"cot_summary":"H","cot_id":"cot_7"}`, `{"cot_summary":"m","cot_id":"cot_7"}`, `{"tool_calls":[{` + call + `,"function":{"name":"look","arguments":"{}"}}]}`},
			[]string{`"cot_id":"cot_7"`, `"cot_summary":"Hm"`}, "cot_7"},
		"thoughts and their signature": {[]string{`{"thoughts":"H"}`, `{"thoughts":"m","thought_signature":"SIG"}`, `{"tool_calls":[{` + call + `,"function":{"name":"look","arguments":"{}"}}]}`},
			[]string{`"thought_signature":"SIG"`, `"thoughts":"Hm"`}, "SIG"},
		"a message behind its pieces": {[]string{`{"tool_calls":[{` + call + `,"function":{"name":"look","arguments":"{}"}}]}`, `{},"message":{"role":"assistant","content":"","tool_calls":[{"id":"call_1","type":"function","extra_content":{"google":{"thought_signature":"SIG"}},"function":{"name":"look","arguments":"{}"}}]}`},
			[]string{`"id":"call_1","extra_content":{"google":{"thought_signature":"SIG"}},"function"`}, "SIG"},
		"a field of a message behind its pieces": {[]string{`{"tool_calls":[{` + call + `,"function":{"name":"look","arguments":"{}"}}]}`, `{},"message":{"role":"assistant","thought_signature":"SIG","tool_calls":[{"id":"call_1","type":"function","function":{"name":"look","arguments":"{}","thought_signature":"SIG2"}}]}`},
			[]string{`"thought_signature":"SIG"`, `"arguments":"{}","thought_signature":"SIG2"}`}, "SIG"},
		"a part of the content": {[]string{`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm"}],"closed":true,"signature":"SIG"}]}`, `{"tool_calls":[{` + call + `,"function":{"name":"look","arguments":"{}"}}]}`},
			[]string{`{"type":"thinking","thinking":[{"type":"text","text":"Hm"}],"closed":true,"signature":"SIG"}`}, "SIG"},
	} {
		var stream strings.Builder
		for _, p := range c.pieces {
			stream.WriteString(`data: {"choices":[{"index":0,"delta":` + p + "}]}\n\n")
		}
		stream.WriteString(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n")
		var bodies []string
		m := signedServer(t, &bodies, stream.String())
		answer := signedAsk(t, m, sessions.Message{Role: sessions.User, Content: sessions.TextContent("hi")})
		result := sessions.Message{Role: sessions.ToolResult, Content: sessions.TextContent("done")}
		for _, b := range answer.Content {
			if b.Type == sessions.ToolCallBlock {
				result.ToolCallID = b.ID
			}
			if strings.Contains(b.ID+b.Text+b.Name+string(b.Arguments), c.hidden) {
				t.Errorf("%s: the transcript shows %+v", name, b)
			}
		}
		signedAsk(t, m, sessions.Message{Role: sessions.User, Content: sessions.TextContent("hi")}, sessions.Message{Role: sessions.Assistant, Model: "p/m", Content: answer.Content}, result)
		for _, want := range c.want {
			if !strings.Contains(bodies[1], want) {
				t.Errorf("%s: no %s in %s", name, want, bodies[1])
			}
		}
	}
}

// signedServer answers every request with the same stream.
func signedServer(t *testing.T, bodies *[]string, stream string) *Model {
	t.Helper()
	return New(Config{Name: "p", BaseURL: "http://x.test/v1", HTTPClient: &http.Client{Transport: answers(func(body string) string {
		*bodies = append(*bodies, body)
		return stream
	})}})
}

// signedAsk gives the answer to some messages.
func signedAsk(t *testing.T, m *Model, msgs ...sessions.Message) *agent.Answer {
	t.Helper()
	for d, err := range m.Stream(t.Context(), agent.Prompt{Model: "m", Messages: msgs}) {
		if err != nil {
			t.Fatal(err)
		}
		if d.Final != nil {
			return d.Final
		}
	}
	t.Fatal("no answer")
	return nil
}

// answers is a transport that answers the body of each request with a stream.
type answers func(body string) string

func (f answers) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(f(string(body)))), Request: req}, nil
}
