package turn_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/agent"
	"parley/agent/modeltest"
	"parley/channels"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/router/turn"
	"parley/sessions"
	"parley/tools"
)

// contentFilters are how providers say that a filter refused a request. Each row is a server that refuses every request with the word
// poison in it, wherever it stands.
//
// source: https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter, https://openrouter.ai/docs/api-reference/errors,
// https://ai.google.dev/api/generate-content#BlockReason, https://docs.claude.com/en/docs/test-and-evaluate/strengthen-guardrails/handle-streaming-refusals
var contentFilters = map[string]struct {
	protocol modeltest.Protocol
	reply    modeltest.Reply
	costs    int // requests that one refusal takes; 0 = one
}{
	"Azure, 400":               {protocol: modeltest.OpenAI, reply: modeltest.Reply{Status: 400, Body: `{"error":{"message":"The response was filtered due to the prompt triggering content management policy.","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}`}},
	"OpenRouter, 403":          {protocol: modeltest.OpenAI, reply: modeltest.Reply{Status: 403, Body: `{"error":{"message":"Input was flagged by moderation","code":403,"metadata":{"reasons":["violence"],"provider_name":"x"}}}`}},
	"Gemini, promptFeedback":   {protocol: modeltest.OpenAI, reply: modeltest.Reply{Body: `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`}},
	"finish_reason":            {protocol: modeltest.OpenAI, reply: modeltest.Reply{Stop: "content_filter"}},
	"a wording nobody knows":   {protocol: modeltest.OpenAI, reply: modeltest.Reply{Status: 400, Body: `{"error":{"message":"We would rather not."}}`}, costs: 5},
	"Anthropic, 400":           {protocol: modeltest.Anthropic, reply: modeltest.Reply{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy"}}`}},
	"Anthropic, empty refusal": {protocol: modeltest.Anthropic, reply: modeltest.Reply{Stop: "refusal"}},
	"Responses, 400":           {protocol: modeltest.Responses, reply: modeltest.Reply{Status: 400, Body: `{"error":{"message":"Invalid prompt: your prompt was flagged as potentially violating our usage policy.","type":"invalid_request_error","code":"invalid_prompt"}}`}},
	"LiteLLM, 500":             {protocol: modeltest.OpenAI, reply: modeltest.Reply{Status: 500, Body: `{"error":{"message":"{'error': 'Violated guardrail policy', 'guardrail': 'lakera'}","type":"None","param":"None","code":"500"}}`}},
	"firewall, 403":            {protocol: modeltest.OpenAI, reply: modeltest.Reply{Status: 403, Body: `<html><h1>Request blocked</h1> The WAF blocked your request</html>`}},
	"Gemini, stream":           {protocol: modeltest.OpenAI, reply: modeltest.Reply{Body: "data: {\"choices\":[],\"prompt_feedback\":{\"block_reason\":\"OTHER\"},\"usage\":{\"prompt_tokens\":5}}\n\ndata: [DONE]\n\n"}},
	"Azure, stream":            {protocol: modeltest.OpenAI, reply: modeltest.Reply{Body: "data: {\"choices\":[],\"prompt_filter_results\":[{\"prompt_index\":0,\"content_filter_results\":{\"hate\":{\"filtered\":true,\"severity\":\"high\"}}}]}\n\n"}},
	"Cohere, finish_reason":    {protocol: modeltest.OpenAI, reply: modeltest.Reply{Stop: "ERROR_TOXIC"}},
	"Responses, incomplete":    {protocol: modeltest.Responses, reply: modeltest.Reply{Stop: "content_filter"}},
}

// filterBench is a chat whose model, mock/strict, stands behind a filter; mock/m does not.
type filterBench struct {
	*faultBench
	chat    channels.Address
	key     sessions.Key
	summary string
	refused int
	costs   int
}

func newFilterBench(t *testing.T, name string) *filterBench {
	t.Helper()
	b := newFilterBenchFor(t, contentFilters[name].protocol, contentFilters[name].reply)
	b.costs = max(contentFilters[name].costs, 1)
	return b
}

// newFilterBenchFor makes one whose filter has a reply of its own.
func newFilterBenchFor(t *testing.T, protocol modeltest.Protocol, refusal modeltest.Reply) *filterBench {
	t.Helper()
	b := &filterBench{faultBench: newFaultBench(t, protocol, false, func(s *settings.Snapshot) {
		s.Tools.Allow = []string{"remember", "look"}
		s.Messages.Queue.Queue = sessions.Queue{Mode: sessions.Collect}
	}), chat: routertest.Direct("a"), key: routertest.GuestKey, summary: "they talked", costs: 1}
	open := b.Models
	b.Models = func(name string) (agent.Candidate, error) {
		c, err := open(name)
		c.Facts.ContextWindow = 100_000
		return c, err
	}
	b.Mount(func(context.Context, bool) []tools.Tool {
		return []tools.Tool{&camera{name: "look", give: func(int) tools.Result { return tools.Result{Text: "it is poison"} }}}
	})
	reply := func(r modeltest.Request) modeltest.Reply {
		if r.Model == "strict" && strings.Contains(string(r.Raw), "poison") {
			b.refused++
			return refusal
		}
		newest := r.Messages[len(r.Messages)-1]
		switch {
		case strings.Contains(r.System, "You keep the memory"):
			return modeltest.Reply{Text: []string{b.summary}}
		case newest.Role == "tool":
			return modeltest.Reply{Text: []string{"looked"}}
		case strings.Contains(newest.Text, "look at it"):
			return modeltest.Reply{ToolCalls: []modeltest.ToolCall{{ID: "c1", Name: "look", Arguments: `{}`}}}
		case strings.Contains(newest.Text, "take your time"):
			return modeltest.Reply{Text: []string{"done"}, Delay: time.Minute}
		}
		return modeltest.Reply{Text: []string{"echo: " + newest.Text}}
	}
	b.reply.Store(&reply)
	return b
}

// use sets the session's model.
func (b *filterBench) use(model string) {
	b.T.Helper()
	if _, err := b.Store.Patch(b.T.Context(), b.key, sessions.Patch{Model: new("mock/" + model)}); err != nil {
		b.T.Fatal(err)
	}
}

// fill says some harmless things, and one thing in their midst.
func (b *filterBench) fill(behind int, thing string) {
	b.T.Helper()
	b.answered("at first. " + routertest.Fill)
	b.answered("then. " + routertest.Fill)
	b.Asks(b.chat, routertest.Guest, thing)
	for range behind {
		b.answered("and then. " + routertest.Fill)
	}
}

// answered says something harmless, and wants it answered at the price of at most so many refused requests.
func (b *filterBench) answered(words string, most ...int) {
	b.T.Helper()
	before := b.refused
	if got := b.Asks(b.chat, routertest.Guest, words); !strings.Contains(got, strings.TrimSpace(words[max(0, len(words)-10):])) {
		b.T.Errorf("%.30q is answered %q", words, got)
	}
	if n := b.refused - before; n > append(most, 1)[0]*b.costs {
		b.T.Errorf("%.30q costs %d refused requests", words, n)
	}
}

// shows reports whether the newest request has the words in it.
func (b *filterBench) shows(words string) bool {
	all := b.srv.Requests()
	return strings.Contains(string(all[len(all)-1].Raw), words)
}

// filterMoments are what may happen between two messages.
var filterMoments = map[string]func(*filterBench){
	"nothing": func(*filterBench) {},
	"restart": func(b *filterBench) { b.Stop(); b.Start() },
	"compact": func(b *filterBench) {
		b.T.Helper()
		if got := b.Asks(b.chat, routertest.Guest, "/compact"); !strings.HasPrefix(got, "⚙️") {
			b.T.Errorf("/compact: %q", got)
		}
	},
}

// filterPlaces are where the word may stand. moment is called between two messages.
var filterPlaces = map[string]func(b *filterBench, moment func()){
	"the newest message": func(b *filterBench, moment func()) {
		b.fill(0, "hello")
		b.use("strict")
		b.answered("before")
		if got := b.Asks(b.chat, routertest.Guest, "this is poison"); strings.HasPrefix(got, "echo") || strings.Contains(got, "every request") {
			b.T.Errorf("it is answered %q", got)
		}
		moment()
		for range 3 {
			b.answered("afterwards", 0)
		}
	},
	"an old message": func(b *filterBench, moment func()) {
		b.fill(4, "this is poison")
		b.use("strict")
		moment()
		for range 6 {
			b.answered("a question")
			moment()
		}
		b.answered("after the search", 0)
		b.use("m")
		b.answered("the other model")
		b.use("strict")
		moment()
		for range 2 {
			b.answered("the strict one", 1)
		}
		b.answered("at last", 0)
	},
	"a tool's result": func(b *filterBench, moment func()) {
		b.fill(0, "hello")
		b.use("strict")
		if got := b.Asks(b.chat, routertest.Guest, "look at it"); got != "looked" {
			b.T.Errorf("the turn ends with %q", got)
		}
		if !b.shows("refused this result") || b.refused == 0 || b.refused > b.costs {
			b.T.Errorf("%d requests were refused", b.refused)
		}
		moment()
		b.answered("afterwards", 0)
	},
	"an old tool's result": func(b *filterBench, moment func()) {
		b.fill(2, "look at it")
		b.use("strict")
		moment()
		for range 6 {
			b.answered("a question")
		}
		moment()
		b.answered("after the search", 0)
	},
	"an imported transcript": func(b *filterBench, moment func()) {
		b.key, b.chat = "agent:main:fake:direct:3003", routertest.Direct("3003")
		var msgs []sessions.Message
		for i, words := range []string{"one. " + routertest.Fill, "this is poison", "three. " + routertest.Fill, "four. " + routertest.Fill} {
			at := time.Now().Add(time.Duration(i) * time.Minute)
			msgs = append(msgs, sessions.Message{ID: words[:3] + "u", Role: sessions.User, Content: sessions.TextContent(words), Time: at},
				sessions.Message{ID: words[:3] + "a", Role: sessions.Assistant, Model: "other/x", Content: sessions.TextContent("I see"), Time: at})
		}
		s := sessions.Session{Key: b.key, ID: "imported", Agent: "main", Last: b.chat, Created: time.Now(), Updated: time.Now()}
		if _, err := b.Store.Import(b.T.Context(), []sessions.Import{{Session: s, Messages: msgs}}); err != nil {
			b.T.Fatal(err)
		}
		b.use("strict")
		moment()
		ask := func(words string, most int) {
			before := b.refused
			if got := b.Asks(b.chat, "3003", words); !strings.Contains(got, words) || b.refused-before > most*b.costs {
				b.T.Errorf("%q is answered %q, after %d refused requests", words, got, b.refused-before)
			}
		}
		for range 5 {
			ask("a question", 1)
		}
		moment()
		ask("after the search", 0)
	},
	"a summary": func(b *filterBench, moment func()) {
		b.fill(3, "hello")
		b.summary = "they talked of poison"
		filterMoments["compact"](b)
		b.summary = "they talked"
		b.use("strict")
		moment()
		for range 6 {
			b.answered("a question. " + routertest.Fill)
		}
		moment()
		b.answered("after the search", 0)
	},
	"a file of the workspace": func(b *filterBench, moment func()) {
		b.fill(2, "hello")
		b.use("strict")
		file := filepath.Join(b.Dir, "workspace", "AGENTS.md")
		routertest.Check(b.T, os.MkdirAll(filepath.Dir(file), 0o700))
		routertest.Check(b.T, os.WriteFile(file, []byte("Talk of poison."), 0o600))
		for _, words := range []string{"hello?", "still there?"} {
			if got := b.Asks(b.chat, routertest.Guest, words); !strings.Contains(got, "refuses all my requests") {
				b.T.Errorf("it is answered %q", got)
			}
			moment()
		}
		routertest.Check(b.T, os.Remove(file))
		b.answered("and now?", 0)
		if !b.shows("still there?") && !b.shows("they talked") {
			b.T.Error("harmless messages are left out")
		}
	},
	"one of several messages": func(b *filterBench, moment func()) {
		b.key, b.chat = routertest.KeyA, routertest.Group("a")
		b.Asks(b.chat, routertest.Guest, "hello. "+routertest.Fill)
		b.use("strict")
		b.Say(b.chat, routertest.Guest, "take your time")
		b.Until("it is at work", func() bool { return b.srv.Count() == 2 })
		for _, from := range []string{routertest.Guest, "3003", "4004", routertest.Owner} {
			words := "a question of " + from
			if from == "3003" {
				words = "this is poison"
			}
			b.Say(b.chat, from, words)
		}
		got := b.Shown(3)[2].Out.Text
		if !strings.Contains(got, "a question of "+routertest.Owner) || !strings.Contains(got, "One message is left out") {
			b.T.Errorf("they are answered %q", got)
		}
		b.Idle(2)
		runs, err := b.Store.ListRuns(b.T.Context(), sessions.RunQuery{})
		if says := func(x sessions.Run) bool { return strings.Contains(x.Result, "One message is left out") }; err != nil || !slices.ContainsFunc(runs, says) {
			b.T.Errorf("who waits for the run is not told: %v", err) // the web API, /v1, sessions_send
		}
		if !b.shows("a question of "+routertest.Guest) || !b.shows("a question of 4004") || !b.shows("hello. ") || b.refused > 6*b.costs {
			b.T.Errorf("%d requests were refused; the last one: %s", b.refused, b.srv.Requests()[b.srv.Count()-1].Raw)
		}
		moment()
		b.answered("afterwards", 0)
	},
}

// TestFilters: a filter's word may stand anywhere, and anything may happen between two messages: every harmless message has its answer,
// and in the end no request is refused any more.
func TestFilters(t *testing.T) {
	for name := range contentFilters {
		for place, live := range filterPlaces {
			for moment, happens := range filterMoments {
				if one := name == "Azure, 400"; routertest.Racing && (!one || moment == "nothing") ||
					!one && name != "Anthropic, empty refusal" && moment != "nothing" && (name != "a wording nobody knows" || moment != "restart") {
					continue
				}
				t.Run(strings.Join([]string{name, place, moment}, "/"), func(t *testing.T) {
					routertest.Bubble(t, func(t *testing.T) {
						b := newFilterBench(t, name)
						live(b, func() { happens(b) })
					})
				})
			}
		}
	}
}

// TestFilterInCompaction: a window fills up, and what is summed up then is refused, by the model that the session has changed to: no turn is
// lost, the refused turn is not in the summary, and no more requests are refused than one compaction may have.
func TestFilterInCompaction(t *testing.T) {
	for _, tooLong := range []bool{false, true} {
		t.Run(map[bool]string{true: "after a request that was too long", false: "before a turn"}[tooLong], func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				b := newFilterBench(t, "Azure, 400")
				open, window := b.Models, 100_000
				b.Models = func(name string) (agent.Candidate, error) {
					c, err := open(name)
					c.Facts.ContextWindow = window
					return c, err
				}
				b.fill(12, "this is poison")
				b.use("strict")
				work := *b.reply.Load()
				if tooLong {
					strict := func(r modeltest.Request) modeltest.Reply {
						if len(r.Raw) > 16_000 && !strings.Contains(r.System, "You keep the memory") {
							return modeltest.Reply{Status: 400, Body: `{"error":{"message":"This model's maximum context length is 4000 tokens.","code":"context_length_exceeded"}}`}
						}
						return work(r)
					}
					b.reply.Store(&strict)
				} else {
					window = 6000
				}
				for i := range 8 {
					b.answered("a question", map[bool]int{true: turn.MaxRefusedParts + 1, false: 1}[i == 0])
				}
				b.answered("after it", 0)
				if sum, _, err := b.Store.Summary(t.Context(), b.Session(b.key).ID); err != nil || sum.Text != "they talked" {
					t.Errorf("the summary is %q: %v", sum.Text, err)
				}
			})
		})
	}
}

