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
	"parley/router/event"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

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
		s := routertest.SettingsFor(routertest.WithQueue(c.all))
		s.Messages.Queue.ByChannel = map[channels.Kind]sessions.Queue{routertest.Kind: c.channel, "other": {Mode: sessions.Followup}}
		if got := s.Queue(sessions.Session{Settings: sessions.Settings{Queue: c.session}}, routertest.Kind).String(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestCollectMode writes four messages while a turn is running: they have one answer, which refers to the newest.
func TestCollectMode(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Model.Set(routertest.Repeating(10 * time.Second))
		g.Say(routertest.Group("a"), routertest.Guest, "one")
		var newest channels.Inbound
		for _, w := range []string{"two", "three", "four", "five"} {
			<-time.After(time.Second)
			newest = g.Say(routertest.Group("a"), routertest.Guest, w)
		}
		calls := g.Shown(2)
		if got := routertest.Texts(calls); !slices.Equal(got, []string{"one", "two|three|four|five"}) || calls[1].Out.ReplyTo != newest.ID {
			t.Errorf("shown %q, the second answers %q, not %q", got, calls[1].Out.ReplyTo, newest.ID)
		}
		runs := g.Said()
		for _, w := range []string{"three", "four", "five"} {
			if r := runs[w]; r.MergedInto != runs["two"].ID || r.Status != sessions.Done {
				t.Errorf("%s: %s, batch %q", w, r.Status, r.MergedInto)
			}
		}
		if runs["one"].MergedInto != "" || runs["two"].MergedInto != "" || runs["two"].Result != "two|three|four|five" || g.Model.Count() != 2 {
			t.Errorf("batches %q and %q, %d model calls", runs["one"].MergedInto, runs["two"].MergedInto, g.Model.Count())
		}
		g.Say(routertest.Group("a"), routertest.Guest, "six")
		if got := routertest.Texts(g.Shown(3))[2]; got != "six" {
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
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, routertest.WithQueue(sessions.Queue{DebounceMs: &c.quiet}))
				began, asked := time.Now(), []int{}
				g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
					asked = append(asked, int(time.Since(began).Milliseconds()))
					return routertest.Repeating(10*time.Second)(ctx, p)
				})
				g.Say(routertest.Direct("a"), routertest.Guest, "first")
				for i, ms := range c.at {
					time.Sleep(time.Until(began.Add(time.Duration(ms) * time.Millisecond)))
					g.Say(routertest.Direct("a"), routertest.Guest, fmt.Sprint("m", i))
				}
				calls := g.Shown(2)
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
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.NewWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store {
			return routertest.Slow{Store: s, OnFinish: func() { time.Sleep(time.Second) }}
		})
		g.Say(routertest.Direct("a"), routertest.Guest, "one")
		<-time.After(500 * time.Millisecond)
		began := time.Now()
		g.Say(routertest.Direct("a"), routertest.Guest, "two")
		if calls := g.Shown(2); calls[1].At.Sub(began) > 1500*time.Millisecond {
			t.Errorf("%q after %s", calls[1].Out.Text, calls[1].At.Sub(began))
		}
	})
}

// TestQuietTimeHoldsNoSlot has one slot for all: another chat is answered while messages are being collected, and a stop of the
// host does not wait for it.
func TestQuietTimeHoldsNoSlot(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.WithQueue(sessions.Queue{DebounceMs: new(60_000)}), func(s *settings.Snapshot) { s.Agents.Defaults.MaxConcurrent = 1 })
		g.Model.Set(routertest.Repeating(time.Second))
		g.Say(routertest.Direct("a"), routertest.Guest, "one")
		<-time.After(500 * time.Millisecond)
		g.Say(routertest.Direct("a"), routertest.Guest, "two")
		<-time.After(10 * time.Second)
		began := time.Now()
		g.Say(routertest.Group("b"), routertest.Owner, "quick")
		if calls := g.Shown(2); calls[1].Out.Text != "quick" || calls[1].At.Sub(began) > 2*time.Second {
			t.Errorf("%q after %s", calls[1].Out.Text, calls[1].At.Sub(began))
		}
		synctest.Wait()
		began = time.Now()
		g.Router.Drain(t.Context())
		if took := time.Since(began); took > 0 || g.Said()["two"].Status != sessions.Queued {
			t.Errorf("drained after %s, %s", took, g.Said()["two"].Status)
		}
	})
}

// TestBatchOfOnePlace writes from two chats into one session: an answer goes where its messages came from.
func TestBatchOfOnePlace(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Model.Set(routertest.Repeating(10 * time.Second))
		home, work := routertest.Direct("home"), routertest.Direct("work") // the owner's chats share a session
		for _, m := range []struct {
			to channels.Address
			w  string
		}{{home, "h1"}, {home, "h2"}, {home, "h3"}, {work, "w1"}, {work, "w2"}, {home, "h4"}} {
			g.Say(m.to, routertest.Owner, m.w)
			<-time.After(time.Second)
		}
		var got []string
		for _, c := range g.Shown(4) {
			got = append(got, string(c.To.Chat)+" "+c.Out.Text)
		}
		if want := []string{"home h1", "home h2|h3", "work w1|w2", "home h4"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// TestOthersKeepTheirPlace has another session's message wait between two of a person: they are no batch.
func TestOthersKeepTheirPlace(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Model.Set(routertest.Repeating(10 * time.Second))
		key := sessions.Key("agent:main:fake:group:a")
		g.Say(routertest.Group("a"), routertest.Guest, "one")
		for _, w := range []string{"two", "ask", "three"} {
			<-time.After(time.Second)
			if w != "ask" {
				g.Say(routertest.Group("a"), routertest.Guest, w)
				continue
			}
			if _, err := g.Router.Committer.Submit(t.Context(), sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: key}}, Run: &sessions.Enqueue{Run: sessions.Run{Kind: sessions.AskRun, Key: key,
				Input: sessions.Message{Role: sessions.User, Content: sessions.TextContent("ask")}}}}); err != nil {
				t.Fatal(err)
			}
		}
		if got := routertest.Texts(g.Shown(3)); !slices.Equal(got, []string{"one", "two", "three"}) || g.Said()["ask"].Result != "ask" {
			t.Errorf("%q, the ask: %q", got, g.Said()["ask"].Result)
		}
	})
}

