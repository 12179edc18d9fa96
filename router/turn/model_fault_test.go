package turn_test

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/agent/anthropic"
	"parley/agent/modeltest"
	"parley/agent/openai"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// modelFaults are the ways in which a model fails. requests is how many one call may make, over all models that may answer; 0 = this fault
// is none of one call.
var modelFaults = map[string]struct {
	reply    modeltest.Reply
	requests int
}{
	"refused":               {modeltest.Reply{Fault: modeltest.Refuse}, 3},
	"500":                   {modeltest.Reply{Status: http.StatusInternalServerError}, 3},
	"503":                   {modeltest.Reply{Status: http.StatusServiceUnavailable}, 3},
	"529":                   {modeltest.Reply{Status: 529}, 3},
	"400":                   {modeltest.Reply{Status: http.StatusBadRequest}, 10}, // four requests with the conversation, one without it, in two runs
	"401":                   {modeltest.Reply{Status: http.StatusUnauthorized}, 3},
	"429, soon":             {modeltest.Reply{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"7"}}}, 3},
	"429, in an hour":       {modeltest.Reply{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"3600"}}}, 3},
	"silent":                {modeltest.Reply{Fault: modeltest.Silent}, 3},
	"ten minutes late":      {modeltest.Reply{Delay: 10 * time.Minute}, 3},
	"stalls":                {modeltest.Reply{Text: []string{"I was about to"}, Fault: modeltest.Stall}, 3},
	"a slow drip":           {modeltest.Reply{Text: strings.Split(strings.Repeat("drip ", 60), " "), Between: 30 * time.Second}, 3},
	"cut":                   {modeltest.Reply{Text: []string{"I was about to"}, Fault: modeltest.Cut}, 3},
	"ends early":            {modeltest.Reply{Text: []string{"I was about to"}, Fault: modeltest.End}, 3},
	"half a call":           {modeltest.Reply{ToolCalls: []modeltest.ToolCall{another}, Fault: modeltest.HalfCall}, 3},
	"a call, then cut":      {modeltest.Reply{ToolCalls: []modeltest.ToolCall{another}, Between: time.Second, Fault: modeltest.Cut}, 3},
	"broken UTF-8":          {modeltest.Reply{Text: []string{"caf"}, Fault: modeltest.InvalidUTF8}, 3},
	"no JSON":               {modeltest.Reply{Text: []string{"x"}, Fault: modeltest.Garbage}, 3},
	"50 MB":                 {modeltest.Reply{Text: repeated(strings.Repeat("0123456789abcdef", 1<<16), 50)}, 3},
	"an overload inside":    {modeltest.Reply{Fault: modeltest.ErrorEvent}, 3},
	"tools without end":     {modeltest.Reply{ToolCalls: []modeltest.ToolCall{{ID: "again", Name: "session_status", Arguments: `{}`}}}, 0},
	"arguments are no JSON": {modeltest.Reply{ToolCalls: []modeltest.ToolCall{{ID: "again", Name: "sessions_spawn", Arguments: `{"task": "an`}}}, 0},
}

// another is a call that must not be made, as it never comes whole.
var another = modeltest.ToolCall{ID: "half", Name: "sessions_spawn", Arguments: `{"task":"another task"}`}

func repeated(s string, n int) (out []string) {
	for range n {
		out = append(out, s)
	}
	return out
}

// modelPlaces are where in the work on a message the model fails.
var modelPlaces = []string{"message", "tool turn", "sub-agent", "announce step"}

// faultyModel answers well but in one place.
type faultyModel struct {
	place string
	reply modeltest.Reply

	mu   sync.Mutex
	hits int // requests in that place
	well bool
}

