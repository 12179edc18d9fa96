package stoptest

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// stopMoment is where the work of a chat is when it is stopped.
type stopMoment struct {
	say    []string // in the chat
	holds  string   // the kind of step that does not end by itself; of a reply with its turn
	result bool     // the result of a sub-agent goes to its requester
	after  int      // the exchange that it came of is over then: the messages that the chats have shown
}

var stopMoments = map[string]stopMoment{
	"turn":               {say: []string{"hello"}, holds: "turn"},
	"queue":              {say: []string{"hello", "and", "more"}, holds: "turn"},
	"tool call":          {say: []string{"use the tool"}},
	"sub-agent, depth 3": {say: []string{"spawn deep1"}, holds: "child deep3"},
	"ask":                {say: []string{"ask b"}, holds: "ask"},
	"ask, not waited":    {say: []string{"ask b later"}, holds: "ask"},
	"own reply":          {say: []string{"ask b"}, holds: "reply 1"},
	"other's reply":      {say: []string{"ask b"}, holds: "reply 2"},
	"announce":           {say: []string{"ask b"}, holds: "announce"},
	"on its behalf":      {say: []string{"ask b who spawns"}, holds: "child deep3"},
	"asked in passing":   {say: []string{"ask b who asks main"}, holds: "ask SECRET errand", after: 3},
	"spawned in passing": {say: []string{"ask b who leaves deep1"}, holds: "child deep3", after: 3},
	"report":             {say: []string{"spawn quick"}, holds: "report"},
	"result":             {say: []string{"spawn quick"}, holds: "result", result: true},
	"split answer":       {say: []string{"long"}},
	"compaction":         {say: []string{"tell", "tell", "tell", "tell", "tell", "tell", "tell", "tell", "/compact"}, holds: "summary"},
}

// heldTool is a tool that ends with its call alone.
type heldTool struct{ calls *atomic.Int32 }

func (heldTool) Spec() tools.Spec { return tools.Spec{Name: "held", Description: "waits"} }

func (t heldTool) Call(ctx context.Context, _ tools.Call) (tools.Result, error) {
	t.calls.Add(1)
	defer t.calls.Add(-1)
	<-ctx.Done()
	return tools.Result{}, ctx.Err()
}

// stopRig is a host with two chats on one kind of channel, and one moment.
type stopRig struct {
	*routertest.Rig
	moment stopMoment
	held   atomic.Int32 // calls of the model and the tool that are open and do not end by themselves
	free   atomic.Bool  // nothing is held any more
	a, b   channels.Address
}

const longParts = 35

func newStopRig(t *testing.T, kind channels.Kind, m stopMoment) *stopRig {
	t.Helper()
	at := func(id string) channels.Address {
		return channels.Address{Channel: kind, Account: channels.DefaultAccount, Chat: channels.ChatID(id), Type: channels.Direct}
	}
	x := &stopRig{moment: m, a: at("a"), b: at("b")}
	ref := settings.AccountRef{Channel: kind, Account: channels.DefaultAccount}
	x.Rig = &routertest.Rig{T: t, Dir: routertest.Folder(t), Ref: ref, Fake: channeltest.NewFake(channeltest.Options{Limits: channels.Limits{Text: 200}}), Model: &routertest.Script{}, Settings: routertest.SettingsFor(func(s *settings.Snapshot) {
		s.Accounts = map[settings.AccountRef]settings.Account{ref: {Access: policy.Access{DMPolicy: policy.DMAllowlist, AllowFrom: []string{"a", "b"}}, Pacing: channels.Pacing{PerChatPerSecond: 1}}}
		s.Owners = nil
		s.Agents.Defaults.Subagents.MaxSpawnDepth, s.Session.AgentToAgent.FollowUp = 4, m.after > 0
		if m.result {
			s.Agents.Defaults.Subagents.Announce = "requester"
		}
	})}
	if m.holds == "summary" {
		routertest.FewTools(x.Settings)
		routertest.Narrow(x.Rig, 8000)
	}
	x.Mount(func(context.Context, bool) []tools.Tool { return []tools.Tool{heldTool{&x.held}} })
	x.Model.Set(func(context.Context, agent.Prompt) (agent.Answer, error) { return routertest.Text("hello"), nil })
	x.Start()
	for _, to := range []channels.Address{x.a, x.b} {
		x.says(to, "make a session")
	}
	x.Shown(2)
	x.Idle(2)
	x.Model.Set(x.answer)
	return x
}

func (x *stopRig) says(to channels.Address, words string) {
	x.Fake.Say(channels.Inbound{Address: to, Sender: channels.Sender{ID: channels.UserID(to.Chat), Name: string(to.Chat)}, Text: words})
}

