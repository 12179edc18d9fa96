package stoptest

import (
	"fmt"
	"strings"

	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

// queueChained queues a run of a chain.
func queueChained(f *fixture.Store, k sessions.Key, kind sessions.RunKind, c sessions.Chain) sessions.Run {
	f.Helper()
	r := fixture.NewRun(k, "x")
	r.Kind, r.Chain = kind, &c
	if c.Root == "" {
		r.Chain.Root = r.ID
	}
	return f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: "main"}}, Run: &sessions.Enqueue{Run: *r}}).Run
}

// A stop ends the runs of every chain that has the session on either side or has passed through it, and nothing else.
//
// source: openclaw/openclaw#122909, #120856, #101162; cloudflare/agents#1658
// proves: X1, N15
func stopTakesPart(f *fixture.Store) {
	a, b, c, kid := fixture.Key("1"), fixture.Key("2"), fixture.Key("3"), sessions.SubagentKey("main", "k")
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
		"follow-up of a stop below it":  {b, sessions.FollowUpRun, &sessions.Chain{Kind: "ask", Requester: b, Target: c, Hops: []sessions.Key{a, b, b}, Status: sessions.Stopped, Error: "stopped by a person"}, true},
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
			f.MakeSession(k)
		}
		var r sessions.Run
		if x.chain == nil {
			r = f.QueueRun(x.in, "", x.kind, "x")
		} else {
			r = queueChained(f, x.in, x.kind, chain)
		}
		f.MustClaim(x.in)
		if got := stoppableRuns(f, a); len(got) > 0 != x.ends {
			f.Errorf("%s: a stop would end %v", name, got)
		}
		if got := f.StopSessions(a); len(got) > 0 != x.ends {
			f.Errorf("%s: stopped %v", name, got)
		}
		end := f.MustFinish(r.ID, sessions.Outcome{Status: sessions.Done, Result: "done", Deliveries: []sessions.Delivery{fixture.NewDelivery(x.in, fixture.Address("1"), "late")},
			Next: &sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: b}, Mode: sessions.Require}, Run: &sessions.Enqueue{Run: *fixture.NewRun(b, "next")}}})
		if goesOn := end.Run.ID != ""; x.kind != sessions.CompactRun && goesOn == x.ends || x.kind != sessions.CompactRun && len(end.Deliveries) > 0 == x.ends {
			f.Errorf("%s: it ended with %+v", name, end)
		}
		if end.Run.ID != "" {
			f.MustClaim(b)
			f.MustFinish(end.Run.ID, sessions.Outcome{Status: sessions.Done})
		}
		f.StopSessions(a, b, c, kid)
	}
}

