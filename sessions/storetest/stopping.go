package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/sessions"
)

// chained queues a run of a chain.
func (f *fixture) chained(k sessions.Key, kind sessions.RunKind, c sessions.Chain) sessions.Run {
	f.t.Helper()
	r := newRun(k, "x")
	r.Kind, r.Chain = kind, &c
	if c.Root == "" {
		r.Chain.Root = r.ID
	}
	return f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: "main"}}, Run: &sessions.Enqueue{Run: *r}}).Run
}

// A stop ends the runs of every chain that has the session on either side or has passed through it, and nothing else.
//
// source: openclaw/openclaw#122909, #120856, #101162; cloudflare/agents#1658
// proves: X1, N15
func stopTakesPart(_ *testing.T, f *fixture) {
	a, b, c, kid := key("1"), key("2"), key("3"), sessions.SubagentKey("main", "k")
	ask := sessions.Chain{Kind: "ask", Requester: a, Target: b, Hops: []sessions.Key{a}, Request: "how is it?"}
	for name, x := range map[string]struct {
		in    sessions.Key
		kind  sessions.RunKind
		chain *sessions.Chain
		ends  bool
	}{
		"turn":                          {a, sessions.TurnRun, nil, true},
		"compaction":                    {a, sessions.CompactRun, nil, true},
		"ask of it":                     {b, sessions.AskRun, &ask, true},
		"reply to it":                   {b, sessions.ReplyRun, &ask, true},
		"its reply":                     {a, sessions.ReplyRun, &ask, true},
		"announce of its exchange":      {b, sessions.AnnounceRun, &ask, true},
		"asked by another":              {a, sessions.AskRun, &sessions.Chain{Kind: "ask", Requester: b, Target: a}, true},
		"reply of who asked it":         {b, sessions.ReplyRun, &sessions.Chain{Kind: "ask", Requester: b, Target: a}, true},
		"asked on its behalf":           {c, sessions.AskRun, &sessions.Chain{Kind: "ask", Requester: b, Target: c, Hops: []sessions.Key{a, b}}, true},
		"sub-agent on its behalf":       {kid, sessions.ChildRun, &sessions.Chain{Kind: "spawn", Requester: b, Target: kid, Hops: []sessions.Key{a, b}}, true},
		"report":                        {kid, sessions.AnnounceRun, &sessions.Chain{Kind: "spawn", Requester: a, Target: kid}, true},
		"result":                        {a, sessions.ResultRun, &sessions.Chain{Kind: "spawn", Requester: a, Target: kid}, true},
		"follow-up of its exchange":     {a, sessions.FollowUpRun, &ask, true},
		"follow-up of who asked it":     {b, sessions.FollowUpRun, &sessions.Chain{Kind: "ask", Requester: b, Target: a}, true},
		"follow-up of a stop":           {b, sessions.FollowUpRun, &sessions.Chain{Kind: "ask", Requester: b, Target: a, Status: sessions.Stopped, Error: "stopped by a person"}, false},
		"follow-up of a stop, later":    {b, sessions.FollowUpRun, &sessions.Chain{Kind: "ask", Requester: b, Target: a, Error: "stopped by a person"}, false},
		"what was posted":               {a, sessions.PostRun, nil, false},
		"another session's turn":        {b, sessions.TurnRun, nil, false},
		"another exchange":              {c, sessions.AskRun, &sessions.Chain{Kind: "ask", Requester: b, Target: c, Hops: []sessions.Key{b}}, false},
		"another session's sub-agent":   {kid, sessions.ChildRun, &sessions.Chain{Kind: "spawn", Requester: b, Target: kid}, false},
		"a job that it made":            {"agent:main:cron:j", sessions.JobRun, &sessions.Chain{Kind: "job", Requester: a}, false},
		"a turn that posts in its chat": {b, sessions.TurnRun, &sessions.Chain{Kind: "said", Requester: a}, false},
	} {
		var chain sessions.Chain
		if x.chain != nil {
			chain = *x.chain
		}
		for _, k := range []sessions.Key{a, b, c} {
			f.session(k)
		}
		var r sessions.Run
		if x.chain == nil {
			r = f.queue(x.in, "", x.kind, "x")
		} else {
			r = f.chained(x.in, x.kind, chain)
		}
		f.claim(x.in)
		if got := f.stoppable(a); len(got) > 0 != x.ends {
			f.t.Errorf("%s: a stop would end %v", name, got)
		}
		if got := f.stop(a); len(got) > 0 != x.ends {
			f.t.Errorf("%s: stopped %v", name, got)
		}
		end := f.finish(r.ID, sessions.Outcome{Status: sessions.Done, Result: "done", Deliveries: []sessions.Delivery{delivery(x.in, addr("1"), "late")},
			Next: &sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: b}, Mode: sessions.Require}, Run: &sessions.Enqueue{Run: *newRun(b, "next")}}})
		if goesOn := end.Run.ID != ""; x.kind != sessions.CompactRun && goesOn == x.ends || x.kind != sessions.CompactRun && len(end.Deliveries) > 0 == x.ends {
			f.t.Errorf("%s: it ended with %+v", name, end)
		}
		if end.Run.ID != "" {
			f.claim(b)
			f.finish(end.Run.ID, sessions.Outcome{Status: sessions.Done})
		}
		f.stop(a, b, c, kid)
	}
}

