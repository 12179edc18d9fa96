package routertest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels/channeltest"
	"parley/sessions"
	"parley/tools"
)

// Taken waits until the router has taken n events and nothing moves any more.
func (g *Rig) Taken(n int) {
	g.T.Helper()
	ctx, cancel := context.WithTimeout(g.T.Context(), time.Hour)
	defer cancel()
	if err := g.Fake.WaitAccepted(ctx, n); err != nil {
		g.T.Fatal(err)
	}
	synctest.Wait()
}

// Reactions are the reactions that reached the platform, as chat/message=emoji, the answers between them.
func (g *Rig) Reactions() (out []string) {
	synctest.Wait()
	for _, c := range g.Fake.Calls(channeltest.OpReact, channeltest.OpSend) {
		if c.Op == channeltest.OpSend {
			out = append(out, "answer")
			continue
		}
		out = append(out, fmt.Sprintf("%s/%s=%s", c.To.Chat, c.ID, c.Text))
	}
	return out
}

// WantOnce looks for one answer, sent once, of which nobody doubts that.
func (g *Rig) WantOnce() {
	g.T.Helper()
	d := g.Ended(1)[0]
	if d.State != sessions.Sent || d.Repeat || d.Ambiguous || len(g.Fake.Calls(channeltest.OpSend)) != 1 {
		g.T.Errorf("%s %q, repeat %t, unclear %t, after %d calls", d.State, d.Error, d.Repeat, d.Ambiguous, len(g.Fake.Calls(channeltest.OpSend)))
	}
}

// Runs lists every run, oldest first.
func (g *Rig) Runs() []sessions.Run {
	g.T.Helper()
	list, err := g.Store.ListRuns(g.T.Context(), sessions.RunQuery{Limit: 1000})
	if err != nil {
		g.T.Fatal(err)
	}
	slices.Reverse(list)
	return list
}

// Idle waits until every run is final, n in all, and lists them.
func (g *Rig) Idle(n int) (list []sessions.Run) {
	g.T.Helper()
	g.Until(fmt.Sprintf("%d ended runs", n), func() bool {
		list = g.Runs()
		return len(list) >= n && !slices.ContainsFunc(list, func(r sessions.Run) bool { return !r.Status.Final() })
	})
	return list
}

// Session gives the session of a key, which must exist.
func (g *Rig) Session(key sessions.Key) sessions.Session {
	g.T.Helper()
	s, err := g.Store.Get(g.T.Context(), key)
	if err != nil {
		g.T.Fatal(err)
	}
	return s
}

// Merged reports whether a run was left to the running turn in its session.
func Merged(r sessions.Run) bool { return strings.HasPrefix(r.Result, "taken up by run ") }

// StatusOf reads the status of a tool result.
func StatusOf(text string) string {
	var v struct{ Status string }
	_ = json.Unmarshal([]byte(text), &v) // no JSON, no status
	return v.Status
}

// Ended waits until there are n deliveries, all of them final.
func (g *Rig) Ended(n int) []sessions.Delivery {
	g.T.Helper()
	var list []sessions.Delivery
	g.Until(fmt.Sprintf("%d final deliveries", n), func() bool {
		list = g.Deliveries()
		return len(list) == n && !slices.ContainsFunc(list, func(d sessions.Delivery) bool { return !d.State.Final() })
	})
	return list
}

// Kinds lists what runs are and how they stand.
func Kinds(list []sessions.Run) string {
	var out []string
	for _, r := range list {
		out = append(out, string(r.Kind)+" "+string(r.Status))
	}
	return strings.Join(out, ", ")
}

// Newest is the message that the newest model call had to answer.
func (g *Rig) Newest() sessions.Message {
	g.T.Helper()
	g.Model.Mu.Lock()
	defer g.Model.Mu.Unlock()
	if len(g.Model.Asked) == 0 {
		g.T.Fatal("the model was not asked")
	}
	msgs := g.Model.Asked[len(g.Model.Asked)-1].Messages
	return msgs[len(msgs)-1]
}

// Transcript gives a session's messages, oldest first.
func (g *Rig) Transcript(key sessions.Key) []sessions.Message {
	g.T.Helper()
	msgs, err := g.Store.Tail(g.T.Context(), g.Session(key).ID, sessions.TailQuery{Limit: 1000, IncludeTool: true})
	if err != nil {
		g.T.Fatal(err)
	}
	return msgs
}

// Texts are what calls show.
func Texts(calls []channeltest.Call) (out []string) {
	for _, c := range calls {
		out = append(out, c.Out.Text)
	}
	return out
}

// Said gives the runs of what people wrote, by the words.
func (g *Rig) Said() map[string]sessions.Run {
	out := map[string]sessions.Run{}
	for _, run := range g.Runs() {
		_, words, named := strings.Cut(run.Input.Text(), ": ")
		if !named {
			words = run.Input.Text()
		}
		out[words] = run
	}
	return out
}

// Shown waits until n messages are shown in all and gives them.
func (g *Rig) Shown(n int) []channeltest.Call {
	g.T.Helper()
	ctx, cancel := context.WithTimeout(g.T.Context(), 2*time.Hour)
	defer cancel()
	calls, err := g.Fake.WaitShown(ctx, n)
	if err != nil {
		g.T.Fatalf("%d of %d messages shown: %v", len(calls), n, err)
	}
	return calls
}

// Deliveries waits until nothing moves any more and lists what there is, oldest first.
func (g *Rig) Deliveries() []sessions.Delivery {
	g.T.Helper()
	synctest.Wait()
	list, err := g.Store.ListDeliveries(g.T.Context(), sessions.DeliveryQuery{Limit: 1000})
	if err != nil {
		g.T.Fatal(err)
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// Until waits, in virtual time, for something that becomes true. It looks when something was committed or asked, and now and then.
func (g *Rig) Until(what string, ok func() bool) {
	g.T.Helper()
	last := int64(-1)
	for i := range 20000 {
		synctest.Wait()
		if moved := g.commits.Load() + int64(g.Model.Count()); moved != last || i%10 == 0 {
			if ok() {
				return
			}
			last = moved
		}
		<-time.After(10 * time.Millisecond)
	}
	g.T.Fatal("waited in vain: " + what)
}

// LastPrompt gives the words of the newest prompt, a line for each message.
func (g *Rig) LastPrompt() []string {
	g.Model.Mu.Lock()
	defer g.Model.Mu.Unlock()
	return WordsOf(g.Model.Asked[len(g.Model.Asked)-1])
}

// Check fails the test when there is an error.
func Check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// WantTexts fails unless exactly so many messages are shown, with these words in them.
func (g *Rig) WantTexts(want ...string) {
	g.T.Helper()
	g.Deliveries()
	var got []string
	for _, c := range g.Shown(len(want)) {
		got = append(got, c.Out.Text)
	}
	synctest.Wait()
	for i, w := range want {
		if !strings.Contains(got[i], w) {
			g.T.Fatalf("message %d is %q, want %q in it; all: %q", i, got[i], w, got)
		}
	}
	if n := len(g.Deliveries()); n != len(want) {
		g.T.Fatalf("%d deliveries, want %d", n, len(want))
	}
}

// ToolsFor gives the tools that a run of a session has.
func (g *Rig) ToolsFor(s sessions.Session, run sessions.Run, msgs ...sessions.Message) []tools.Tool {
	g.T.Helper()
	may, err := g.Router.Rights.Of(g.T.Context(), g.Router.Settings(), s, run, msgs)
	if err != nil {
		g.T.Fatal(err)
	}
	return g.Router.Rights.ToolsFor(g.T.Context(), run, may)
}
