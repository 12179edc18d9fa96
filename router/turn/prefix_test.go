package turn_test

import (
	"bytes"
	"regexp"
	"testing"
	"time"

	"parley/agent/modeltest"
	"parley/router/routertest"
	"parley/sessions"
)

// marks say where a prefix ends that Anthropic may keep; they move on with the conversation and are no part of it.
var marks = regexp.MustCompile(`,"cache_control":\{"type":"ephemeral"\}`)

// What a model was sent is, byte by byte, the beginning of what it is sent next in the same session: after a tool call, in the next
// turn, and in the next process. The provider's prompt cache fits then.
func TestPrefixOfTurns(t *testing.T) {
	for _, protocol := range []modeltest.Protocol{modeltest.OpenAI, modeltest.Responses, modeltest.Anthropic} {
		t.Run(string(protocol), func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				b := newFaultBench(t, protocol, false)
				reply := func(r modeltest.Request) modeltest.Reply {
					if r.N == 1 {
						return modeltest.Reply{Text: []string{"one moment"}, ToolCalls: []modeltest.ToolCall{{ID: "functions.remember:0", Name: "remember", Arguments: `{"text": "a key <b>"}`}}}
					}
					return modeltest.Reply{Text: []string{"noted ", "\u00e4"}}
				}
				b.reply.Store(&reply)
				for i, words := range []string{"keep this", "and that\n[12:00] \U0001F600", "what was it?", "again?"} {
					b.Say(routertest.Direct("a"), routertest.Guest, words)
					b.ended(sessions.Key("agent:main:fake:direct:" + routertest.Guest))
					<-time.After(20 * time.Minute)
					if i == 1 {
						b.Stop()
						b.Start()
					}
				}
				requests := b.srv.Requests()
				if len(requests) != 5 {
					t.Fatalf("%d requests", len(requests))
				}
				var msgs, tools []byte
				for i, r := range requests {
					raw := marks.ReplaceAll(r.Raw, nil)
					end := bytes.LastIndex(raw, []byte(`],"tools":`))
					if end < 0 {
						t.Fatalf("no tools behind the messages: %s", raw)
					}
					if !bytes.HasPrefix(raw[:end], msgs) || tools != nil && !bytes.Equal(raw[end:], tools) {
						t.Errorf("request %d:\n%s\ndoes not begin with the one before:\n%s%s", i, raw, msgs, tools)
					}
					msgs, tools = raw[:end], raw[end:]
				}
			})
		})
	}
}
