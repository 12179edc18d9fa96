package storetest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
)

func accept(_ *testing.T, f *fixture) {
	a := message("1", "100", "hello")
	a.Change.Ops = []sessions.Op{sessions.EnqueueDelivery(delivery(key("1"), addr("1"), "note"))}
	first := f.accept(a)
	if first.Duplicate || first.Session.ID == "" || first.Run.Status != sessions.Queued || first.Run.Session != first.Session.ID || len(first.Deliveries) != 1 || first.Deliveries[0].Seq == 0 || first.Deliveries[0].State != sessions.Pending {
		f.t.Fatalf("%+v", first)
	}
	f.equal(f.get(key("1")), first.Session)
	f.equal(f.run(first.Run.ID), first.Run)
	f.equal(f.delivery(first.Deliveries[0].ID), first.Deliveries[0])

	// The same event again, with ids of its own: nothing changes.
	again := message("1", "100", "hello again")
	again.Change.Session.Title = "changed"
	again.Change.Ops = []sessions.Op{sessions.EnqueueDelivery(delivery(key("1"), addr("1"), "second note"))}
	again.In.Cursor = "101"
	dup := f.accept(again)
	if !dup.Duplicate || dup.Run.ID != first.Run.ID || len(dup.Deliveries) != 0 {
		f.t.Fatalf("%+v", dup)
	}
	f.equal(f.get(key("1")), first.Session)
	all, err := f.ListDeliveries(f.ctx, sessions.DeliveryQuery{})
	f.ok(err)
	f.equal(len(all), 1)
	if runs, err := f.ListRuns(f.ctx, sessions.RunQuery{}); err != nil || len(runs) != 1 {
		f.t.Fatal(runs, err)
	}

	// Another chat, another kind of event, and no id at all are not duplicates.
	other := message("2", "100", "hello")
	edited := sessions.Arrival{In: channels.Inbound{Event: channels.Edited, Address: addr("1"), ID: "100"}, Skip: &sessions.Skip{Reason: "edited"}}
	none := message("1", "", "no id")
	for _, a := range []sessions.Arrival{other, edited, none, message("1", "", "no id")} {
		if f.accept(a).Duplicate {
			f.t.Errorf("%s %s taken for a duplicate", a.In.Address, a.In.Event)
		}
	}
	// An event is unique in its chat, whatever the thread.
	thread := message("1", "100", "hello")
	thread.In.Address.Thread = "7"
	if !f.accept(thread).Duplicate {
		f.t.Error("the same message id in a thread of the chat is not taken for a duplicate")
	}
}

func acceptSkip(_ *testing.T, f *fixture) {
	a := sessions.Arrival{In: channels.Inbound{Event: channels.Message, Address: addr("1"), ID: "5"}, Skip: &sessions.Skip{Reason: "not admitted"}}
	if acc := f.accept(a); acc.Duplicate || acc.Session.Key != "" || acc.Run.ID != "" {
		f.t.Fatalf("%+v", acc)
	}
	if !f.accept(a).Duplicate {
		f.t.Error("a skipped event is not remembered")
	}
	a.In.ID, a.Change = "6", &sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: key("1")}}}
	if _, err := f.Accept(f.ctx, a); err == nil {
		f.t.Error("a skipped event with a change is accepted")
	}
	if _, err := f.Accept(f.ctx, sessions.Arrival{In: a.In}); err == nil {
		f.t.Error("an event that neither causes something nor is skipped is accepted")
	}
	a.Change = nil
	if list, err := f.Skipped(f.ctx, 10); err != nil || len(list) != 0 {
		f.t.Error(list, err)
	}

	// What people are told of it is in the same commit; a notice that is there already stays as it is.
	notice := delivery(key("1"), addr("1"), "too many")
	for _, id := range []channels.MessageID{"7", "8"} {
		a.In.ID, a.Skip = id, &sessions.Skip{Reason: "not admitted", Notices: []sessions.Delivery{notice}}
		acc := f.accept(a)
		if len(acc.Deliveries) != 1 || acc.Deliveries[0].ID != notice.ID {
			f.t.Errorf("%+v", acc.Deliveries)
		}
		if !f.accept(a).Duplicate {
			f.t.Error("a skipped event with a notice is not remembered")
		}
		notice.Text = "too many, once more"
	}
	all, err := f.ListDeliveries(f.ctx, sessions.DeliveryQuery{})
	f.ok(err)
	if len(all) != 1 || all[0].Text != "too many" || all[0].State != sessions.Pending {
		f.t.Errorf("%+v", all)
	}
}

