package lessons

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"parley/agent"
	"parley/sessions"
)

// own are settings of a user, as a provider sends them.
func own(c *Call, body map[string]string) (params []Param) {
	for _, p := range []Param{{Name: "temperature", Value: "0.7", Fixed: true, Setting: "temperature"}, {Name: "stream_options", Value: "include_usage"}} {
		if _, send := c.Param(p.Name, p.Value); !send {
			p.Value = Unset
		}
		params = append(params, p)
	}
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range body {
			if !yield(name) {
				return
			}
		}
	}) {
		p, _ := c.BodyField(name, []byte(body[name]))
		params = append(params, p)
	}
	return params
}

// askOwn makes one call with settings, and gives its refused requests, the last error, and the parameters that were sent last.
func askOwn(t *testing.T, b *Book, body map[string]string, refuse func(sent map[string]string) error) (refused int, sent map[string]string, err error) {
	t.Helper()
	c := b.Call(at, "")
	for {
		params := own(c, body)
		sent = make(map[string]string)
		for _, p := range params {
			if p.Value != Unset {
				sent[p.Name] = p.Value
			}
		}
		if err = refuse(sent); err == nil {
			c.Worked(t.Context())
			return refused, sent, nil
		}
		if refused++; refused > maxChanges+1 {
			t.Fatal("it changes the request without end")
		}
		if !c.Refused(t.Context(), err, Sent{Params: params, Extras: []string{"headers.X-Team"}, Messages: []sessions.Message{{Role: sessions.User, Content: sessions.TextContent("hello there")}}}) {
			return refused, sent, err
		}
	}
}

// TestOwnSettings: a setting that an endpoint refuses without a reason is left out behind parley's own parameters, and owners are told which. It is
// remembered when that helped twice. What keeps data private stays.
// source: TONresistor/teleton-agent#20, openrouter.ai/docs/guides/routing/provider-selection
func TestOwnSettings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		field string
		body  map[string]string
	}{
		"temperature": {"temperature", nil},
		"a field":     {"seed", map[string]string{"seed": "7"}},
		"an object":   {"chat_template_kwargs", map[string]string{"chat_template_kwargs": `{"enable_thinking":false}`, "provider": `{"data_collection":"deny"}`}},
	} {
		var log strings.Builder
		b := NewBook(Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		refuse := func(sent map[string]string) error {
			if _, there := sent[c.field]; there {
				return refusal(400, `{"error":{"message":"Invalid request data"}}`)
			}
			return nil
		}
		total := 0
		for i := range 6 {
			refused, sent, err := askOwn(t, b, c.body, refuse)
			if total += refused; err != nil || refused > 2 || i > 3 && refused > 0 {
				t.Errorf("%s: call %d: %d refused, %v", name, i, refused, err)
			}
			if _, kept := c.body["provider"]; kept && sent["provider"] == "" {
				t.Errorf("%s: the privacy of data is given up", name)
			}
			if i == 5 && (sent["stream_options"] == "" || c.field != "temperature" && sent["temperature"] == "") {
				t.Errorf("%s: too much is left out: %v", name, sent)
			}
		}
		known := b.Known()
		if total > 4 || len(known) != 1 || known[0].Name != c.field || !strings.Contains(known[0].Evidence, "Invalid request data") {
			t.Errorf("%s: %d refused, learned %+v", name, total, known)
		}
		if n := strings.Count(log.String(), "left settings out"); n != 1 || !strings.Contains(log.String(), c.field) || !strings.Contains(log.String(), "models.providers.p") {
			t.Errorf("%s: told %d times: %s", name, n, log.String())
		}
	}
}

// TestOwnSettingsInVain: where it does not help either, the error says without which settings the request was refused as well, and which may be the
// reason; also that of a call that changes nothing any more.
func TestOwnSettingsInVain(t *testing.T) {
	t.Parallel()
	b := NewBook(Config{})
	for i := range 3 {
		refused, _, err := askOwn(t, b, map[string]string{"store": "false"}, func(map[string]string) error { return refusal(400, `{"error":{"message":"Invalid request data"}}`) })
		e, _ := errors.AsType[*agent.ModelError](err)
		for _, want := range []string{"`body.store` and `headers.X-Team` of p/m may be the reason", "Without the setting `temperature`", "`models.providers.p`"} {
			if !strings.Contains(e.Hint, want) {
				t.Errorf("call %d: no %s in %s", i, want, e.Hint)
			}
		}
		if i > 0 && refused != 1 || refused > 3 {
			t.Errorf("call %d: %d requests", i, refused)
		}
	}
	if len(b.Known()) > 0 {
		t.Errorf("learned %+v", b.Known())
	}
}

