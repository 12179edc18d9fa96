package chattest

import (
	"time"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

// The key of a chat that another one became finds the session of that one.
func movedChat(f *fixture.Store) {
	group := func(chat, thread string) (channels.Address, sessions.Key) {
		a := channels.Address{Channel: "telegram", Account: "second", Chat: channels.ChatID(chat), Thread: channels.ThreadID(thread), Type: channels.Group}
		return a, sessions.Parts{Form: sessions.FormGroup, Agent: "main", Channel: a.Channel, Account: a.Account, ID: chat, Thread: a.Thread}.Key()
	}
	said := map[sessions.Key]sessions.ID{}
	for _, thread := range []string{"", "7"} {
		a, k := group("-1", thread)
		said[k] = f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: "main", Last: a}}}).Session.ID
	}
	from, _ := group("-1", "")
	main := f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: sessions.MainKey("main"), Agent: "main", Last: from}}}).Session
	at := func(chat string) {
		f.Helper()
		for _, thread := range []string{"", "7"} {
			_, old := group("-1", thread)
			a, k := group(chat, thread)
			if got := f.MustGet(k); got.Key != old || got.ID != said[old] || got.Last != a {
				f.Errorf("%s: %+v", k, got)
			}
		}
	}
	moved, _ := group("-100", "")
	move := fixture.NewEvent(channels.Moved, "x", 1, "", sessions.MoveChat{To: moved})
	move.In.Address = from
	f.MustAccept(move)
	at("-100")
	moves, err := f.Moves(f.Context())
	f.OK(err)
	f.Equal(moves, map[channels.Address]channels.Address{moved: from})
	to, _ := group("-200", "")
	f.OK(f.Readdress(f.Context(), moved, to)) // and once more
	f.OK(f.Readdress(f.Context(), moved, to))
	at("-200")
	if got := f.MustGet(sessions.MainKey("main")); got.ID != main.ID {
		f.Errorf("%+v", got)
	}
	if ks, err := f.Known(f.Context(), to); err != nil || len(ks) != 2 {
		f.Error(ks, err)
	}

	// What is done by the new key is done to that session: also what was decided before the chat moved.
	a, byNew := group("-200", "")
	_, was := group("-1", "")
	f.MustAccept(sessions.Arrival{In: channels.Inbound{Event: channels.Message, Address: from, ID: "talk"}, Skip: &sessions.Skip{Reason: "no mention", Events: []sessions.SkipEvent{sessions.AppendContext{Key: was, Text: "x", Keep: 5}}}})
	r := fixture.NewRun(byNew, "hello")
	acc := f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: byNew, Agent: "main", Last: a, Title: "Cats"}, Mode: sessions.Require, Ops: []sessions.SessionOp{sessions.ConsumeContext{UpTo: 1000}}}, Run: &sessions.Enqueue{Run: *r}, Ops: []sessions.Op{sessions.EnqueueDelivery(fixture.NewDelivery(byNew, a, "hi"))}})
	if acc.Session.Key != was || acc.Run.Key != was || acc.Run.Session != said[was] || acc.Deliveries[0].Session != was || f.MustGet(was).Title != "Cats" || len(f.ContextTexts(was)) != 0 {
		f.Errorf("%+v", acc)
	}
	f.MustClaim(was)
	acc = f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: byNew}}, Run: &sessions.Enqueue{Run: *fixture.NewRun(byNew, "now"), Interrupt: true}})
	f.Equal(acc.Stopped, []sessions.StoppedRun{{Key: was, ID: r.ID}})

	// A place that has a session of its own keeps it.
	last, own := group("-300", "")
	mine := f.MakeSession(own)
	f.OK(f.Readdress(f.Context(), to, last))
	f.Equal(f.MustGet(own).ID, mine.ID)

	// Deleted is deleted, by whatever name.
	if moves, err = f.Moves(f.Context()); err != nil || len(moves) != 3 || moves[to] != moved {
		f.Error(moves, err)
	}
	_, old := group("-1", "7")
	f.OK(f.Delete(f.Context(), old))
	for _, chat := range []string{"-1", "-100", "-200", "-300"} {
		_, k := group(chat, "7")
		_, err := f.Get(f.Context(), k)
		f.ErrorIs(err, sessions.ErrNotFound)
	}
}