func acceptCursor(_ *testing.T, f *fixture) {
	c, err := f.Cursor(f.ctx, "telegram", "default")
	f.ok(err)
	f.equal(c, "")
	for _, id := range []string{"7", "8"} {
		a := message("1", id, "x")
		a.In.Cursor = "c" + id
		f.accept(a)
	}
	other := message("1", "9", "x")
	other.In.Address.Account, other.In.Cursor = "second", "z"
	f.accept(other)
	c, err = f.Cursor(f.ctx, "telegram", "default")
	f.ok(err)
	f.equal(c, "c8")
	c, err = f.Cursor(f.ctx, "telegram", "second")
	f.ok(err)
	f.equal(c, "z")
}

func skipped(_ *testing.T, f *fixture) {
	for i := range 1010 {
		f.accept(sessions.Arrival{In: channels.Inbound{Event: channels.Unreadable, Address: addr("1"), ID: channels.MessageID(fmt.Sprint(i)), Raw: json.RawMessage(`{"x":1}`)}, Skip: &sessions.Skip{Reason: "no chat", Listed: true}})
	}
	list, err := f.Skipped(f.ctx, 5000)
	f.ok(err)
	if len(list) != 1000 || list[0].ID != "1009" || list[999].ID != "10" {
		f.t.Fatalf("%d listed, from %v to %v; want the newest 1,000", len(list), list[0].ID, list[len(list)-1].ID)
	}
	if e := list[0]; e.Reason != "no chat" || e.Raw != `{"x":1}` || e.Address != addr("1") || e.Time.IsZero() {
		f.t.Errorf("%+v", e)
	}
	list, err = f.Skipped(f.ctx, 3)
	f.ok(err)
	f.equal(len(list), 3)

	began, long := time.Now(), `{"x":"`+strings.Repeat("x", 10_000)+`"}`
	f.accept(sessions.Arrival{In: channels.Inbound{Event: channels.Message, Address: addr("1"), ID: "a"}, Skip: &sessions.Skip{Reason: sessions.QuarantineReason + ": why", Listed: true}})
	f.accept(sessions.Arrival{In: channels.Inbound{Event: channels.Message, Address: addr("1"), ID: "b", Raw: json.RawMessage(long)}, Skip: &sessions.Skip{Reason: sessions.QuarantineReason + ": why", Listed: true}})
	for i := range 1010 { // they do not push those out
		f.accept(sessions.Arrival{In: channels.Inbound{Event: channels.Unreadable, Address: addr("2"), ID: channels.MessageID(fmt.Sprint(i))}, Skip: &sessions.Skip{Reason: "no chat", Listed: true}})
	}
	list, err = f.Skipped(f.ctx, 5000)
	f.ok(err)
	if n := len(list); n < 1002 || list[n-1].ID != "a" || list[n-2].Raw != long {
		f.t.Errorf("%d listed: what was set aside is not there, or not whole", n)
	}
	for since, want := range map[time.Time]int{began.Add(-time.Second): 2, began.Add(time.Hour): 0} {
		n, err := f.Store.CountQuarantined(f.ctx, since)
		f.ok(err)
		f.equal(n, want)
	}
	for _, x := range []struct{ days, left int }{{29, len(list)}, {31, 0}} { // what was quarantined has people's words
		_, err = f.Expire(f.ctx, began.Add(time.Duration(x.days)*24*time.Hour), 100*24*time.Hour)
		f.ok(err)
		left, err := f.Skipped(f.ctx, 5000)
		f.ok(err)
		f.equal(len(left), x.left)
	}
}

