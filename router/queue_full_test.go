package router

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
	"parley/sessions"
	"parley/tools"
)

// TestFullQueue writes six messages while a turn is at work, of which three may wait.
func TestFullQueue(t *testing.T) {
	long := strings.Repeat("many  words\n", 40)
	for _, c := range []struct {
		name    string
		q       sessions.Queue
		shown   []string
		dropped []string // the messages that nobody answers
	}{
		{"summarize", sessions.Queue{Cap: 3}, []string{"first", "m0 " + long + "|m1 " + strings.Repeat("many words ", 14) + "ma…|m2 " + strings.Repeat("many words ", 14) + "ma…|m3 " + long + "|m4 " + long + "|m5 " + long}, nil},
		{"old", sessions.Queue{Cap: 3, Drop: sessions.DropOld}, []string{"⚙️ Too many messages are waiting here, so I drop the oldest of them. Please send again later what has no answer.", "first", "m3 " + long + "|m4 " + long + "|m5 " + long}, []string{"m0", "m1", "m2"}},
		{"new", sessions.Queue{Cap: 3, Drop: sessions.DropNew}, []string{"⚙️ Too many messages are waiting here, so I did not take your last one. Please send it again later.", "first", "m0 " + long + "|m1 " + long + "|m2 " + long}, nil},
		{"followup", sessions.Queue{Cap: 3, Mode: sessions.Followup}, []string{"first", "m0 " + long + "|m1 " + strings.Repeat("many words ", 14) + "ma…|m2 " + long, "m3 " + long, "m4 " + long, "m5 " + long}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{}, rule(c.q))
				g.model.set(repeating(10 * time.Second))
				g.say(direct("a"), guest, "first")
				for i := range 6 {
					<-time.After(time.Second)
					g.say(direct("a"), guest, fmt.Sprint("m", i, " ", long))
				}
				for i, got := range texts(g.shown(len(c.shown))) {
					squeeze := func(s string) string { return strings.ReplaceAll(s, "\n|", "|") } // what was said ends without a line break
					if want := strings.TrimSpace(c.shown[i]); squeeze(got) != squeeze(want) {
						t.Errorf("message %d is %q, want %q", i, got, want)
					}
				}
				g.idle(0)
				var dropped []string
				for _, r := range g.runs() {
					if r.Status == sessions.Stopped {
						word, _, _ := strings.Cut(r.Input.Text(), " ")
						dropped = append(dropped, word)
						if r.Error == "" || r.Batch != "" {
							t.Errorf("%s: %q, batch %q", word, r.Error, r.Batch)
						}
					}
				}
				if slices.Sort(dropped); !slices.Equal(dropped, c.dropped) {
					t.Errorf("dropped %v, want %v", dropped, c.dropped)
				}
				listed, err := g.store.Skipped(t.Context(), 10)
				if err != nil || len(listed) != map[bool]int{true: 3}[c.q.Drop == sessions.DropNew] {
					t.Errorf("listed: %v, %v", listed, err)
				}
			})
		})
	}
}

// TestSummarizedQueueIsBounded has more messages come than even their lines may wait for: the oldest are dropped, and listed.
func TestSummarizedQueueIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, rule(sessions.Queue{Cap: 2}))
		g.model.set(slowly(time.Hour))
		g.say(direct("a"), guest, "first")
		g.until("it is at work", func() bool { return g.model.count() == 1 })
		n := 2 + shortLines + 3
		first := g.runs()[0]
		for i := range n {
			if i >= shortLines {
				g.say(direct("a"), guest, fmt.Sprint("m", i))
				continue
			}
			if _, err := g.store.Submit(t.Context(), sessions.Effects{Run: &sessions.Run{Kind: sessions.TurnRun, Key: first.Key, Agent: first.Agent, Reply: first.Reply,
				Input: sessions.Message{Role: sessions.User, Content: sessions.TextContent(fmt.Sprint("m", i))}}}); err != nil {
				t.Fatal(err)
			}
		}
		count := map[sessions.RunStatus]int{}
		g.until("all are taken", func() bool {
			clear(count)
			runs, err := g.store.ListRuns(t.Context(), sessions.RunQuery{Limit: 1000})
			for _, r := range runs {
				count[r.Status]++
			}
			return err == nil && len(runs) == n+1
		})
		if count[sessions.Queued] != 2+shortLines || count[sessions.Stopped] != 3 {
			t.Errorf("%v", count)
		}
	})
}