func sendPolicyOf(f *fixture.Store, k sessions.Key) policy.Override {
	return f.MustGet(k).Settings.SendPolicy
}

func setSendPolicy(f *fixture.Store, k sessions.Key, o policy.Override) {
	f.Helper()
	_, err := f.Patch(f.Context(), k, sessions.Patch{SendPolicy: &o})
	f.OK(err)
}

// A person whose hidden number becomes known keeps their session, whatever scope has named it, and what belongs to it.
//
// source: zeroclaw-labs/zeroclaw#6350
func movedPerson(f *fixture.Store) {
	forms := map[sessions.Form]sessions.Key{}
	number := func(form sessions.Form) sessions.Key {
		return sessions.Parts{Form: form, Agent: "main", Channel: "telegram", Account: "default", ID: fixture.NumberID}.Key()
	}
	for _, form := range []sessions.Form{sessions.FormPeer, sessions.FormChannelPeer, sessions.FormAccountPeer} {
		forms[form] = sessions.Parts{Form: form, Agent: "main", Channel: "telegram", Account: "default", ID: fixture.HiddenID}.Key()
		f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: forms[form], Agent: "main", Last: fixture.Address(fixture.HiddenID)}}})
	}
	first := fixture.NewArrival(fixture.HiddenID, "m1", "hello")
	f.MustAccept(first)
	setSendPolicy(f, fixture.Key(fixture.HiddenID), policy.Deny)
	open, held, done := f.QueueDelivery(fixture.NewDelivery(fixture.Key(fixture.HiddenID), fixture.Address(fixture.HiddenID), "x")), f.QueueDelivery(fixture.NewDelivery(fixture.Key(fixture.HiddenID), fixture.Address(fixture.HiddenID), "x")), f.QueueDelivery(fixture.NewDelivery(fixture.Key(fixture.HiddenID), fixture.Address(fixture.HiddenID), "x"))
	f.OK(f.EndDelivery(f.Context(), held.ID, sessions.Held, "ambiguous"))
	f.MustBeginSend(done.ID)
	f.OK(f.PartSent(f.Context(), done.ID, channels.Receipt{ID: "r1"}, true))
	f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.PutJob{ID: "j", Agent: "main", Every: time.Hour, Message: "x", To: fixture.Address(fixture.HiddenID), Next: time.Now().Add(time.Hour)}}})
	f.OK(f.BeginPreview(f.Context(), sessions.Preview{Run: "p", Session: fixture.Key(fixture.HiddenID), To: fixture.Address(fixture.HiddenID), Key: "p"}))
	f.OK(f.ShowPreview(f.Context(), "p", "p1"))
	for range 2 { // a platform may say it twice
		f.MustAccept(fixture.NewMove(""))
	}
	for form, old := range forms {
		if got := f.MustGet(number(form)); got.Key != old || got.Last != fixture.Address(fixture.NumberChat) {
			f.Errorf("%s: %+v", form, got)
		}
	}
	f.Equal(sendPolicyOf(f, fixture.Key(fixture.NumberID)), policy.Deny)
	for _, d := range []sessions.DeliveryID{open.ID, held.ID, f.QueueDelivery(fixture.NewDelivery(fixture.Key(fixture.HiddenID), fixture.Address(fixture.HiddenID), "late")).ID} {
		f.Equal(f.MustGetDelivery(d).To, fixture.Address(fixture.NumberChat))
	}
	f.Equal(f.MustGetDelivery(done.ID).To, fixture.Address(fixture.HiddenID))
	j, err := f.GetJob(f.Context(), "j")
	f.OK(err)
	f.Equal(j.To, fixture.Address(fixture.NumberChat))
	ids, err := f.Identities(f.Context())
	f.OK(err)
	f.Equal(ids, []sessions.Identity{{Channel: "telegram", Was: fixture.HiddenID, Now: fixture.NumberID}})

	// Messages keep their ids: one that comes again is known, and so are those that it is about.
	again := fixture.NewArrival(fixture.NumberChat, "m1", "hello")
	if acc := f.MustAccept(again); !acc.Duplicate {
		f.Errorf("%+v", acc)
	}
	for _, id := range []channels.MessageID{"r1", "p1"} {
		if _, own, err := f.OwnMessage(f.Context(), fixture.Address(fixture.NumberChat), id); err != nil || !own {
			f.Errorf("%s: %v %v", id, own, err)
		}
	}
	if run, found, err := f.Asked(f.Context(), fixture.Address(fixture.NumberChat), "m1"); err != nil || !found || run.ID != first.Change.Run.ID {
		f.Errorf("%+v %v %v", run, found, err)
	}

	// Another person's id for the same number: the first one's stands for nobody any more.
	other := fixture.NewMove("")
	other.In.Address = fixture.Address("2@lid")
	f.MustAccept(other)
	ids, err = f.Identities(f.Context())
	f.OK(err)
	f.Equal(ids, []sessions.Identity{{Channel: "telegram", Was: "2@lid", Now: fixture.NumberID}})
}