// proves: S14
func submit(_ *testing.T, f *fixture) {
	e := sessions.Change{IdempotencyKey: "tool:run:call", Session: &sessions.Target{Session: sessions.Session{Key: key("1"), Agent: "main"}}, Run: &sessions.Enqueue{Run: *newRun(key("1"), "do it")}}
	first := f.submit(e)
	again := e
	again.Run = &sessions.Enqueue{Run: *newRun(key("1"), "do it")}
	dup := f.submit(again)
	if !dup.Duplicate || dup.Run.ID != first.Run.ID || dup.Session.ID != first.Session.ID {
		f.t.Fatalf("%+v, want the run %s of the first", dup, first.Run.ID)
	}
	// Later the first run has ended: the duplicate gives it as it stands.
	f.claim(key("1"))
	f.finish(first.Run.ID, sessions.Outcome{Result: "done"})
	if dup = f.submit(again); dup.Run.Result != "done" {
		f.t.Errorf("%+v", dup.Run)
	}
	// No source: the run's id tells.
	e = sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: key("1")}}, Run: &sessions.Enqueue{Run: *newRun(key("1"), "once")}}
	if f.submit(e).Duplicate || !f.submit(e).Duplicate {
		f.t.Error("a run with the same id was queued twice")
	}
	// A source without a run is remembered too.
	note := sessions.Change{IdempotencyKey: "tool:run:note", Ops: []sessions.Op{sessions.AddNote{Agent: "main", Key: key("1"), Text: "buy milk"}}}
	f.submit(note)
	f.submit(note)
	if n, err := f.Notes(f.ctx, sessions.NoteQuery{Agent: "main"}); err != nil || len(n) != 1 {
		f.t.Error(n, err)
	}
	// A run needs its session.
	_, err := f.Submit(f.ctx, sessions.Change{Run: &sessions.Enqueue{Run: *newRun(key("nobody"), "x")}})
	f.is(err, sessions.ErrNotFound)
	// A failed submit leaves no trace.
	if _, err := f.Submit(f.ctx, sessions.Change{IdempotencyKey: "s", Session: &sessions.Target{Session: sessions.Session{Key: key("new")}}, Run: &sessions.Enqueue{Run: *newRun(key("nobody"), "x")}}); err == nil {
		f.t.Fatal("accepted")
	}
	_, err = f.Get(f.ctx, key("new"))
	f.is(err, sessions.ErrNotFound)
}

func changeOrder(_ *testing.T, f *fixture) {
	k := key("1")
	old := f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: "main"}}, Run: &sessions.Enqueue{Run: *newRun(k, "old")}})
	deny, label := policy.Deny, "lab"
	acc := f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Title: "T"}, Ops: []sessions.SessionOp{sessions.PatchSession{SendPolicy: &deny, Label: &label}, sessions.ResetSession{}}}, Run: &sessions.Enqueue{Run: *newRun(k, "new")}, Ops: []sessions.Op{sessions.StopSessions{Keys: []sessions.Key{k}}, sessions.EnqueueDelivery(delivery(k, addr("1"), "a")), sessions.EnqueueDelivery(delivery(k, addr("1"), "b"))}})
	f.equal(acc.Stopped, []sessions.StoppedRun{{Key: k, ID: old.Run.ID}})
	if s := acc.Session; s.Title != "T" || s.Settings.SendPolicy != policy.Deny || s.Label != label || s.ID == old.Session.ID || !s.Aborted {
		f.t.Errorf("%+v", s)
	}
	if acc.Run.Session != acc.Session.ID || acc.Run.Status != sessions.Queued {
		f.t.Errorf("the run is not in the new transcript or was stopped: %+v", acc.Run)
	}
	if d := acc.Deliveries; d[0].Seq >= d[1].Seq || d[0].Text != "a" {
		f.t.Errorf("%+v", d)
	}
	f.equal(f.get(k), acc.Session)
	f.equal(f.run(old.Run.ID).Status, sessions.Stopped)
	// A patch that cannot be made takes everything with it.
	f.session(key("2"))
	if _, err := f.Submit(f.ctx, sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: key("2"), Title: "no"}, Ops: []sessions.SessionOp{sessions.PatchSession{Label: &label}}}}); err == nil {
		f.t.Fatal("a label was given twice")
	}
	f.equal(f.get(key("2")).Title, "")
	if _, err := f.Submit(f.ctx, sessions.Change{Session: &sessions.Target{Ops: []sessions.SessionOp{sessions.ResetSession{}}}}); err == nil {
		f.t.Error("a session without a key is accepted")
	}
}

