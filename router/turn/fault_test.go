package turn_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/agent/anthropic"
	"parley/agent/modeltest"
	"parley/agent/openai"
	"parley/agent/responses"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// The deadlines of the fault table.
var (
	faultDeadlines = agent.Deadlines{Connect: time.Second, FirstByte: 20 * time.Second, Idle: 10 * time.Second, Total: time.Minute}
	turnDeadline   = 2 * time.Minute
)

// fault is a row of the fault table. Its model answers with reply, n being the requests that it had before in this row.
type fault struct {
	name  string
	reply func(n int, r modeltest.Request) modeltest.Reply
	shown string // what the chat is shown, a part of it; "" = nothing at all
	asked int    // requests in all
	tools int    // results of tool calls in the transcript
	// saved is how many requests the model gets before its fallback answers instead; 0 = the fallback is not asked.
	saved int
}

// always answers every request alike.
func always(r modeltest.Reply) func(int, modeltest.Request) modeltest.Reply {
	return func(int, modeltest.Request) modeltest.Reply { return r }
}

// first answers the first request with r and the others with a text.
func first(r modeltest.Reply) func(int, modeltest.Request) modeltest.Reply {
	return func(n int, _ modeltest.Request) modeltest.Reply {
		if n == 0 {
			return r
		}
		return modeltest.Reply{Text: []string{"all is well"}}
	}
}

func faults() []fault {
	const (
		unreachable, slow = "could not reach", "took too long"
		trouble, busy     = "had a problem", "rate limit"
		broken            = "broke off or made no sense"
		well              = "all is well"
	)
	text := []string{"The answer ", "is"}
	note := []modeltest.ToolCall{{ID: "c1", Name: "remember", Arguments: `{"text":"half a thought"}`}}
	status := func(code int, after string) modeltest.Reply {
		return modeltest.Reply{Status: code, Header: http.Header{"Retry-After": {after}}}
	}
	calls := func(name, args string) modeltest.Reply {
		return modeltest.Reply{ToolCalls: []modeltest.ToolCall{{ID: "c1", Name: name, Arguments: args}}}
	}
	drip := modeltest.Reply{Text: strings.Split(strings.Repeat("drip ", 1000), " "), Between: 4 * time.Second}
	return []fault{
		{"refused", always(modeltest.Reply{Fault: modeltest.Refuse}), unreachable, 3, 0, 2},
		{"500", always(status(500, "")), trouble, 3, 0, 2},
		{"503", always(status(503, "1")), trouble, 3, 0, 2},
		{"529", always(status(529, "")), trouble, 3, 0, 2},
		{"429 until it is over", first(status(429, "7")), well, 2, 0, 0},
		{"429 for ever", always(status(429, "7")), busy, 3, 0, 2},
		{"429 for too long", always(status(429, "600")), busy, 1, 0, 1},
		{"overload inside the stream", always(modeltest.Reply{Fault: modeltest.ErrorEvent}), trouble, 3, 0, 2},
		{"silence", always(modeltest.Reply{Fault: modeltest.Silent}), slow, 3, 0, 2},
		{"stall", always(modeltest.Reply{Text: text, Fault: modeltest.Stall}), slow, 3, 0, 2},
		{"slow drip", always(drip), slow, 1, 0, 1},
		{"cut", always(modeltest.Reply{Text: text, Fault: modeltest.Cut}), broken, 3, 0, 2},
		{"cut after it was counted", always(modeltest.Reply{Text: text, Fault: modeltest.Cut, EarlyUsage: true}), broken, 3, 0, 2},
		{"early end", func(n int, _ modeltest.Request) modeltest.Reply { // each time somewhere else
			return modeltest.Reply{Text: append(text[:1:1], strings.Repeat("so ", n)), Fault: modeltest.End, EarlyUsage: true}
		}, "may be cut off", 3, 0, 2},
		{"half a tool call", always(modeltest.Reply{ToolCalls: note, Fault: modeltest.HalfCall}), broken, 3, 0, 2},
		{"a tool call, then cut", always(modeltest.Reply{ToolCalls: note, Fault: modeltest.Cut}), broken, 3, 0, 2},
		{"no JSON", always(modeltest.Reply{Text: text, Fault: modeltest.Garbage}), broken, 3, 0, 2},
		{"invalid UTF-8", always(modeltest.Reply{Fault: modeltest.InvalidUTF8}), "caf\uFFFD", 1, 0, 0},
		{"huge", always(modeltest.Reply{Fault: modeltest.Huge}), broken, 1, 0, 1},
		{"huge line", always(modeltest.Reply{Fault: modeltest.HugeLine}), broken, 1, 0, 1},
		{"bad key", always(status(401, "")), "does not accept my key", 1, 0, 1},
		{"no such model", always(status(404, "")), "does not have this model", 1, 0, 1},
		{"no credit", always(status(402, "")), "wants to be paid first", 1, 0, 1},
		{"bad request", always(status(400, "")), "refuses all my requests", 5, 0, 4}, // a harmless one as well
		{"endless tool loop", func(n int, _ modeltest.Request) modeltest.Reply {
			return modeltest.Reply{ToolCalls: []modeltest.ToolCall{{ID: fmt.Sprint("c", n), Name: "recall", Arguments: `{"query":"x"}`}}}
		}, "more steps than", 4, 4, 0},
		{"wrong tool name", first(calls("rememmber", `{}`)), well, 2, 1, 0},
		{"wrong arguments", first(calls("remember", `{"text":{"a":7}}`)), well, 2, 1, 0},
		{"arguments that are no JSON", first(calls("remember", `{"text":`)), well, 2, 1, 0},
		{"an empty answer", always(modeltest.Reply{}), "gave an empty answer", 2, 0, 2},
		{"a refusal", func(_ int, r modeltest.Request) modeltest.Reply {
			return modeltest.Reply{Stop: map[bool]string{true: "refusal", false: "content_filter"}[r.Protocol == modeltest.Anthropic]}
		}, "refuses all my requests", 2, 0, 0}, // the second one is harmless
		{"nothing to say", always(modeltest.Reply{Text: []string{"NO_", "REPLY"}}), "", 1, 0, 0},
	}
}

