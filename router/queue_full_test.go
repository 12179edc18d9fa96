package router_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// TestFullQueue writes six messages while a turn is running, of which three may wait.
func TestFullQueue(t *testing.T) {
	long := strings.Repeat("many  words\n", 40)
	for _, c := range []struct {
		name    string
		q       sessions.Queue
		shown   []string
		dropped []string // the messages that nobody answers
	}{
		{"summarize", sessions.Queue{Cap: 3}, []string{"first", "m0 " + long + "|m1 " + strings.Repeat("many words ", 14) + "ma…|m2 " + strings.Repeat("many words ", 14) + "ma…|m3 " + long + "|m4 " + long + "|m5 " + long}, nil},
		{"old", sessions.Queue{Cap: 3, Drop: sessions.DropOld}, []string{"⚙️ Too many messages are waiting here, so I dropped the oldest. Please send again anything that I do not answer.", "first", "m3 " + long + "|m4 " + long + "|m5 " + long}, []string{"m0", "m1", "m2"}},
		{"new", sessions.Queue{Cap: 3, Drop: sessions.DropNew}, []string{"⚙️ Too many messages are waiting here, so I did not accept your last one. Please send it again later.", "first", "m0 " + long + "|m1 " + long + "|m2 " + long}, nil},
		{"followup", sessions.Queue{Cap: 3, Mode: sessions.Followup}, []string{"first", "m0 " + long + "|m1 " + strings.Repeat("many words ", 14) + "ma…|m2 " + long, "m3 " + long, "m4 " + long, "m5 " + long}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, routertest.WithQueue(c.q))
				g.Model.Set(routertest.Repeating(10 * time.Second))
				g.Say(routertest.Direct("a"), routertest.Guest, "first")
				for i := range 6 {
					<-time.After(time.Second)
					g.Say(routertest.Direct("a"), routertest.Guest, fmt.Sprint("m", i, " ", long))
				}
				for i, got := range routertest.Texts(g.Shown(len(c.shown))) {
					squeeze := func(s string) string { return strings.ReplaceAll(s, "\n|", "|") } // what was said ends without a line break
					if want := strings.TrimSpace(c.shown[i]); squeeze(got) != squeeze(want) {
						t.Errorf("message %d is %q, want %q", i, got, want)
					}
				}
				g.Idle(0)
				var dropped []string
				for _, r := range g.Runs() {
					if r.Status == sessions.Stopped {
						word, _, _ := strings.Cut(r.Input.Text(), " ")
						dropped = append(dropped, word)
						if r.Error == "" || r.MergedInto != "" {
							t.Errorf("%s: %q, batch %q", word, r.Error, r.MergedInto)
						}
					}
				}
				if slices.Sort(dropped); !slices.Equal(dropped, c.dropped) {
					t.Errorf("dropped %v, want %v", dropped, c.dropped)
				}
				listed, err := g.Store.Skipped(t.Context(), 10)
				if err != nil || len(listed) != map[bool]int{true: 3}[c.q.Drop == sessions.DropNew] {
					t.Errorf("listed: %v, %v", listed, err)
				}
			})
		})
	}
}

// TestSummarizedQueueIsBounded has more messages come than even their lines may wait for: the oldest are dropped, and listed.
func TestSummarizedQueueIsBounded(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.WithQueue(sessions.Queue{Cap: 2}))
		g.Model.Set(routertest.Slowly(time.Hour))
		g.Say(routertest.Direct("a"), routertest.Guest, "first")
		g.Until("it is at work", func() bool { return g.Model.Count() == 1 })
		n := 2 + settings.ShortLines + 3
		first := g.Runs()[0]
		for i := range n {
			if i >= settings.ShortLines {
				g.Say(routertest.Direct("a"), routertest.Guest, fmt.Sprint("m", i))
				continue
			}
			if _, err := g.Store.Submit(t.Context(), sessions.Change{Run: &sessions.Enqueue{Run: sessions.Run{Kind: sessions.TurnRun, Key: first.Key, Agent: first.Agent, Reply: first.Reply,
				Input: sessions.Message{Role: sessions.User, Content: sessions.TextContent(fmt.Sprint("m", i))}}}}); err != nil {
				t.Fatal(err)
			}
		}
		count := map[sessions.RunStatus]int{}
		g.Until("all are taken", func() bool {
			clear(count)
			runs, err := g.Store.ListRuns(t.Context(), sessions.RunQuery{Limit: 1000})
			for _, r := range runs {
				count[r.Status]++
			}
			return err == nil && len(runs) == n+1
		})
		if count[sessions.Queued] != 2+settings.ShortLines || count[sessions.Stopped] != 3 {
			t.Errorf("%v", count)
		}
	})
}