// Whatever order a change lists its operations in, they are carried out in the one of sessions.Change; deliveries keep theirs.
func changeShuffled(_ *testing.T, f *fixture) {
	for i := range 6 {
		k := key(fmt.Sprint(i))
		old := f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: "main"}}, Run: &sessions.Enqueue{Run: *newRun(k, "old")}})
		sops := []sessions.SessionOp{sessions.PatchSession{Model: new("mock/a")}, sessions.ResetSession{IfID: old.Session.ID}, sessions.ConsumeContext{UpTo: 1 << 40}, sessions.ArchiveSession{}}
		ops := []sessions.Op{sessions.StopSessions{Keys: []sessions.Key{k}}, sessions.AppendContext{Key: k, Text: "x", Keep: 5}, sessions.AddNote{Agent: "main", Key: k, Text: "buy milk"},
			sessions.SuspendBudget{Scope: "host"}, sessions.PutJob{ID: "j", Agent: "main"}, sessions.DeleteJob{ID: "j"}}
		random := rand.New(rand.NewPCG(uint64(i), 1))
		random.Shuffle(len(sops), func(a, b int) { sops[a], sops[b] = sops[b], sops[a] })
		random.Shuffle(len(ops), func(a, b int) { ops[a], ops[b] = ops[b], ops[a] })
		for at, text := range []string{"b", "a"} {
			ops = slices.Insert(ops, random.IntN(len(ops)-at)+at, sessions.Op(sessions.EnqueueDelivery(delivery(k, addr("1"), text))))
		}
		texts := func(list []sessions.Delivery) (out []string) {
			for _, d := range list {
				out = append(out, d.Text)
			}
			return out
		}
		var want []sessions.Delivery
		for _, op := range ops {
			if d, ok := op.(sessions.EnqueueDelivery); ok {
				want = append(want, sessions.Delivery(d))
			}
		}
		acc := f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k}, Ops: sops}, Run: &sessions.Enqueue{Run: *newRun(k, "new"), Claim: true}, Ops: ops})
		f.equal(acc.Stopped, []sessions.StoppedRun{{Key: k, ID: old.Run.ID}})
		f.equal(texts(acc.Deliveries), texts(want))
		f.equal(len(f.overheard(k)), 0)
		_, err := f.GetJob(f.ctx, "j")
		f.is(err, sessions.ErrNotFound)
		s := f.get(k)
		f.equal([]any{s.Archived, s.Settings.Model, s.ID != old.Session.ID, acc.Run.Session == s.ID}, []any{true, "mock/a", true, true})
		if acc.Claimed == nil || acc.Claimed.ID != acc.Run.ID {
			f.t.Errorf("claimed %+v", acc.Claimed)
		}
	}
}

