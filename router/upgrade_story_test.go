package router

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
	"parley/sessions"
)

// The story that the databases in sessions/sqlstore/testdata/upgrade tell: a host with everything that it can have done and be at.
// Programs of earlier times were told the same one, so it asks for nothing that they did not have.

// storySays is the model of the story: what it does depends on what it is shown.
func storySays(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
	s := stepOf(p)
	line := s.said
	has := func(part string) bool { return strings.Contains(line, part) }
	switch s.kind {
	case "reply":
		return text("REPLY_SKIP"), nil
	case "announce":
		return text("The other session was asked."), nil
	case "report":
		return text("Status: fine\nResult: four apples\nNotes: none"), nil
	}
	switch {
	case has("is refused"):
		return agent.Answer{}, &agent.ModelError{Class: agent.Refused, Provider: "mock", Status: 400, Tries: 1, Said: "content_filter", Err: errors.New("content_filter")}
	case has("breaks off"):
		return agent.Answer{}, errors.New("the model says no")
	case len(s.results) > 0 && s.kind != "child":
		return text("Done, said the tool."), nil
	case has("remember"):
		return sealed(call("c1", "remember", map[string]any{"text": "The cat is called Mimi"})), nil
	case has("delegate"):
		_, task, _ := strings.Cut(line, "delegate: ")
		return call("c1", "sessions_spawn", map[string]any{"task": task}), nil
	case has("ask there"):
		_, message, _ := strings.Cut(line, "ask there: ")
		return call("c1", "sessions_send", map[string]any{"sessionKey": "agent:main:fake:group:there", "message": message, "timeoutSeconds": 0}), nil
	case has("each time"):
		return call("c1", "cron", map[string]any{"action": "add", "name": "apples", "every": "90m", "message": "count the apples again"}), nil
	case has("long story"):
		return text(strings.Repeat("Once upon a time there was an orchard. ", 14)), nil
	case has("works on"):
		if len(s.results) == 0 && s.kind == "child" {
			return call("c1", "remember", map[string]any{"text": "The sub-agent has counted two apples"}), nil
		}
		<-ctx.Done()
		return agent.Answer{}, ctx.Err()
	}
	return text("I heard: " + line), nil
}

// sealed is an answer with what its provider wants back, and with thinking.
func sealed(a agent.Answer) agent.Answer {
	a.Content = append([]sessions.Block{{Type: sessions.ThinkingBlock, Text: "I note that.", Opaque: &sessions.Opaque{From: "mock", Data: []byte(`{"signature":"c2VhbA=="}`)}}}, a.Content...)
	a.Content[len(a.Content)-1].Opaque = &sessions.Opaque{From: "mock", Data: []byte(`"c2Vjb25k"`)}
	return a
}

// teller is the model of the story; some of what it says comes word by word and does not end.
type teller struct{ *script }

