package storetest

import (
	"testing"

	"parley/channels"
	"parley/sessions"
)

// step is a run of the chain that began with root.
func step(k sessions.Key, kind sessions.RunKind, id, root, text string) *sessions.Run {
	r := newRun(k, text)
	r.ID, r.Kind, r.Reply, r.Source = sessions.RunID(id), kind, channels.Address{}, "tool:r:c"
	r.Chain = &sessions.Chain{Kind: "spawn", Root: sessions.RunID(root), Requester: key("1"), Target: k, Origin: addr("1")}
	return r
}

// Whichever run of a chain is asked for, the whole chain is shown, oldest first: how it ended is in its last runs.
//
// proves: N15
func traceChain(_ *testing.T, f *fixture) {
	chat, child := key("1"), sessions.Key("agent:main:subagent:c")
	f.session(chat)
	at := &sessions.Session{Key: child, Agent: "main", SpawnedBy: chat}
	f.submit(sessions.Change{IdempotencyKey: "tool:r:c", Session: &sessions.Target{Session: *at}, Run: &sessions.Enqueue{Run: *step(child, sessions.ChildRun, "one", "one", "task")}})
	f.submit(sessions.Change{Session: &sessions.Target{Session: *at}, Run: &sessions.Enqueue{Run: *step(child, sessions.ChildRun, "other", "other", "of another chain")}})
	f.claim(child)
	f.finish("one", sessions.Outcome{Messages: []sessions.Message{assistant("done")}, Next: &sessions.Change{Session: &sessions.Target{Session: *at}, Run: &sessions.Enqueue{Run: *step(child, sessions.AnnounceRun, "two", "one", "announce")}}})
	f.finish(f.claim(child).ID, sessions.Outcome{Messages: []sessions.Message{assistant("aside")}})
	f.claim(child)
	said, d := assistant("report"), delivery(chat, addr("1"), "report")
	d.Run, d.Message = "two", said.ID
	post := newRun(chat, "report")
	post.ID, post.Kind = "post", sessions.PostRun
	f.finish("two", sessions.Outcome{Messages: []sessions.Message{said}, Result: "report", Deliveries: []sessions.Delivery{d}, Next: &sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: chat, Agent: "main"}}, Run: &sessions.Enqueue{Run: *post}}})
	f.begin(d.ID)
	f.ok(f.PartSent(f.ctx, d.ID, channels.Receipt{ID: "901"}, true))

	for _, id := range []string{"one", "two", string(d.ID), said.ID, "tool:r:c", "901"} {
		list, err := f.Trace(f.ctx, id)
		f.ok(err)
		f.equal(ranIn(list), []sessions.RunID{"one", "two"})
		first, last := list[0], list[1]
		if first.Source != "tool:r:c" || len(first.Steps) != 1 || len(first.Deliveries) != 0 || first.Run.Kind != sessions.ChildRun {
			f.t.Errorf("%s: the chain begins with %+v", id, first)
		}
		if last.Run.Result != "report" || len(last.Steps) != 1 || len(last.Deliveries) != 1 || last.Deliveries[0].State != sessions.Sent {
			f.t.Errorf("%s: the chain ends with %+v", id, last)
		}
	}
	for _, id := range []string{"other", "post"} { // another chain, and none
		list, err := f.Trace(f.ctx, id)
		f.ok(err)
		f.equal(ranIn(list), []sessions.RunID{sessions.RunID(id)})
	}
	for root, want := range map[sessions.RunID][]sessions.RunID{"one": {"two", "one"}, "other": {"other"}, "two": nil} {
		runs, err := f.ListRuns(f.ctx, sessions.RunQuery{Root: root})
		f.ok(err)
		var got []sessions.RunID
		for _, r := range runs {
			got = append(got, r.ID)
		}
		f.equal(got, want)
	}
	for run, want := range map[sessions.RunID]int{"two": 1, "one": 0, "post": 0, "nobody": 0} {
		list, err := f.ListDeliveries(f.ctx, sessions.DeliveryQuery{Run: run})
		f.ok(err)
		f.equal(len(list), want)
	}
}

// A message's id leads to what its turn's tools began, and that of a message that was sent to the turn whose tool began it. The ids of the
// runs lead to their own chains.
func traceWide(_ *testing.T, f *fixture) {
	chat, child := key("1"), sessions.Key("agent:main:subagent:c")
	turn := f.accept(message("1", "100", "q")).Run.ID
	f.claim(chat)
	asks := assistant("")
	asks.Content = []sessions.Block{{Type: sessions.ToolCallBlock, ID: "c", Name: "sessions_spawn"}}
	f.ok(f.Record(f.ctx, turn, asks))
	task := step(child, sessions.ChildRun, "one", "one", "task")
	task.Source = "tool:" + string(turn) + ":c"
	f.submit(sessions.Change{IdempotencyKey: task.Source, Session: &sessions.Target{Session: sessions.Session{Key: child, Agent: "main", SpawnedBy: chat}}, Run: &sessions.Enqueue{Run: *task}})
	f.ok(f.Record(f.ctx, turn, toolResult("c", "accepted")))
	f.finish(turn, sessions.Outcome{Messages: []sessions.Message{assistant("on it")}})
	f.claim(child)
	d := delivery(chat, addr("1"), "report")
	d.Run = "one"
	f.finish("one", sessions.Outcome{Deliveries: []sessions.Delivery{d}})
	f.begin(d.ID)
	f.ok(f.PartSent(f.ctx, d.ID, channels.Receipt{ID: "901"}, true))
	for id, want := range map[string][]sessions.RunID{"100": {turn, "one"}, "901": {"one", turn}, "one": {"one"}, string(turn): {turn}, string(d.ID): {"one"}} {
		list, err := f.Trace(f.ctx, id)
		f.ok(err)
		f.equal(ranIn(list), want)
	}
}

// A chain whose first session was deleted is found by its first run all the same.
//
// proves: N14, N15
func traceDeleted(_ *testing.T, f *fixture) {
	chat, child := key("1"), sessions.Key("agent:main:subagent:c")
	f.session(chat)
	f.submit(sessions.Change{IdempotencyKey: "tool:r:c", Session: &sessions.Target{Session: sessions.Session{Key: child, Agent: "main"}}, Run: &sessions.Enqueue{Run: *step(child, sessions.ChildRun, "one", "one", "task")}})
	f.claim(child)
	f.finish("one", sessions.Outcome{Next: &sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: chat, Agent: "main"}}, Run: &sessions.Enqueue{Run: *step(chat, sessions.ResultRun, "two", "one", "result")}}})
	f.finish(f.claim(chat).ID, sessions.Outcome{Delete: &child})
	list, err := f.Trace(f.ctx, "one")
	f.ok(err)
	f.equal(ranIn(list), []sessions.RunID{"two"})
	list, err = f.Trace(f.ctx, "tool:r:c")
	f.ok(err)
	f.equal(ranIn(list), []sessions.RunID{"", "two"})
	f.equal(list[0].Source, "tool:r:c")
}

// ranIn gives the run of each path.
func ranIn(list []sessions.Trace) (ids []sessions.RunID) {
	for _, t := range list {
		id := sessions.RunID("")
		if t.Run != nil {
			id = t.Run.ID
		}
		ids = append(ids, id)
	}
	return ids
}
