package router_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
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
)

// The story that the databases in sessions/sqlstore/testdata/upgrade tell: a host with everything that it can have done and be at.
// Programs of earlier times were told the same one, so it asks for nothing that they did not have.

// storySays is the model of the story: what it does depends on what it is shown.
func storySays(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
	s := routertest.StepOf(p)
	line := s.Said
	has := func(part string) bool { return strings.Contains(line, part) }
	switch s.Kind {
	case "reply":
		return routertest.Text("REPLY_SKIP"), nil
	case "announce":
		return routertest.Text("The other session was asked."), nil
	case "report":
		return routertest.Text("Status: fine\nResult: four apples\nNotes: none"), nil
	}
	switch {
	case has("is refused"):
		return agent.Answer{}, &agent.ModelError{Class: agent.Refused, Provider: "mock", Status: 400, Tries: 1, Said: "content_filter", Err: errors.New("content_filter")}
	case has("breaks off"):
		return agent.Answer{}, errors.New("the model says no")
	case len(s.Results) > 0 && s.Kind != "child":
		return routertest.Text("Done, said the tool."), nil
	case has("remember"):
		return sealed(routertest.Call("c1", "remember", map[string]any{"text": "The cat is called Mimi"})), nil
	case has("delegate"):
		_, task, _ := strings.Cut(line, "delegate: ")
		return routertest.Call("c1", "sessions_spawn", map[string]any{"task": task}), nil
	case has("ask there"):
		_, message, _ := strings.Cut(line, "ask there: ")
		return routertest.Call("c1", "sessions_send", map[string]any{"sessionKey": "agent:main:fake:group:there", "message": message, "timeoutSeconds": 0}), nil
	case has("each time"):
		return routertest.Call("c1", "cron", map[string]any{"action": "add", "name": "apples", "every": "90m", "message": "count the apples again"}), nil
	case has("long story"):
		return routertest.Text(strings.Repeat("Once upon a time there was an orchard. ", 14)), nil
	case has("works on"):
		if len(s.Results) == 0 && s.Kind == "child" {
			return routertest.Call("c1", "remember", map[string]any{"text": "The sub-agent has counted two apples"}), nil
		}
		<-ctx.Done()
		return agent.Answer{}, ctx.Err()
	}
	return routertest.Text("I heard: " + line), nil
}

// sealed is an answer with what its provider wants back, and with thinking.
func sealed(a agent.Answer) agent.Answer {
	a.Content = append([]sessions.Block{{Type: sessions.ThinkingBlock, Text: "I note that.", Opaque: &sessions.Opaque{From: "mock", Data: []byte(`{"signature":"c2VhbA=="}`)}}}, a.Content...)
	a.Content[len(a.Content)-1].Opaque = &sessions.Opaque{From: "mock", Data: []byte(`"c2Vjb25k"`)}
	return a
}

// teller is the model of the story; some of what it says comes word by word and does not end.
type teller struct{ *routertest.Script }

func (m teller) Stream(ctx context.Context, p agent.Prompt) iter.Seq2[agent.Delta, error] {
	if !strings.Contains(routertest.LastUser(p), "tell slowly") {
		return m.Script.Stream(ctx, p)
	}
	return func(yield func(agent.Delta, error) bool) {
		for range 40 {
			<-time.After(100 * time.Millisecond)
			if !yield(agent.Delta{Text: "word after word "}, nil) {
				return
			}
		}
		<-ctx.Done()
		yield(agent.Delta{}, ctx.Err())
	}
}

func storySettings(s *settings.Snapshot) {
	s.Session.DMScope = sessions.PerChannelPeer
	s.Delivery.Hold = true
	s.Session.SendPolicy.Rules = []policy.SendRule{{Action: policy.Deny, Match: policy.SendMatch{To: "quiet"}}}
	s.Accounts[routertest.Account] = settings.Account{Access: policy.Access{DMPolicy: policy.DMPairing, AllowFrom: []string{routertest.Owner, routertest.Guest, "5005"}, GroupPolicy: policy.GroupOpen},
		Streaming: channels.Streaming{Direct: channels.StreamEdit}}
}

