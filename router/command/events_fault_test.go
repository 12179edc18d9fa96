package command_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/routertest"
	"parley/sessions"
)

// TestFaultRepeatedUpdates delivers every update up to five times, in any order that keeps that of the first deliveries in a chat, over
// restarts, and all of them once more after a week: each is one turn and one answer.
//
// proves: D2
func TestFaultRepeatedUpdates(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		const chats = 4
		each := channeltest.Times(8, 150)
		rnd := rand.New(rand.NewPCG(3, 3))
		g := routertest.New(t, channeltest.Options{Limits: channels.Limits{Idempotent: true}}, routertest.EachAlone)
		var all []channels.Inbound
		waiting := make([][]channels.Inbound, chats) // what is still to come of each chat, repeats included
		for c := range chats {
			to := routertest.Direct(fmt.Sprint("chat", c))
			if c%2 == 1 {
				to = routertest.Group(fmt.Sprint("chat", c))
			}
			var queue []channels.Inbound
			for i := range each {
				in := channels.Inbound{Event: channels.Message, ID: channels.MessageID(fmt.Sprint(i)), Address: to, Sender: routertest.Person(routertest.Guest), Mentioned: true, Time: time.Now(), Text: fmt.Sprintf("message %d of %s.", i, to.Chat)}
				all, queue = append(all, in), append(queue, in)
				for range rnd.IntN(5) { // anywhere behind it
					at := slices.IndexFunc(queue, func(q channels.Inbound) bool { return q.ID == in.ID }) + 1
					at += rnd.IntN(len(queue) - at + 1)
					queue = slices.Insert(queue, at, in)
				}
			}
			waiting[c] = firstsInOrder(queue)
		}
		for c := 0; c >= 0; c = someChat(rnd, waiting) {
			if len(waiting[c]) > 0 {
				if err := g.Router.Receiver.Accept(t.Context(), waiting[c][0]); err != nil {
					t.Fatal(err)
				}
				waiting[c] = waiting[c][1:]
			}
			if rnd.IntN(30) == 0 { // whatever is under way
				g.Stop()
				g.Start()
			}
		}
		g.Until("all is answered", g.AllOver)
		g.Deliveries()
		asked := g.Model.Count()
		g.Stop()
		<-time.After(7 * 24 * time.Hour)
		g.Start()
		<-time.After(time.Hour) // what is old is forgotten meanwhile
		rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, in := range all {
			if err := g.Router.Receiver.Accept(t.Context(), in); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if n := g.Model.Count(); n != asked {
			t.Errorf("%d more model calls after a week", n-asked)
		}
		onceEach(g, all)
	})
}

// firstsInOrder puts the first deliveries of a chat's updates in their order; repeats stay where they are.
func firstsInOrder(queue []channels.Inbound) (out []channels.Inbound) {
	var firsts []channels.Inbound
	for _, in := range queue {
		if !slices.ContainsFunc(firsts, func(f channels.Inbound) bool { return f.ID == in.ID }) {
			firsts = append(firsts, in)
		}
	}
	slices.SortStableFunc(firsts, func(a, b channels.Inbound) int { return number(a.ID) - number(b.ID) })
	seen := map[channels.MessageID]bool{}
	for _, in := range queue {
		if !seen[in.ID] && len(firsts) > 0 && in.ID != firsts[0].ID {
			continue // it comes later, in its place
		}
		if !seen[in.ID] {
			firsts = firsts[1:]
		}
		seen[in.ID] = true
		out = append(out, in)
	}
	return append(out, firsts...)
}

func number(id channels.MessageID) (n int) {
	_, _ = fmt.Sscan(string(id), &n)
	return n
}

// someChat picks a chat from which there is more to come; -1 when there is none.
func someChat(rnd *rand.Rand, waiting [][]channels.Inbound) int {
	if !slices.ContainsFunc(waiting, func(q []channels.Inbound) bool { return len(q) > 0 }) {
		return -1
	}
	return rnd.IntN(len(waiting))
}

// onceEach checks that every message has one run, stands once in a transcript, and has one answer.
func onceEach(g *routertest.Rig, all []channels.Inbound) {
	g.T.Helper()
	runs, err := g.Store.ListRuns(g.T.Context(), sessions.RunQuery{Limit: 100000})
	if err != nil {
		g.T.Fatal(err)
	}
	turns, answers, read := map[string]int{}, map[string]int{}, map[string]int{}
	keys := map[sessions.Key]bool{}
	for _, r := range runs {
		turns[r.Input.Provenance.Address.String()+" "+r.Source]++
		keys[r.Key] = true
	}
	for key := range keys {
		for _, m := range g.Transcript(key) {
			if m.Role == sessions.User {
				read[m.Text()[strings.Index(m.Text(), "message "):]]++
			}
		}
	}
	for _, c := range g.Fake.Shown(channels.Address{}) {
		answers[c.Out.Text[strings.Index(c.Out.Text, "message "):]]++
	}
	for _, in := range all {
		if a, b, c := turns[in.Address.String()+" "+string(in.ID)], read[in.Text], answers[in.Text]; a != 1 || b != 1 || c != 1 {
			g.T.Errorf("%q: %d runs, %d times in the transcript, %d answers", in.Text, a, b, c)
		}
	}
	if len(runs) != len(all) {
		g.T.Errorf("%d runs for %d messages", len(runs), len(all))
	}
}

