package router_test

import (
	"context"
	"fmt"
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
	"parley/router/turn"
	"parley/sessions"
)

// written gives what people wrote in a session, as the transcript has it.
func written(g *routertest.Rig, to channels.Address, from string) string {
	g.T.Helper()
	var all []string
	for _, m := range g.Transcript(g.Router.Key(channels.Inbound{Address: to, Sender: routertest.Person(from)})) {
		if m.Role == sessions.User {
			all = append(all, m.Text())
		}
	}
	return strings.Join(all, "|")
}

// stuck has the model wait at its first call until that is given up, and echo a second later afterwards.
func stuck(g *routertest.Rig) {
	first := true
	g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
		if first {
			first = false
			<-ctx.Done()
			return agent.Answer{}, ctx.Err()
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
		return routertest.Text("echo: " + routertest.LastUser(p)), ctx.Err()
	})
}

// A message that its sender changes while it is being answered is answered as it is then, once, over a restart too; a second change is
// told with the next turn.
// source: docs/chats.md, "What happens besides messages"
func TestEditOfWhatIsAnswered(t *testing.T) {
	for _, killed := range []bool{false, true} {
		for _, to := range []channels.Address{routertest.Direct(routertest.Guest), routertest.Group("g")} {
			t.Run(map[bool]string{true: "killed/"}[killed]+string(to.Type), func(t *testing.T) {
				routertest.Bubble(t, func(t *testing.T) {
					g := routertest.New(t, channeltest.Options{})
					if killed {
						g.Model.Set(func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
							<-ctx.Done()
							return agent.Answer{}, ctx.Err()
						})
					} else {
						stuck(g)
					}
					asked := g.Say(to, routertest.Guest, "what is 2+2?")
					g.Until("it is at work", func() bool { return g.Model.Count() == 1 })
					g.Happens(channels.Inbound{Event: channels.Edited, Address: to, Sender: routertest.Person(routertest.Guest), Target: asked.ID, Text: "what is 2+3?"})
					if killed {
						g.Stop()
						g.Model.Set(nil)
						g.Start()
					}
					prefix := ""
					if to.Type.Several() {
						prefix = routertest.Guest + ": "
					}
					if got := g.Shown(1)[0].Out.Text; got != "echo: "+prefix+"what is 2+3?" {
						t.Errorf("answered %q", got)
					}
					g.Idle(1)
					if got := written(g, to, routertest.Guest); got != prefix+"what is 2+3?" {
						t.Errorf("the transcript has %q", got)
					}
					if hits, err := g.Store.Search(t.Context(), sessions.SearchQuery{Text: "3"}); err != nil || len(hits) == 0 {
						t.Errorf("found %v, %v", hits, err)
					}
					g.Happens(channels.Inbound{Event: channels.Edited, Address: to, Sender: routertest.Person(routertest.Guest), Target: asked.ID, Text: "what is 2+4?"})
					g.Say(to, routertest.Guest, "thanks")
					g.Shown(2)
					for _, run := range g.Runs() {
						if lines := routertest.Told(run.Input); (len(lines) == 1) != (run.Source != string(asked.ID)) {
							t.Errorf("%s was told %q", run.Source, lines)
						}
					}
				})
			})
		}
	}
}

// A turn that was begun again once, or has run a tool, goes on as it is: a change is told with the next one.
func TestEditThatComesTooLate(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		to := routertest.Direct(routertest.Guest)
		calls, free := 0, make(chan struct{})
		g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if calls++; calls == 1 {
				<-ctx.Done()
				return agent.Answer{}, ctx.Err()
			}
			select {
			case <-free:
			case <-ctx.Done():
			}
			return routertest.Text("echo: " + routertest.LastUser(p)), ctx.Err()
		})
		asked := g.Say(to, routertest.Guest, "one")
		edit := func(n int, words string) {
			g.Until("it is at work", func() bool { return g.Model.Count() == n })
			g.Happens(channels.Inbound{Event: channels.Edited, Address: to, Sender: routertest.Person(routertest.Guest), Target: asked.ID, Text: words})
		}
		edit(1, "two")
		edit(2, "three")
		close(free)
		if got := g.Shown(1)[0].Out.Text; got != "echo: two" {
			t.Errorf("answered %q", got)
		}
		calls = 1
		free = make(chan struct{})
		g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if calls++; calls == 2 {
				return agent.Answer{Content: []sessions.Block{{Type: sessions.ToolCallBlock, ID: "c1", Name: "session_status", Arguments: []byte("{}")}}, Stop: "tool"}, nil
			}
			select {
			case <-free:
			case <-ctx.Done():
			}
			return routertest.Text("done"), ctx.Err()
		})
		asked = g.Say(to, routertest.Guest, "four")
		edit(4, "five")
		close(free)
		if got := g.Shown(2)[1].Out.Text; got != "done" || g.Model.Count() != 4 {
			t.Errorf("answered %q after %d calls", got, g.Model.Count())
		}
		if got := written(g, to, routertest.Guest); got != "two|four" {
			t.Errorf("the transcript has %q", got)
		}
	})
}