func (f *faultyModel) answer(r modeltest.Request) modeltest.Reply {
	at, newest, good := "message", r.Messages[len(r.Messages)-1], modeltest.Echo(r)
	switch {
	case strings.Contains(r.System, "announce step"):
		at, good.Text = "announce step", []string{"Result: told"}
	case strings.Contains(r.System, "You are a sub-agent"):
		at, good.Text = "sub-agent", []string{"found it"}
	case newest.Role == "tool":
		at, good.Text = "tool turn", []string{"started"}
	case f.place != "message" && strings.Contains(r.LastUserText(), "go"):
		at, good.Text, good.ToolCalls = "", nil, []modeltest.ToolCall{{ID: "spawn", Name: "sessions_spawn", Arguments: `{"task":"the task","runTimeoutSeconds":600}`}}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.well || at != f.place {
		return good
	}
	f.hits++
	return f.reply
}

func (f *faultyModel) heal() (hits int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.well = true
	return f.hits
}

// modelRig is a rig whose models are real providers that speak a protocol to a scripted server: the first choice and a fallback.
func modelRig(t *testing.T, p modeltest.Protocol, answer func(modeltest.Request) modeltest.Reply, fs ...func(*settings.Snapshot)) (*routertest.Rig, *modeltest.Server) {
	t.Helper()
	ln, client := modeltest.Pipe()
	srv := modeltest.NewOn(ln)
	srv.Script(answer)
	provider := func(name string) agent.Model {
		if p == modeltest.Anthropic {
			return agent.NewBreaker(name, anthropic.New(anthropic.Config{Name: name, BaseURL: srv.URL(), APIKey: channels.NewSecret("k"), HTTPClient: client}), nil)
		}
		return agent.NewBreaker(name, openai.New(openai.Config{Name: name, BaseURL: srv.URL() + "/v1", APIKey: channels.NewSecret("k"), HTTPClient: client}), nil)
	}
	first, second := provider("one"), provider("two")
	fs = append([]func(*settings.Snapshot){func(s *settings.Snapshot) { s.Agents.Defaults.Fallbacks = []string{"mock/2"} }}, fs...)
	g := &routertest.Rig{T: t, Dir: routertest.Folder(t), Settings: routertest.SettingsFor(fs...), Fake: channeltest.NewFake(channeltest.Options{}), Model: &routertest.Script{},
		Models: func(name string) (agent.Candidate, error) {
			m := map[bool]agent.Model{true: second, false: first}[name == "mock/2"]
			return agent.Candidate{Model: m, Name: name, Label: name}, nil
		}}
	g.Start()
	t.Cleanup(func() { // before the rig's own
		g.Stop()
		client.CloseIdleConnections()
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
	return g, srv
}

// TestFaultModel has a model fail in every way, in every place, through each provider: what was accepted ends within its time limit and
// five seconds as a reply, a notice or a report, no tool call happens that was not made whole, or twice, and a call makes at most three
// requests, fallbacks included. When the model is well again the next message is answered.
func TestFaultModel(t *testing.T) {
	ends := newTally()
	t.Run("all", func(t *testing.T) {
		for fault, x := range modelFaults {
			for i, p := range []modeltest.Protocol{modeltest.OpenAI, modeltest.Anthropic} {
				for k, place := range modelPlaces {
					if (i+k+len(fault))%channeltest.Times(2, 1) > 0 {
						continue // the other protocol; all of them run in full
					}
					if routertest.Racing && fault == "50 MB" {
						continue // with the race detector it takes a minute; the gate also runs this test without
					}
					t.Run(fmt.Sprintf("%s/%s/%s", fault, p, place), func(t *testing.T) {
						routertest.Bubble(t, func(t *testing.T) { playModelFault(t, p, &faultyModel{place: place, reply: x.reply}, x.requests, ends) })
					})
				}
			}
		}
	})
	t.Logf("%d faults, %d places: %s", len(modelFaults), len(modelPlaces), ends)
}

// playModelFault plays one fault in one place.
func playModelFault(t *testing.T, p modeltest.Protocol, f *faultyModel, requests int, ends *tally) {
	const limit = 600 * time.Second // of a turn, and of the sub-agent
	g, srv := modelRig(t, p, f.answer)
	g.Say(routertest.Group("a"), routertest.Guest, "go")
	<-time.After(3 * limit)
	synctest.Wait()
	hits := f.heal()
	if most := cmp.Or(requests, agent.DefaultMaxSteps); hits == 0 || hits > most {
		t.Errorf("%d requests where it fails, %d are allowed", hits, most)
	}
	children := 0
	for _, run := range g.Runs() {
		if took := run.Ended.Sub(run.Created); !run.Status.Final() || took > limit+5*time.Second {
			t.Errorf("%s of %s is %s after %s", run.Kind, run.Key, run.Status, took)
		}
		if run.Status != sessions.Done && run.Error == "" {
			t.Errorf("%s of %s is %s, and nothing says why", run.Kind, run.Key, run.Status)
		}
		if run.Kind == sessions.ChildRun {
			children++
		}
	}
	if want := map[bool]int{true: 0, false: 1}[f.place == "message"]; children != want {
		t.Errorf("%d sub-agents were begun, want %d", children, want)
	}
	said := saidOf(g, "a")
	if want := map[bool]int{true: 1, false: 2}[f.place == "message"]; len(said) != want {
		t.Errorf("the chat reads %q", said)
	}
	for _, d := range g.Deliveries() {
		ends.add(string(d.Kind), 1)
	}
	ends.add("requests that failed", hits)
	ends.add("cases", 1)
	before := srv.Count()
	g.Say(routertest.Group("a"), routertest.Guest, "once more")
	<-time.After(time.Minute)
	if now := saidOf(g, "a"); len(now) != len(said)+1 || !strings.HasSuffix(now[len(now)-1], "once more") || srv.Count() != before+1 {
		t.Errorf("afterwards the chat reads %q, after %d requests", now, srv.Count()-before)
	}
}

// saidOf gives what a chat reads, in order, and fails when something was made and not sent.
func saidOf(g *routertest.Rig, chat string) (out []string) {
	g.T.Helper()
	for _, d := range g.Deliveries() {
		if d.State != sessions.Sent {
			g.T.Errorf("a delivery is %s: %s", d.State, d.Error)
		}
	}
	for _, c := range g.Fake.Shown(routertest.Group(chat)) {
		out = append(out, c.Out.Text)
	}
	return out
}

// tally counts things by name, from several tests at once.
type tally struct {
	mu sync.Mutex
	n  map[string]int
}

func newTally() *tally { return &tally{n: map[string]int{}} }

func (x *tally) add(name string, n int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.n[name] += n
}

func (x *tally) String() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return fmt.Sprint(x.n)
}