// TestFaultEventsChangeNothing has everybody cause every event that is no message, in every kind of chat, with words that would be
// commands, about messages of every kind: no run, no command, no notice, no setting comes of it, and of people who are not let in
// nothing at all.
func TestFaultEventsChangeNothing(t *testing.T) {
	topic, room := routertest.Group("t"), routertest.Direct("r")
	topic.Thread, room.Type = "7", channels.Room
	for _, w := range writers() {
		if w.name == "edited by an owner" {
			continue // all of them are events here
		}
		for kind, to := range map[string]channels.Address{"direct": routertest.Direct(string(w.sender.ID)), "group": routertest.Group("g"), "topic": topic, "channel": room} {
			if routertest.Racing && (kind == "group" || kind == "channel") {
				continue // they run without the race detector
			}
			if w.open && kind == "direct" {
				continue
			}
			t.Run(w.name+"/"+kind, func(t *testing.T) {
				routertest.Bubble(t, func(t *testing.T) { newEventRig(t, w, to).all() })
			})
		}
	}
}

type eventRig struct {
	*tableRig
	targets []channels.MessageID
	n       int
}

func newEventRig(t *testing.T, w writer, to channels.Address) *eventRig {
	t.Helper()
	x := &eventRig{tableRig: newTableRig(t, w, to)}
	a := x.Settings.Accounts[routertest.Account]
	a.Access.DMPolicy = policy.DMPairing
	x.Settings.Accounts[routertest.Account] = a
	if err := x.Router.Apply(t.Context(), x.Settings); err != nil {
		t.Fatal(err)
	}
	// What is there: a message with its answer, a command with its answer, and talk among people.
	for _, words := range []string{"hello", "/whoami"} {
		x.targets = append(x.targets, x.Say(to, routertest.Owner, words).ID)
		x.events++
	}
	x.targets = append(x.targets, x.Talk(to, routertest.Owner, "a word").ID, "unknown", "")
	x.events++
	x.Taken(x.events)
	x.quiet()
	for _, c := range x.Fake.Shown(to) {
		x.targets = append(x.targets, c.Receipt.ID)
	}
	return x
}

// state is all that events must leave alone.
func (x *eventRig) state() (out []any) {
	x.T.Helper()
	x.quiet()
	list, err := x.Store.List(x.T.Context(), sessions.Query{Limit: 100})
	if err != nil {
		x.T.Fatal(err)
	}
	for _, s := range list {
		s.Title, s.Updated = "", time.Time{}
		out = append(out, s)
	}
	waiting, err := x.Store.Pairings(x.T.Context(), time.Now())
	if err != nil {
		x.T.Fatal(err)
	}
	return append(out, x.Runs(), x.Deliveries(), waiting, x.Model.Count(), x.Fake.Calls())
}

func (x *eventRig) all() {
	before := x.state()
	words := []string{"/send off", "/stop", "stop", "/new", "/pair", "/activation always", "hello @m", ""}
	rnd := rand.New(rand.NewPCG(15, uint64(len(x.w.name))))
	for _, kind := range []channels.Event{channels.Edited, channels.Deleted, channels.Reacted, channels.Joined, channels.Left, channels.Renamed, channels.Moved, channels.Unreadable, "pinned"} {
		for _, target := range x.targets {
			for _, i := range rnd.Perm(len(words))[:channeltest.Times(2, len(words))] {
				x.n++
				in := channels.Inbound{Event: kind, Address: x.to, ID: channels.MessageID(fmt.Sprint("event", x.n)), Sender: x.w.sender, Time: time.Now(),
					Text: words[i], Emoji: words[i], Title: words[i], Target: target, People: []channels.Sender{x.w.sender}, Mentioned: true}
				if x.w.edit != nil {
					x.w.edit(&in)
				}
				for range 2 {
					if err := x.Router.Receiver.Accept(x.T.Context(), in); err != nil {
						x.T.Fatal(err)
					}
				}
			}
		}
		if diff := cmp.Diff(before, x.state(), cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) }), cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) })); diff != "" {
			x.T.Fatalf("%s has changed something: %s", kind, diff)
		}
	}
	lines, err := x.Store.ContextLines(x.T.Context(), x.key)
	if err != nil {
		x.T.Fatal(err)
	}
	events := slices.DeleteFunc(lines, func(l sessions.ContextLine) bool { return l.Event == "" })
	if let := x.w.may != nil || x.w.text; let == (len(events) == 0) || len(events) > 50 {
		x.T.Errorf("let in: %t, and %d lines", let, len(events))
	}
}