// Whatever a model does, every accepted message ends in time: as a reply, as one plain notice, or as a recorded silence. A model call
// makes three requests at most, also with a fallback. No part of a tool call is executed, and what the provider counted is in the
// ledger, to the token.
func TestFaults(t *testing.T) {
	for _, protocol := range []modeltest.Protocol{modeltest.OpenAI, modeltest.Responses, modeltest.Anthropic} {
		for _, name := range []string{"alone", "with a fallback"} {
			if routertest.Racing && (protocol == modeltest.OpenAI) != (name == "alone") {
				continue // the race detector sees each protocol once
			}
			t.Run(string(protocol)+" "+name, func(t *testing.T) {
				routertest.Bubble(t, func(t *testing.T) {
					b := newFaultBench(t, protocol, name != "alone")
					for i, f := range faults() {
						b.run(fmt.Sprint(3000+i), f)
					}
					b.ledger()
				})
			})
		}
	}
}

// faultBench is a rig whose models are real providers at a scripted server.
type faultBench struct {
	*routertest.Rig
	srv      *modeltest.Server
	fallback bool
	reply    atomic.Pointer[func(modeltest.Request) modeltest.Reply]
}

func newFaultBench(t *testing.T, protocol modeltest.Protocol, fallback bool, tests ...func(*settings.Snapshot)) *faultBench {
	t.Helper()
	ln, client := modeltest.Pipe()
	b := &faultBench{srv: modeltest.NewOn(ln), fallback: fallback}
	b.srv.Script(func(r modeltest.Request) modeltest.Reply {
		reply := (*b.reply.Load())(r)
		reply.Usage = modeltest.Usage{Input: 100 + len(r.Messages), Output: 7, CacheRead: 10}
		return reply
	})
	common := func(s *settings.Snapshot) {
		s.Agents.Defaults.TimeoutSeconds, s.Agents.Defaults.MaxSteps = int(turnDeadline/time.Second), 4
		if fallback {
			s.Agents.Defaults.Fallbacks = []string{"mock/spare"}
		}
	}
	b.Rig = &routertest.Rig{T: t, Dir: t.TempDir(), Fake: channeltest.NewFake(channeltest.Options{}), Model: &routertest.Script{}, Settings: routertest.SettingsFor(append([]func(*settings.Snapshot){common}, tests...)...)}
	b.Models = func(name string) (agent.Candidate, error) {
		m := agent.Model(openai.New(openai.Config{Name: "mock", BaseURL: b.srv.URL() + "/v1", HTTPClient: client, Deadlines: faultDeadlines}))
		switch protocol {
		case modeltest.Responses:
			m = responses.New(responses.Config{Name: "mock", BaseURL: b.srv.URL() + "/v1", HTTPClient: client, Deadlines: faultDeadlines})
		case modeltest.Anthropic:
			m = anthropic.New(anthropic.Config{Name: "mock", BaseURL: b.srv.URL(), HTTPClient: client, Deadlines: faultDeadlines})
		}
		return agent.Candidate{Model: m, Name: strings.TrimPrefix(name, "mock/"), Label: name}, nil
	}
	b.Start()
	t.Cleanup(func() {
		b.Stop()
		client.CloseIdleConnections()
		if err := b.srv.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// run has somebody write while the model fails in this way, and looks at how it ends.
func (b *faultBench) run(from string, f fault) {
	b.T.Helper()
	asked, spare := 0, 0
	reply := func(r modeltest.Request) modeltest.Reply {
		if r.Model == "spare" {
			spare++
			return modeltest.Reply{Text: []string{"the spare one answers"}}
		}
		asked++
		return f.reply(asked-1, r)
	}
	b.reply.Store(&reply)
	b.Say(routertest.Direct(from), from, "what about "+f.name+"?")
	run, took := b.ended(sessions.Key("agent:main:fake:direct:" + from))
	if took > turnDeadline+5*time.Second {
		b.T.Errorf("%s: it took %v", f.name, took)
	}
	wantAsked, wantSpare, want := f.asked, 0, f.shown
	if b.fallback && f.saved > 0 {
		wantAsked, wantSpare, want = f.saved, 1, "the spare one answers"
	}
	if asked != wantAsked || spare != wantSpare {
		b.T.Errorf("%s: %d requests, then %d to the fallback; want %d and %d", f.name, asked, spare, wantAsked, wantSpare)
	}
	var texts []string
	for _, c := range b.Fake.Shown(routertest.Direct(from)) {
		texts = append(texts, c.Out.Text)
	}
	switch all := strings.Join(texts, "|"); {
	case want == "" && len(texts) == 0 && run.Status == sessions.Done:
	case want == "" || len(texts) != 1 || !strings.Contains(all, want) || strings.Contains(all, "mock"):
		b.T.Errorf("%s: shown %q, want %q", f.name, texts, want)
	case strings.HasPrefix(all, "The language model ") && run.Status == sessions.Done && run.Error != all:
		b.T.Errorf("%s: the run says %q", f.name, run.Error)
	}
	if results, bad := b.results(run); results != f.tools || bad != "" {
		b.T.Errorf("%s: %d tool results, want %d; %s", f.name, results, f.tools, bad)
	}
}

// ended waits until the newest run of a session has ended and its delivery was sent.
func (b *faultBench) ended(key sessions.Key) (sessions.Run, time.Duration) {
	b.T.Helper()
	began := time.Now()
	for range 1000 {
		synctest.Wait()
		runs, err := b.Store.ListRuns(b.T.Context(), sessions.RunQuery{Key: key, Limit: 1})
		if err != nil {
			b.T.Fatal(err)
		}
		if len(runs) == 1 && runs[0].Status.Final() {
			took := time.Since(began)
			<-time.After(time.Second)
			synctest.Wait()
			return runs[0], took
		}
		<-time.After(2 * time.Second)
	}
	b.T.Fatalf("%s: never ended", key)
	return sessions.Run{}, 0
}

// results counts the tool results of a run, and names calls that were executed although they were wrong.
func (b *faultBench) results(run sessions.Run) (n int, bad string) {
	b.T.Helper()
	msgs, err := b.Store.Steps(b.T.Context(), run.ID)
	if err != nil {
		b.T.Fatal(err)
	}
	for _, m := range msgs {
		if m.Role != sessions.ToolResult {
			continue
		}
		n++
		if !m.IsError && m.ToolName != "recall" {
			bad += fmt.Sprintf("%s was executed: %s", m.ToolName, m.Text())
		}
	}
	return n, bad
}

// ledger compares what was paid for with what the server has counted.
func (b *faultBench) ledger() {
	b.T.Helper()
	sum, err := b.Store.Spent(b.T.Context(), sessions.SpentQuery{})
	if err != nil {
		b.T.Fatal(err)
	}
	c := b.srv.Counted()
	if want := (sessions.Usage{Input: c.Input, Output: c.Output, CacheRead: c.CacheRead}); sum.Usage != want || c.Input == 0 {
		b.T.Errorf("the ledger says %+v, the server counted %+v", sum.Usage, want)
	}
}

// A turn whose model says nothing for ten minutes ends at its own deadline, with a notice, and the chat goes on.
func TestStallBeyondTheDeadline(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		b := newFaultBench(t, modeltest.OpenAI, false, func(s *settings.Snapshot) { s.Agents.Defaults.TimeoutSeconds = 30 })
		stall := func(modeltest.Request) modeltest.Reply {
			return modeltest.Reply{Delay: 10 * time.Minute, Text: []string{"late"}}
		}
		b.reply.Store(&stall)
		b.Say(routertest.Direct("a"), routertest.Guest, "are you there?")
		run, took := b.ended("agent:main:fake:direct:" + routertest.Guest)
		if run.Status != sessions.TimedOut || took > 35*time.Second {
			t.Errorf("%s after %v", run.Status, took)
		}
		quick := func(modeltest.Request) modeltest.Reply { return modeltest.Reply{Text: []string{"here"}} }
		b.reply.Store(&quick)
		b.Say(routertest.Direct("a"), routertest.Guest, "and now?")
		if got := b.Shown(2); !strings.Contains(got[0].Out.Text, "ran out of time") || got[1].Out.Text != "here" {
			t.Errorf("shown %q, %q", got[0].Out.Text, got[1].Out.Text)
		}
	})
}

// A provider that fails again and again is left alone: turns then end at once with a notice, and after the pause one request
// says whether it is back.
func TestTrippedProvider(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		b := newFaultBench(t, modeltest.OpenAI, false)
		open := b.Models
		only, err := open("mock/m")
		if err != nil {
			t.Fatal(err)
		}
		only.Model = agent.NewBreaker("mock", only.Model, nil)
		b.Models = func(string) (agent.Candidate, error) { return only, nil }
		down := func(modeltest.Request) modeltest.Reply { return modeltest.Reply{Status: 503} }
		b.reply.Store(&down)
		say := func(n int) string {
			b.Say(routertest.Direct("a"), routertest.Guest, "hello?")
			return b.Shown(n)[n-1].Out.Text
		}
		for i := range agent.BreakerFailures {
			say(i + 1)
		}
		before := b.srv.Count()
		if got := say(6); !strings.Contains(got, "several times in a row") || b.srv.Count() != before {
			t.Errorf("%q, %d more requests", got, b.srv.Count()-before)
		}
		up := func(modeltest.Request) modeltest.Reply { return modeltest.Reply{Text: []string{"back"}} }
		b.reply.Store(&up)
		<-time.After(agent.BreakerPause + time.Second)
		if got := say(7) + say(8); got != "backback" || b.srv.Count() != before+2 {
			t.Errorf("%q, %d more requests", got, b.srv.Count()-before)
		}
	})
}