// TestFilterBehindAKill: a turn is resumed between a call and the request with its result, and that result is refused.
func TestFilterBehindAKill(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		b := newFilterBench(t, "Azure, 400")
		b.fill(1, "hello")
		b.use("strict")
		work := *b.reply.Load()
		hang := func(r modeltest.Request) modeltest.Reply {
			if r.Messages[len(r.Messages)-1].Role == "tool" {
				return modeltest.Reply{Delay: time.Hour}
			}
			return work(r)
		}
		b.reply.Store(&hang)
		before := b.srv.Count()
		b.Say(b.chat, routertest.Guest, "look at it")
		b.Until("the result is on its way", func() bool { return b.srv.Count() == before+2 })
		b.Stop()
		b.reply.Store(&work)
		b.Start()
		shown := b.Shown(5)
		if got := shown[4].Out.Text; got != "looked" || !b.shows("at first") {
			t.Errorf("%q, %d refused", got, b.refused)
		}
		b.answered("afterwards", 0)
		if !b.shows("refused this result") {
			t.Error("the call has no result")
		}
	})
}

// TestLeftOutIsMarked: people see which messages a model is not shown any more, for the model that the session has.
func TestLeftOutIsMarked(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		b := newFilterBench(t, "Azure, 400")
		marked := func() (out []string) {
			msgs := b.Transcript(b.key)
			routertest.Check(t, b.Router.Worker.Transcripts.MarkLeftOut(t.Context(), b.Session(b.key), msgs))
			for _, m := range msgs {
				if m.LeftOut() != "" {
					out = append(out, m.LeftOut()+" "+strings.Fields(m.Text())[0])
				}
			}
			return out
		}
		b.fill(2, "poison")
		b.use("strict")
		for range 5 {
			b.answered("a question")
		}
		want := []string{"mock/strict poison", "mock/strict echo:"}
		if got := marked(); !slices.Equal(got, want) {
			t.Errorf("marked: %q", got)
		}
		b.Stop()
		b.Start()
		if got := marked(); !slices.Equal(got, want) {
			t.Errorf("marked after a restart: %q", got)
		}
		b.use("m")
		if got := marked(); len(got) > 0 {
			t.Errorf("marked for the other model: %q", got)
		}
	})
}

// tailed counts the messages that are read of transcripts.
type tailed struct {
	sessions.Store
	read *atomic.Int64
}

func (s tailed) Tail(ctx context.Context, id sessions.ID, q sessions.TailQuery) ([]sessions.Message, error) {
	msgs, err := s.Store.Tail(ctx, id, q)
	s.read.Add(int64(len(msgs)))
	return msgs, err
}

// TestMarkingReadsATranscriptOnce: who looks at pages of a history again and again does not have the whole transcript read each time.
func TestMarkingReadsATranscriptOnce(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		b := newFilterBench(t, "Azure, 400")
		b.fill(20, "hello")
		b.Stop()
		var read atomic.Int64
		b.Wrap = func(s sessions.Store) sessions.Store { return tailed{s, &read} }
		b.Start()
		var last int64
		for range 3 {
			read.Store(0)
			routertest.Check(t, b.Router.Worker.Transcripts.MarkLeftOut(t.Context(), b.Session(b.key), nil))
			last = read.Load()
		}
		if last != 0 {
			t.Errorf("%d messages are read once more", last)
		}
	})
}