// A stop in a chat that another session had before ends what that one has others do: its sub-agents and what it asked, also after a restart.
// What is said to the closed session by its key goes on, and so does all of it once it has a chat again.
//
// proves: X1
func stopReachesClosed(_ *testing.T, f *fixture) {
	hidden, number, c := key(hiddenID), key(numberID), key("c")
	kid, grandkid := sessions.SubagentKey("main", "k"), sessions.SubagentKey("main", "g")
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: hidden, Agent: "main", Last: addr(hiddenID)}}})
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: number, Agent: "main", Last: addr(numberChat)}}})
	f.session(c)
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: kid, Agent: "main", SpawnedBy: hidden}}})
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: grandkid, Agent: "main", SpawnedBy: kid}}})
	f.accept(personMoves(""))
	for _, again := range []bool{false, true} { // has the closed session a chat again
		if again {
			f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: hidden, Agent: "main", Last: addr("other")}}})
		}
		child := f.chained(kid, sessions.ChildRun, sessions.Chain{Kind: "spawn", Requester: hidden, Target: kid})
		below := f.chained(grandkid, sessions.ChildRun, sessions.Chain{Kind: "spawn", Requester: kid, Target: grandkid})
		ask := f.chained(c, sessions.AskRun, sessions.Chain{Kind: "ask", Requester: hidden, Target: c, Hops: []sessions.Key{hidden}})
		behalf := f.chained(key("d"), sessions.AskRun, sessions.Chain{Kind: "ask", Requester: c, Target: key("d"), Hops: []sessions.Key{hidden, c}})
		turn := f.queue(hidden, "", sessions.TurnRun, "by its key")
		asked := f.chained(hidden, sessions.AskRun, sessions.Chain{Kind: "ask", Requester: c, Target: hidden, Hops: []sessions.Key{c}})
		f.claim(kid)
		if _, _, err := f.Recover(f.ctx); err != nil {
			f.t.Fatal(err)
		}
		f.stop(number)
		for _, r := range []sessions.Run{child, below, ask, behalf} {
			if got := f.run(r.ID); (got.Status == sessions.Stopped) == again {
				f.t.Errorf("it has a chat again: %v, and %s of %s is %s", again, got.Kind, got.Key, got.Status)
			}
		}
		f.equal(f.get(kid).Aborted, true)
		f.equal([]sessions.RunStatus{f.run(turn.ID).Status, f.run(asked.ID).Status}, []sessions.RunStatus{sessions.Queued, sessions.Queued})
		f.stop(hidden, c, key("d"))
	}
}