func (m teller) Stream(ctx context.Context, p agent.Prompt) iter.Seq2[agent.Delta, error] {
	if !strings.Contains(lastUser(p), "tell slowly") {
		return m.script.Stream(ctx, p)
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

func storySettings(s *Settings) {
	s.Session.DMScope = sessions.PerChannelPeer
	s.Delivery.Hold = true
	s.Session.SendPolicy.Rules = []policy.SendRule{{Action: policy.Deny, Match: policy.SendMatch{To: "quiet"}}}
	s.Accounts[account] = AccountSettings{Access: policy.Access{DMPolicy: policy.DMPairing, AllowFrom: []string{owner, guest, "5005"}, GroupPolicy: policy.GroupOpen},
		Streaming: channels.Streaming{Direct: channels.StreamEdit}}
}

// storyRig is a host that begins the story.
func storyRig(t *testing.T, fs ...func(*Settings)) *rig {
	t.Helper()
	fs = append([]func(*Settings){storySettings}, fs...)
	g := newRig(t, channeltest.Options{Limits: channels.Limits{Text: 400}}, fs...)
	g.model.set(storySays)
	g.models = func(name string) (agent.Candidate, error) {
		return agent.Candidate{Model: teller{g.model}, Name: "m", Label: name}, nil
	}
	return g
}

// tell has people write, one after the other, and waits until nothing moves any more.
func (g *rig) tell(to channels.Address, from string, words ...string) {
	g.t.Helper()
	for _, w := range words {
		g.say(to, from, w)
		<-time.After(time.Minute)
		synctest.Wait()
	}
}

// story fills the host, and returns while it is at work. What it does last is under way: call at once what looks at it.
func (g *rig) story() {
	g.t.Helper()
	bob := direct("5005")
	refused := func(class channels.Class) error {
		return &channels.Error{Class: class, Err: errors.New("the platform refuses")}
	}
	g.fake.Script(channeltest.Step{Chat: "wall", Times: -1, Err: refused(channels.Rejected)},
		channeltest.Step{Chat: "fog", Times: -1, Err: refused(channels.Ambiguous)},
		channeltest.Step{Chat: "gone", Times: -1, Err: refused(channels.Transient)},
		channeltest.Step{Chat: "old", Err: &channels.Error{Class: channels.Rejected, Moved: "new", Err: errors.New("the group became a supergroup")}})

	g.tell(direct(owner), owner, "hello", "please remember something", "what do you know?", "/compact", "one more thing")
	g.tell(groupChat("here"), guest, "hello here", "delegate: count the apples", "/new", "we begin anew")
	g.tell(groupChat("there"), guest, "hello there", "each time: the apples")
	topic := groupChat("here")
	topic.Thread = "7"
	g.tell(topic, owner, "hello topic", "ask there: what is new?", "/send off", "this is withheld", "/model mock/other")
	for _, chat := range []string{"wall", "fog", "gone", "old", "quiet"} {
		g.tell(groupChat(chat), guest, "hello "+chat)
	}
	g.tell(groupChat("broken"), guest, "it breaks off", "it is refused")
	g.strangers()
	g.fake.Say(channels.Inbound{Event: channels.Unreadable, ID: "bad", Address: groupChat("here"), Reason: "it is no JSON", Raw: []byte(`{"a":"b"}`), Cursor: "41"})
	g.fake.Say(channels.Inbound{ID: "talk", Address: groupChat("here"), Sender: channels.Sender{ID: guest, Name: guest}, Text: "not meant for the bot", Cursor: "42"})
	g.tell(groupChat("brief"), guest, "hello", "/new")
	g.tell(groupChat("deleted"), guest, "hello")
	check(g.t, g.store.Archive(g.t.Context(), "agent:main:fake:group:brief"))
	check(g.t, g.store.Delete(g.t.Context(), "agent:main:fake:group:deleted"))
	g.summarised()
	<-time.After(2 * time.Hour) // what could not be sent has expired
	synctest.Wait()

	never := make(chan struct{})
	g.fake.Script(channeltest.Step{Chat: "stuck", Times: -1, Wait: never}, channeltest.Step{Chat: "down", Times: -1, Err: refused(channels.Transient)},
		channeltest.Step{Chat: "half"}, channeltest.Step{Chat: "half", Times: -1, Err: refused(channels.Transient)})
	g.tell(groupChat("half"), guest, "a long story")
	g.tell(bob, "5005", "delegate: works on the pears", "ask there: works on an answer")
	g.say(direct(guest), guest, "now tell slowly")
	g.say(bob, "5005", "please works on this")
	<-time.After(time.Second)
	g.say(bob, "5005", "and this waits")
	g.say(groupChat("there"), guest, "this waits as well")
	g.say(groupChat("down"), guest, "hello down")
	dropped := sessions.Delivery{ID: "dropped", Kind: sessions.Notice, To: groupChat("down"), Text: "a person drops this", Expires: time.Now().Add(time.Hour)}
	_, err := g.store.Submit(g.t.Context(), sessions.Effects{Deliveries: []sessions.Delivery{dropped}})
	check(g.t, err)
	check(g.t, g.store.EndDelivery(g.t.Context(), "dropped", sessions.Dropped, "by a person"))
	<-time.After(6 * time.Second)
	g.say(groupChat("stuck"), guest, "hello stuck")
	synctest.Wait()
}

// summarised leaves a summary, a budget that does not count, and a lesson about a model.
func (g *rig) summarised() {
	g.t.Helper()
	s, err := g.store.Get(g.t.Context(), "agent:main:fake:direct:"+owner)
	check(g.t, err)
	msgs, err := g.store.Tail(g.t.Context(), s.ID, sessions.TailQuery{})
	check(g.t, err)
	check(g.t, g.store.Compact(g.t.Context(), sessions.Summary{ID: "summary", Session: s.ID, Upto: msgs[1].Seq, Text: "They said hello.", Messages: 2, Time: time.Now()}))
	_, err = g.store.Submit(g.t.Context(), sessions.Effects{Lift: &sessions.Lift{Scope: "day", Until: time.Now().Add(24 * time.Hour)}})
	check(g.t, err)
	check(g.t, g.store.Learn(g.t.Context(), sessions.Lesson{Provider: "mock", Address: "http://mock.example/v1", Model: "m", Kind: "images", Evidence: "no images", At: time.Now()}))
}

// strangers ask to be let in: one waits, one is let in, one is turned down.
func (g *rig) strangers() {
	g.t.Helper()
	for _, s := range []struct {
		id    string
		known func(code string) *sessions.Answer
	}{
		{"3003", func(string) *sessions.Answer { return nil }},
		{"3004", func(code string) *sessions.Answer {
			return &sessions.Answer{Channel: fakeKind, Hash: policy.HashCode(fakeKind, code), Approve: true, Time: time.Now()}
		}},
		{"3005", func(code string) *sessions.Answer {
			return &sessions.Answer{Channel: fakeKind, Hash: policy.HashCode(fakeKind, code), Time: time.Now()}
		}},
	} {
		g.tell(direct(s.id), s.id, "let me in")
		texts := g.fake.Texts(direct(s.id))
		if len(texts) == 0 {
			g.t.Fatal("a stranger got no code")
		}
		_, code, _ := strings.Cut(texts[len(texts)-1], "with this code: ")
		code, _, _ = strings.Cut(code, "\n")
		if answer := s.known(code); answer != nil {
			_, err := g.store.Submit(g.t.Context(), sessions.Effects{Source: "pair " + s.id, Pairing: answer})
			check(g.t, err)
		}
	}
	g.tell(direct("3004"), "3004", "thank you")
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// storyHas are the states that runs and deliveries are in when the story is told.
func storyHas(t *testing.T, g *rig) {
	t.Helper()
	runs, deliveries := map[sessions.RunStatus]int{}, map[sessions.DeliveryState]int{}
	list, err := g.store.ListRuns(t.Context(), sessions.RunQuery{Limit: 1000})
	check(t, err)
	for _, r := range list {
		runs[r.Status]++
	}
	all, err := g.store.ListDeliveries(t.Context(), sessions.DeliveryQuery{Limit: 1000})
	check(t, err)
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
