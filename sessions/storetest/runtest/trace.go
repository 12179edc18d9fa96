package runtest

import (
	"time"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

func trace(f *fixture.Store) {
	a := f.MustAccept(fixture.NewArrival("1", "100", "q"))
	f.MustClaim(fixture.Key("1"))
	call, m := fixture.Assistant("let me see"), fixture.Assistant("answer")
	f.OK(f.Record(f.Context(), a.Run.ID, call, fixture.ToolResult("c", "r")))
	d := fixture.NewDelivery(fixture.Key("1"), fixture.Address("1"), "answer")
	d.Run, d.Message = a.Run.ID, m.ID
	f.MustFinish(a.Run.ID, sessions.Outcome{Messages: []sessions.Message{m}, Deliveries: []sessions.Delivery{d}})
	f.Deliver(d.ID)
	for _, id := range []string{"100", string(a.Run.ID), string(d.ID), m.ID, a.Run.Input.ID} {
		list, err := f.Trace(f.Context(), id)
		f.OK(err)
		if len(list) != 1 {
			f.Fatalf("%s: %d paths", id, len(list))
		}
		x := list[0]
		if x.Run == nil || x.Run.ID != a.Run.ID || len(x.Steps) != 3 || len(x.Deliveries) != 1 || x.Deliveries[0].State != sessions.Sent || len(x.Deliveries[0].Receipts) != 1 || x.Address != fixture.Address("1") && id == "100" {
			f.Errorf("%s: %+v", id, x)
		}
	}
	// A command: no run, its answer.
	cmd := fixture.NewArrival("2", "100", "/status")
	cmd.Change.Run = nil
	cmd.Change.Ops = []sessions.Op{sessions.EnqueueDelivery(fixture.NewDelivery(fixture.Key("2"), fixture.Address("2"), "fine"))}
	made := f.MustAccept(cmd).Deliveries[0]
	f.MustAccept(sessions.Arrival{In: cmd.In, Skip: &sessions.Skip{Reason: "again"}}) // a duplicate leaves no trace
	list, err := f.Trace(f.Context(), "100")
	f.OK(err)
	if len(list) != 2 || list[0].Run != nil || len(list[0].Deliveries) != 1 || list[0].Address != fixture.Address("2") {
		f.Errorf("%+v", list)
	}
	if list, err = f.Trace(f.Context(), string(made.ID)); err != nil || len(list) != 1 || list[0].Source != "100" {
		f.Error(list, err)
	}
	skip := sessions.Arrival{In: fixture.NewArrival("3", "200", "x").In, Skip: &sessions.Skip{Reason: "not mentioned"}}
	f.MustAccept(skip)
	if list, err = f.Trace(f.Context(), "200"); err != nil || len(list) != 1 || list[0].Skip != "not mentioned" {
		f.Error(list, err)
	}
	if list, err = f.Trace(f.Context(), "nothing"); err != nil || len(list) != 0 {
		f.Error(list, err)
	}
}

// What the bot sent is found by the number that the platform gave it.
func traceReceipt(f *fixture.Store) {
	arrive := func(d sessions.DeliveryID, ids ...channels.MessageID) {
		f.MustBeginSend(d)
		for i, x := range ids {
			f.OK(f.PartSent(f.Context(), d, channels.Receipt{ID: x, At: time.Now()}, i == len(ids)-1))
		}
	}
	a := f.MustAccept(fixture.NewArrival("1", "100", "q"))
	f.MustClaim(fixture.Key("1"))
	long, copied := fixture.NewDelivery(fixture.Key("1"), fixture.Address("1"), "long answer"), fixture.NewDelivery(fixture.Key("1"), fixture.Address("2"), "long answer")
	long.Run, copied.Run = a.Run.ID, a.Run.ID
	f.MustFinish(a.Run.ID, sessions.Outcome{Deliveries: []sessions.Delivery{long, copied}})
	arrive(long.ID, "901", "902")
	arrive(copied.ID, "902") // another chat, the same number
	cmd := fixture.NewArrival("2", "101", "/status")
	cmd.Change.Run, cmd.Change.Ops = nil, []sessions.Op{sessions.EnqueueDelivery(fixture.NewDelivery(fixture.Key("2"), fixture.Address("2"), "fine"))}
	arrive(f.MustAccept(cmd).Deliveries[0].ID, `9"03`)
	alone := f.QueueDelivery(fixture.NewDelivery("", fixture.Address("3"), "code"))
	arrive(alone.ID, "904")
	for _, id := range []string{"901", "902"} {
		list, err := f.Trace(f.Context(), id)
		f.OK(err)
		if len(list) != 1 || list[0].Run == nil || list[0].Run.ID != a.Run.ID || len(list[0].Deliveries) != 2 {
			f.Errorf("%s: %+v", id, list)
		}
	}
	if list, err := f.Trace(f.Context(), `9"03`); err != nil || len(list) != 1 || list[0].Source != "101" || len(list[0].Deliveries) != 1 {
		f.Error(list, err)
	}
	if list, err := f.Trace(f.Context(), "904"); err != nil || len(list) != 1 || len(list[0].Deliveries) != 1 || list[0].Deliveries[0].ID != alone.ID {
		f.Error(list, err)
	}
	// A message of a person that has the same number in another chat comes first and hides none; parts of a number are none.
	b := f.MustAccept(fixture.NewArrival("5", "904", "q"))
	if list, err := f.Trace(f.Context(), "904"); err != nil || len(list) != 2 || list[0].Run == nil || list[0].Run.ID != b.Run.ID || len(list[1].Deliveries) != 1 || list[1].Deliveries[0].ID != alone.ID {
		f.Error(list, err)
	}
	for _, id := range []string{"", "90", "01", "03"} {
		if list, err := f.Trace(f.Context(), id); err != nil || len(list) != 0 {
			f.Error(id, list, err)
		}
	}
}

// chainStep is a run of the chain that began with root.
func chainStep(k sessions.Key, kind sessions.RunKind, id, root, text string) *sessions.Run {
	r := fixture.NewRun(k, text)
	r.ID, r.Kind, r.Reply, r.Source = sessions.RunID(id), kind, channels.Address{}, "tool:r:c"
	r.Chain = &sessions.Chain{Kind: "spawn", Root: sessions.RunID(root), Requester: fixture.Key("1"), Target: k, Origin: fixture.Address("1")}
	return r
}

// Whichever run of a chain is asked for, the whole chain is shown, oldest first: how it ended is in its last runs.
//
// proves: N15
func traceChain(f *fixture.Store) {
	chat, child := fixture.Key("1"), sessions.Key("agent:main:subagent:c")
	f.MakeSession(chat)
	at := &sessions.Session{Key: child, Agent: "main", SpawnedBy: chat}
	f.MustSubmit(sessions.Change{IdempotencyKey: "tool:r:c", Session: &sessions.Target{Session: *at}, Run: &sessions.Enqueue{Run: *chainStep(child, sessions.ChildRun, "one", "one", "task")}})
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: *at}, Run: &sessions.Enqueue{Run: *chainStep(child, sessions.ChildRun, "other", "other", "of another chain")}})
	f.MustClaim(child)
	f.MustFinish("one", sessions.Outcome{Messages: []sessions.Message{fixture.Assistant("done")}, Next: &sessions.Change{Session: &sessions.Target{Session: *at}, Run: &sessions.Enqueue{Run: *chainStep(child, sessions.AnnounceRun, "two", "one", "announce")}}})
	f.MustFinish(f.MustClaim(child).ID, sessions.Outcome{Messages: []sessions.Message{fixture.Assistant("aside")}})
	f.MustClaim(child)
	said, d := fixture.Assistant("report"), fixture.NewDelivery(chat, fixture.Address("1"), "report")
	d.Run, d.Message = "two", said.ID
	post := fixture.NewRun(chat, "report")
	post.ID, post.Kind = "post", sessions.PostRun
	f.MustFinish("two", sessions.Outcome{Messages: []sessions.Message{said}, Result: "report", Deliveries: []sessions.Delivery{d}, Next: &sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: chat, Agent: "main"}}, Run: &sessions.Enqueue{Run: *post}}})
	f.MustBeginSend(d.ID)
	f.OK(f.PartSent(f.Context(), d.ID, channels.Receipt{ID: "901"}, true))

	for _, id := range []string{"one", "two", string(d.ID), said.ID, "tool:r:c", "901"} {
		list, err := f.Trace(f.Context(), id)
		f.OK(err)
		f.Equal(ranIn(list), []sessions.RunID{"one", "two"})
		first, last := list[0], list[1]
		if first.Source != "tool:r:c" || len(first.Steps) != 1 || len(first.Deliveries) != 0 || first.Run.Kind != sessions.ChildRun {
			f.Errorf("%s: the chain begins with %+v", id, first)
		}
		if last.Run.Result != "report" || len(last.Steps) != 1 || len(last.Deliveries) != 1 || last.Deliveries[0].State != sessions.Sent {
			f.Errorf("%s: the chain ends with %+v", id, last)
		}
	}
	for _, id := range []string{"other", "post"} { // another chain, and none
		list, err := f.Trace(f.Context(), id)
		f.OK(err)
		f.Equal(ranIn(list), []sessions.RunID{sessions.RunID(id)})
	}
	for root, want := range map[sessions.RunID][]sessions.RunID{"one": {"two", "one"}, "other": {"other"}, "two": nil} {
		runs, err := f.ListRuns(f.Context(), sessions.RunQuery{Root: root})
		f.OK(err)
		var got []sessions.RunID
		for _, r := range runs {
			got = append(got, r.ID)
		}
		f.Equal(got, want)
	}
	for run, want := range map[sessions.RunID]int{"two": 1, "one": 0, "post": 0, "nobody": 0} {
		list, err := f.ListDeliveries(f.Context(), sessions.DeliveryQuery{Run: run})
		f.OK(err)
		f.Equal(len(list), want)
	}
}