// Both addresses have a session: that of the new one takes over what waits, and both have the stricter policy; later its word holds for both.
//
// proves: P4
func movedToSession(f *fixture.Store) {
	hidden, number := fixture.Key(fixture.HiddenID), fixture.Key(fixture.NumberID)
	for _, k := range []sessions.Key{hidden, number} {
		chat := fixture.Address(fixture.HiddenID)
		if k == number {
			chat = fixture.Address(fixture.NumberChat)
		}
		f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: "main", Last: chat}}})
	}
	strict := func(a, b, want policy.Override) {
		f.Helper()
		f.Equal(policy.Stricter(a, b), want)
		f.Equal(policy.Stricter(b, a), want)
	}
	strict(policy.Deny, policy.Allow, policy.Deny)
	strict(policy.Deny, policy.Inherit, policy.Deny)
	strict(policy.Allow, policy.Inherit, policy.Inherit)
	setSendPolicy(f, hidden, policy.Deny)
	setSendPolicy(f, number, policy.Allow)
	busy := f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: hidden}}, Run: &sessions.Enqueue{Run: *fixture.NewRun(hidden, "at work")}}).Run
	f.MustClaim(hidden)
	waits := f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: hidden}}, Run: &sessions.Enqueue{Run: *fixture.NewRun(hidden, "waits")}}).Run
	f.MustAccept(sessions.Arrival{In: channels.Inbound{Event: channels.Message, Address: fixture.Address(fixture.HiddenID), ID: "talk"}, Skip: &sessions.Skip{Reason: "x", Events: []sessions.SkipEvent{sessions.AppendContext{Key: hidden, Text: "heard", Keep: 5}}}})
	d := f.QueueDelivery(fixture.NewDelivery(hidden, fixture.Address(fixture.HiddenID), "x"))
	f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.PutJob{ID: "j", Agent: "main", Every: time.Hour, Message: "x", From: hidden, Next: time.Now().Add(time.Hour)}}})
	for range 2 {
		f.MustAccept(fixture.NewMove(""))
	}
	f.Equal(sendPolicyOf(f, hidden), policy.Deny)
	f.Equal(sendPolicyOf(f, number), policy.Deny)
	f.Equal(f.MustGet(hidden).Last.IsZero(), true)
	f.Equal(f.MustGet(number).Last, fixture.Address(fixture.NumberChat))
	known, err := f.Known(f.Context(), fixture.Address(fixture.NumberChat))
	f.OK(err)
	f.Equal(known, []sessions.Key{number})
	if got := f.MustGetRun(busy.ID); got.Key != number || got.TranscriptKey() != hidden || got.Session != f.MustGet(hidden).ID {
		f.Errorf("%+v", got)
	}
	if run, ok, err := f.Claim(f.Context(), number); ok || err != nil {
		f.Errorf("two turns of one chat are at work: %+v %v", run, err)
	}
	f.MustFinish(busy.ID, sessions.Outcome{Status: sessions.Done, Messages: []sessions.Message{{ID: "said", Role: sessions.Assistant, Content: sessions.TextContent("done")}},
		Deliveries: []sessions.Delivery{fixture.NewDelivery(hidden, fixture.Address(fixture.HiddenID), "done")}})
	if tail := f.MustTail(f.MustGet(hidden).ID, sessions.TailQuery{}); len(tail) != 2 || f.MustGet(hidden).Turns != 1 || f.MustGet(number).Turns != 0 {
		f.Errorf("%+v", tail)
	}
	f.Equal(f.MustClaim(number).ID, waits.ID)
	if got := f.MustGetRun(waits.ID); got.Key != number || got.Session != f.MustGet(number).ID {
		f.Errorf("%+v", got)
	}
	if tail := f.MustTail(f.MustGet(number).ID, sessions.TailQuery{}); len(tail) != 1 || tail[0].Text() != "waits" {
		f.Errorf("%+v", tail)
	}
	f.Equal(f.ContextTexts(number), []string{"heard"})
	if got := f.MustGetDelivery(d.ID); got.Session != number || got.To != fixture.Address(fixture.NumberChat) {
		f.Errorf("%+v", got)
	}
	j, err := f.GetJob(f.Context(), "j")
	f.OK(err)
	f.Equal(j.From, number)

	// What the old session still has to say, as the results of its sub-agents, goes by the word of the session that has the chat.
	for _, word := range []policy.Override{policy.Deny, policy.Allow, policy.Inherit} {
		setSendPolicy(f, hidden, policy.Allow)
		setSendPolicy(f, number, word)
		late, err := f.BeginSend(f.Context(), f.QueueDelivery(fixture.NewDelivery(hidden, fixture.Address(fixture.NumberChat), "late")).ID, time.Now(), func(s sessions.Session) policy.Verdict {
			return policy.SendPolicy{}.Evaluate(policy.Subject{Key: string(s.Key), Override: s.Settings.SendPolicy})
		}, sessions.FirstContactQuota{})
		f.OK(err)
		f.Equal(late.State == sessions.Withheld, word == policy.Deny)
	}
}

