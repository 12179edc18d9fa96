package killtest

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
	"parley/policy"
	"parley/router"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// The chats of the stories in which a chat moves: by their old ids, and by the new ones.
var (
	oldGroup, newGroup   = routertest.Group("-5"), routertest.Group("-1005")
	oldPerson, newPerson = routertest.Direct(hiddenID), routertest.Direct("15550100004@s.whatsapp.net")
)

// A person of WhatsApp whose number is hidden at first, by the ids that the adapter gives.
const (
	hiddenID = "100000000000001@lid"
	numberID = "+15550100004"
)

// changeStory is a story in which what is under way changes: a message, what belongs to it, or the chat.
type changeStory struct {
	scenario
	from, to channels.Address // the chat moves, in the event "moved"
	silent   bool             // nothing is shown once it has
}

// echoes thinks a while and says what it was asked, all of it.
func echoes(ctx context.Context, s routertest.Step) (agent.Answer, error) {
	if !channels.Sleep(ctx, 10*time.Second) {
		return agent.Answer{}, ctx.Err()
	}
	return routertest.Text("→ " + s.Said), nil
}

func inEvent(event channels.Event, target channels.MessageID) func(*channels.Inbound) {
	return func(in *channels.Inbound) { in.Event, in.Target = event, target }
}

func forwarded(in *channels.Inbound) { in.Forwarded, in.Origin = true, "Ann" }

func byHand(in *channels.Inbound) { in.SentByThisLogin, in.ByHand = true, true }

func movedTo(now channels.Address) func(*channels.Inbound) {
	return func(in *channels.Inbound) { in.Event, in.MovedTo = channels.Moved, now.Chat }
}

// moving is a chat that moves while a message is running, one waits for its turn, and answers wait for the platform; a job speaks there. With
// both, somebody has written under the new id before.
func moving(name string, from, to channels.Address, was, now string, both bool) *changeStory {
	c := &changeStory{from: from, to: to, scenario: scenario{name: name, set: func(s *settings.Snapshot) {
		routertest.EachAlone(s)
		s.Session.DMScope = sessions.PerChannelPeer
	}, answer: echoes, script: []channeltest.Step{{Op: channeltest.OpSend, Err: routertest.Failure(channels.Transient, 0)}, {Op: channeltest.OpSend, Err: routertest.Failure(channels.Limited, 9*time.Second)}},
		prepare: func(ctx context.Context, store sessions.Store) error {
			_, err := store.Submit(ctx, sessions.Change{IdempotencyKey: "job", Ops: []sessions.Op{sessions.PutJob{ID: "j", Agent: "main", Every: time.Hour, Message: "x", To: from, Next: routertest.Epoch.Add(240 * time.Hour)}}})
			return err
		}}}
	c.moves = []move{{id: "m1", to: from, by: was, text: "one"}, {id: "m2", at: 4 * time.Second, to: from, by: was, text: "two"},
		{id: "m3", at: 5 * time.Second, to: from, by: was, text: "three"}, {id: "moved", at: 12 * time.Second, to: from, by: now, in: movedTo(to)},
		{id: "m4", at: 30 * time.Second, to: to, by: now, text: "four"}}
	if both {
		c.name += ", both are known"
		c.moves = slices.Insert(c.moves, 2, move{id: "m5", at: 4500 * time.Millisecond, to: to, by: now, text: "five"})
	}
	return c
}

// silenced is a chat that its owner or the API has silenced, by either id, before it moves.
func silenced(name string, from, to channels.Address, was, now string, by channels.Address) *changeStory {
	c := &changeStory{from: from, to: to, silent: true, scenario: scenario{name: name + ", silenced as " + string(by.Chat), answer: echoes, set: routertest.WithDMScope(sessions.PerChannelPeer)}}
	c.moves = []move{{id: "m1", to: from, by: was, text: "one"}, {id: "m2", to: to, by: now, text: "two"},
		{id: "off", at: 30 * time.Second, to: by, by: routertest.Owner, text: "off", do: func(ctx context.Context, r *router.Router) error {
			deny := policy.Deny
			person := was
			if by == to {
				person = now
			}
			_, err := r.Patch(ctx, r.Key(channels.Inbound{Address: by, Sender: channels.Sender{ID: channels.UserID(person)}}), sessions.Patch{SendPolicy: &deny})
			return err
		}},
		{id: "moved", at: 40 * time.Second, to: from, by: now, in: movedTo(to)}, {id: "m3", at: 50 * time.Second, to: to, by: now, text: "three"}}
	return c
}