// TestQueueCommand sets what holds for one session.
func TestQueueCommand(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		to := routertest.Direct(routertest.Owner)
		const usage = "\n\nUsage: /queue [collect|followup|steer|interrupt] [debounce:2s] [cap:20] [drop:summarize|old|new], or /queue default"
		for _, c := range []struct{ by, arg, want string }{
			{routertest.Owner, "", "⚙️ Queue: `collect debounce:1s cap:20 drop:summarize`"},
			{routertest.Owner, " collect debounce:2s cap:25 drop:old", "⚙️ Queue: `collect debounce:2s cap:25 drop:old` (set for this session)"},
			{routertest.Owner, " Interrupt debounce:250", "⚙️ Queue: `interrupt debounce:250ms cap:25 drop:old` (set for this session)"},
			{routertest.Owner, "", "⚙️ Queue: `interrupt debounce:250ms cap:25 drop:old` (set for this session)"},
			{routertest.Owner, " sometimes", "⚙️ I do not know `sometimes` here." + usage},
			{routertest.Owner, " steer debounce:2h", "⚙️ debounce must be a time from 0s to 60s." + usage},
			{routertest.Owner, " steer cap:0", "⚙️ cap must be a number from 1 to 1000." + usage},
			{routertest.Owner, " steer drop:all", "⚙️ I do not know `drop:all` here." + usage},
			{routertest.Owner, "", "⚙️ Queue: `interrupt debounce:250ms cap:25 drop:old` (set for this session)"},
			{routertest.Owner, " default cap:3", "⚙️ Queue: `collect debounce:1s cap:3 drop:summarize` (set for this session)"},
			{routertest.Owner, " default", "⚙️ Queue: `collect debounce:1s cap:20 drop:summarize`"},
			{routertest.Guest, " followup", "Only an owner can use /queue. To become one, add `fake:2002` to `commands.ownerAllowFrom` in the host's configuration and run `parley reload`."},
		} {
			if got := g.Asks(to, c.by, "/queue"+c.arg); got != c.want {
				t.Errorf("/queue%s: %q, want %q", c.arg, got, c.want)
			}
		}
		g.Asks(to, routertest.Owner, "/queue followup")
		g.Asks(to, routertest.Owner, "/new")
		if q := g.Session("agent:main:main").Settings.Queue; q.Mode != sessions.Followup {
			t.Errorf("after /new: %+v", q)
		}
	})
}

// TestStatusShowsBatches looks at a session at work.
func TestStatusShowsBatches(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Model.Set(routertest.Repeating(10 * time.Second))
		for _, w := range []string{"one", "two", "three", "four"} { // one has its own turn, two and three the next
			g.Say(routertest.Direct(routertest.Owner), routertest.Owner, w)
			<-time.After(4 * time.Second)
		}
		got := g.Asks(routertest.Direct(routertest.Owner), routertest.Owner, "/status")
		for _, want := range []string{"Queue: `collect debounce:1s cap:20 drop:summarize`", "Running: run " + string(g.Said()["two"].ID) + ", answers 2 messages", "Waiting here: 1"} {
			if !strings.Contains(got, want) {
				t.Errorf("%q is not in\n%s", want, got)
			}
		}
	})
}

