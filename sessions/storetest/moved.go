package storetest

import (
	"testing"
	"time"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
)

// hidden is a person whose number becomes known, as WhatsApp addresses them.
const (
	hiddenID   = "100000000000001@lid"
	numberID   = "+15550100004"
	numberChat = "15550100004@s.whatsapp.net"
)

func personMoves(id channels.MessageID) sessions.Arrival {
	a := sessions.Arrival{In: channels.Inbound{Event: channels.Moved, ID: id, Address: addr(hiddenID), MovedTo: numberChat, Sender: channels.Sender{ID: numberID}}, Skip: &sessions.Skip{Reason: "moved"}}
	a.Skip.Events = []sessions.SkipEvent{sessions.MoveChat{To: addr(numberChat)}}
	return a
}

func (f *fixture) policyOf(k sessions.Key) policy.Override { return f.get(k).Settings.SendPolicy }

func (f *fixture) silence(k sessions.Key, o policy.Override) {
	f.t.Helper()
	_, err := f.Patch(f.ctx, k, sessions.Patch{SendPolicy: &o})
	f.ok(err)
}

// A person whose hidden number becomes known keeps their session, whatever scope has named it, and what belongs to it.
//
// source: zeroclaw-labs/zeroclaw#6350
func movedPerson(_ *testing.T, f *fixture) {
	forms := map[sessions.Form]sessions.Key{}
	number := func(form sessions.Form) sessions.Key {
		return sessions.Parts{Form: form, Agent: "main", Channel: "telegram", Account: "default", ID: numberID}.Key()
	}
	for _, form := range []sessions.Form{sessions.FormPeer, sessions.FormChannelPeer, sessions.FormAccountPeer} {
		forms[form] = sessions.Parts{Form: form, Agent: "main", Channel: "telegram", Account: "default", ID: hiddenID}.Key()
		f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: forms[form], Agent: "main", Last: addr(hiddenID)}}})
	}
	first := message(hiddenID, "m1", "hello")
	f.accept(first)
	f.silence(key(hiddenID), policy.Deny)
	open, held, done := f.post(delivery(key(hiddenID), addr(hiddenID), "x")), f.post(delivery(key(hiddenID), addr(hiddenID), "x")), f.post(delivery(key(hiddenID), addr(hiddenID), "x"))
	f.ok(f.EndDelivery(f.ctx, held.ID, sessions.Held, "ambiguous"))
	f.begin(done.ID)
	f.ok(f.PartSent(f.ctx, done.ID, channels.Receipt{ID: "r1"}, true))
	f.submit(sessions.Change{Ops: []sessions.Op{sessions.PutJob{ID: "j", Agent: "main", Every: time.Hour, Message: "x", To: addr(hiddenID), Next: time.Now().Add(time.Hour)}}})
	f.ok(f.BeginPreview(f.ctx, sessions.Preview{Run: "p", Session: key(hiddenID), To: addr(hiddenID), Key: "p"}))
	f.ok(f.ShowPreview(f.ctx, "p", "p1"))
	for range 2 { // a platform may say it twice
		f.accept(personMoves(""))
	}
	for form, old := range forms {
		if got := f.get(number(form)); got.Key != old || got.Last != addr(numberChat) {
			f.t.Errorf("%s: %+v", form, got)
		}
	}
	f.equal(f.policyOf(key(numberID)), policy.Deny)
	for _, d := range []sessions.DeliveryID{open.ID, held.ID, f.post(delivery(key(hiddenID), addr(hiddenID), "late")).ID} {
		f.equal(f.delivery(d).To, addr(numberChat))
	}
	f.equal(f.delivery(done.ID).To, addr(hiddenID))
	j, err := f.GetJob(f.ctx, "j")
	f.ok(err)
	f.equal(j.To, addr(numberChat))
	ids, err := f.Identities(f.ctx)
	f.ok(err)
	f.equal(ids, []sessions.Identity{{Channel: "telegram", Was: hiddenID, Now: numberID}})

	// Messages keep their ids: one that comes again is known, and so are those that it is about.
	again := message(numberChat, "m1", "hello")
	if acc := f.accept(again); !acc.Duplicate {
		f.t.Errorf("%+v", acc)
	}
	for _, id := range []channels.MessageID{"r1", "p1"} {
		if _, own, err := f.OwnMessage(f.ctx, addr(numberChat), id); err != nil || !own {
			f.t.Errorf("%s: %v %v", id, own, err)
		}
	}
	if run, found, err := f.Asked(f.ctx, addr(numberChat), "m1"); err != nil || !found || run.ID != first.Change.Run.ID {
		f.t.Errorf("%+v %v %v", run, found, err)
	}

	// Another person's id for the same number: the first one's stands for nobody any more.
	other := personMoves("")
	other.In.Address = addr("2@lid")
	f.accept(other)
	ids, err = f.Identities(f.ctx)
	f.ok(err)
	f.equal(ids, []sessions.Identity{{Channel: "telegram", Was: "2@lid", Now: numberID}})
}