func changes() []*changeStory {
	paste := strings.Repeat("word ", 4096/5)
	return []*changeStory{
		{scenario: scenario{name: "edited while it is answered", answer: echoes, moves: []move{{id: "m1", to: routertest.ChatA, by: routertest.Guest, text: "what is 2+2?"},
			{id: "d1", at: 4 * time.Second, to: routertest.ChatA, by: routertest.Guest, text: "what is 2+3?", in: inEvent(channels.Edited, "m1")},
			{id: "m2", at: 40 * time.Second, to: routertest.ChatA, by: routertest.Guest, text: "thanks"}}}},
		{scenario: scenario{name: "edited while it waits, and again", set: routertest.EachAlone, answer: echoes, moves: []move{{id: "m1", to: routertest.ChatA, by: routertest.Guest, text: "work"},
			{id: "m2", at: time.Second, to: routertest.ChatA, by: routertest.Guest, text: "what is 2+2?"},
			{id: "d1", at: 2 * time.Second, to: routertest.ChatA, by: routertest.Guest, text: "what is 2+3?", in: inEvent(channels.Edited, "m2")},
			{id: "d2", at: 15 * time.Second, to: routertest.ChatA, by: routertest.Guest, text: "what is 2+4?", in: inEvent(channels.Edited, "m2")},
			{id: "m3", at: 40 * time.Second, to: routertest.ChatA, by: routertest.Guest, text: "thanks"}}}},
		{scenario: scenario{name: "comment and forward", set: routertest.EachAlone, answer: echoes, moves: []move{{id: "m1", to: routertest.ChatA, by: routertest.Guest, text: "what do you think?"},
			{id: "m2", at: 300 * time.Millisecond, to: routertest.ChatA, by: routertest.Guest, text: "we offer you 50k", in: forwarded},
			{id: "m3", at: 900 * time.Millisecond, to: routertest.ChatA, by: routertest.Guest, text: "and 60k", in: forwarded}}}},
		{scenario: scenario{name: "forward, then its comment", set: routertest.EachAlone, answer: echoes, moves: []move{{id: "m1", to: routertest.ChatA, by: routertest.Guest, text: "we offer you 50k", in: forwarded},
			{id: "m2", at: 600 * time.Millisecond, to: routertest.ChatA, by: routertest.Guest, text: "what do you think?"}}}},
		{scenario: scenario{name: "a paste in parts", set: routertest.EachAlone, answer: echoes, limits: channels.Limits{Received: 4096}, moves: []move{{id: "m1", to: routertest.ChatA, by: routertest.Guest, text: "first " + paste[:4000]},
			{id: "m2", at: 300 * time.Millisecond, to: routertest.ChatA, by: routertest.Guest, text: "second " + paste[:4000]}, {id: "m3", at: 600 * time.Millisecond, to: routertest.ChatA, by: routertest.Guest, text: "end of it"}}}},
		{scenario: scenario{name: "written by hand", answer: echoes, moves: []move{{id: "m1", to: routertest.ChatA, by: routertest.Guest, text: "one"},
			{id: "d1", at: 4 * time.Second, to: routertest.ChatA, by: routertest.Owner, text: "I am on it", in: byHand}, {id: "m2", at: 40 * time.Second, to: routertest.ChatA, by: routertest.Guest, text: "two"}}}},
		moving("a group", oldGroup, newGroup, routertest.Guest, routertest.Guest, false), moving("a group", oldGroup, newGroup, routertest.Guest, routertest.Guest, true),
		moving("a person", oldPerson, newPerson, hiddenID, numberID, false), moving("a person", oldPerson, newPerson, hiddenID, numberID, true),
		silenced("a group", oldGroup, newGroup, routertest.Guest, routertest.Guest, newGroup), silenced("a person", oldPerson, newPerson, hiddenID, numberID, oldPerson),
	}
}

// TestKillWhileItChanges takes an image at each commit of a story in which a message is changed, gets another part, or its chat moves, and goes
// on from each with a new process. Each message is answered once; a change is answered or told with the next turn, never both; a gesture is one
// turn, or each of its parts is answered; a chat that has moved takes along what waits, its job and its silence.
//
// proves: N15, P4
func TestKillWhileItChanges(t *testing.T) {
	t.Parallel()
	base := beginning(t)
	for _, c := range changes() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, im := range tellChange(t, c, base, true) {
				if routertest.Racing && im.n%16 > 0 || im.op == "Index" {
					continue
				}
				t.Run(im.name(), func(t *testing.T) {
					t.Parallel()
					tellChange(t, c, im, false)
				})
			}
		})
	}
}

// tellChange continues with a story from an image, and judges what comes of it.
func tellChange(t *testing.T, c *changeStory, from *image, record bool) (images []*image) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := live(t, &c.scenario, from, routertest.Repeats, record)
		a := l.look()
		a.judgeAnswered(c)
		a.judgeTold(l)
		if !c.from.IsZero() {
			a.judgeMoved(c, l)
		}
		l.stop()
		if t.Failed() {
			for _, r := range a.runs {
				t.Logf("run %s in %s %q: %s, batch %q, attempt %d, revised %v %s", r.ID, r.Key, routertest.Shortened(r.Input.Text()), r.Status, r.MergedInto, r.Attempt, r.Revised, r.Error)
			}
			for _, d := range a.deliveries {
				t.Logf("delivery of %s to %s: %s %q %s", d.Session, d.To, d.State, routertest.Shortened(d.Text), d.Error)
			}
			for _, x := range a.shown {
				t.Logf("%s shows %q", x.To, routertest.Shortened(x.Out.Text))
			}
		}
		images, _ = l.distinct()
	})
	return images
}