func (x *stopRig) key(to channels.Address) sessions.Key {
	return sessions.Parts{Form: sessions.FormChannelPeer, Agent: "main", Channel: to.Channel, ID: string(to.Chat)}.Key()
}

// answer plays what the words ask for, and holds the step of the moment.
func (x *stopRig) answer(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
	step := routertest.StepOf(p)
	name, task := step.Kind, routertest.TaskOf(p)
	switch {
	case routertest.IsSummary(p):
		name = "summary"
	case step.Kind == "reply":
		name = fmt.Sprint("reply ", step.Turn)
	case step.Kind == "child":
		name = "child " + task
	case step.Kind == "ask" && strings.HasSuffix(step.Said, "errand"):
		name = "ask " + step.Said
	}
	if name == x.moment.holds && !x.free.Load() {
		x.held.Add(1)
		defer x.held.Add(-1)
		<-ctx.Done()
		return agent.Answer{}, ctx.Err()
	}
	words, _ := strings.CutPrefix(step.Said, "a: ")
	fresh := len(step.Results) == 0
	send := func(words string, wait int) agent.Answer {
		return routertest.Call("c1", "sessions_send", map[string]any{"sessionKey": string(x.key(x.b)), "message": words, "timeoutSeconds": wait})
	}
	switch {
	case name == "turn" && words == "use the tool" && fresh:
		return routertest.Call("c1", "held", map[string]any{}), nil
	case name == "turn" && words == "ask b" && fresh:
		return send("SECRET question", 3600), nil
	case name == "turn" && words == "ask b later" && fresh:
		return send("SECRET question", 0), nil
	case name == "turn" && words == "ask b who spawns" && fresh:
		return send("spawn deep1", 3600), nil
	case name == "turn" && words == "ask b who asks main" && fresh:
		return send("ask main", 3600), nil
	case name == "turn" && words == "ask b who leaves deep1" && fresh:
		return send("spawn deep1", 3600), nil
	case name == "ask" && words == "ask main" && fresh:
		return routertest.Call("c1", "sessions_send", map[string]any{"sessionKey": "agent:main:main", "message": "SECRET errand", "timeoutSeconds": 0}), nil
	case x.moment.after > 0 && step.Kind == "reply":
		return routertest.Text("REPLY_SKIP"), nil
	case x.moment.after > 0 && step.Kind == "announce":
		return routertest.Text("ANNOUNCE_SKIP"), nil
	case fresh && strings.HasPrefix(words, "spawn "):
		return routertest.Delegate("c1", strings.TrimPrefix(words, "spawn ")), nil
	case fresh && (name == "child deep1" || name == "child deep2"):
		return routertest.Delegate("c1", map[string]string{"child deep1": "deep2", "child deep2": "deep3"}[name]), nil
	case len(step.Results) == 1 && (name == "child deep1" || name == "child deep2"):
		return routertest.Resting("c2"), nil
	case name == "turn" && words == "long":
		return routertest.Text(strings.Repeat("SECRET "+strings.Repeat("word ", 36)+"\n\n", longParts)), nil
	case name == "turn" && words == "tell":
		return routertest.Text("SECRET " + routertest.Fill + routertest.Fill), nil
	}
	return routertest.Text("SECRET " + name), nil
}

// reach brings the work to its moment.
func (x *stopRig) reach(name string) {
	x.T.Helper()
	for i, words := range x.moment.say {
		x.says(x.a, words)
		if words == "tell" {
			x.Idle(3 + i)
		}
		x.Taken(3 + i)
	}
	if name == "split answer" {
		x.Until("some parts are sent", func() bool { return len(x.Fake.Texts(x.a)) >= 4 })
		return
	}
	x.Until("it is held", func() bool { return x.held.Load() == 1 && len(x.Fake.Shown(channels.Address{})) >= x.moment.after })
	synctest.Wait()
}

// quiet fails the test when the model is asked or a chat hears something more than it has heard by now.
func (x *stopRig) quiet(asked, shown int) {
	x.T.Helper()
	if n := x.Model.Count(); n != asked {
		x.T.Errorf("the model was asked %d times after the stop: %s", n-asked, routertest.StepOf(x.Model.Asked[n-1]))
	}
	if all := x.Fake.Shown(channels.Address{}); len(all) != shown {
		x.T.Errorf("%d messages after the answer to the stop: %q", len(all)-shown, all[len(all)-1].Out.Text)
	}
}