// Both addresses have a session: that of the new one takes over what waits, and both have the stricter policy; later its word holds for both.
//
// proves: P4
func movedToSession(_ *testing.T, f *fixture) {
	hidden, number := key(hiddenID), key(numberID)
	for _, k := range []sessions.Key{hidden, number} {
		chat := addr(hiddenID)
		if k == number {
			chat = addr(numberChat)
		}
		f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: "main", Last: chat}}})
	}
	strict := func(a, b, want policy.Override) {
		f.t.Helper()
		f.equal(policy.Stricter(a, b), want)
		f.equal(policy.Stricter(b, a), want)
	}
	strict(policy.Deny, policy.Allow, policy.Deny)
	strict(policy.Deny, policy.Inherit, policy.Deny)
	strict(policy.Allow, policy.Inherit, policy.Inherit)
	f.silence(hidden, policy.Deny)
	f.silence(number, policy.Allow)
	busy := f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: hidden}}, Run: &sessions.Enqueue{Run: *newRun(hidden, "at work")}}).Run
	f.claim(hidden)
	waits := f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: hidden}}, Run: &sessions.Enqueue{Run: *newRun(hidden, "waits")}}).Run
	f.accept(sessions.Arrival{In: channels.Inbound{Event: channels.Message, Address: addr(hiddenID), ID: "talk"}, Skip: &sessions.Skip{Reason: "x", Events: []sessions.SkipEvent{sessions.AppendContext{Key: hidden, Text: "heard", Keep: 5}}}})
	d := f.post(delivery(hidden, addr(hiddenID), "x"))
	f.submit(sessions.Change{Ops: []sessions.Op{sessions.PutJob{ID: "j", Agent: "main", Every: time.Hour, Message: "x", From: hidden, Next: time.Now().Add(time.Hour)}}})
	for range 2 {
		f.accept(personMoves(""))
	}
	f.equal(f.policyOf(hidden), policy.Deny)
	f.equal(f.policyOf(number), policy.Deny)
	f.equal(f.get(hidden).Last.IsZero(), true)
	f.equal(f.get(number).Last, addr(numberChat))
	known, err := f.Known(f.ctx, addr(numberChat))
	f.ok(err)
	f.equal(known, []sessions.Key{number})
	if got := f.run(busy.ID); got.Key != number || got.TranscriptKey() != hidden || got.Session != f.get(hidden).ID {
		f.t.Errorf("%+v", got)
	}
	if run, ok, err := f.Claim(f.ctx, number); ok || err != nil {
		f.t.Errorf("two turns of one chat are at work: %+v %v", run, err)
	}
	f.finish(busy.ID, sessions.Outcome{Status: sessions.Done, Messages: []sessions.Message{{ID: "said", Role: sessions.Assistant, Content: sessions.TextContent("done")}},
		Deliveries: []sessions.Delivery{delivery(hidden, addr(hiddenID), "done")}})
	if tail := f.tail(f.get(hidden).ID, sessions.TailQuery{}); len(tail) != 2 || f.get(hidden).Turns != 1 || f.get(number).Turns != 0 {
		f.t.Errorf("%+v", tail)
	}
	f.equal(f.claim(number).ID, waits.ID)
	if got := f.run(waits.ID); got.Key != number || got.Session != f.get(number).ID {
		f.t.Errorf("%+v", got)
	}
	if tail := f.tail(f.get(number).ID, sessions.TailQuery{}); len(tail) != 1 || tail[0].Text() != "waits" {
		f.t.Errorf("%+v", tail)
	}
	f.equal(f.overheard(number), []string{"heard"})
	if got := f.delivery(d.ID); got.Session != number || got.To != addr(numberChat) {
		f.t.Errorf("%+v", got)
	}
	j, err := f.GetJob(f.ctx, "j")
	f.ok(err)
	f.equal(j.From, number)

	// What the old session still has to say, as the results of its sub-agents, goes by the word of the session that has the chat.
	for _, word := range []policy.Override{policy.Deny, policy.Allow, policy.Inherit} {
		f.silence(hidden, policy.Allow)
		f.silence(number, word)
		late, err := f.BeginSend(f.ctx, f.post(delivery(hidden, addr(numberChat), "late")).ID, time.Now(), func(s sessions.Session) policy.Verdict {
			return policy.SendPolicy{}.Evaluate(policy.Subject{Key: string(s.Key), Override: s.Settings.SendPolicy})
		}, sessions.FirstContactQuota{})
		f.ok(err)
		f.equal(late.State == sessions.Withheld, word == policy.Deny)
	}
}

