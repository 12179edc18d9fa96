package router

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
	"parley/sessions"
	"parley/tools"
)

// repeating is a model that takes its time and repeats what nobody has answered yet.
func repeating(d time.Duration) func(context.Context, agent.Prompt) (agent.Answer, error) {
	return func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
		if !sleep(ctx, d) {
			return agent.Answer{}, ctx.Err()
		}
		return text(strings.Join(unanswered(p), "|")), nil
	}
}

// unanswered are the words of the messages behind the last answer of a prompt, without their senders' names.
func unanswered(p agent.Prompt) (out []string) {
	for _, m := range p.Messages {
		switch {
		case m.Role == sessions.Assistant && len(m.ToolCalls()) == 0:
			out = nil
		case m.Role == sessions.User:
			_, words, named := strings.Cut(m.Text(), ": ")
			if !named {
				words = m.Text()
			}
			out = append(out, words)
		}
	}
	return out
}

// rule makes a setting of messages.queue.
func rule(q sessions.Queue) func(*Settings) {
	return func(s *Settings) { s.Messages.Queue.Queue = q }
}

// mode is a rule that names only the mode.
func mode(m sessions.QueueMode) func(*Settings) { return rule(sessions.Queue{Mode: m}) }

// texts are what calls show.
func texts(calls []channeltest.Call) (out []string) {
	for _, c := range calls {
		out = append(out, c.Out.Text)
	}
	return out
}

// said gives the runs of what people wrote, by the words.
func (g *rig) said() map[string]sessions.Run {
	out := map[string]sessions.Run{}
	for _, run := range g.runs() {
		_, words, named := strings.Cut(run.Input.Text(), ": ")
		if !named {
			words = run.Input.Text()
		}
		out[words] = run
	}
	return out
}

func TestQueueResolution(t *testing.T) {
	t.Parallel()
	all := sessions.Queue{Mode: sessions.Steer, DebounceMs: new(500), Cap: 7, Drop: sessions.DropOld}
	for name, c := range map[string]struct {
		all, channel, session sessions.Queue
		want                  string
	}{
		"nothing":              {want: "collect debounce:1s cap:20 drop:summarize"},
		"all":                  {all: all, want: "steer debounce:500ms cap:7 drop:old"},
		"the channel":          {all: all, channel: sessions.Queue{Cap: 9}, want: "steer debounce:500ms cap:9 drop:old"},
		"the session":          {all: all, channel: sessions.Queue{Mode: sessions.Followup, Cap: 9}, session: sessions.Queue{Mode: sessions.Interrupt, DebounceMs: new(0)}, want: "interrupt debounce:0s cap:9 drop:old"},
		"the channel alone":    {channel: sessions.Queue{Drop: sessions.DropNew}, want: "collect debounce:1s cap:20 drop:new"},
		"no time by a session": {session: sessions.Queue{DebounceMs: new(0)}, want: "collect debounce:0s cap:20 drop:summarize"},
	} {
		s := settingsFor(rule(c.all))
		s.Messages.Queue.ByChannel = map[channels.Kind]sessions.Queue{fakeKind: c.channel, "other": {Mode: sessions.Followup}}
		if got := s.Queue(sessions.Session{Settings: sessions.Settings{Queue: c.session}}, fakeKind).String(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestCollectMode writes four messages while a turn is at work: they have one answer, which refers to the newest.
func TestCollectMode(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.model.set(repeating(10 * time.Second))
		g.say(groupChat("a"), guest, "one")
		var newest channels.Inbound
		for _, w := range []string{"two", "three", "four", "five"} {
			<-time.After(time.Second)
			newest = g.say(groupChat("a"), guest, w)
		}
		calls := g.shown(2)
		if got := texts(calls); !slices.Equal(got, []string{"one", "two|three|four|five"}) || calls[1].Out.ReplyTo != newest.ID {
			t.Errorf("shown %q, the second answers %q, not %q", got, calls[1].Out.ReplyTo, newest.ID)
		}
		runs := g.said()
		for _, w := range []string{"three", "four", "five"} {
			if r := runs[w]; r.Batch != runs["two"].ID || r.Status != sessions.Done {
				t.Errorf("%s: %s, batch %q", w, r.Status, r.Batch)
			}
		}
		if runs["one"].Batch != "" || runs["two"].Batch != "" || runs["two"].Result != "two|three|four|five" || g.model.count() != 2 {
			t.Errorf("batches %q and %q, %d model calls", runs["one"].Batch, runs["two"].Batch, g.model.count())
		}
		g.say(groupChat("a"), guest, "six")
		if got := texts(g.shown(3))[2]; got != "six" {
			t.Errorf("the next answer is %q", got)
		}
	})
}

// TestQuietTime looks at when collected turns begin. The clock of a bubble makes it exact.
func TestQuietTime(t *testing.T) {
	for name, c := range map[string]struct {
		quiet int   // ms
		at    []int // ms after the first message, whose turn takes ten seconds
		asked int   // ms: when the second turn begins
		all   string
	}{
		"the last one came long before":         {1000, []int{3000, 4000}, 10000, "m0|m1"},
		"the last one came just before":         {1000, []int{3000, 9700}, 10700, "m0|m1"},
		"more come meanwhile":                   {1000, []int{9700, 10600, 11500}, 12500, "m0|m1|m2"},
		"they come for longer than the bound":   {300, []int{9900, 10150, 10400, 10650, 10900, 11150, 11400, 11650, 11900, 12150, 12400, 12650, 12900}, 13000, "m0|m1|m2|m3|m4|m5|m6|m7|m8|m9|m10|m11|m12"},
		"no quiet time":                         {0, []int{9999}, 10000, "m0"},
		"nothing was at work any more":          {1000, []int{10500}, 10500, "m0"},
		"the first one was late, one more came": {1000, []int{10500, 10600}, 10500, "m0"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{}, rule(sessions.Queue{DebounceMs: &c.quiet}))
				began, asked := time.Now(), []int{}
				g.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
					asked = append(asked, int(time.Since(began).Milliseconds()))
					return repeating(10*time.Second)(ctx, p)
				})
				g.say(direct("a"), guest, "first")
				for i, ms := range c.at {
					time.Sleep(time.Until(began.Add(time.Duration(ms) * time.Millisecond)))
					g.say(direct("a"), guest, fmt.Sprint("m", i))
				}
				calls := g.shown(2)
				synctest.Wait()
				if asked[1] != c.asked || calls[1].Out.Text != c.all {
					t.Errorf("asked after %d ms: %q; want %d ms: %q", asked[1], calls[1].Out.Text, c.asked, c.all)
				}
			})
		})
	}
}

