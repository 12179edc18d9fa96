package openai

import (
	"errors"
	"strings"
	"testing"

	"parley/agent"
	"parley/agent/lessons"
	"parley/sessions"
)

// TestSettingIsTheReason: where a setting is what an endpoint refuses, the setting wins: nothing else is tried or learned, and owners read which
// setting it is. Pictures alone are left out of the call.
func TestSettingIsTheReason(t *testing.T) {
	t.Parallel()
	withPicture := agent.Prompt{Messages: []sessions.Message{user(textBlock("what is this?"), png)}}
	for name, c := range map[string]struct {
		p        agent.Prompt
		s        agent.ModelSettings
		refuse   func(string) (int, string)
		requests int
		hint     string // empty = the call is answered
		has      string
	}{
		// source: ollama/ollama#12561
		"tools: on":  {agent.Prompt{System: "s", Tools: specs}, agent.ModelSettings{Tools: "on"}, when(`"tools"`, 400, said("registry.ollama.ai/library/gemma3:4b does not support tools")), 1, "`tools: on`", `"tools"`},
		"system: on": {agent.Prompt{System: "s"}, agent.ModelSettings{System: "on"}, when(`"system"`, 400, said("System role not supported")), 1, "`system: on`", `"system"`},
		"images: on": {withPicture, agent.ModelSettings{Images: "on"}, when("image_url", 400, said("This model does not support image input")), 2, "", "what is this?"},
		// source: help.aliyun.com/zh/model-studio/error-code
		"stream: off":               {agent.Prompt{System: "s", Tools: specs}, agent.ModelSettings{Stream: "off"}, unless(`"stream":true`, 400, said("This model only support stream mode, please enable the stream parameter to access the model.")), 1, "`stream: off`", `"tools"`},
		"stream: off, can be cured": {agent.Prompt{System: "s", Tools: specs}, agent.ModelSettings{Stream: "off"}, unless(`"enable_thinking":false`, 400, said("parameter.enable_thinking must be set to false for non-streaming calls")), 2, "", `"tools"`},
		// source: developers.openai.com/api/docs/guides/migrate-to-responses, docs.x.ai/docs/guides/multi-agent
		"another API": {agent.Prompt{System: "s", Tools: specs}, agent.ModelSettings{}, when("messages", 404, said("This model is only supported in v1/responses and not in v1/chat/completions.")), 1, "`api: openai-responses`", `"tools"`},
		"xAI's words": {agent.Prompt{System: "s", Tools: specs}, agent.ModelSettings{}, when("messages", 400, `{"error":"Multi Agent requests are not allowed on chat completions. Please use the Responses API instead"}`), 1, "`api: openai-responses`", `"tools"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &picky{refuse: c.refuse}
			book := lessons.NewBook(lessons.Config{})
			m := against(t, e.ServeHTTP, Config{Lessons: book, Settings: func(string) agent.ModelSettings { return c.s }})
			c.p.Model = "m"
			_, err := answer(t, m, c.p)
			no, failed := errors.AsType[*agent.ModelError](err)
			if failed != (c.hint != "") || failed && (no.Class != agent.BadForm || !strings.Contains(no.Hint, c.hint) || strings.Contains(no.Notice(), "try again")) {
				t.Errorf("%+v", err)
			}
			if len(e.raw) != c.requests || !strings.Contains(e.last(), c.has) {
				t.Errorf("%d requests, the last one %s", len(e.raw), e.last())
			}
			for _, l := range book.Known() {
				if l.Name != "enable_thinking" {
					t.Errorf("learned %+v", l)
				}
			}
		})
	}
}