// Two sessions of one person, each with a running turn, become one: what the person writes then interrupts both, and waits for the end of both.
//
// source: zeroclaw-labs/zeroclaw#6350
func movedAtWork(_ *testing.T, f *fixture) {
	hidden, number := key(hiddenID), key(numberID)
	ask := func(k sessions.Key, at channels.Address, text string, interrupt bool) sessions.Accepted {
		run := newRun(k, text)
		run.Reply = at
		return f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: "main", Last: at}}, Run: &sessions.Enqueue{Run: *run, Interrupt: interrupt}})
	}
	later := ask(number, addr(numberChat), "by number", false).Run // queued first: the order in which they were queued is not that of the claims
	earlier := ask(hidden, addr(hiddenID), "hidden", false).Run
	waits := ask(hidden, addr(hiddenID), "waits", false).Run
	f.claim(hidden)
	f.claim(number)
	f.accept(personMoves(""))
	if taken, err := f.MergeQueued(f.ctx, later.ID, sessions.MergeQuery{Kind: sessions.TurnRun}); err != nil || len(taken) > 0 {
		f.t.Errorf("a turn takes up %+v beside another one: %v", taken, err)
	}
	acc := ask(number, addr(numberChat), "now", true)
	f.equal(acc.Stopped, []sessions.StoppedRun{{Key: number, ID: later.ID}, {Key: number, ID: earlier.ID, Home: hidden}})
	for _, id := range []sessions.RunID{later.ID, earlier.ID} {
		if run, ok, err := f.Claim(f.ctx, number); ok || err != nil {
			f.t.Errorf("%s is at work still: %+v %v", id, run, err)
		}
		f.finish(id, sessions.Outcome{Status: sessions.Stopped, Error: "interrupted"})
		f.equal(f.run(id).MergedInto, acc.Run.ID)
	}
	f.equal(f.claim(number).ID, waits.ID)
	var told []string
	for _, m := range f.tail(f.get(number).ID, sessions.TailQuery{}) {
		told = append(told, m.Text())
	}
	f.equal(told, []string{"by number", "hidden", "waits"})
}

// Two sessions of one person, each with a running turn, become one, and the host restarts: the turns that had begun run before the queued one.
// Else the queued turn's model would be shown the message of a later turn, and answer it too.
func movedAndRestarted(_ *testing.T, f *fixture) {
	hidden, number := key(hiddenID), key(numberID)
	ask := func(k sessions.Key, at channels.Address, text string) sessions.Run {
		run := newRun(k, text)
		run.Reply = at
		return f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: "main", Last: at}}, Run: &sessions.Enqueue{Run: *run}}).Run
	}
	first, waits, other := ask(hidden, addr(hiddenID), "first"), ask(hidden, addr(hiddenID), "waits"), ask(number, addr(numberChat), "other")
	f.claim(hidden)
	f.claim(number)
	f.accept(personMoves(""))
	_, _, err := f.Recover(f.ctx)
	f.ok(err)
	for _, want := range []sessions.RunID{first.ID, other.ID, waits.ID} {
		f.equal(f.claim(number).ID, want)
		f.finish(want, sessions.Outcome{Status: sessions.Done})
	}
}