// A message's id leads to what its turn's tools began, and that of a message that was sent to the turn whose tool began it. The ids of the
// runs lead to their own chains.
func traceWide(f *fixture.Store) {
	chat, child := fixture.Key("1"), sessions.Key("agent:main:subagent:c")
	turn := f.MustAccept(fixture.NewArrival("1", "100", "q")).Run.ID
	f.MustClaim(chat)
	asks := fixture.Assistant("")
	asks.Content = []sessions.Block{{Type: sessions.ToolCallBlock, ID: "c", Name: "sessions_spawn"}}
	f.OK(f.Record(f.Context(), turn, asks))
	task := chainStep(child, sessions.ChildRun, "one", "one", "task")
	task.Source = "tool:" + string(turn) + ":c"
	f.MustSubmit(sessions.Change{IdempotencyKey: task.Source, Session: &sessions.Target{Session: sessions.Session{Key: child, Agent: "main", SpawnedBy: chat}}, Run: &sessions.Enqueue{Run: *task}})
	f.OK(f.Record(f.Context(), turn, fixture.ToolResult("c", "accepted")))
	f.MustFinish(turn, sessions.Outcome{Messages: []sessions.Message{fixture.Assistant("on it")}})
	f.MustClaim(child)
	d := fixture.NewDelivery(chat, fixture.Address("1"), "report")
	d.Run = "one"
	f.MustFinish("one", sessions.Outcome{Deliveries: []sessions.Delivery{d}})
	f.MustBeginSend(d.ID)
	f.OK(f.PartSent(f.Context(), d.ID, channels.Receipt{ID: "901"}, true))
	for id, want := range map[string][]sessions.RunID{"100": {turn, "one"}, "901": {"one", turn}, "one": {"one"}, string(turn): {turn}, string(d.ID): {"one"}} {
		list, err := f.Trace(f.Context(), id)
		f.OK(err)
		f.Equal(ranIn(list), want)
	}
}

// A chain whose first session was deleted is found by its first run all the same.
//
// proves: N14, N15
func traceDeleted(f *fixture.Store) {
	chat, child := fixture.Key("1"), sessions.Key("agent:main:subagent:c")
	f.MakeSession(chat)
	f.MustSubmit(sessions.Change{IdempotencyKey: "tool:r:c", Session: &sessions.Target{Session: sessions.Session{Key: child, Agent: "main"}}, Run: &sessions.Enqueue{Run: *chainStep(child, sessions.ChildRun, "one", "one", "task")}})
	f.MustClaim(child)
	f.MustFinish("one", sessions.Outcome{Next: &sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: chat, Agent: "main"}}, Run: &sessions.Enqueue{Run: *chainStep(chat, sessions.ResultRun, "two", "one", "result")}}})
	f.MustFinish(f.MustClaim(chat).ID, sessions.Outcome{Delete: &child})
	list, err := f.Trace(f.Context(), "one")
	f.OK(err)
	f.Equal(ranIn(list), []sessions.RunID{"two"})
	list, err = f.Trace(f.Context(), "tool:r:c")
	f.OK(err)
	f.Equal(ranIn(list), []sessions.RunID{"", "two"})
	f.Equal(list[0].Source, "tool:r:c")
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