// TestOwnersBatch takes the owners' tools from a turn that answers somebody else as well, in whatever way they came together.
func TestOwnersBatch(t *testing.T) {
	for name, c := range map[string]struct {
		mode sessions.QueueMode
		by   []string // who writes: the first message's turn is running when the others come
		want []bool   // of each model call: are the owners' tools there?
	}{
		"owners together":       {sessions.Collect, []string{routertest.Owner, routertest.Owner, routertest.Owner}, []bool{true, true}},
		"collected with others": {sessions.Collect, []string{routertest.Owner, routertest.Owner, routertest.Guest}, []bool{true, false}},
		"one after the other":   {sessions.Followup, []string{routertest.Owner, routertest.Owner, routertest.Guest}, []bool{true, true, false}},
		"an owner interrupts":   {sessions.Interrupt, []string{routertest.Owner, routertest.Owner}, []bool{true, true}},
		"another is overtaken":  {sessions.Interrupt, []string{routertest.Guest, routertest.Owner}, []bool{false, false}},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, routertest.WithMode(c.mode), func(s *settings.Snapshot) {
					s.Tools.BySender = map[tools.Sender]tools.Rights{"other": {Deny: []string{"remember"}}}
				})
				var got []bool
				g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
					got = append(got, slices.ContainsFunc(p.Tools, func(x tools.Spec) bool { return x.Name == "remember" }))
					return routertest.Repeating(10*time.Second)(ctx, p)
				})
				for i, by := range c.by {
					g.Say(routertest.Group("a"), by, fmt.Sprint("m", i))
					<-time.After(time.Second)
				}
				g.Idle(len(c.by))
				if !slices.Equal(got, c.want) {
					t.Errorf("the owners' tools were there: %v, want %v", got, c.want)
				}
			})
		})
	}
}

// An owner's turn that came in the place of one that had merged another person's message has no owner's rights.
func TestOwnersBatchOfTheInterrupted(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.WithMode(sessions.Interrupt))
		calls := 0
		g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if calls++; calls == 1 {
				<-time.After(5 * time.Second) // slow to end
			} else {
				channels.Sleep(ctx, 10*time.Second)
			}
			return routertest.Text("x"), ctx.Err()
		})
		for _, m := range []struct {
			by, words string
			after     time.Duration
		}{{routertest.Owner, "X", time.Second}, {routertest.Owner, "A", time.Second}, {routertest.Guest, "D", 5 * time.Second}, {routertest.Owner, "B", time.Second}} {
			g.Say(routertest.Group("a"), m.by, m.words)
			<-time.After(m.after)
		}
		said := g.Said()
		b := said["B"]
		if said["D"].MergedInto != said["A"].ID || said["A"].MergedInto != b.ID {
			t.Fatalf("D is answered with %q, A with %q", said["D"].MergedInto, said["A"].MergedInto)
		}
		who, err := g.Router.Rights.Requesters(t.Context(), g.Session(b.Key), b)
		if err != nil || who.Owner || len(who.People) != 2 {
			t.Errorf("B answers %v, owners only: %v; %v", who.People, who.Owner, err)
		}
	})
}

// oneCommit is a store that takes nothing but what comes in from platforms.
type oneCommit struct{ sessions.Store }

func (oneCommit) Submit(context.Context, sessions.Change) (sessions.Accepted, error) {
	return sessions.Accepted{}, errors.New("a commit of its own")
}

// A flood from two chats of one session: each chat is told once for each turn that its messages wait for, in the commit of the message,
// and neither takes the place of the other's messages.
func TestFullQueueTellsEachChatOnce(t *testing.T) {
	for _, drop := range []sessions.DropRule{sessions.DropNew, sessions.DropOld} {
		t.Run(string(drop), func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.NewWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store { return oneCommit{s} }, routertest.WithQueue(sessions.Queue{Mode: sessions.Followup, Cap: 2, Drop: drop}),
					func(s *settings.Snapshot) { s.Session.DMScope, s.Agents.Defaults.MaxConcurrent = sessions.DMMain, 1 })
				g.Model.Set(routertest.Repeating(5 * time.Minute))
				g.Say(routertest.Group("z"), routertest.Guest, "has the only slot")
				<-time.After(time.Second)
				told := func() map[channels.ChatID]int {
					n := map[channels.ChatID]int{}
					for _, d := range g.Deliveries() {
						if strings.Contains(d.Text, "Too many messages") {
							n[d.To.Chat]++
						}
					}
					return n
				}
				flood := func() {
					for range 4 {
						<-time.After(time.Second)
						g.Say(routertest.Direct("a"), routertest.Guest, "from a")
						g.Say(routertest.Direct("b"), "3003", "from b")
					}
				}
				flood() // nothing has begun
				if n := told(); n["a"] != 1 || n["b"] != 1 {
					t.Errorf("told %v", n)
				}
				queued, err := sessions.QueuedRuns(t.Context(), g.Store, "agent:main:main")
				if err != nil || len(queued) != 4 {
					t.Errorf("%d wait, %v", len(queued), err)
				}
				<-time.After(5 * time.Minute)
				flood() // the first of them is running
				flood()
				if n := told(); n["a"] != 2 || n["b"] != 2 {
					t.Errorf("told %v in the end", n)
				}
			})
		})
	}
}