// A turn that another session's queue has, because the chats became one, still writes its own transcript: whatever waits for that session,
// a post, an ask, a report's turn or a summary, begins behind it, also after a restart, and in the commit that queues it.
//
// source: zeroclaw-labs/zeroclaw#6350
func movedBeside(_ *testing.T, f *fixture) {
	hidden, number := key(hiddenID), key(numberID)
	ask := func(k sessions.Key, at channels.Address, kind sessions.RunKind, text string) sessions.Accepted {
		run := newRun(k, text)
		run.Kind, run.Reply = kind, at
		return f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: "main", Last: at}}, Run: &sessions.Enqueue{Run: *run, Claim: true}})
	}
	for _, kind := range []sessions.RunKind{sessions.PostRun, sessions.AskRun, sessions.ReplyRun, sessions.CompactRun, sessions.TurnRun} {
		turn, other := ask(hidden, addr(hiddenID), sessions.TurnRun, "turn"), ask(number, addr(numberChat), sessions.TurnRun, "other")
		f.accept(personMoves(channels.MessageID("moved " + string(kind))))
		beside := ask(hidden, channels.Address{}, kind, "beside "+string(kind))
		if beside.Claimed != nil {
			f.t.Errorf("%s begins beside the turn, with its commit", kind)
		}
		f.nothingToClaim(hidden)
		f.finish(other.Run.ID, sessions.Outcome{Status: sessions.Done})
		_, _, err := f.Recover(f.ctx)
		f.ok(err)
		f.nothingToClaim(hidden)
		f.equal(f.claim(number).ID, turn.Run.ID)
		f.nothingToClaim(hidden)
		said := sessions.Message{ID: "said " + string(kind), Role: sessions.Assistant, Content: sessions.TextContent("said")}
		f.finish(turn.Run.ID, sessions.Outcome{Status: sessions.Done, Messages: []sessions.Message{said}})
		f.equal(f.claim(hidden).ID, beside.Run.ID)
		f.finish(beside.Run.ID, sessions.Outcome{Status: sessions.Done})
		want := []string{"turn", "said", "beside " + string(kind)}
		if kind == sessions.CompactRun { // whose input is no message
			want = want[:2]
		}
		var tail []string
		for _, m := range f.tail(f.get(hidden).ID, sessions.TailQuery{}) {
			tail = append(tail, m.Text())
		}
		f.equal(tail[len(tail)-len(want):], want)
		back := personMoves(channels.MessageID("back " + string(kind)))
		back.In.Address, back.In.Sender.ID, back.Skip.Events = addr(numberChat), hiddenID, []sessions.SkipEvent{sessions.MoveChat{To: addr(hiddenID)}}
		f.accept(back)
	}
}

// The configuration gives the messages from the new address to a session that several chats share: it obeys the chat's deny, also when
// it is made for that.
func movedToShared(_ *testing.T, f *fixture) {
	main := sessions.MainKey("main")
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: key(hiddenID), Agent: "main", Last: addr(hiddenID)}}})
	move := personMoves("")
	move.Skip.Events = []sessions.SkipEvent{sessions.MoveChat{To: addr(numberChat), Route: main}}
	f.accept(move)
	_, err := f.Get(f.ctx, main)
	f.is(err, sessions.ErrNotFound) // there is nothing to obey
	back := personMoves("")
	back.In.Address, back.In.Sender.ID = addr(numberChat), hiddenID
	back.Skip.Events = []sessions.SkipEvent{sessions.MoveChat{To: addr(hiddenID)}}
	f.accept(back)
	f.silence(key(hiddenID), policy.Deny)
	f.accept(move)
	f.equal(f.policyOf(main), policy.Deny)
}

