package turn_test

import (
	"strings"
	"testing"

	"parley/agent"
	"parley/agent/modeltest"
	"parley/router/routertest"
)

// vagueFilters are how endpoints refuse content without saying so. Each row is a server that fails so for every request with the word
// poison in it.
//
// source: https://docs.claude.com/en/api/errors, https://developers.cloudflare.com/waf/, BerriAI/litellm#14420, ggml-org/llama.cpp#27025
var vagueFilters = map[string]struct {
	protocol modeltest.Protocol
	reply    modeltest.Reply
}{
	"403":                  {modeltest.OpenAI, modeltest.Reply{Status: 403, Body: `{"error":{"message":"Forbidden"}}`}},
	"Anthropic, 403":       {modeltest.Anthropic, modeltest.Reply{Status: 403, Body: `{"type":"error","error":{"type":"forbidden","message":"Request not allowed"}}`}},
	"404":                  {modeltest.OpenAI, modeltest.Reply{Status: 404, Body: `{"error":{"message":"Not allowed"}}`}},
	"429 without a wait":   {modeltest.OpenAI, modeltest.Reply{Status: 429, Body: `{"error":{"message":"abuse"}}`}},
	"500, calls":           {modeltest.OpenAI, modeltest.Reply{Status: 500, Body: `{"error":{"code":500,"message":"Failed to parse tool call arguments as JSON","type":"server_error"}}`}},
	"500, pictures":        {modeltest.OpenAI, modeltest.Reply{Status: 500, Body: `{"error":"vision tower not loaded"}`}},
	"a page":               {modeltest.OpenAI, modeltest.Reply{Status: 403, Body: `<html><h1>Sorry, you have been blocked</h1></html>`}},
	"nothing but [DONE]":   {modeltest.OpenAI, modeltest.Reply{Body: "data: [DONE]\n\n"}},
	"no words":             {modeltest.OpenAI, modeltest.Reply{Stop: "stop"}},
	"a stream that is cut": {modeltest.OpenAI, modeltest.Reply{Fault: modeltest.End}},
	"Responses, no output": {modeltest.Responses, modeltest.Reply{Body: `{"id":"r","object":"response","status":"completed","output":[]}`}},
	"Responses, failed":    {modeltest.Responses, modeltest.Reply{Body: `{"id":"r","object":"response","status":"failed","output":[],"error":{"code":"server_error","message":"The model produced invalid content. Consider modifying your prompt if you are seeing this error persistently."}}`}},
}

// TestVagueFilters: one turn fails for its content, in a way that a filter is not known by. The next one is answered, also after a restart,
// and so are all after it; in the end no request fails any more.
func TestVagueFilters(t *testing.T) {
	for name, f := range vagueFilters {
		for _, restart := range []bool{false, true} {
			t.Run(name+map[bool]string{true: "/restart"}[restart], func(t *testing.T) {
				routertest.Bubble(t, func(t *testing.T) {
					b := newFilterBenchFor(t, f.protocol, f.reply)
					b.fill(0, "hello")
					b.use("strict")
					if got := b.Asks(b.chat, routertest.Guest, "this is poison"); strings.HasPrefix(got, "echo") {
						t.Errorf("it is answered %q", got)
					}
					if restart {
						b.Stop()
						b.Start()
					}
					b.answered("a question", 4) // as often as a call is tried, and once to see that it was the conversation
					for range 3 {
						b.answered("afterwards", 0)
					}
					if !b.shows("at first") || b.shows("poison") {
						t.Error("the harmless messages are not shown again")
					}
				})
			})
		}
	}
}

// TestVagueFilterInAnOldMessage: the session changes to a model whose endpoint fails for what an old message says: one turn fails, and the
// search for the reason loses no other.
func TestVagueFilterInAnOldMessage(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		b := newFilterBenchFor(t, modeltest.OpenAI, vagueFilters["403"].reply)
		b.fill(4, "this is poison")
		b.use("strict")
		b.Asks(b.chat, routertest.Guest, "a question that is lost")
		for range 12 {
			b.answered("a question", 2) // with all of it, before and after the one without
		}
		b.answered("after the search", 0)
		if !b.shows("at first") || !b.shows("and then") || b.shows("poison") {
			t.Error("not only the reason is left out")
		}
	})
}

// TestFailingTurnsInAnOutage: an endpoint that is down gets one request more for a turn behind one that failed, and none while its breaker is open.
func TestFailingTurnsInAnOutage(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		b := newFilterBenchFor(t, modeltest.OpenAI, modeltest.Reply{Status: 503, Body: `{"error":{"message":"down"}}`})
		open, breakers := b.Models, make(map[string]*agent.Breaker)
		b.Models = func(name string) (agent.Candidate, error) {
			c, err := open(name)
			if breakers[name] == nil {
				breakers[name] = agent.NewBreaker("mock", c.Model, nil)
			}
			c.Model = breakers[name]
			return c, err
		}
		b.answered("hello")
		down := func(modeltest.Request) modeltest.Reply {
			return modeltest.Reply{Status: 503, Body: `{"error":{"message":"down"}}`}
		}
		b.reply.Store(&down)
		for i, most := range []int{3, 4, 4, 0, 0} {
			before := b.srv.Count()
			b.Asks(b.chat, routertest.Guest, "are you there?")
			if n := b.srv.Count() - before; n > most {
				t.Errorf("turn %d makes %d requests, not %d", i, n, most)
			}
		}
	})
}

// TestRefusedForOneModel: an endpoint that is set up wrongly, or a filter, refuses what people say. Another model is shown it all the same;
// the one that refused it is not, also after a restart.
// source: https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter
func TestRefusedForOneModel(t *testing.T) {
	for name, refusal := range map[string]modeltest.Reply{
		"vague":  {Status: 400, Body: `{"error":{"message":"unknown weird thing"}}`},
		"filter": contentFilters["Azure, 400"].reply,
		"finish": {Stop: "content_filter"},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				b := newFilterBenchFor(t, modeltest.OpenAI, refusal)
				b.answered("at first")
				b.use("strict")
				b.Asks(b.chat, routertest.Guest, "hello, this is poison")
				b.answered("and now?", 0)
				if b.shows("poison") {
					t.Error("it is shown to the model that refused it")
				}
				b.Stop()
				b.Start()
				b.use("m")
				b.answered("and you?", 0)
				if !b.shows("this is poison") {
					t.Error("it is not shown to the other model")
				}
				b.use("strict")
				b.answered("at last", 0)
			})
		})
	}
}
