package lessons

import (
	"errors"
	"strings"
	"testing"

	"parley/agent"
	"parley/sessions"
)

// TestSuspectedSettings: settings are named as what may be the reason where a refusal gives none, and only those that the request follows. The
// places are paths of the configuration.
// source: zai-org/feedback#81, help.aliyun.com/zh/model-studio/error-code
func TestSuspectedSettings(t *testing.T) {
	t.Parallel()
	on := map[string]string{Tools: "on", System: "on", Images: "on", Stream: "off"}
	for _, c := range []struct {
		body string
		set  map[string]string
		want []string // settings that are named
	}{
		{`{"error":{"message":"Bad Request","type":"invalid_request_error"}}`, on, []string{"stream: off", "system: on", "tools: on"}},
		{`{"error":{"message":"Provider returned error","code":400}}`, map[string]string{Tools: "on"}, []string{"tools: on"}},
		{`{"error":{"code":400,"message":"Request contains an invalid argument.","status":"INVALID_ARGUMENT"}}`, map[string]string{Stream: "off"}, []string{"stream: off"}},
		{`请求参数错误`, map[string]string{System: "on"}, []string{"system: on"}},
		{`{"error":{"message":"Bad Request"}}`, map[string]string{Tools: "off", System: "off", Images: "off"}, nil},
		{`{"error":{"message":"Your organization must be verified first"}}`, on, nil},
		{`{"error":{"message":"Bad Request","code":"account_unverified"}}`, on, nil},
		{`{"error":{"message":"invalid session id"}}`, on, nil},
		{`{"error":{"message":"Invalid request","param":"user"}}`, on, nil},
	} {
		call := NewBook(Config{}).Call(at, "")
		for kind, setting := range c.set {
			call.Takes(kind, setting)
		}
		err := refusal(400, c.body)
		sent := Sent{Tools: []string{"look"}, System: true, Messages: []sessions.Message{{Role: sessions.User, Content: sessions.TextContent("hello there")}}}
		for n := 0; call.Refused(t.Context(), err, sent); n++ {
			if n > maxChanges {
				t.Fatalf("%s: no end", c.body)
			}
		}
		e, _ := errors.AsType[*agent.ModelError](err)
		if n := strings.Count(e.Hint, "may be the reason"); n != len(c.want) {
			t.Errorf("%s: %d are named: %s", c.body, n, e.Hint)
		}
		for _, setting := range c.want {
			key, _, _ := strings.Cut(setting, ":")
			if place := "`models.providers." + at.Provider + ".models." + at.Model + "." + key + "`"; !strings.Contains(e.Hint, "`"+setting+"`") || !strings.Contains(e.Hint, place) {
				t.Errorf("%s: no %s at %s in %s", c.body, setting, place, e.Hint)
			}
		}
	}
}

// TestRefusesOff: that an endpoint refuses to be told that its model is not to think can be asked for, so that people are told.
// source: platform.openai.com/docs/guides/reasoning (unsupported_value)
func TestRefusesOff(t *testing.T) {
	t.Parallel()
	now := newClock()
	b := NewBook(Config{Now: now.Now})
	for value, want := range map[string]bool{"low": false, "none": true} {
		c := b.Call(at, "")
		p := Param{Name: "reasoning_effort", Value: value, Next: []string{"high"}, Effort: true}
		if !c.Refused(t.Context(), refusal(400, `{"error":{"message":"Unsupported value: 'reasoning_effort' does not support '`+value+`' with this model.","param":"reasoning_effort"}}`), Sent{Params: []Param{p}}) {
			t.Fatalf("%s: it gives up", value)
		}
		c.Worked(t.Context())
		if got := b.RefusesOff(at.Provider, at.Model, ""); got != want {
			t.Errorf("%s: %v", value, got)
		}
		b.Forget(at.Provider, at.Model)
	}
	if b.RefusesOff(at.Provider, at.Model, "") {
		t.Error("known after it was forgotten")
	}
}