// storyRig is a host that begins the story.
func storyRig(t *testing.T, fs ...func(*settings.Snapshot)) *routertest.Rig {
	t.Helper()
	fs = append([]func(*settings.Snapshot){storySettings}, fs...)
	g := routertest.New(t, channeltest.Options{Limits: channels.Limits{Text: 400}}, fs...)
	g.Model.Set(storySays)
	g.Models = func(name string) (agent.Candidate, error) {
		return agent.Candidate{Model: teller{g.Model}, Name: "m", Label: name}, nil
	}
	return g
}

// tell has people write, one after the other, and waits until nothing moves any more.
func tellAll(g *routertest.Rig, to channels.Address, from string, words ...string) {
	g.T.Helper()
	for _, w := range words {
		g.Say(to, from, w)
		<-time.After(time.Minute)
		synctest.Wait()
	}
}

// story fills the host, and returns while it is running. What it does last is under way: call at once what looks at it.
func story(g *routertest.Rig) {
	g.T.Helper()
	bob := routertest.Direct("5005")
	refused := func(class channels.Class) error {
		return &channels.Error{Class: class, Err: errors.New("the platform refuses")}
	}
	g.Fake.Script(channeltest.Step{Chat: "wall", Times: -1, Err: refused(channels.Rejected)},
		channeltest.Step{Chat: "fog", Times: -1, Err: refused(channels.Ambiguous)},
		channeltest.Step{Chat: "gone", Times: -1, Err: refused(channels.Transient)},
		channeltest.Step{Chat: "old", Err: &channels.Error{Class: channels.Rejected, Moved: "new", Err: errors.New("the group became a supergroup")}})

	tellAll(g, routertest.Direct(routertest.Owner), routertest.Owner, "hello", "please remember something", "what do you know?", "/compact", "one more thing")
	tellAll(g, routertest.Group("here"), routertest.Guest, "hello here", "delegate: count the apples", "/new", "we begin anew")
	tellAll(g, routertest.Group("there"), routertest.Guest, "hello there", "each time: the apples")
	topic := routertest.Group("here")
	topic.Thread = "7"
	tellAll(g, topic, routertest.Owner, "hello topic", "ask there: what is new?", "/send off", "this is withheld", "/model mock/other")
	for _, chat := range []string{"wall", "fog", "gone", "old", "quiet"} {
		tellAll(g, routertest.Group(chat), routertest.Guest, "hello "+chat)
	}
	tellAll(g, routertest.Group("broken"), routertest.Guest, "it breaks off", "it is refused")
	tellStrangers(g)
	g.Fake.Say(channels.Inbound{Event: channels.Unreadable, ID: "bad", Address: routertest.Group("here"), Reason: "it is no JSON", Raw: []byte(`{"a":"b"}`), Cursor: "41"})
	g.Fake.Say(channels.Inbound{ID: "talk", Address: routertest.Group("here"), Sender: channels.Sender{ID: routertest.Guest, Name: routertest.Guest}, Text: "not meant for the bot", Cursor: "42"})
	tellAll(g, routertest.Group("brief"), routertest.Guest, "hello", "/new")
	tellAll(g, routertest.Group("deleted"), routertest.Guest, "hello")
	routertest.Check(g.T, g.Store.Archive(g.T.Context(), "agent:main:fake:group:brief"))
	routertest.Check(g.T, g.Store.Delete(g.T.Context(), "agent:main:fake:group:deleted"))
	summarised(g)
	<-time.After(2 * time.Hour) // what could not be sent has expired
	synctest.Wait()

	never := make(chan struct{})
	g.Fake.Script(channeltest.Step{Chat: "stuck", Times: -1, Wait: never}, channeltest.Step{Chat: "down", Times: -1, Err: refused(channels.Transient)},
		channeltest.Step{Chat: "half"}, channeltest.Step{Chat: "half", Times: -1, Err: refused(channels.Transient)})
	tellAll(g, routertest.Group("half"), routertest.Guest, "a long story")
	tellAll(g, bob, "5005", "delegate: works on the pears", "ask there: works on an answer")
	g.Say(routertest.Direct(routertest.Guest), routertest.Guest, "now tell slowly")
	g.Say(bob, "5005", "please works on this")
	<-time.After(time.Second)
	g.Say(bob, "5005", "and this waits")
	g.Say(routertest.Group("there"), routertest.Guest, "this waits as well")
	g.Say(routertest.Group("down"), routertest.Guest, "hello down")
	dropped := sessions.Delivery{ID: "dropped", Kind: sessions.Notice, To: routertest.Group("down"), Text: "a person drops this", Expires: time.Now().Add(time.Hour)}
	_, err := g.Store.Submit(g.T.Context(), sessions.Change{Ops: []sessions.Op{sessions.EnqueueDelivery(dropped)}})
	routertest.Check(g.T, err)
	routertest.Check(g.T, g.Store.EndDelivery(g.T.Context(), "dropped", sessions.Dropped, "by a person"))
	<-time.After(6 * time.Second)
	g.Say(routertest.Group("stuck"), routertest.Guest, "hello stuck")
	synctest.Wait()
}