var stopsBy = map[string]func(*stopRig) (answers bool){
	"command": func(x *stopRig) bool { x.says(x.a, "/stop please, at once!"); return true },
	"word":    func(x *stopRig) bool { x.says(x.a, "停止！🛑"); return true },
	"new":     func(x *stopRig) bool { x.says(x.a, "/new"); return true },
	"page and API": func(x *stopRig) bool {
		if _, n, err := x.Router.StopSession(x.T.Context(), "stop", x.key(x.a)); err != nil || n == (sessions.Ended{}) {
			x.T.Errorf("stopped %+v (%v)", n, err)
		}
		return false
	},
	"a kill behind the commit": func(x *stopRig) bool {
		if _, err := x.Store.Submit(x.T.Context(), sessions.Change{Ops: []sessions.Op{sessions.StopSessions{Keys: []sessions.Key{x.key(x.a)}}}}); err != nil { // its lanes and the gate are not told
			x.T.Error(err)
		}
		x.Stop()
		x.Start()
		return false
	},
}

// TestStopEverywhere stops a chat at every moment of its work, on every kind of channel, in every way: the open call of the model is cancelled
// within a second, no other begins, and the chats hear the answer to the stop alone, also in the next process.
//
// source: openclaw/openclaw#122909, #120856, #37024, #56386, #101162; openclaw/openclaw#83140, #103062; cloudflare/agents#1658
// proves: X1, X3, X4, X5, S9, N15
func TestStopEverywhere(t *testing.T) {
	for _, kind := range []channels.Kind{"telegram", "discord", "whatsapp", "webchat"} {
		for name, m := range stopMoments {
			for by, stop := range stopsBy {
				t.Run(fmt.Sprint(kind, "/", name, "/", by), func(t *testing.T) {
					routertest.Bubble(t, func(t *testing.T) {
						x := newStopRig(t, kind, m)
						x.reach(name)
						asked, shown, at := x.Model.Count(), len(x.Fake.Shown(channels.Address{})), time.Now()
						answers := stop(x)
						for x.held.Load() > 0 && time.Since(at) <= time.Second {
							<-time.After(10 * time.Millisecond)
						}
						if n := x.held.Load(); n > 0 {
							t.Fatalf("%d calls are open a second after the stop", n)
						}
						if answers {
							shown++
							x.Until("the stop is answered", func() bool { return len(x.Fake.Shown(channels.Address{})) >= shown })
							if took := time.Since(at); took > 3*time.Second {
								t.Errorf("the stop was answered after %s", took)
							}
							all := x.Fake.Shown(x.a)
							if text := all[len(all)-1].Out.Text; !strings.HasPrefix(text, "⚙️ ") && !strings.HasPrefix(text, "✅ ") || strings.Contains(text, "Nothing is running") || len(strings.Fields(text)) < 3 {
								t.Errorf("the stop is answered with %q", text)
							}
						}
						for range 2 {
							<-time.After(2 * time.Hour)
							synctest.Wait()
							x.quiet(asked, shown)
							x.Stop()
							x.Start()
						}
						if !x.AllOver() {
							t.Errorf("not over: %s", routertest.Kinds(x.Runs()))
						}
						if name == "split answer" {
							x.stoppedInParts()
						}
						if by == "new" {
							x.startsEmpty()
						}
					})
				})
			}
		}
	}
}

// stoppedInParts looks for the one answer of which a part has arrived, and the rest was stopped.
func (x *stopRig) stoppedInParts() {
	x.T.Helper()
	for _, d := range x.Deliveries() {
		if d.State == sessions.DeliveryStopped && d.Part > 1 && d.Part < longParts && len(d.Receipts) == d.Part && !d.Ambiguous {
			return
		}
	}
	x.T.Errorf("no answer was stopped between two parts")
}

// A run that has ended is cancelled while its answer is on its way: the rest of the parts ends as stopped, and the caller is told.
//
// proves: X2
func TestCancelOfARunWhoseAnswerIsOnItsWay(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := newStopRig(t, "telegram", stopMoments["split answer"])
		x.reach("split answer")
		run := x.Runs()[2]
		if run.Status != sessions.Done {
			t.Fatalf("the run is %s", run.Status)
		}
		for i, want := range []int{1, 0} {
			if ids, n, err := x.Router.CancelRun(t.Context(), "", run.ID); err != nil || len(ids) != 0 || n != want {
				t.Errorf("%d: %v, %d, %v", i, ids, n, err)
			}
		}
		synctest.Wait()
		shown := len(x.Fake.Texts(x.a))
		<-time.After(time.Hour)
		if n := len(x.Fake.Texts(x.a)); n > shown+1 {
			t.Errorf("%d parts after the run was canceled", n-shown)
		}
		x.stoppedInParts()
	})
}