// TestTakenSettings: what an endpoint took before is left out last.
func TestTakenSettings(t *testing.T) {
	t.Parallel()
	b := NewBook(Config{})
	if refused, _, _ := askOwn(t, b, nil, func(map[string]string) error { return nil }); refused > 0 {
		t.Fatal("refused")
	}
	c := b.Call(at, "")
	params := own(c, nil)
	sent := Sent{Params: params, Steps: true}
	if !c.Refused(t.Context(), refusal(400, "Bad Request"), sent) || !c.Refused(t.Context(), refusal(400, "Bad Request"), Sent{Params: own(c, nil), Steps: true}) || c.Use(History) == "" || own(c, nil)[0].Value == Unset {
		t.Errorf("the calls of the history are told as text first: %+v", c.now)
	}
}

// TestOwnNames: a refusal names a field of the user's body in many forms.
// source: Alishahryar1/free-claude-code#130, linagora/openrag#335, vllm-project/vllm#38560
func TestOwnNames(t *testing.T) {
	t.Parallel()
	body := map[string]string{"chat_template_kwargs": `{"enable_thinking":false}`, "repetition_penalty": "1.1", "reasoning": `{"effort":"high","max_tokens":2000}`, "guided_json": `{"type":"object"}`, "provider": `{"data_collection":"deny"}`, "user": `"someone"`}
	for said, want := range map[string]string{
		`{"error":{"message":"Unrecognized request argument supplied: provider"}}`:                                                               "provider",
		`{"error":{"message":"Unknown parameter: 'user'.","param":"user"}}`:                                                                      "user",
		`{"detail":[{"type":"extra_forbidden","loc":["body","provider"],"msg":"Extra inputs are not permitted"}]}`:                               "provider",
		`{"error":{"message":"provider: extra fields not permitted"}}`:                                                                           "provider",
		`{"error":{"message":"chat_template is not supported for Mistral tokenizers.","type":"BadRequestError","code":400}}`:                     "chat_template_kwargs",
		`{"error":{"message":"chatTemplateKwargs: unknown field"}}`:                                                                              "chat_template_kwargs",
		`{"error":{"message":"Unknown name \"chatTemplate\": Cannot find field."}}`:                                                              "chat_template_kwargs",
		`{"error":{"message":"Kwargs ['enable_thinking'] are not supported by MistralCommonTokenizer.apply_chat_template"}}`:                     "chat_template_kwargs",
		`{"detail":[{"type":"extra_forbidden","loc":["body","chat_template_kwargs","enable_thinking"],"msg":"Extra inputs are not permitted"}]}`: "chat_template_kwargs",
		`{"error":{"message":"enableThinking is not allowed"}}`:                                                                                  "chat_template_kwargs",
		`{"error":{"message":"repetition-penalty is not supported"}}`:                                                                            "repetition_penalty",
		`{"error":{"message":"Unsupported parameter","param":"body.reasoning.effort"}}`:                                                          "reasoning",
		`{"error":{"message":"Unknown parameter: 'reasoning.max_tokens'."}}`:                                                                     "reasoning",
		`{"error":{"message":"guided_json is not supported with this backend"}}`:                                                                 "guided_json",
	} {
		b := NewBook(Config{})
		refused, _, err := askOwn(t, b, body, func(sent map[string]string) error {
			if _, there := sent[want]; there {
				return refusal(400, said)
			}
			return nil
		})
		if known := b.Known(); refused != 1 || err != nil || len(known) != 1 || known[0].Name != want {
			t.Errorf("%s: %d refused, %v, learned %+v", said, refused, err, known)
		}
	}
	for _, said := range []string{`{"error":{"message":"chat_completion is not supported"}}`, `{"error":{"message":"Invalid type"}}`, `{"error":{"message":"json is not valid"}}`, `{"error":{"message":"Provider returned error: the provider is not available to this user","code":400}}`} { // of nothing that was set
		c := NewBook(Config{}).Call(at, "")
		if x, _ := c.understand(refusal(400, said), Sent{Params: own(c, body)}); x.found {
			t.Errorf("%s: %+v", said, x.lesson)
		}
	}
}