// Who was let in, waits or was turned down under the old id is so under the new one.
func movedPairing(_ *testing.T, f *fixture) {
	now := fromMilli(time.Now())
	put := func(user string, a channels.Address) {
		f.t.Helper()
		ok, err := f.PutPairing(f.ctx, sessions.Pairing{Channel: "telegram", Account: "default", User: channels.UserID(user), Name: "N", Address: a, Hash: "h" + user, Created: now, Expires: now.Add(time.Hour)}, 9)
		f.ok(err)
		f.equal(ok, true)
	}
	end := func(user string, approve bool) {
		f.t.Helper()
		f.submit(sessions.Change{Ops: []sessions.Op{sessions.DecidePairing{Channel: "telegram", Hash: "h" + user, Approve: approve, Time: now}}})
	}
	list := func(rejected ...bool) {
		f.t.Helper()
		all, err := f.Pairings(f.ctx, now)
		f.ok(err)
		if len(all) != len(rejected) || len(all) == 1 && (all[0].User != numberID || all[0].Rejected != rejected[0]) {
			f.t.Errorf("%+v", all)
		}
	}
	put(hiddenID, addr(hiddenID))
	f.accept(personMoves(""))
	list(false)
	all, err := f.Pairings(f.ctx, now)
	f.ok(err)
	f.equal(all[0].Address, addr(numberChat))
	put(hiddenID, addr(hiddenID)) // and once more, by another login
	end(hiddenID, false)
	f.accept(personMoves(""))
	list(true)
	f.submit(sessions.Change{Ops: []sessions.Op{sessions.RevokePairing{Channel: "telegram", Account: "default", User: numberID}}})
	put(hiddenID, addr(hiddenID))
	end(hiddenID, true)
	f.accept(personMoves(""))
	list()
	for id, want := range map[channels.UserID]bool{hiddenID: false, numberID: true} {
		in, err := f.Paired(f.ctx, "telegram", "default", id)
		f.ok(err)
		f.equal(in, want)
	}
}

// A supergroup numbers its messages from 1 again: nothing that waits for a group's new place names a message of the old one.
//
// source: https://core.telegram.org/method/messages.migrateChat
func movedReplies(_ *testing.T, f *fixture) {
	from := channels.Address{Channel: "telegram", Account: "default", Chat: "-5", Type: channels.Group}
	to := from
	to.Chat = "-1005"
	k := sessions.Key("agent:main:telegram:group:-5")
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: "main", Last: from}}})
	post := func(at channels.Address) sessions.DeliveryID {
		d := delivery(k, at, "x")
		d.ReplyTo = "1061"
		return f.post(d).ID
	}
	line := func(event channels.Event, id channels.MessageID, at channels.Address, message channels.MessageID, text string) {
		f.accept(sessions.Arrival{In: channels.Inbound{Event: event, Address: at, ID: id}, Skip: &sessions.Skip{Reason: "x", Events: []sessions.SkipEvent{
			sessions.AppendContext{Key: k, Event: event, Sender: "1", Message: message, Text: text, Keep: 9}}}})
	}
	waits, held, sending, person := post(from), post(from), post(from), post(addr("1"))
	f.ok(f.EndDelivery(f.ctx, held, sessions.Held, "ambiguous"))
	f.begin(sending)
	line(channels.Message, "1062", from, "1062", "old words")
	f.ok(f.Readdress(f.ctx, from, to))
	late := post(from) // its turn began before
	f.ok(f.Readdress(f.ctx, addr("1"), addr("2")))
	f.equal(f.delivery(person).ReplyTo, channels.MessageID("1061"))
	for _, id := range []sessions.DeliveryID{waits, held, sending, late} {
		if d := f.delivery(id); d.To != to || d.ReplyTo != "" || d.Text != "x" {
			f.t.Errorf("%+v", d)
		}
	}
	line(channels.Edited, "e", to, "1062", "new words")
	f.equal(f.overheard(k), []string{"old words", "new words"})
}