// TestFirstMessageDoesNotWait writes when the turn before has ended and its lane is not done with that yet.
func TestFirstMessageDoesNotWait(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := rigWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store {
			return slow{Store: s, finish: func() { time.Sleep(time.Second) }}
		})
		g.say(direct("a"), guest, "one")
		<-time.After(500 * time.Millisecond)
		began := time.Now()
		g.say(direct("a"), guest, "two")
		if calls := g.shown(2); calls[1].At.Sub(began) > 1500*time.Millisecond {
			t.Errorf("%q after %s", calls[1].Out.Text, calls[1].At.Sub(began))
		}
	})
}

// TestQuietTimeHoldsNoSlot has one slot for all: another chat is answered while messages are being collected, and a stop of the
// host does not wait for it.
func TestQuietTimeHoldsNoSlot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, rule(sessions.Queue{DebounceMs: new(60_000)}), func(s *Settings) { s.Agents.Defaults.MaxConcurrent = 1 })
		g.model.set(repeating(time.Second))
		g.say(direct("a"), guest, "one")
		<-time.After(500 * time.Millisecond)
		g.say(direct("a"), guest, "two")
		<-time.After(10 * time.Second)
		began := time.Now()
		g.say(groupChat("b"), owner, "quick")
		if calls := g.shown(2); calls[1].Out.Text != "quick" || calls[1].At.Sub(began) > 2*time.Second {
			t.Errorf("%q after %s", calls[1].Out.Text, calls[1].At.Sub(began))
		}
		synctest.Wait()
		began = time.Now()
		g.r.Drain(t.Context())
		if took := time.Since(began); took > 0 || g.said()["two"].Status != sessions.Queued {
			t.Errorf("drained after %s, %s", took, g.said()["two"].Status)
		}
	})
}

// TestBatchOfOnePlace writes from two chats into one session: an answer goes where its messages came from.
func TestBatchOfOnePlace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.model.set(repeating(10 * time.Second))
		home, work := direct("home"), direct("work") // the owner's chats share a session
		for _, m := range []struct {
			to channels.Address
			w  string
		}{{home, "h1"}, {home, "h2"}, {home, "h3"}, {work, "w1"}, {work, "w2"}, {home, "h4"}} {
			g.say(m.to, owner, m.w)
			<-time.After(time.Second)
		}
		var got []string
		for _, c := range g.shown(4) {
			got = append(got, string(c.To.Chat)+" "+c.Out.Text)
		}
		if want := []string{"home h1", "home h2|h3", "work w1|w2", "home h4"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// TestOthersKeepTheirPlace has another session's message wait between two of a person: they are no batch.
func TestOthersKeepTheirPlace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.model.set(repeating(10 * time.Second))
		key := sessions.Key("agent:main:fake:group:a")
		g.say(groupChat("a"), guest, "one")
		for _, w := range []string{"two", "ask", "three"} {
			<-time.After(time.Second)
			if w != "ask" {
				g.say(groupChat("a"), guest, w)
				continue
			}
			if _, err := g.r.Submit(t.Context(), sessions.Effects{Session: &sessions.Session{Key: key}, Run: &sessions.Run{Kind: sessions.AskRun, Key: key,
				Input: sessions.Message{Role: sessions.User, Content: sessions.TextContent("ask")}}}); err != nil {
				t.Fatal(err)
			}
		}
		if got := texts(g.shown(3)); !slices.Equal(got, []string{"one", "two", "three"}) || g.said()["ask"].Result != "ask" {
			t.Errorf("%q, the ask: %q", got, g.said()["ask"].Result)
		}
	})
}

