package router_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// What people write here has a mark, which no other message has. The model says it again in everything that the message makes it say or
// do, so what the chats show tells by itself which message it belongs to.
var marked = regexp.MustCompile(`<\d+>`)

// subjects are the marks that a prompt is about: of the user messages since the model last had its say.
func subjects(p agent.Prompt) (out []string) {
	for _, m := range slices.Backward(p.Messages) {
		if m.Role == sessions.Assistant && len(m.ToolCalls()) == 0 {
			break
		}
		if m.Role == sessions.User {
			out = append(out, marked.FindAllString(m.Text(), -1)...)
		}
	}
	return out
}

// traceModel is the model of the test: what it does depends on what it is shown.
func traceModel(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
	s, about := routertest.StepOf(p), strings.Join(subjects(p), " ")
	has := func(words string) bool { return strings.Contains(s.Said, words) }
	switch s.Kind {
	case "reply":
		if s.Turn > 1 {
			return routertest.Text("REPLY_SKIP"), nil
		}
		return routertest.Text("thank you"), nil
	case "announce", "report": // the prompt is the host's: the mark stands in what it tells of the exchange
		return routertest.Text("told " + strings.Join(slices.Compact(marked.FindAllString(p.System, -1)), " ")), nil
	case "ask", "child":
		return routertest.Text("done " + about), nil
	}
	switch {
	case len(s.Results) > 0:
		return routertest.Text("finished " + about), nil
	case has("breaks off"):
		return agent.Answer{}, errors.New("the model says no")
	case has("remember"):
		return routertest.Call("c1", "remember", map[string]any{"text": "a note " + about}), nil
	case has("delegate"):
		return routertest.Call("c1", "sessions_spawn", map[string]any{"task": "count " + about}), nil
	case has("ask there"):
		return routertest.Call("c1", "sessions_send", map[string]any{"sessionKey": "agent:main:fake:group:there", "message": "say " + about, "timeoutSeconds": 0}), nil
	case has("wait for there"):
		return routertest.Call("c1", "sessions_send", map[string]any{"sessionKey": "agent:main:fake:group:there", "message": "say " + about, "timeoutSeconds": 30}), nil
	case has("slowly"):
		<-time.After(3 * time.Second)
	case has("at length"):
		return routertest.Text(strings.Repeat("Once upon a time there was an orchard. ", 14) + about), nil
	}
	return routertest.Text("I heard " + about), nil
}

// forget lets the prompts go.
func forget(s *routertest.Script) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Asked = nil
}

// traceLog is what the test knows by itself: what was written, and what the platform showed.
type traceLog struct {
	inbound []channels.Inbound
	sends   []channeltest.Call
	removed []channels.MessageID
}

// wants is what a person's message must have led to, besides what has its mark: any of these is enough.
var wants = map[string]func(t sessions.Trace) bool{
	"stranger": func(t sessions.Trace) bool {
		return slices.ContainsFunc(t.Deliveries, func(d sessions.Delivery) bool { return d.Kind == sessions.Invite })
	},
	"again":  func(t sessions.Trace) bool { return t.Skip != "" },
	"aside":  func(t sessions.Trace) bool { return t.Skip != "" },
	"broken": func(t sessions.Trace) bool { return t.Skip == "it is no JSON" },
	"/": func(t sessions.Trace) bool {
		return len(t.Deliveries) > 0 && t.Deliveries[0].State == sessions.Sent
	},
	"breaks off": func(t sessions.Trace) bool {
		return t.Run != nil && t.Run.Status == sessions.Failed && len(t.Deliveries) > 0 && t.Deliveries[0].Kind == sessions.Notice
	},
	"quiet": func(t sessions.Trace) bool {
		return len(t.Deliveries) > 0 && t.Deliveries[0].State == sessions.Withheld && t.Deliveries[0].Verdict != nil
	},
	"wall": func(t sessions.Trace) bool {
		return len(t.Deliveries) > 0 && t.Deliveries[0].State == sessions.DeliveryFail && t.Deliveries[0].Error != ""
	},
}