// A stop in a chat that another session had before ends what that one has others do: its sub-agents and what it asked, also after a restart.
// What is said to the closed session by its key goes on, and so does all of it once it has a chat again.
//
// proves: X1
func stopReachesClosed(f *fixture.Store) {
	hidden, number, c := fixture.Key(fixture.HiddenID), fixture.Key(fixture.NumberID), fixture.Key("c")
	kid, grandkid := sessions.SubagentKey("main", "k"), sessions.SubagentKey("main", "g")
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: hidden, Agent: "main", Last: fixture.Address(fixture.HiddenID)}}})
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: number, Agent: "main", Last: fixture.Address(fixture.NumberChat)}}})
	f.MakeSession(c)
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: kid, Agent: "main", SpawnedBy: hidden}}})
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: grandkid, Agent: "main", SpawnedBy: kid}}})
	f.MustAccept(fixture.NewMove(""))
	for _, again := range []bool{false, true} { // has the closed session a chat again
		if again {
			f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: hidden, Agent: "main", Last: fixture.Address("other")}}})
		}
		child := queueChained(f, kid, sessions.ChildRun, sessions.Chain{Kind: "spawn", Requester: hidden, Target: kid})
		below := queueChained(f, grandkid, sessions.ChildRun, sessions.Chain{Kind: "spawn", Requester: kid, Target: grandkid})
		ask := queueChained(f, c, sessions.AskRun, sessions.Chain{Kind: "ask", Requester: hidden, Target: c, Hops: []sessions.Key{hidden}})
		behalf := queueChained(f, fixture.Key("d"), sessions.AskRun, sessions.Chain{Kind: "ask", Requester: c, Target: fixture.Key("d"), Hops: []sessions.Key{hidden, c}})
		turn := f.QueueRun(hidden, "", sessions.TurnRun, "by its key")
		asked := queueChained(f, hidden, sessions.AskRun, sessions.Chain{Kind: "ask", Requester: c, Target: hidden, Hops: []sessions.Key{c}})
		f.MustClaim(kid)
		if _, _, err := f.Recover(f.Context()); err != nil {
			f.Fatal(err)
		}
		f.StopSessions(number)
		for _, r := range []sessions.Run{child, below, ask, behalf} {
			if got := f.MustGetRun(r.ID); (got.Status == sessions.Stopped) == again {
				f.Errorf("it has a chat again: %v, and %s of %s is %s", again, got.Kind, got.Key, got.Status)
			}
		}
		f.Equal(f.MustGet(kid).Aborted, true)
		f.Equal([]sessions.RunStatus{f.MustGetRun(turn.ID).Status, f.MustGetRun(asked.ID).Status}, []sessions.RunStatus{sessions.Queued, sessions.Queued})
		f.StopSessions(hidden, c, fixture.Key("d"))
	}
}

// The session on the other side of an exchange learns of the stop once: by the result of its call, by the note behind its own turn, by a line, or by the follow-up that
// tells its people.
//
// proves: X1, S15
func stopTells(f *fixture.Store) {
	type side struct{ stopped, other sessions.Key }
	n, up := 0, fixture.Key("up")
	f.MakeSession(up)
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
		{"another that the requester's turn worked for", func(a, b sessions.Key) side { return side{up, a} }, func(_, b sessions.Key) sessions.Key { return b }, sessions.AskRun, false, false, true, "accepted", false},
		{"target, the requester's late reply waits", func(a, b sessions.Key) side { return side{b, a} }, func(a, _ sessions.Key) sessions.Key { return a }, sessions.ReplyRun, false, false, true, "timeout", true},
		{"target, the requester's late reply at work", func(a, b sessions.Key) side { return side{b, a} }, func(a, _ sessions.Key) sessions.Key { return a }, sessions.ReplyRun, true, false, false, "timeout", true},
		{"target, the follow-up of a late reply waits", func(a, b sessions.Key) side { return side{b, a} }, func(a, _ sessions.Key) sessions.Key { return a }, sessions.FollowUpRun, false, false, true, "timeout", false},
		{"target, the follow-up of a late reply at work", func(a, b sessions.Key) side { return side{b, a} }, func(a, _ sessions.Key) sessions.Key { return a }, sessions.FollowUpRun, true, false, false, "timeout", false},
	} {
		for _, chat := range []bool{false, true} { // has the requester one
			n++
			a, b := fixture.Key(fmt.Sprint("a", n)), fixture.Key(fmt.Sprint("b", n))
			f.MakeSession(a)
			f.MakeSession(b)
			asker := f.QueueTurn(a, fixture.Address("1"), "ask b")
			f.MustClaim(a)
			if !x.waited {
				f.MustFinish(asker.ID, sessions.Outcome{Status: sessions.Done, Messages: []sessions.Message{
					{ID: fmt.Sprint("call", n), Role: sessions.Assistant, Run: asker.ID, Content: []sessions.Block{{Type: sessions.ToolCallBlock, ID: "c1", Name: "sessions_send"}}},
					{ID: fmt.Sprint("result", n), Role: sessions.ToolResult, Run: asker.ID, ToolCallID: "c1", ToolName: "sessions_send", Content: sessions.TextContent(`{"status":"` + x.status + `"}`)}}})
			}
			r := fixture.NewRun(x.in(a, b), "x")
			r.Kind, r.Source = x.kind, "tool:"+string(asker.ID)+":c1"
			r.Chain = &sessions.Chain{Kind: "ask", Root: r.ID, Requester: a, Target: b, Waited: x.waited, Request: "how is it?", Hops: []sessions.Key{up, a}}
			if x.kind == sessions.ReplyRun {
				r.Chain.Turn = 1
			}
			if chat {
				r.Chain.Back = fixture.Address("1")
			}
			f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: r.Key}}, Run: &sessions.Enqueue{Run: *r}})
			if x.begun {
				f.MustClaim(r.Key)
			}
			s := x.stop(a, b)
			var told []sessions.Run
			for range 2 { // again: nobody is told twice
				told = append(told, f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.StopSessions{Keys: []sessions.Key{s.stopped}}}}).FollowUps...)
			}
			if follows := chat && x.follow; follows != (len(told) == 1) || len(told) > 1 {
				f.Errorf("%s, chat %v: the follow-ups are %+v", x.name, chat, told)
			} else if follows && (told[0].Key != a || told[0].Kind != sessions.FollowUpRun || told[0].Reply != fixture.Address("1") || !strings.Contains(told[0].Input.Text(), "stopped by a person")) {
				f.Errorf("%s: the follow-up is %+v", x.name, told[0])
			} else if heard := x.kind != sessions.AskRun && (x.kind != sessions.ReplyRun || x.begun); follows && heard == (told[0].Chain.Status == sessions.Stopped) {
				f.Errorf("%s: the transcript of the requester has a reply: %v, and the follow-up says %q", x.name, heard, told[0].Chain.Status)
			}
			var lines []sessions.ContextLine
			for _, k := range []sessions.Key{a, b} {
				got, err := f.ContextLines(f.Context(), k)
				f.OK(err)
				lines = append(lines, got...)
			}
			want := 0
			if x.line && !(chat && x.follow) {
				want = 1
			}
			if len(lines) != want || want > 0 && (lines[0].Key != s.other || lines[0].Event != sessions.ExchangeStopped || lines[0].About != "how is it?") {
				f.Errorf("%s: the lines are %+v", x.name, lines)
			}
		}
	}
}