// The session on the other side of an exchange learns of the stop once: by the result of its call, by the note behind its own turn, by a line, or by the follow-up that
// tells its people.
//
// proves: X1, S15
func stopTells(_ *testing.T, f *fixture) {
	type side struct{ stopped, other sessions.Key }
	n := 0
	for _, x := range []struct {
		name   string
		stop   func(a, b sessions.Key) side
		in     func(a, b sessions.Key) sessions.Key
		kind   sessions.RunKind
		begun  bool
		waited bool // the call has no result yet
		line   bool
		status string // that the call was answered with
		follow bool   // people of the requester's chat are told, where it has one
	}{
		{"requester, before the target began", func(a, b sessions.Key) side { return side{a, b} }, func(_, b sessions.Key) sessions.Key { return b }, sessions.AskRun, false, false, false, "", false},
		{"requester, target at work", func(a, b sessions.Key) side { return side{a, b} }, func(_, b sessions.Key) sessions.Key { return b }, sessions.AskRun, true, false, false, "", false},
		{"requester, its own reply at work", func(a, b sessions.Key) side { return side{a, b} }, func(a, _ sessions.Key) sessions.Key { return a }, sessions.ReplyRun, true, false, true, "timeout", false},
		{"target, requester waits", func(a, b sessions.Key) side { return side{b, a} }, func(_, b sessions.Key) sessions.Key { return b }, sessions.AskRun, true, true, false, "", false},
		{"target, the call is over", func(a, b sessions.Key) side { return side{b, a} }, func(_, b sessions.Key) sessions.Key { return b }, sessions.AskRun, true, false, true, "timeout", true},
		{"target, announcing", func(a, b sessions.Key) side { return side{b, a} }, func(_, b sessions.Key) sessions.Key { return b }, sessions.AnnounceRun, true, false, true, "ok", false},
		{"target, announcing a late reply", func(a, b sessions.Key) side { return side{b, a} }, func(_, b sessions.Key) sessions.Key { return b }, sessions.AnnounceRun, true, false, true, "accepted", true},
		{"target, the requester's late reply waits", func(a, b sessions.Key) side { return side{b, a} }, func(a, _ sessions.Key) sessions.Key { return a }, sessions.ReplyRun, false, false, true, "timeout", true},
		{"target, the requester's late reply at work", func(a, b sessions.Key) side { return side{b, a} }, func(a, _ sessions.Key) sessions.Key { return a }, sessions.ReplyRun, true, false, false, "timeout", true},
		{"target, the follow-up of a late reply waits", func(a, b sessions.Key) side { return side{b, a} }, func(a, _ sessions.Key) sessions.Key { return a }, sessions.FollowUpRun, false, false, true, "timeout", false},
		{"target, the follow-up of a late reply at work", func(a, b sessions.Key) side { return side{b, a} }, func(a, _ sessions.Key) sessions.Key { return a }, sessions.FollowUpRun, true, false, false, "timeout", false},
	} {
		for _, chat := range []bool{false, true} { // has the requester one
			n++
			a, b := key(fmt.Sprint("a", n)), key(fmt.Sprint("b", n))
			f.session(a)
			f.session(b)
			asker := f.turn(a, addr("1"), "ask b")
			f.claim(a)
			if !x.waited {
				f.finish(asker.ID, sessions.Outcome{Status: sessions.Done, Messages: []sessions.Message{
					{ID: fmt.Sprint("call", n), Role: sessions.Assistant, Run: asker.ID, Content: []sessions.Block{{Type: sessions.ToolCallBlock, ID: "c1", Name: "sessions_send"}}},
					{ID: fmt.Sprint("result", n), Role: sessions.ToolResult, Run: asker.ID, ToolCallID: "c1", ToolName: "sessions_send", Content: sessions.TextContent(`{"status":"` + x.status + `"}`)}}})
			}
			r := newRun(x.in(a, b), "x")
			r.Kind, r.Source = x.kind, "tool:"+string(asker.ID)+":c1"
			r.Chain = &sessions.Chain{Kind: "ask", Root: r.ID, Requester: a, Target: b, Waited: x.waited, Request: "how is it?"}
			if x.kind == sessions.ReplyRun {
				r.Chain.Turn = 1
			}
			if chat {
				r.Chain.Back = addr("1")
			}
			f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: r.Key}}, Run: &sessions.Enqueue{Run: *r}})
			if x.begun {
				f.claim(r.Key)
			}
			s := x.stop(a, b)
			var told []sessions.Run
			for range 2 { // again: nobody is told twice
				told = append(told, f.submit(sessions.Change{Ops: []sessions.Op{sessions.StopSessions{Keys: []sessions.Key{s.stopped}}}}).FollowUps...)
			}
			if follows := chat && x.follow; follows != (len(told) == 1) || len(told) > 1 {
				f.t.Errorf("%s, chat %v: the follow-ups are %+v", x.name, chat, told)
			} else if follows && (told[0].Key != a || told[0].Kind != sessions.FollowUpRun || told[0].Reply != addr("1") || !strings.Contains(told[0].Input.Text(), "stopped by a person")) {
				f.t.Errorf("%s: the follow-up is %+v", x.name, told[0])
			} else if heard := x.kind != sessions.AskRun && (x.kind != sessions.ReplyRun || x.begun); follows && heard == (told[0].Chain.Status == sessions.Stopped) {
				f.t.Errorf("%s: the transcript of the requester has a reply: %v, and the follow-up says %q", x.name, heard, told[0].Chain.Status)
			}
			var lines []sessions.ContextLine
			for _, k := range []sessions.Key{a, b} {
				got, err := f.ContextLines(f.ctx, k)
				f.ok(err)
				lines = append(lines, got...)
			}
			want := 0
			if x.line && !(chat && x.follow) {
				want = 1
			}
			if len(lines) != want || want > 0 && (lines[0].Key != s.other || lines[0].Event != sessions.ExchangeStopped || lines[0].About != "how is it?") {
				f.t.Errorf("%s: the lines are %+v", x.name, lines)
			}
		}
	}
}