// judgeAnswered: each message stands once in a transcript and has one turn, which has one answer; that knows the newest message of its turn.
func (a *aftermath) judgeAnswered(c *changeStory) {
	a.Helper()
	byID, said, replies := map[sessions.RunID]sessions.Run{}, map[string]int{}, map[sessions.RunID][]sessions.Delivery{}
	for _, r := range a.runs {
		byID[r.ID] = r
	}
	for _, msgs := range a.texts {
		for _, m := range msgs {
			if m.Role == sessions.User && m.Provenance != nil {
				said[m.Provenance.Message]++
			}
		}
	}
	for _, d := range a.deliveries {
		if !d.State.Final() || d.State == sessions.DeliveryFail {
			a.Errorf("%q is %s", d.Text, d.State)
		}
		replies[d.Run] = append(replies[d.Run], d)
	}
	shown := map[string]int{}
	for _, x := range a.shown {
		shown[x.Out.Key]++
	}
	answered := map[sessions.RunID][]string{}
	for _, m := range c.moves {
		if !strings.HasPrefix(string(m.id), "m") || m.id == "moved" {
			continue
		}
		i := slices.IndexFunc(a.runs, func(r sessions.Run) bool { return r.Source == string(m.id) })
		if i < 0 || said[string(m.id)] != 1 {
			a.Errorf("%s has a run: %v, and stands in the transcripts %d times", m.id, i >= 0, said[string(m.id)])
			continue
		}
		lead := a.runs[i]
		for lead.MergedInto != "" {
			lead = byID[lead.MergedInto]
		}
		if lead.Status != sessions.Done || len(replies[lead.ID]) != 1 {
			a.Errorf("%s: %s, %d answers", m.id, lead.Status, len(replies[lead.ID]))
			continue
		}
		if d := replies[lead.ID][0]; d.State == sessions.Sent && (shown[string(d.ID)+".0"] == 0 || shown[string(d.ID)+".0"] > 1 && !d.Repeat) {
			a.Errorf("%q is shown %d times, marked as a repeat %v", d.Text, shown[string(d.ID)+".0"], d.Repeat)
		}
		answered[lead.ID] = append(answered[lead.ID], a.runs[i].Input.Text())
	}
	for id, texts := range answered {
		if d := replies[id][0]; !strings.Contains(d.Text, texts[len(texts)-1]) {
			a.Errorf("the answer %q is none to %q", routertest.Shortened(d.Text), texts)
		}
	}
}

// judgeTold: the newest change of a message stands in it or is told once with a turn, one before that at most; so is what is written by hand.
func (a *aftermath) judgeTold(l *life) {
	a.Helper()
	newest := map[channels.MessageID]channels.MessageID{}
	for _, m := range l.sc.moves {
		newest[targetOfMove(m)] = m.id
	}
	for _, m := range l.sc.moves {
		if !strings.HasPrefix(string(m.id), "d") {
			continue
		}
		n := 0
		for _, r := range a.runs {
			n += strings.Count(r.Input.Text(), m.text)
			for _, line := range routertest.Told(r.Input) {
				n += strings.Count(line, ": \""+m.text)
			}
		}
		if n > 1 || n == 0 && newest[targetOfMove(m)] == m.id {
			a.Errorf("the change %q is told %d times", m.text, n)
		}
	}
}

// targetOfMove is the message that a move changes, or its own.
func targetOfMove(m move) channels.MessageID {
	in := channels.Inbound{Target: m.id}
	if m.in != nil {
		m.in(&in)
	}
	return in.Target
}

// judgeMoved: once a chat has moved nothing goes to its old id, its job speaks at the new one, and one that was silenced is silent.
func (a *aftermath) judgeMoved(c *changeStory, l *life) {
	a.Helper()
	if l.from.taken["moved"] {
		for _, x := range l.fake.Calls() {
			if x.To.Chat == c.from.Chat && x.At.After(l.began) {
				a.Errorf("%s %q goes to the old id", x.Op, x.Out.Text)
			}
		}
	}
	if c.silent {
		for _, d := range a.deliveries {
			if strings.Contains(d.Text, "three") && (d.State != sessions.Withheld || d.Verdict == nil) {
				a.Errorf("the chat was silenced, and %q is %s", d.Text, d.State)
			}
		}
		if text := fmt.Sprint(l.fake.Texts(c.to)); strings.Contains(text, "three") {
			a.Errorf("the chat was silenced, and %s is shown", text)
		}
		return
	}
	if j, err := l.store.GetJob(l.t.Context(), "j"); err != nil || j.To != c.to {
		a.Errorf("the job speaks in %s, %v", j.To, err)
	}
	if at := l.r.Settings().Moved.Current(c.from); at != c.to {
		a.Errorf("the chat is at %s for the host", at)
	}
}