// What the adapter has at hand is one turn, however fast the model is; a plain message starts without delay.
// source: the Bot API's getUpdates (an array of updates)
func TestCommentAndForwardOfOneBatch(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		say := func(in channels.Inbound) {
			in.Address, in.Sender = routertest.Direct(routertest.Guest), routertest.Person(routertest.Guest)
			g.Fake.Say(in)
		}
		began := time.Now()
		say(channels.Inbound{Text: "hello"})
		g.Shown(1)
		if took := time.Since(began); took > 100*time.Millisecond {
			t.Errorf("a plain message is answered after %s", took)
		}
		<-time.After(time.Minute)
		asked := g.Model.Count()
		say(channels.Inbound{Text: "What do you think?", More: true})
		<-time.After(200 * time.Millisecond) // the model would have answered
		say(channels.Inbound{Text: "We offer you 50k", Forwarded: true, More: true})
		say(channels.Inbound{Text: "We offer you 60k", Forwarded: true})
		began = time.Now()
		g.Shown(2)
		if took := time.Since(began); took > 100*time.Millisecond {
			t.Errorf("the last one is answered after %s", took)
		}
		<-time.After(time.Minute)
		if n, answers := g.Model.Count()-asked, len(g.Fake.Calls(channeltest.OpSend)); n != 1 || answers != 2 {
			t.Errorf("%d calls, %d answers", n, answers)
		}
	})
}

// A comment and what is forwarded with it are one turn, in either order, in a group with one mention, in every mode of the queue; after a
// restart, too.
// source: openclaw/openclaw#6263, nearai/ironclaw#7540, adolfousier/opencrabs#950
func TestCommentAndForward(t *testing.T) {
	for _, mode := range []sessions.QueueMode{sessions.Collect, sessions.Followup, sessions.Steer, sessions.Interrupt} {
		for _, to := range []channels.Address{routertest.Direct(routertest.Guest), routertest.Group("g")} {
			for _, order := range []string{"comment first", "forward first"} {
				t.Run(string(mode)+"/"+string(to.Type)+"/"+order, func(t *testing.T) {
					routertest.Bubble(t, func(t *testing.T) {
						g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) { s.Messages.Queue.Queue = sessions.Queue{Mode: mode} })
						stuck(g)
						comment := channels.Inbound{Address: to, Sender: routertest.Person(routertest.Guest), Text: "What do you think?", Mentioned: to.Type.Several()}
						forward := channels.Inbound{Address: to, Sender: routertest.Person(routertest.Guest), Text: "We offer you 50k", Forwarded: true, Origin: "Ann"}
						both := []channels.Inbound{comment, forward, forward}
						if order == "forward first" {
							if both = []channels.Inbound{forward, comment}; to.Type.Several() {
								g.Model.Set(nil) // it is talk among people until the comment comes
							}
						}
						for _, in := range both {
							g.Fake.Say(in)
							<-time.After(50 * time.Millisecond)
						}
						g.Shown(1)
						synctest.Wait()
						<-time.After(time.Minute)
						if n := len(g.Fake.Calls(channeltest.OpSend)); n != 1 {
							t.Errorf("%d answers", n)
						}
						g.Model.Mu.Lock()
						last := g.Model.Asked[len(g.Model.Asked)-1]
						g.Model.Mu.Unlock()
						all := ""
						for _, m := range last.Messages {
							all += m.Text() + "|"
							for _, l := range routertest.Told(m) {
								all += l + "|"
							}
						}
						if !strings.Contains(all, "What do you think?") || !strings.Contains(all, "We offer you 50k") {
							t.Errorf("the model read %q", all)
						}
					})
				})
			}
		}
	}
}

// Two messages of different people, or that are apart, have a turn each.
func TestWhatDoesNotBelong(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.EachAlone)
		to := routertest.Group("g")
		rest := g.Busy(to, routertest.Guest)
		g.Fake.Say(channels.Inbound{Address: to, Sender: routertest.Person(routertest.Owner), Text: "forwarded by another", Forwarded: true, Mentioned: true})
		<-time.After(1100 * time.Millisecond)
		g.Fake.Say(channels.Inbound{Address: to, Sender: routertest.Person(routertest.Guest), Text: "later", Forwarded: true, Mentioned: true})
		g.Taken(3)
		rest()
		g.Shown(3)
		if n := g.Model.Count(); n != 3 {
			t.Errorf("%d calls", n)
		}
		// What might have been followed by more, and was by something else: of another album, or typed.
		for i, in := range []channels.Inbound{{Text: "one", More: true}, {Text: "two", More: true}, {Text: "three", More: true, Album: "1"}, {Text: "four", More: true, Album: "2"}} {
			in.Address, in.Sender, in.Mentioned = to, routertest.Person(routertest.Guest), true
			g.Fake.Say(in)
			g.Taken(4 + i)
		}
		g.Shown(7)
		if n := g.Model.Count(); n != 7 {
			t.Errorf("%d calls", n)
		}
	})
}