// traceRun has people write n messages of all kinds and gives what the platform knows of it.
func traceRun(t *testing.T, dir string, n int) (l traceLog) {
	short := func(s *settings.Snapshot) { s.Agents.Defaults.HistoryLimit = 40 }
	g := &routertest.Rig{T: t, Dir: dir, Settings: routertest.SettingsFor(storySettings, short), Fake: channeltest.NewFake(channeltest.Options{Limits: channels.Limits{Text: 400}}), Model: &routertest.Script{}}
	g.Model.Set(traceModel)
	g.Start()
	g.Fake.Script(channeltest.Step{Chat: "wall", Times: -1, Err: &channels.Error{Class: channels.Rejected, Err: errors.New("the platform refuses")}})
	say := func(in channels.Inbound) {
		in.Sender = channels.Sender{ID: channels.UserID(routertest.Guest), Name: routertest.Guest}
		if in.Address.Type == channels.Direct {
			in.Sender.ID = channels.UserID(in.Address.Chat)
		}
		l.inbound = append(l.inbound, g.Fake.Say(in))
	}
	say(channels.Inbound{Address: routertest.Group("there"), Text: "hello <0>", Mentioned: true})
	for _, who := range []string{"7001", "7002"} {
		say(channels.Inbound{Address: routertest.Direct(who), Text: "stranger"})
		<-time.After(time.Minute)
		say(channels.Inbound{Address: routertest.Direct(who), Text: "again"})
	}
	kinds := []string{"hello", "remember", "delegate", "ask there", "wait for there", "at length", "breaks off", "/status", "quiet", "wall", "aside", "slowly", "broken", "taken"}
	for i := 1; len(l.inbound) < n; i++ {
		kind := kinds[i%len(kinds)]
		in := channels.Inbound{Address: routertest.Group(fmt.Sprint("g", i%23)), Text: fmt.Sprintf("%s <%d>", kind, i), Mentioned: kind != "aside"}
		switch kind {
		case "/status":
			in.Text = kind
		case "quiet", "wall":
			in.Address = routertest.Group(kind)
		case "hello", "at length", "remember":
			in.Address = routertest.Direct([]string{routertest.Owner, routertest.Guest, "5005"}[i%3])
		case "broken":
			in.Event, in.Reason = channels.Unreadable, "it is no JSON"
		case "taken": // another chat has a message of ours with this number
			shown := g.Fake.Shown(routertest.Direct(routertest.Guest))
			in.ID = shown[len(shown)-1].Receipt.ID
		}
		say(in)
		if kind == "slowly" { // two more are taken up with it, or after it
			<-time.After(time.Second)
			for j := range 2 {
				in.Text = fmt.Sprintf("and <%d%d>", 1_000_000+i, j)
				say(in)
			}
		}
		<-time.After(30 * time.Second)
		synctest.Wait()
		forget(g.Model)
	}
	g.Until("all is over", func() bool {
		counts, err := g.Store.CountDeliveries(t.Context(), sessions.DeliveryQuery{})
		open, err2 := sessions.OpenRuns(t.Context(), g.Store, sessions.RunQuery{Limit: 1})
		return err == nil && err2 == nil && len(open) == 0 && counts[sessions.Pending]+counts[sessions.Sending] == 0
	})
	for _, c := range g.Fake.Calls(channeltest.OpRemove) {
		l.removed = append(l.removed, c.ID)
	}
	l.sends = g.Fake.Shown(channels.Address{})
	g.Stop()
	return l
}

// Any id that people or operators can have in their hands leads to everything that belongs to it, from the update to the receipts: of each
// message that came in, each that a chat shows, each run and each delivery.
func TestTraceIsComplete(t *testing.T) {
	t.Parallel()
	dir := routertest.Folder(t)
	var l traceLog
	synctest.Test(t, func(t *testing.T) { l = traceRun(t, dir, channeltest.Times(200, 10_000)) })
	if t.Failed() {
		return
	}
	store, err := sqlstore.Open(t.Context(), sqlstore.Config{Dir: dir})
	routertest.Check(t, err)
	defer func() { routertest.Check(t, store.Close()) }()
	a := &traceAudit{T: t, store: store, log: l, whole: map[string]int{}, asked: map[string]int{}}
	a.lists()
	for _, in := range l.inbound {
		a.ask("messages in", string(in.ID), func(ts []sessions.Trace) string { return a.cameIn(in, ts) })
	}
	for _, c := range l.sends {
		if !slices.Contains(l.removed, c.Receipt.ID) {
			a.ask("messages out", string(c.Receipt.ID), func(ts []sessions.Trace) string { return a.wentOut(c, ts) })
		}
	}
	for _, r := range a.runs {
		a.ask("runs", string(r.ID), func(ts []sessions.Trace) string { return a.ran(r, ts) })
	}
	for _, d := range a.deliveries {
		a.ask("deliveries", string(d.ID), func(ts []sessions.Trace) string { return a.delivered(d, ts) })
	}
	slices.Sort(a.took)
	for kind, n := range a.asked {
		t.Logf("%s: %d of %d complete (%.2f %%)", kind, a.whole[kind], n, 100*float64(a.whole[kind])/float64(n))
	}
	t.Logf("a trace took %s (median), %s (99 of 100), %s (longest of %d)", a.took[len(a.took)/2], a.took[len(a.took)*99/100], a.took[len(a.took)-1], len(a.took))
}