// TestQueueCommand sets what holds for one session.
func TestQueueCommand(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		to := direct(owner)
		const usage = "\n\nUsage: /queue [collect|followup|steer|interrupt] [debounce:2s] [cap:20] [drop:summarize|old|new], or /queue default"
		for _, c := range []struct{ by, arg, want string }{
			{owner, "", "⚙️ Queue: `collect debounce:1s cap:20 drop:summarize`"},
			{owner, " collect debounce:2s cap:25 drop:old", "⚙️ Queue: `collect debounce:2s cap:25 drop:old` (set for this session)"},
			{owner, " Interrupt debounce:250", "⚙️ Queue: `interrupt debounce:250ms cap:25 drop:old` (set for this session)"},
			{owner, "", "⚙️ Queue: `interrupt debounce:250ms cap:25 drop:old` (set for this session)"},
			{owner, " sometimes", "⚙️ I do not know `sometimes` here." + usage},
			{owner, " steer debounce:2h", "⚙️ debounce is a time from 0s to 60s." + usage},
			{owner, " steer cap:0", "⚙️ cap is a number from 1 to 1000." + usage},
			{owner, " steer drop:all", "⚙️ I do not know `drop:all` here." + usage},
			{owner, "", "⚙️ Queue: `interrupt debounce:250ms cap:25 drop:old` (set for this session)"},
			{owner, " default cap:3", "⚙️ Queue: `collect debounce:1s cap:3 drop:summarize` (set for this session)"},
			{owner, " default", "⚙️ Queue: `collect debounce:1s cap:20 drop:summarize`"},
			{guest, " followup", "Only an owner can use /queue."},
		} {
			if got := g.asks(to, c.by, "/queue"+c.arg); got != c.want {
				t.Errorf("/queue%s: %q, want %q", c.arg, got, c.want)
			}
		}
		g.asks(to, owner, "/queue followup")
		g.asks(to, owner, "/new")
		if q := g.session("agent:main:main").Settings.Queue; q.Mode != sessions.Followup {
			t.Errorf("after /new: %+v", q)
		}
	})
}

// TestStatusShowsBatches looks at a session at work.
func TestStatusShowsBatches(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.model.set(repeating(10 * time.Second))
		for _, w := range []string{"one", "two", "three", "four"} { // one has its own turn, two and three the next
			g.say(direct(owner), owner, w)
			<-time.After(4 * time.Second)
		}
		got := g.asks(direct(owner), owner, "/status")
		for _, want := range []string{"Queue: `collect debounce:1s cap:20 drop:summarize`", "At work: run " + string(g.said()["two"].ID) + ", answers 2 messages", "Waiting here: 1"} {
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
		by   []string // who writes: the first message's turn is at work when the others come
		want []bool   // of each model call: are the owners' tools there?
	}{
		"owners together":       {sessions.Collect, []string{owner, owner, owner}, []bool{true, true}},
		"collected with others": {sessions.Collect, []string{owner, owner, guest}, []bool{true, false}},
		"one after the other":   {sessions.Followup, []string{owner, owner, guest}, []bool{true, true, false}},
		"an owner interrupts":   {sessions.Interrupt, []string{owner, owner}, []bool{true, true}},
		"another is overtaken":  {sessions.Interrupt, []string{guest, owner}, []bool{false, false}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{}, mode(c.mode), func(s *Settings) {
					s.Tools.BySender = map[tools.Sender]tools.Rights{"other": {Deny: []string{"remember"}}}
				})
				var got []bool
				g.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
					got = append(got, slices.ContainsFunc(p.Tools, func(x tools.Spec) bool { return x.Name == "remember" }))
					return repeating(10*time.Second)(ctx, p)
				})
				for i, by := range c.by {
					g.say(groupChat("a"), by, fmt.Sprint("m", i))
					<-time.After(time.Second)
				}
				g.idle(len(c.by))
				if !slices.Equal(got, c.want) {
					t.Errorf("the owners' tools were there: %v, want %v", got, c.want)
				}
			})
		})
	}
}