// TestFollowupMode gives each message its own turn, one after the other.
func TestFollowupMode(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.WithMode(sessions.Followup))
		g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if channels.Sleep(ctx, time.Second); routertest.Last(p).Role == sessions.User {
				return routertest.Call("", "remember", map[string]any{"text": "a fact"}), nil
			}
			return routertest.Text(strings.Join(routertest.Unanswered(p), "|")), nil
		})
		for i := range 4 {
			g.Say(routertest.Direct("a"), routertest.Guest, fmt.Sprint("m", i))
		}
		began := time.Now()
		calls := g.Shown(4)
		if got := routertest.Texts(calls); !slices.Equal(got, []string{"m0", "m1", "m2", "m3"}) || calls[3].At.Sub(began) != 8*time.Second {
			t.Errorf("%q after %s", got, calls[3].At.Sub(began))
		}
	})
}

// TestSteerMode has a running turn take up messages at its next step. What comes after its last one is collected.
func TestSteerMode(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.WithMode(sessions.Steer))
		g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			channels.Sleep(ctx, 10*time.Second)
			if words := routertest.Unanswered(p); slices.Contains(words, "work") && !slices.Contains(words, "three") {
				return routertest.Call("", "remember", map[string]any{"text": "a fact"}), nil
			}
			return routertest.Text(strings.Join(routertest.Unanswered(p), "|")), nil
		})
		ends := map[sessions.RunID]int{}
		events, cancel := g.Router.Watch(event.Filter{Kinds: []string{event.KindRun}})
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
			in := g.Say(routertest.Group("a"), routertest.Guest, w)
			if w == "three" {
				newest = in
			}
		}
		calls := g.Shown(2)
		if got := routertest.Texts(calls); !slices.Equal(got, []string{"work|two|three", "late|later"}) || calls[0].Out.ReplyTo != newest.ID {
			t.Errorf("shown %q, the first answers %q, not %q", got, calls[0].Out.ReplyTo, newest.ID)
		}
		runs := g.Said()
		if runs["two"].MergedInto != runs["work"].ID || runs["three"].MergedInto != runs["work"].ID || runs["late"].MergedInto != "" || runs["later"].MergedInto != runs["late"].ID {
			t.Errorf("%+v", runs)
		}
		if g.Model.Count() != 4 {
			t.Errorf("%d model calls", g.Model.Count())
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
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.NewTree(t, 1, routertest.WithMode(sessions.Interrupt))
		x.Does("task", routertest.Slowly(time.Hour))
		x.Spawn(tools.SpawnRequest{Source: "s", Task: "task"})
		turn := func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if strings.Contains(p.System, "You are a sub-agent") {
				return x.Answer(ctx, p)
			}
			return routertest.Repeating(10*time.Second)(ctx, p)
		}
		x.Model.Set(turn)
		shown := len(x.Fake.Shown(channels.Address{}))
		for _, w := range []string{"one", "two", "three"} {
			x.Say(routertest.Group("a"), routertest.Guest, w)
			<-time.After(time.Second)
		}
		calls := x.Shown(shown + 1)[shown:]
		if got := routertest.Texts(calls); !slices.Equal(got, []string{"one|two|three"}) {
			t.Errorf("shown %q", got)
		}
		runs := x.Said()
		for w, by := range map[string]string{"one": "two", "two": "three"} {
			if r := runs[w]; r.Status != sessions.Stopped || r.MergedInto != runs[by].ID || r.Error != "interrupted by a newer message" {
				t.Errorf("%s: %s, %q, batch %s", w, r.Status, r.Error, r.MergedInto)
			}
		}
		if runs["three"].Status != sessions.Done || x.Task("task")[0].Status != sessions.Running {
			t.Errorf("the last one: %s, the sub-agent: %s", runs["three"].Status, x.Task("task")[0].Status)
		}
	})
}

// TestInterruptElsewhere spares a turn that answers in another chat of the session.
func TestInterruptElsewhere(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.WithMode(sessions.Interrupt))
		g.Model.Set(routertest.Repeating(10 * time.Second))
		g.Say(routertest.Direct("home"), routertest.Owner, "home")
		<-time.After(time.Second)
		g.Say(routertest.Direct("work"), routertest.Owner, "work")
		if got := routertest.Texts(g.Shown(2)); !slices.Equal(got, []string{"home", "work"}) {
			t.Errorf("shown %q", got)
		}
	})
}