// startsEmpty looks at what the model is shown after /new: nothing of what was before.
func (x *stopRig) startsEmpty() {
	x.T.Helper()
	x.free.Store(true)
	n := x.Model.Count()
	x.says(x.a, "good morning")
	x.Until("it is answered", func() bool { return x.Model.Count() > n })
	p := x.Model.Asked[n]
	if len(p.Messages) != 1 || strings.Contains(p.Messages[0].Text(), "SECRET") || len(routertest.Told(p.Messages[0])) > 0 {
		x.T.Errorf("after /new the model is shown %q", routertest.WordsOf(p))
	}
}

// TestStopOnTheOtherSide stops the chat that another one has asked: the exchange is over, and who asked learns of it once.
//
// proves: X1, X3, S9
func TestStopOnTheOtherSide(t *testing.T) {
	for name, c := range map[string]struct {
		results int // tool results that say so
		lines   int // context lines, or notes, of the next turn
	}{
		"ask": {1, 0}, "ask, not waited": {0, 1}, "own reply": {0, 0}, "other's reply": {0, 1}, "announce": {0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				x := newStopRig(t, "telegram", stopMoments[name])
				x.reach(name)
				x.says(x.b, "/stop")
				x.Until("nothing is held", func() bool { return x.held.Load() == 0 })
				x.free.Store(true)
				x.Until("all is over", x.AllOver)
				<-time.After(time.Hour)
				for _, text := range x.Fake.Texts(x.b)[1:] {
					if !strings.HasPrefix(text, "⚙️ ") || !strings.Contains(text, "Ended 1 exchange") {
						t.Errorf("the other chat reads %q", text)
					}
				}
				n := x.Model.Count()
				x.says(x.a, "and now?")
				x.Until("it is answered", func() bool { return x.Model.Count() > n })
				results, lines := 0, 0
				for _, m := range x.Model.Asked[n].Messages {
					if m.Role == sessions.ToolResult && strings.Contains(m.Text(), "stopped by a person") {
						results++
					}
					for _, l := range routertest.Told(m) {
						if strings.Contains(l, "stopped your exchange") {
							lines++
						}
					}
				}
				if results != c.results || lines != c.lines {
					t.Errorf("it learns by %d results and %d lines, want %d and %d: %q", results, lines, c.results, c.lines, routertest.WordsOf(x.Model.Asked[n]))
				}
			})
		})
	}
}

// TestCommandAnswersPassParts asks for the state of a chat while a long answer is on its way there: the answer goes between two parts, and the
// parts keep their order.
//
// source: openclaw/openclaw#83140, #103062, #131772, #83693
// proves: X3
func TestCommandAnswersPassParts(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := newStopRig(t, "telegram", stopMoments["split answer"])
		x.reach("split answer")
		x.says(x.a, "/whoami")
		at := time.Now()
		status := func() int {
			for i, text := range x.Fake.Texts(x.a) {
				if strings.HasPrefix(text, "You are a,") {
					return i
				}
			}
			return -1
		}
		x.Until("it is answered", func() bool { return status() >= 0 })
		if took := time.Since(at); took > 3*time.Second {
			t.Errorf("answered after %s", took)
		}
		x.Until("all parts are there", func() bool { return len(x.Fake.Texts(x.a)) == 1+1+longParts })
		if i := status(); i > 7 {
			t.Errorf("the answer is message %d", i)
		}
		for _, d := range x.Deliveries() {
			if d.State != sessions.Sent || d.Repeat || len(d.Receipts) > 1 && len(d.Receipts) != longParts {
				t.Errorf("%s %s, %d parts", d.Kind, d.State, len(d.Receipts))
			}
		}
	})
}

// A message that is under way when the stop comes arrives whole: the answer to the stop does not say that something is missing.
//
// proves: X3
func TestStopWhileTheLastPartIsUnderWay(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Model.Set(func(context.Context, agent.Prompt) (agent.Answer, error) { return routertest.Text("all of it"), nil })
		g.Fake.Script(channeltest.Step{Delay: 5 * time.Second})
		g.Say(routertest.Direct(routertest.Owner), routertest.Owner, "hello")
		<-time.After(2 * time.Second)
		g.Say(routertest.Direct(routertest.Owner), routertest.Owner, "/stop")
		<-time.After(time.Hour)
		if texts := g.Fake.Texts(routertest.Direct(routertest.Owner)); len(texts) != 2 || texts[0] != "all of it" || texts[1] != "⚙️ My last message was already being sent." {
			t.Errorf("%q", texts)
		}
	})
}