// What is cut to a line says what else came with it.
func TestShortenNamesWhatIsLost(t *testing.T) {
	t.Parallel()
	heard := sessions.HeardBlock([]sessions.Overheard{{Name: "Ann", Text: "hi"}, {Name: "Bob", Text: "ho"}})
	picture := sessions.Block{Type: sessions.ImageBlock}
	for want, content := range map[string][]sessions.Block{
		"look":                  sessions.TextContent(" look\n"),
		"look [with 1 picture]": {{Type: sessions.TextBlock, Text: "look"}, picture},
		"look [with 2 pictures] [behind 2 messages of the group]": {heard, {Type: sessions.TextBlock, Text: "look"}, picture, picture},
		"[with 1 picture]": {picture},
	} {
		got := shorten(sessions.Message{Content: content})
		if len(got) != 1 || got[0].Type != sessions.TextBlock || got[0].Text != want {
			t.Errorf("%+v, want %q", got, want)
		}
	}
}

// An owner's turn that came in the place of one that had taken up somebody else's message has no owner's rights.
func TestOwnersBatchOfTheInterrupted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, mode(sessions.Interrupt))
		calls := 0
		g.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if calls++; calls == 1 {
				<-time.After(5 * time.Second) // slow to end
			} else {
				sleep(ctx, 10*time.Second)
			}
			return text("x"), ctx.Err()
		})
		for _, m := range []struct {
			by, words string
			after     time.Duration
		}{{owner, "X", time.Second}, {owner, "A", time.Second}, {guest, "D", 5 * time.Second}, {owner, "B", time.Second}} {
			g.say(groupChat("a"), m.by, m.words)
			<-time.After(m.after)
		}
		said := g.said()
		b := said["B"]
		if said["D"].Batch != said["A"].ID || said["A"].Batch != b.ID {
			t.Fatalf("D is answered with %q, A with %q", said["D"].Batch, said["A"].Batch)
		}
		who, err := g.r.answers(t.Context(), g.session(b.Key), b)
		if err != nil || who.owner || len(who.people) != 2 {
			t.Errorf("B answers %v, owners only: %v; %v", who.people, who.owner, err)
		}
	})
}

// oneCommit is a store that takes nothing but what comes in from platforms.
type oneCommit struct{ sessions.Store }

func (oneCommit) Submit(context.Context, sessions.Effects) (sessions.Accepted, error) {
	return sessions.Accepted{}, errors.New("a commit of its own")
}

// A flood from two chats of one session: each chat is told once for each turn that its messages wait for, in the commit of the message,
// and neither takes the place of the other's messages.
func TestFullQueueTellsEachChatOnce(t *testing.T) {
	for _, drop := range []sessions.DropRule{sessions.DropNew, sessions.DropOld} {
		t.Run(string(drop), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := rigWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store { return oneCommit{s} }, rule(sessions.Queue{Mode: sessions.Followup, Cap: 2, Drop: drop}),
					func(s *Settings) { s.Session.DMScope, s.Agents.Defaults.MaxConcurrent = sessions.DMMain, 1 })
				g.model.set(repeating(5 * time.Minute))
				g.say(groupChat("z"), guest, "has the only slot")
				<-time.After(time.Second)
				told := func() map[channels.ChatID]int {
					n := map[channels.ChatID]int{}
					for _, d := range g.deliveries() {
						if strings.Contains(d.Text, "Too many messages") {
							n[d.To.Chat]++
						}
					}
					return n
				}
				flood := func() {
					for range 4 {
						<-time.After(time.Second)
						g.say(direct("a"), guest, "from a")
						g.say(direct("b"), "3003", "from b")
					}
				}
				flood() // nothing has begun
				if n := told(); n["a"] != 1 || n["b"] != 1 {
					t.Errorf("told %v", n)
				}
				queued, err := g.r.queued(t.Context(), "agent:main:main")
				if err != nil || len(queued) != 4 {
					t.Errorf("%d wait, %v", len(queued), err)
				}
				<-time.After(5 * time.Minute)
				flood() // the first of them is at work
				flood()
				if n := told(); n["a"] != 2 || n["b"] != 2 {
					t.Errorf("told %v in the end", n)
				}
			})
		})
	}
}