// A stop elsewhere, of what somebody else had asked of the requester, is none on the requester's side: its people are told of the stop of their
// own exchange.
//
// proves: S15
func stopElsewhere(f *fixture.Store) {
	a, b, c := fixture.Key("a"), fixture.Key("b"), fixture.Key("c")
	for _, k := range []sessions.Key{a, b, c} {
		f.MakeSession(k)
	}
	asks := func(from, to sessions.Key) {
		asker := f.QueueTurn(from, fixture.Address("1"), "ask")
		f.MustClaim(from)
		f.MustFinish(asker.ID, sessions.Outcome{Status: sessions.Done})
		r := fixture.NewRun(to, "how is it?")
		r.Kind, r.Source = sessions.AskRun, "tool:"+string(asker.ID)+":c1"
		r.Chain = &sessions.Chain{Kind: "ask", Root: r.ID, Requester: from, Target: to, Back: fixture.Address("1")}
		f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: to}}, Run: &sessions.Enqueue{Run: *r}})
	}
	stops := func(k sessions.Key) []sessions.Run {
		return f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.StopSessions{Keys: []sessions.Key{k}}}}).FollowUps
	}
	asks(a, b)
	asks(c, a)
	other := f.MustClaim(a)
	f.Equal(len(stops(c)), 0)
	f.MustFinish(other.ID, sessions.Outcome{Status: sessions.Stopped})
	f.Equal(f.MustGet(a).Aborted, true)
	if told := stops(b); len(told) != 1 || told[0].Key != a {
		f.Errorf("%+v", told)
	}
}