// TestFollowupMode gives each message its own turn, one after the other.
func TestFollowupMode(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, mode(sessions.Followup))
		g.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if sleep(ctx, time.Second); last(p).Role == sessions.User {
				return call("", "remember", map[string]any{"text": "a fact"}), nil
			}
			return text(strings.Join(unanswered(p), "|")), nil
		})
		for i := range 4 {
			g.say(direct("a"), guest, fmt.Sprint("m", i))
		}
		began := time.Now()
		calls := g.shown(4)
		if got := texts(calls); !slices.Equal(got, []string{"m0", "m1", "m2", "m3"}) || calls[3].At.Sub(began) != 8*time.Second {
			t.Errorf("%q after %s", got, calls[3].At.Sub(began))
		}
	})
}

// TestSteerMode has a turn at work take up messages at its next step. What comes after its last one is collected.
func TestSteerMode(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, mode(sessions.Steer))
		g.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			sleep(ctx, 10*time.Second)
			if words := unanswered(p); slices.Contains(words, "work") && !slices.Contains(words, "three") {
				return call("", "remember", map[string]any{"text": "a fact"}), nil
			}
			return text(strings.Join(unanswered(p), "|")), nil
		})
		ends := map[sessions.RunID]int{}
		events, cancel := g.r.Watch(Watching{Kinds: []string{EventRun}})
		defer cancel()
		go func() {
			for e := range events {
				if e.Status.Final() {
					ends[e.Run]++
				}
			}
		}()
		var newest channels.Inbound
		for i, w := range []string{"work", "two", "three", "late", "later"} {
			time.Sleep(time.Duration(min(i, 1)) * 7 * time.Second) // at 0, 7, 14, 21, 28 s; the steps end at 10, 20, 30
			in := g.say(groupChat("a"), guest, w)
			if w == "three" {
				newest = in
			}
		}
		calls := g.shown(2)
		if got := texts(calls); !slices.Equal(got, []string{"work|two|three", "late|later"}) || calls[0].Out.ReplyTo != newest.ID {
			t.Errorf("shown %q, the first answers %q, not %q", got, calls[0].Out.ReplyTo, newest.ID)
		}
		runs := g.said()
		if runs["two"].Batch != runs["work"].ID || runs["three"].Batch != runs["work"].ID || runs["late"].Batch != "" || runs["later"].Batch != runs["late"].ID {
			t.Errorf("%+v", runs)
		}
		if g.model.count() != 4 {
			t.Errorf("%d model calls", g.model.count())
		}
		synctest.Wait()
		for word, run := range runs {
			if ends[run.ID] != 1 {
				t.Errorf("who watches is told %d times that %q has ended", ends[run.ID], word)
			}
		}
	})
}

// TestInterruptMode ends a turn for a newer message of the same chat, which is answered together with what was not. Sub-agents go on.
func TestInterruptMode(t *testing.T) {
	bubble(t, func(t *testing.T) {
		x := newTree(t, 1, mode(sessions.Interrupt))
		x.does("task", slowly(time.Hour))
		x.spawn(tools.SpawnRequest{Source: "s", Task: "task"})
		turn := func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if strings.Contains(p.System, "You are a sub-agent") {
				return x.answer(ctx, p)
			}
			return repeating(10*time.Second)(ctx, p)
		}
		x.model.set(turn)
		shown := len(x.fake.Shown(channels.Address{}))
		for _, w := range []string{"one", "two", "three"} {
			x.say(groupChat("a"), guest, w)
			<-time.After(time.Second)
		}
		calls := x.shown(shown + 1)[shown:]
		if got := texts(calls); !slices.Equal(got, []string{"one|two|three"}) {
			t.Errorf("shown %q", got)
		}
		runs := x.said()
		for w, by := range map[string]string{"one": "two", "two": "three"} {
			if r := runs[w]; r.Status != sessions.Stopped || r.Batch != runs[by].ID || r.Error != "interrupted by a newer message" {
				t.Errorf("%s: %s, %q, batch %s", w, r.Status, r.Error, r.Batch)
			}
		}
		if runs["three"].Status != sessions.Done || x.task("task")[0].Status != sessions.Running {
			t.Errorf("the last one: %s, the sub-agent: %s", runs["three"].Status, x.task("task")[0].Status)
		}
	})
}

// TestInterruptElsewhere spares a turn that answers in another chat of the session.
func TestInterruptElsewhere(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, mode(sessions.Interrupt))
		g.model.set(repeating(10 * time.Second))
		g.say(direct("home"), owner, "home")
		<-time.After(time.Second)
		g.say(direct("work"), owner, "work")
		if got := texts(g.shown(2)); !slices.Equal(got, []string{"home", "work"}) {
			t.Errorf("shown %q", got)
		}
	})
}