// A text that the platform's app has cut is one turn, which begins with its last part; a whole one begins at once, and so does a short one.
// source: NousResearch/hermes-agent#6888, NousResearch/hermes-agent PR#1674; Bot API, "sendMessage": 4096 characters
func TestPasteInParts(t *testing.T) {
	part := strings.Repeat("word ", 4096/5)
	for _, c := range []struct {
		name   string
		limits channels.Limits
		parts  []string
		begins time.Duration // behind the first part
		calls  int
	}{
		{"short", channels.Limits{Text: 4096, Unit: channels.UTF16}, []string{"hello"}, 0, 1},
		{"below the limit", channels.Limits{Text: 4096, Unit: channels.UTF16}, []string{part[:3000]}, 0, 1},
		{"at the limit, alone", channels.Limits{Text: 4096, Unit: channels.UTF16}, []string{part}, turn.PartTimeout, 1},
		{"three parts", channels.Limits{Text: 4096, Unit: channels.UTF16}, []string{part, part, "PART2 end. Summarise all of it."}, 200 * time.Millisecond, 1},
		{"two of Discord", channels.Limits{Text: 2000, Unit: channels.UTF16}, []string{part[:1990], "end"}, 100 * time.Millisecond, 1},
		{"where apps cut nothing", channels.Limits{Text: 4096, Received: 65536, Unit: channels.Runes}, []string{part}, 0, 1},
	} {
		for _, killed := range slices.Compact([]int{0, 1, len(c.parts)}) { // how many parts had come when the process ended
			t.Run(fmt.Sprintf("%s, killed behind %d", c.name, killed), func(t *testing.T) {
				routertest.Bubble(t, func(t *testing.T) {
					g := routertest.New(t, channeltest.Options{Limits: c.limits}, routertest.EachAlone)
					var at time.Time
					answers := func(context.Context, agent.Prompt) (agent.Answer, error) {
						at = time.Now()
						return routertest.Text("ok"), nil
					}
					g.Model.Set(answers)
					if killed > 0 {
						g.Model.Set(func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
							<-ctx.Done()
							return agent.Answer{}, ctx.Err()
						})
					}
					began, before := time.Now(), 0
					for i, p := range c.parts {
						if i > 0 {
							<-time.After(100 * time.Millisecond)
						}
						g.Say(routertest.Direct(routertest.Guest), routertest.Guest, p)
						if g.Taken(i + 1); i+1 == killed {
							g.Stop()
							before = g.Model.Count()
							g.Model.Set(answers)
							g.Start()
						}
					}
					g.Shown(1)
					<-time.After(time.Minute)
					if n := g.Model.Count() - before; n != c.calls || len(g.Shown(1)) != 1 {
						t.Errorf("%d calls, %d answers", n, len(g.Shown(1)))
					}
					if killed == 0 && at.Sub(began) != c.begins {
						t.Errorf("the turn began after %s", at.Sub(began))
					}
					if got := strings.Count(written(g, routertest.Direct(routertest.Guest), routertest.Guest), "|"); got != len(c.parts)-1 {
						t.Errorf("%d parts are in the transcript", got+1)
					}
				})
			})
		}
	}
}

// An album whose parts come one by one is one turn with all its files, whichever part has the caption with the mention, and however fast the model
// is; also when the process ends behind any of them.
// source: Bot API, Message.media_group_id ("setWebhook": the next update of a chat comes when the one before was answered)
func TestAlbumInParts(t *testing.T) {
	const parts = 3
	for _, to := range []channels.Address{routertest.Direct(routertest.Guest), routertest.Group("g")} {
		for caption := range parts {
			for killed := range parts + 1 { // how many parts had come when the process ended; 0 = it did not
				if to.Type.Several() && killed > 0 && killed <= caption {
					continue // what was said before the mention is forgotten, and stays background
				}
				t.Run(fmt.Sprintf("%s, caption on %d, killed behind %d", to.Type, caption, killed), func(t *testing.T) {
					routertest.Bubble(t, func(t *testing.T) {
						g := routertest.New(t, channeltest.Options{}, routertest.EachAlone)
						var last agent.Prompt
						g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
							last = p
							return routertest.Text("ok"), nil
						})
						for i := range parts {
							in := channels.Inbound{Address: to, Sender: routertest.Person(routertest.Guest), Media: mediaOf(fmt.Sprint("p", i)), More: true, Album: "1"}
							if i == caption {
								in.Text, in.Mentioned = "look", to.Type.Several()
							}
							g.Fake.Say(in)
							if g.Taken(i + 1); i+1 == killed {
								g.Stop()
								g.Start()
							}
							<-time.After(50 * time.Millisecond)
						}
						g.Shown(1)
						<-time.After(time.Minute)
						if n, answers := g.Model.Count(), len(g.Fake.Calls(channeltest.OpSend)); n != 1 || answers != 1 {
							t.Errorf("%d calls, %d answers", n, answers)
						}
						files, said := "", ""
						for _, m := range last.Messages {
							files, said = strings.TrimSpace(files+" "+fileNames(m)), said+m.Text()
						}
						if files != "p0 p1 p2" || !strings.Contains(said, "look") {
							t.Errorf("the model got %q, %q", files, said)
						}
					})
				})
			}
		}
	}
}