func upsert(_ *testing.T, f *fixture) {
	k := key("1")
	now := time.Now()
	made := f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: "main", Title: "one", Last: addr("1"), SpawnedBy: key("p"), ArchiveAt: now.Add(time.Hour), Settings: sessions.Settings{Model: "a/b"}}}}).Session
	if made.Created.IsZero() || made.Updated.IsZero() || made.ID == "" || made.Settings.Model != "a/b" || made.SpawnedBy != key("p") {
		f.t.Fatalf("%+v", made)
	}
	next := f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, ID: "other", Agent: "main", Last: addr("2"), SpawnedBy: key("q"), Created: now.Add(time.Hour), Settings: sessions.Settings{Model: "c/d"}}}}).Session
	want := made
	want.Last, want.Updated = addr("2"), next.Updated
	f.equal(next, want) // id, creation, settings and parent of the first win; an empty title changes nothing
	if next.Updated.Before(made.Updated) {
		f.t.Error("Updated went back")
	}
	future := f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Updated: now.Add(time.Hour)}}}).Session
	if later := f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Title: "two"}}}).Session; !later.Updated.Equal(future.Updated) || later.Title != "two" {
		f.t.Errorf("Updated went back from %s to %s", future.Updated, later.Updated)
	}
}

func stop(_ *testing.T, f *fixture) {
	k := key("1")
	var ids []sessions.RunID
	for i := range 3 {
		ids = append(ids, f.accept(message("1", fmt.Sprint(i), "m")).Run.ID)
	}
	f.claim(k)
	stopped := []sessions.StoppedRun{{Key: k, ID: ids[0]}, {Key: k, ID: ids[1]}, {Key: k, ID: ids[2]}}
	other := f.accept(message("2", "1", "m")).Run.ID
	acc := f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k}}, Ops: []sessions.Op{sessions.StopSessions{Keys: []sessions.Key{k}}}})
	f.equal(acc.Stopped, stopped)
	f.equal(acc.Session.Aborted, true)
	f.equal(f.run(ids[0]).Status, sessions.Running) // its owner ends it
	for _, id := range ids[1:] {
		if r := f.run(id); r.Status != sessions.Stopped || r.Error == "" || r.Ended.IsZero() {
			f.t.Errorf("%+v", r)
		}
	}
	f.equal(f.run(other).Status, sessions.Queued)
	next := f.accept(message("1", "9", "after")).Run.ID
	f.nothingToClaim(k) // the one at work is still there
	f.finish(ids[0], sessions.Outcome{Status: sessions.Stopped})
	f.equal(f.claim(k).ID, next)
	if acc := f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: key("3")}}, Ops: []sessions.Op{sessions.StopSessions{Keys: []sessions.Key{key("3")}}}}); len(acc.Stopped) != 0 || acc.Session.Aborted {
		f.t.Errorf("nothing to stop, but %+v", acc)
	}
}

func stopRecover(_ *testing.T, f *fixture) {
	r := f.accept(message("1", "1", "m")).Run.ID
	f.claim(key("1"))
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: key("1")}}, Ops: []sessions.Op{sessions.StopSessions{Keys: []sessions.Key{key("1")}}}})
	ks, _, err := f.Recover(f.ctx)
	f.ok(err)
	if got := f.run(r); len(ks) != 0 || got.Status != sessions.Stopped {
		f.t.Errorf("a run that was stopped before the host died is %s, queues: %v", got.Status, ks)
	}
}

