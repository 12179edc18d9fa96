package lessons

import "testing"

// TestPlainLimits: limits in words of gateways' own.
func TestPlainLimits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Requested token count exceeds the output limit of this model: 8k": "8000",
		"Too many output tokens requested. At most 8192.":                  "8192",
		"number of output tokens is limited to 8,192":                      "8192",
		"Die maximale Ausgabelänge beträgt 8192 Token":                     "8192",
		"Die Antwort darf höchstens 4096 Token lang sein":                  "4096",
		"free tier: 100 output tokens per request at most":                 "100",
		"La longueur maximale de sortie est de 4096 tokens":                "4096",
		"模型最多输出 8192 个 token":                                              "8192",
		"Unexpected token } in JSON at position 120":                       Unset,
	} {
		c := NewBook(Config{}).Call(at, "")
		c.Refused(t.Context(), refusal(400, `{"error":{"message":"`+text+`"}}`), Sent{Params: []Param{{Name: "max_tokens", Value: "32000"}}})
		if use, _ := c.Param("max_tokens", "32000"); use != want {
			t.Errorf("%s: %s, not %s", text, use, want)
		}
	}
}

// TestUnnamedToolLimit: a limit of tools that is not named halves their number.
func TestUnnamedToolLimit(t *testing.T) {
	t.Parallel()
	c := NewBook(Config{}).Call(at, "")
	c.Refused(t.Context(), refusal(400, `{"error":{"message":"Tool limit exceeded"}}`), Sent{Tools: []string{"a", "b", "c", "d"}, Loose: true})
	if p := c.changed.pending; len(p) != 1 || p[0].Kind != MaxTools || p[0].Use != "2" {
		t.Errorf("learned %+v", p)
	}
}

// TestNoToolsAtAll: a list that must have nothing in it is left out, in the words of validators.
func TestNoToolsAtAll(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"error":{"message":"tools: value must be empty"}}`: Tools,
		`{"detail":[{"type":"too_long","loc":["body","tools"],"msg":"List should have at most 0 items after validation, not 4","input":[],"ctx":{"field_type":"List","max_length":0,"actual_length":4}}]}`: Tools,
		`{"error":{"message":"tools: array must not contain more than 0 items"}}`:                                       Tools,
		`{"message":"body/tools must NOT have more than 0 items"}`:                                                      Tools,
		`{"detail":[{"type":"too_long","loc":["body","tools"],"msg":"List should have at most 2 items, not 4"}]}`:       MaxTools,
		`{"detail":[{"type":"too_long","loc":["body","tools",1,"x"],"msg":"List should have at most 0 items, not 4"}]}`: MaxTools,
	} {
		c := NewBook(Config{}).Call(at, "")
		c.Refused(t.Context(), refusal(422, body), Sent{Tools: []string{"a", "b", "c", "d"}, Loose: true})
		if p := c.changed.pending; len(p) != 1 || p[0].Kind != want {
			t.Errorf("%s: learned %+v", body, p)
		}
	}
}

// TestTextResults: pictures leave the results of tools that may have text only, in words or by the place.
func TestTextResults(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"type":"error","error":{"type":"invalid_request_error","message":"tool results can only contain text"}}`,
		`{"type":"error","error":{"type":"invalid_request_error","message":"messages.2.content.0.content.1.type: Input should be 'text'"}}`,
	} {
		c := NewBook(Config{}).Call(at, "")
		c.Refused(t.Context(), refusal(400, body), Sent{Tools: []string{"a", "b"}, Steps: true, ToolImages: true, Pictures: []string{"x"}})
		if !c.Off(ToolImages, "") {
			t.Errorf("%s: learned %+v", body, c.changed.pending)
		}
	}
}

// TestQuotaIsNoLength: what is left of a day is no limit of one answer.
func TestQuotaIsNoLength(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"Daily token limit of 1000 reached", "You have 1000 tokens remaining", "Your quota of 1000 tokens per day is used"} {
		c := NewBook(Config{}).Call(at, "")
		c.Refused(t.Context(), refusal(400, `{"error":{"message":"`+text+`"}}`), Sent{Params: []Param{{Name: "max_tokens", Value: "32000"}}})
		if use, _ := c.Param("max_tokens", "32000"); use == "1000" {
			t.Errorf("%s: %s", text, use)
		}
	}
}