// A stop elsewhere, of what somebody else had asked of the requester, is none on the requester's side: its people are told of the stop of their
// own exchange.
//
// proves: S15
func stopElsewhere(_ *testing.T, f *fixture) {
	a, b, c := key("a"), key("b"), key("c")
	for _, k := range []sessions.Key{a, b, c} {
		f.session(k)
	}
	asks := func(from, to sessions.Key) {
		asker := f.turn(from, addr("1"), "ask")
		f.claim(from)
		f.finish(asker.ID, sessions.Outcome{Status: sessions.Done})
		r := newRun(to, "how is it?")
		r.Kind, r.Source = sessions.AskRun, "tool:"+string(asker.ID)+":c1"
		r.Chain = &sessions.Chain{Kind: "ask", Root: r.ID, Requester: from, Target: to, Back: addr("1")}
		f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: to}}, Run: &sessions.Enqueue{Run: *r}})
	}
	stops := func(k sessions.Key) []sessions.Run {
		return f.submit(sessions.Change{Ops: []sessions.Op{sessions.StopSessions{Keys: []sessions.Key{k}}}}).FollowUps
	}
	asks(a, b)
	asks(c, a)
	other := f.claim(a)
	f.equal(len(stops(c)), 0)
	f.finish(other.ID, sessions.Outcome{Status: sessions.Stopped})
	f.equal(f.get(a).Aborted, true)
	if told := stops(b); len(told) != 1 || told[0].Key != a {
		f.t.Errorf("%+v", told)
	}
}