func values(_ *testing.T, f *fixture) {
	odd := "a\"b\\c\n\t'%_;\u2028\U0001F600" + strings.Repeat("é", 50_000)
	k := sessions.Key("agent:main:telegram:group:%00-'x\"")
	to := channels.Address{Channel: "telegram", Account: "a/b", Chat: "-100:%/ü", Thread: "7/8", Type: channels.Group}
	in := user(odd)
	in.Provenance = &sessions.Provenance{Kind: sessions.InterSession, Sender: "9", Name: odd[:20], Address: to, Message: "m", Source: "agent:x:main", Channel: "discord", Tool: "sessions_send"}
	in.Content = append(in.Content, sessions.Block{Type: sessions.ImageBlock, MIME: "image/png", Data: "AAAA"})
	run := sessions.Run{ID: sessions.RunID(id()), Kind: sessions.AskRun, Key: k, Agent: "main", Input: in, Reply: to, ReplyTo: "55", Source: "src", Model: "p/m", Label: "l", Timeout: 1500 * time.Millisecond, Client: json.RawMessage(`{"model":"m"}`),
		Chain: &sessions.Chain{Kind: "ask", Root: "r", Requester: "agent:main:main", Target: k, From: to, Request: odd, Round1: "1", Latest: "2", Turn: 3, Hops: []sessions.Key{"a", "b"}, Origin: to, Waited: true, Usage: sessions.Usage{Input: 1}}}
	acc := f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: "main", Title: "ti%tle", Last: to}}, Run: &sessions.Enqueue{Run: run}})
	f.equal(f.get(k).Last, to)
	got := f.claim(k)
	want := run
	want.Session, want.Status, want.Attempt, want.Created, want.Started, want.Deadline = acc.Session.ID, sessions.Running, 1, got.Created, got.Started, got.Deadline
	want.Input.Run = run.ID
	f.equal(got, want)
	call := sessions.Message{ID: id(), Role: sessions.Assistant, Time: time.UnixMilli(5).UTC(), Run: run.ID, Stop: "toolUse", Error: "e", Content: []sessions.Block{{Type: sessions.ThinkingBlock, Text: "hm", Signature: new("sig")}, {Type: sessions.ToolCallBlock, ID: "c1", Name: "t", Arguments: json.RawMessage(`{"a":[1,2,{"b":null}]}`)}}}
	f.ok(f.Record(f.ctx, run.ID, call))
	msgs := f.tail(acc.Session.ID, sessions.TailQuery{Opaque: true})
	want.Input.Seq, call.Seq = msgs[0].Seq, msgs[1].Seq
	f.equal(msgs, []sessions.Message{want.Input, call})
	granted := allowed
	d := sessions.Delivery{ID: sessions.DeliveryID(id()), Kind: sessions.Announce, Session: k, Run: run.ID, Message: call.ID, To: to, ReplyTo: "9", Text: odd, NotBefore: time.Now().Add(time.Hour), Expires: time.Now().Add(2 * time.Hour), PreAuthorized: &granted}
	made := f.finish(run.ID, sessions.Outcome{Status: sessions.Failed, Result: odd, Error: "err", Usage: sessions.Usage{Input: 5, Output: 6, CacheRead: 7, CacheWrite: 8}, Deliveries: []sessions.Delivery{d}}).Deliveries[0]
	f.equal(f.delivery(d.ID), made)
	if made.Text != odd || made.To != to || made.ReplyTo != "9" || made.PreAuthorized == nil || made.NotBefore.UnixMilli() != d.NotBefore.UnixMilli() {
		f.t.Errorf("%+v", made)
	}
	end := f.run(run.ID)
	if end.Result != odd || end.Error != "err" || end.Usage.CacheWrite != 8 || end.Ended.IsZero() {
		f.t.Errorf("%+v", end.Usage)
	}
	// Text that is not text is stored, not refused.
	bad := message("1", "9\x00", "nul \x00 and \xff")
	bad.Change.Session.Title = "t\x00\xff"
	f.accept(bad)
	f.claim(key("1"))
}

func closed(_ *testing.T, f *fixture) {
	f.accept(message("1", "1", "x"))
	f.ok(f.Close())
	if _, err := f.Accept(f.ctx, message("1", "2", "x")); err == nil {
		f.t.Error("accepted by a closed store")
	}
	if _, err := f.Get(f.ctx, key("1")); err == nil {
		f.t.Error("read from a closed store")
	}
}
