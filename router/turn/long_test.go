package turn_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/agent/modeltest"
	"parley/agent/openai"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// The measures of the long session.
const (
	longWindow = 6000
	longBudget = 2000 * longWindow // of tokens, in and out: a session that is never summed up takes about ten times as many
)

// longTurns is how many turns there are: fewer where the race detector looks on.
func longTurns() int {
	if routertest.Racing {
		return 150
	}
	return 2000
}

var codeword = regexp.MustCompile(`codeword is (\w+)`)

// keeper is a model in a small window. It sums up by keeping codewords and nothing else, and answers a question from what it is
// shown, or from what the tool sessions_search finds.
type keeper struct {
	mu     sync.Mutex
	before []modeltest.Message // of the last call that was no summary
	sums   int
	breaks int // calls whose prompt did not begin with the prompt before
}

func (k *keeper) answer(r modeltest.Request) modeltest.Reply {
	say := func(s string) modeltest.Reply { return modeltest.Reply{Text: []string{s}, Delay: time.Second} }
	k.mu.Lock()
	defer k.mu.Unlock()
	if strings.HasPrefix(r.System, "You keep the memory") {
		k.sums++
		if found := codeword.FindString(r.Messages[0].Text); found != "" {
			return say("Ann told that her " + found + ".")
		}
		return say("They talked.")
	}
	if n := len(k.before); len(r.Messages) < n || !slices.EqualFunc(k.before, r.Messages[:n], func(a, b modeltest.Message) bool { return a.Role == b.Role && a.Text == b.Text }) {
		k.breaks++
	}
	last := r.Messages[len(r.Messages)-1]
	k.before = r.Messages[:len(r.Messages)-1] // the last one may say what is under way
	switch q := r.LastUserText(); {
	case last.Role == "tool":
		return say("I found: " + last.Text)
	case strings.Contains(q, "my codeword?"):
		for _, m := range r.Messages {
			if found := codeword.FindStringSubmatch(m.Text); found != nil {
				return say("It is " + found[1] + ".")
			}
		}
		return say("I do not know.")
	case strings.Contains(q, "lighthouse?"):
		return modeltest.Reply{ToolCalls: []modeltest.ToolCall{{ID: "c1", Name: "sessions_search", Arguments: `{"query":"lighthouse"}`}}}
	}
	return say("I see. " + strings.Repeat("Go on. ", 8))
}

// A session of 2,000 turns stays in the window at every request, as the server counts it; remembers turn 3 by its summary and by
// looking it up; and costs what short prompts cost. What the server counted is in the ledger, summaries included. Between two
// summaries each prompt begins with the prompt before it, so that a provider's cache fits.
func TestTwoThousandTurns(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		ln, client := modeltest.Pipe()
		srv := modeltest.NewOn(ln)
		k := &keeper{}
		var refused atomic.Int64
		srv.Script(modeltest.Window(longWindow, &refused, k.answer))
		g := &routertest.Rig{T: t, Dir: routertest.Folder(t), Fake: channeltest.NewFake(channeltest.Options{}), Model: &routertest.Script{}, Settings: routertest.SettingsFor(routertest.EachAlone, func(s *settings.Snapshot) {
			s.Tools.Allow = []string{"sessions_search"}
			s.Models.DayTokens = longBudget
		})}
		model := openai.New(openai.Config{Name: "mock", BaseURL: srv.URL() + "/v1", HTTPClient: client})
		g.Models = func(name string) (agent.Candidate, error) {
			return agent.Candidate{Model: model, Name: "m", Label: name, Facts: agent.ModelFacts{ContextWindow: longWindow}}, nil
		}
		g.Start()
		t.Cleanup(func() {
			g.Stop()
			client.CloseIdleConnections()
			_ = srv.Close()
		})
		const batch = 10
		for i := 0; i < longTurns(); i += batch {
			for j := range batch {
				words := fmt.Sprintf("turn %d: %s", i+j, strings.Repeat("some words ", 10))
				switch i + j {
				case 3:
					words = "my codeword is heron, and " + words
				case 4:
					words = "we met at the lighthouse, " + words
				}
				g.Say(routertest.Direct("a"), routertest.Guest, words)
			}
			g.Shown(i + batch)
		}
		g.Say(routertest.Direct("a"), routertest.Guest, "what is my codeword?")
		g.Say(routertest.Direct("a"), routertest.Guest, "who met at the lighthouse?")
		shown := g.Shown(longTurns() + 2)
		synctest.Wait()
		if by := shown[longTurns()].Out.Text; by != "It is heron." {
			t.Errorf("by its summary: %q", by)
		}
		if by := shown[longTurns()+1].Out.Text; !strings.Contains(by, "turn 4") {
			t.Errorf("by looking it up: %q", by)
		}
		measure(g, srv, k, refused.Load())
	})
}

// measure looks at what a long session has cost.
func measure(g *routertest.Rig, srv *modeltest.Server, k *keeper, refused int64) {
	t := g.T
	counted := srv.Counted()
	spent, err := g.Store.Spent(t.Context(), sessions.SpentQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if got := (modeltest.Usage{Input: spent.Usage.Input, Output: spent.Usage.Output}); got != counted || spent.Calls != srv.Count() {
		t.Errorf("the ledger has %d calls, %+v; the server counted %d, %+v", spent.Calls, got, srv.Count(), counted)
	}
	if refused > 0 || spent.Usage.Total() > longBudget {
		t.Errorf("%d prompts were too long, %d tokens were spent", refused, spent.Usage.Total())
	}
	if k.sums == 0 || k.sums > longTurns()/10 || k.breaks > k.sums+1 {
		t.Errorf("%d summaries, %d prompts that begin anew", k.sums, k.breaks)
	}
	s := g.Session("agent:main:fake:direct:" + routertest.Guest)
	all, err := g.Store.Tail(t.Context(), s.ID, sessions.TailQuery{Limit: 10_000, IncludeTool: true})
	if err != nil || len(all) != 2*longTurns()+6 {
		t.Errorf("%d messages are in the transcript (%v)", len(all), err)
	}
	sum, _, err := g.Store.Summary(t.Context(), s.ID)
	if err != nil || sum.Number == 0 || sum.Messages < longTurns() {
		t.Errorf("%d summaries of %d messages (%v)", sum.Number, sum.Messages, err)
	}
	t.Logf("%d requests, %d tokens, %d summaries, the largest prompt %d of %d tokens, %s of virtual time", srv.Count(), counted.Input+counted.Output, k.sums, largest(srv), longWindow, time.Since(routertest.Epoch))
}

func largest(srv *modeltest.Server) (most int) {
	for _, r := range srv.Requests() {
		most = max(most, modeltest.PromptTokens(r))
	}
	return most
}