// What the runs have made and what has not left is withdrawn; parts that have arrived stay, and the answers to commands go.
//
// proves: X1, T2
func stopWithdraws(_ *testing.T, f *fixture) {
	k, other := key("1"), key("2")
	f.session(k)
	f.session(other)
	run := f.turn(k, addr("1"), "long")
	f.claim(k)
	post := func(by sessions.RunID, kind sessions.DeliveryKind) sessions.Delivery {
		d := delivery(k, addr("1"), "x")
		d.Run, d.Kind = by, kind
		return f.post(d)
	}
	sending, waiting := post(run.ID, sessions.Reply), post(run.ID, sessions.Reply)
	command := post("", sessions.Notice)
	foreign := post(f.turn(other, addr("2"), "x").ID, sessions.Posted)
	f.finish(run.ID, sessions.Outcome{Status: sessions.Done})
	f.begin(sending.ID)
	f.ok(f.PartSent(f.ctx, sending.ID, channels.Receipt{ID: "1", At: time.Now()}, false))
	f.begin(sending.ID)
	got, err := f.Stoppable(f.ctx, k)
	f.ok(err)
	f.equal([]int{len(got.Runs), len(got.Deliveries), got.Count(k).Deliveries}, []int{0, 2, 2})
	acc := f.submit(sessions.Change{Ops: []sessions.Op{sessions.StopSessions{Keys: []sessions.Key{k}}}})
	f.equal(len(acc.Withdrawn), 2)
	f.equal(f.delivery(sending.ID).Ambiguous, true) // its second part is under way
	f.ok(f.PartSent(f.ctx, sending.ID, channels.Receipt{ID: "2", At: time.Now()}, false))
	now := f.delivery(sending.ID)
	f.equal([]any{now.State, now.Part, len(now.Receipts), now.Ambiguous, now.Error}, []any{sessions.DeliveryStopped, 2, 2, false, "stopped by a person"})
	f.ok(f.Retry(f.ctx, sending.ID, time.Now(), "late", sessions.NotArrived))
	f.ok(f.EndDelivery(f.ctx, sending.ID, sessions.DeliveryFail, "late"))
	f.equal(f.begin(sending.ID).State, sessions.DeliveryStopped)
	f.equal(f.delivery(waiting.ID).State, sessions.DeliveryStopped)
	f.ok(f.PartSent(f.ctx, sending.ID, channels.Receipt{ID: "3", At: time.Now()}, true)) // it was the last one
	f.equal(f.delivery(sending.ID).State, sessions.Sent)
	f.equal([]any{f.delivery(command.ID).State, f.delivery(foreign.ID).State}, []any{sessions.Pending, sessions.Pending})
	_, found, err := f.Recover(f.ctx)
	f.ok(err)
	f.equal(len(found), 0)
}

// What a tool posts and a stop ends stands in the transcript of its chat if people may have read it, and otherwise does not.
//
// proves: X1, T2
func stopKeepsRead(_ *testing.T, f *fixture) {
	for _, begun := range []bool{true, false} {
		k, other := key(fmt.Sprint("s", begun)), key(fmt.Sprint("t", begun))
		f.session(k)
		f.session(other)
		run := f.turn(k, addr("1"), "x")
		f.claim(k)
		words := newRun(other, "posted")
		words.Kind = sessions.PostRun
		f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: other}}, Run: &sessions.Enqueue{Run: *words}})
		d := delivery(other, addr("2"), "posted")
		d.Run, d.Kind, d.Message = run.ID, sessions.Posted, words.Input.ID
		f.post(d)
		if begun {
			f.begin(d.ID)
		}
		f.stop(k)
		if status := f.run(words.ID).Status; (status == sessions.Stopped) == begun {
			f.t.Errorf("its send had begun %v: the post is %s", begun, status)
		}
	}
}

// A run that was stopped before its end was committed ends as stopped, with who did it, and a note stands behind its words.
//
// proves: X1, N15
func stopFirst(_ *testing.T, f *fixture) {
	for _, by := range []sessions.Stopper{sessions.ByPerson, sessions.ByOperator, sessions.ByParent, sessions.ByDeletion} {
		for _, dies := range []bool{false, true} {
			k := key(string(by) + fmt.Sprint(dies))
			s := f.session(k)
			run := f.turn(k, addr("1"), "hello")
			f.claim(k)
			f.submit(sessions.Change{Ops: []sessions.Op{sessions.StopSessions{Keys: []sessions.Key{k}, By: by}}})
			if dies {
				_, _, err := f.Recover(f.ctx)
				f.ok(err)
			} else {
				acc := f.finish(run.ID, sessions.Outcome{Status: sessions.Done, Result: "ready", Deliveries: []sessions.Delivery{delivery(k, addr("1"), "ready")}})
				f.equal([]any{len(acc.Deliveries), acc.Stopped}, []any{0, []sessions.StoppedRun{{Key: k, ID: run.ID}}})
			}
			now := f.run(run.ID)
			f.equal([]any{now.Status, now.Error, now.Result}, []any{sessions.Stopped, by.Words(), ""})
			msgs := f.tail(s.ID, sessions.TailQuery{})
			if last := msgs[len(msgs)-1]; last.Provenance == nil || last.Provenance.Tool != sessions.StopNote {
				f.t.Errorf("%q: the transcript ends with %+v", by, last)
			}
		}
	}
}