// Two sessions of one person, each with a running turn, become one: what the person writes then interrupts both, and waits for the end of both.
//
// source: zeroclaw-labs/zeroclaw#6350
func movedAtWork(f *fixture.Store) {
	hidden, number := fixture.Key(fixture.HiddenID), fixture.Key(fixture.NumberID)
	ask := func(k sessions.Key, at channels.Address, text string, interrupt bool) sessions.Accepted {
		run := fixture.NewRun(k, text)
		run.Reply = at
		return f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: "main", Last: at}}, Run: &sessions.Enqueue{Run: *run, Interrupt: interrupt}})
	}
	later := ask(number, fixture.Address(fixture.NumberChat), "by number", false).Run // queued first: the order in which they were queued is not that of the claims
	earlier := ask(hidden, fixture.Address(fixture.HiddenID), "hidden", false).Run
	waits := ask(hidden, fixture.Address(fixture.HiddenID), "waits", false).Run
	f.MustClaim(hidden)
	f.MustClaim(number)
	f.MustAccept(fixture.NewMove(""))
	if taken, err := f.MergeQueued(f.Context(), later.ID, sessions.MergeQuery{Kind: sessions.TurnRun}); err != nil || len(taken) > 0 {
		f.Errorf("a turn takes up %+v beside another one: %v", taken, err)
	}
	acc := ask(number, fixture.Address(fixture.NumberChat), "now", true)
	f.Equal(acc.Stopped, []sessions.StoppedRun{{Key: number, ID: later.ID}, {Key: number, ID: earlier.ID, Home: hidden}})
	for _, id := range []sessions.RunID{later.ID, earlier.ID} {
		if run, ok, err := f.Claim(f.Context(), number); ok || err != nil {
			f.Errorf("%s is at work still: %+v %v", id, run, err)
		}
		f.MustFinish(id, sessions.Outcome{Status: sessions.Stopped, Error: "interrupted"})
		f.Equal(f.MustGetRun(id).MergedInto, acc.Run.ID)
	}
	f.Equal(f.MustClaim(number).ID, waits.ID)
	var told []string
	for _, m := range f.MustTail(f.MustGet(number).ID, sessions.TailQuery{}) {
		told = append(told, m.Text())
	}
	f.Equal(told, []string{"by number", "hidden", "waits"})
}
