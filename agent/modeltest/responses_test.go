package modeltest

import (
	"strings"
	"testing"
)

// TestResponsesInput: the scripted server refuses what OpenAI refuses.
// source: vercel/ai#7099, vercel/ai#7543, openclaw/openclaw#73053, BigPizzaV3/CodexPlusPlus#1796
func TestResponsesInput(t *testing.T) {
	t.Parallel()
	const (
		ask    = `{"type":"message","role":"user","content":"hi"}`
		reason = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"g"}`
		call   = `{"type":"function_call","id":"fc_1","call_id":"c","name":"f","arguments":"{}"}`
		output = `{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"one"}]}`
	)
	for want, items := range map[string][]string{
		"":                             {ask, reason, call, output, ask},
		"without its required":         {ask, reason, ask},
		"required following item":      {ask, reason},
		"duplicate item":               {ask, reason, call, output, reason, call},
		"not found":                    {ask, `{"type":"reasoning","id":"rs_1","summary":[]}`, call},
		"begins with":                  {ask, `{"type":"function_call","id":"item_1","call_id":"c","name":"f","arguments":"{}"}`},
		"no tool call found":           {ask, output},
		"arguments":                    {ask, `{"type":"function_call","call_id":"c","name":"f","arguments":{}}`},
		"invalid value":                {ask, `{"type":"message","role":"assistant","content":[{"type":"input_text","text":"x"}]}`},
		"supported values":             {ask, `{"type":"thinking"}`},
		`a message of the role "tool"`: {`{"type":"message","role":"tool","content":"x"}`},
	} {
		r := Request{Raw: []byte(`{"model":"m","input":[` + strings.Join(items, ",") + `]}`)}
		err := r.parseResponses()
		if want == "" {
			if err != nil || len(r.Messages) != 4 {
				t.Errorf("%v: %+v", err, r.Messages)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