// summarised leaves a summary, a budget that does not count, and a lesson about a model.
func summarised(g *routertest.Rig) {
	g.T.Helper()
	s, err := g.Store.Get(g.T.Context(), "agent:main:fake:direct:"+routertest.Owner)
	routertest.Check(g.T, err)
	msgs, err := g.Store.Tail(g.T.Context(), s.ID, sessions.TailQuery{})
	routertest.Check(g.T, err)
	routertest.Check(g.T, g.Store.Compact(g.T.Context(), sessions.Summary{ID: "summary", Session: s.ID, Upto: msgs[1].Seq, Text: "They said hello.", Messages: 2, Time: time.Now()}))
	_, err = g.Store.Submit(g.T.Context(), sessions.Change{Ops: []sessions.Op{sessions.SuspendBudget{Scope: "day", Until: time.Now().Add(24 * time.Hour)}}})
	routertest.Check(g.T, err)
	routertest.Check(g.T, g.Store.Learn(g.T.Context(), sessions.Lesson{Provider: "mock", Address: "http://mock.example/v1", Model: "m", Kind: "images", Evidence: "no images", At: time.Now()}))
}

// strangers ask to be let in: one waits, one is let in, one is turned down.
func tellStrangers(g *routertest.Rig) {
	g.T.Helper()
	for _, s := range []struct {
		id    string
		known func(code string) *sessions.DecidePairing
	}{
		{"3003", func(string) *sessions.DecidePairing { return nil }},
		{"3004", func(code string) *sessions.DecidePairing {
			return &sessions.DecidePairing{Channel: routertest.Kind, Hash: policy.HashCode(routertest.Kind, code), Approve: true, Time: time.Now()}
		}},
		{"3005", func(code string) *sessions.DecidePairing {
			return &sessions.DecidePairing{Channel: routertest.Kind, Hash: policy.HashCode(routertest.Kind, code), Time: time.Now()}
		}},
	} {
		tellAll(g, routertest.Direct(s.id), s.id, "let me in")
		texts := g.Fake.Texts(routertest.Direct(s.id))
		if len(texts) == 0 {
			g.T.Fatal("a stranger got no code")
		}
		_, code, _ := strings.Cut(texts[len(texts)-1], "with this code: ")
		code, _, _ = strings.Cut(code, "\n")
		if answer := s.known(code); answer != nil {
			_, err := g.Store.Submit(g.T.Context(), sessions.Change{IdempotencyKey: "pair " + s.id, Ops: []sessions.Op{*answer}})
			routertest.Check(g.T, err)
		}
	}
	tellAll(g, routertest.Direct("3004"), "3004", "thank you")
}

// storyHas are the states that runs and deliveries are in when the story is told.
func storyHas(t *testing.T, g *routertest.Rig) {
	t.Helper()
	runs, deliveries := map[sessions.RunStatus]int{}, map[sessions.DeliveryState]int{}
	list, err := g.Store.ListRuns(t.Context(), sessions.RunQuery{Limit: 1000})
	routertest.Check(t, err)
	for _, r := range list {
		runs[r.Status]++
	}
	all, err := g.Store.ListDeliveries(t.Context(), sessions.DeliveryQuery{Limit: 1000})
	routertest.Check(t, err)
	for _, d := range all {
		deliveries[d.State]++
	}
	t.Log(fmt.Sprint(runs, deliveries))
	for _, s := range []sessions.RunStatus{sessions.Queued, sessions.Running, sessions.Done, sessions.Failed} {
		if runs[s] == 0 {
			t.Errorf("no run is %s", s)
		}
	}
	for _, s := range []sessions.DeliveryState{sessions.Pending, sessions.Sending, sessions.Sent, sessions.Withheld, sessions.DeliveryFail, sessions.Expired, sessions.Dropped, sessions.Held} {
		if deliveries[s] == 0 {
			t.Errorf("no delivery is %s", s)
		}
	}
}
