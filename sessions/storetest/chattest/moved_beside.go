package chattest

import (
	"time"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

// Two sessions of one person, each with a running turn, become one, and the host restarts: the turns that had begun run before the queued one.
// Else the queued turn's model would be shown the message of a later turn, and answer it too.
func movedAndRestarted(f *fixture.Store) {
	hidden, number := fixture.Key(fixture.HiddenID), fixture.Key(fixture.NumberID)
	ask := func(k sessions.Key, at channels.Address, text string) sessions.Run {
		run := fixture.NewRun(k, text)
		run.Reply = at
		return f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: "main", Last: at}}, Run: &sessions.Enqueue{Run: *run}}).Run
	}
	first, waits, other := ask(hidden, fixture.Address(fixture.HiddenID), "first"), ask(hidden, fixture.Address(fixture.HiddenID), "waits"), ask(number, fixture.Address(fixture.NumberChat), "other")
	f.MustClaim(hidden)
	f.MustClaim(number)
	f.MustAccept(fixture.NewMove(""))
	_, _, err := f.Recover(f.Context())
	f.OK(err)
	for _, want := range []sessions.RunID{first.ID, other.ID, waits.ID} {
		f.Equal(f.MustClaim(number).ID, want)
		f.MustFinish(want, sessions.Outcome{Status: sessions.Done})
	}
}

// A turn that another session's queue has, because the chats became one, still writes its own transcript: whatever waits for that session,
// a post, an ask, a report's turn or a summary, begins behind it, also after a restart, and in the commit that queues it.
//
// source: zeroclaw-labs/zeroclaw#6350
func movedBeside(f *fixture.Store) {
	hidden, number := fixture.Key(fixture.HiddenID), fixture.Key(fixture.NumberID)
	ask := func(k sessions.Key, at channels.Address, kind sessions.RunKind, text string) sessions.Accepted {
		run := fixture.NewRun(k, text)
		run.Kind, run.Reply = kind, at
		return f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: "main", Last: at}}, Run: &sessions.Enqueue{Run: *run, Claim: true}})
	}
	for _, kind := range []sessions.RunKind{sessions.PostRun, sessions.AskRun, sessions.ReplyRun, sessions.CompactRun, sessions.TurnRun} {
		turn, other := ask(hidden, fixture.Address(fixture.HiddenID), sessions.TurnRun, "turn"), ask(number, fixture.Address(fixture.NumberChat), sessions.TurnRun, "other")
		f.MustAccept(fixture.NewMove(channels.MessageID("moved " + string(kind))))
		beside := ask(hidden, channels.Address{}, kind, "beside "+string(kind))
		if beside.Claimed != nil {
			f.Errorf("%s begins beside the turn, with its commit", kind)
		}
		f.NothingToClaim(hidden)
		f.MustFinish(other.Run.ID, sessions.Outcome{Status: sessions.Done})
		_, _, err := f.Recover(f.Context())
		f.OK(err)
		f.NothingToClaim(hidden)
		f.Equal(f.MustClaim(number).ID, turn.Run.ID)
		f.NothingToClaim(hidden)
		said := sessions.Message{ID: "said " + string(kind), Role: sessions.Assistant, Content: sessions.TextContent("said")}
		f.MustFinish(turn.Run.ID, sessions.Outcome{Status: sessions.Done, Messages: []sessions.Message{said}})
		f.Equal(f.MustClaim(hidden).ID, beside.Run.ID)
		f.MustFinish(beside.Run.ID, sessions.Outcome{Status: sessions.Done})
		want := []string{"turn", "said", "beside " + string(kind)}
		if kind == sessions.CompactRun { // whose input is no message
			want = want[:2]
		}
		var tail []string
		for _, m := range f.MustTail(f.MustGet(hidden).ID, sessions.TailQuery{}) {
			tail = append(tail, m.Text())
		}
		f.Equal(tail[len(tail)-len(want):], want)
		back := fixture.NewMove(channels.MessageID("back " + string(kind)))
		back.In.Address, back.In.Sender.ID, back.Skip.Events = fixture.Address(fixture.NumberChat), fixture.HiddenID, []sessions.SkipEvent{sessions.MoveChat{To: fixture.Address(fixture.HiddenID)}}
		f.MustAccept(back)
	}
}

// The configuration gives the messages from the new address to a session that several chats share: it obeys the chat's deny, also when
// it is made for that.
func movedToShared(f *fixture.Store) {
	main := sessions.MainKey("main")
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: fixture.Key(fixture.HiddenID), Agent: "main", Last: fixture.Address(fixture.HiddenID)}}})
	move := fixture.NewMove("")
	move.Skip.Events = []sessions.SkipEvent{sessions.MoveChat{To: fixture.Address(fixture.NumberChat), Route: main}}
	f.MustAccept(move)
	_, err := f.Get(f.Context(), main)
	f.ErrorIs(err, sessions.ErrNotFound) // there is nothing to obey
	back := fixture.NewMove("")
	back.In.Address, back.In.Sender.ID = fixture.Address(fixture.NumberChat), fixture.HiddenID
	back.Skip.Events = []sessions.SkipEvent{sessions.MoveChat{To: fixture.Address(fixture.HiddenID)}}
	f.MustAccept(back)
	setSendPolicy(f, fixture.Key(fixture.HiddenID), policy.Deny)
	f.MustAccept(move)
	f.Equal(sendPolicyOf(f, main), policy.Deny)
}

// Who was let in, waits or was turned down under the old id is so under the new one.
func movedPairing(f *fixture.Store) {
	now := fixture.StoredTime(time.Now())
	put := func(user string, a channels.Address) {
		f.Helper()
		ok, err := f.PutPairing(f.Context(), sessions.Pairing{Channel: "telegram", Account: "default", User: channels.UserID(user), Name: "N", Address: a, Hash: "h" + user, Created: now, Expires: now.Add(time.Hour)}, 9)
		f.OK(err)
		f.Equal(ok, true)
	}
	end := func(user string, approve bool) {
		f.Helper()
		f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.DecidePairing{Channel: "telegram", Hash: "h" + user, Approve: approve, Time: now}}})
	}
	list := func(rejected ...bool) {
		f.Helper()
		all, err := f.Pairings(f.Context(), now)
		f.OK(err)
		if len(all) != len(rejected) || len(all) == 1 && (all[0].User != fixture.NumberID || all[0].Rejected != rejected[0]) {
			f.Errorf("%+v", all)
		}
	}
	put(fixture.HiddenID, fixture.Address(fixture.HiddenID))
	f.MustAccept(fixture.NewMove(""))
	list(false)
	all, err := f.Pairings(f.Context(), now)
	f.OK(err)
	f.Equal(all[0].Address, fixture.Address(fixture.NumberChat))
	put(fixture.HiddenID, fixture.Address(fixture.HiddenID)) // and once more, by another login
	end(fixture.HiddenID, false)
	f.MustAccept(fixture.NewMove(""))
	list(true)
	f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.RevokePairing{Channel: "telegram", Account: "default", User: fixture.NumberID}}})
	put(fixture.HiddenID, fixture.Address(fixture.HiddenID))
	end(fixture.HiddenID, true)
	f.MustAccept(fixture.NewMove(""))
	list()
	for id, want := range map[channels.UserID]bool{fixture.HiddenID: false, fixture.NumberID: true} {
		in, err := f.Paired(f.Context(), "telegram", "default", id)
		f.OK(err)
		f.Equal(in, want)
	}
}

// A supergroup numbers its messages from 1 again: nothing that waits for a group's new place names a message of the old one.
//
// source: https://core.telegram.org/method/messages.migrateChat
func movedReplies(f *fixture.Store) {
	from := channels.Address{Channel: "telegram", Account: "default", Chat: "-5", Type: channels.Group}
	to := from
	to.Chat = "-1005"
	k := sessions.Key("agent:main:telegram:group:-5")
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: "main", Last: from}}})
	post := func(at channels.Address) sessions.DeliveryID {
		d := fixture.NewDelivery(k, at, "x")
		d.ReplyTo = "1061"
		return f.QueueDelivery(d).ID
	}
	line := func(event channels.Event, id channels.MessageID, at channels.Address, message channels.MessageID, text string) {
		f.MustAccept(sessions.Arrival{In: channels.Inbound{Event: event, Address: at, ID: id}, Skip: &sessions.Skip{Reason: "x", Events: []sessions.SkipEvent{
			sessions.AppendContext{Key: k, Event: event, Sender: "1", Message: message, Text: text, Keep: 9}}}})
	}
	waits, held, sending, person := post(from), post(from), post(from), post(fixture.Address("1"))
	f.OK(f.EndDelivery(f.Context(), held, sessions.Held, "ambiguous"))
	f.MustBeginSend(sending)
	line(channels.Message, "1062", from, "1062", "old words")
	f.OK(f.Readdress(f.Context(), from, to))
	late := post(from) // its turn began before
	f.OK(f.Readdress(f.Context(), fixture.Address("1"), fixture.Address("2")))
	f.Equal(f.MustGetDelivery(person).ReplyTo, channels.MessageID("1061"))
	for _, id := range []sessions.DeliveryID{waits, held, sending, late} {
		if d := f.MustGetDelivery(id); d.To != to || d.ReplyTo != "" || d.Text != "x" {
			f.Errorf("%+v", d)
		}
	}
	line(channels.Edited, "e", to, "1062", "new words")
	f.Equal(f.ContextTexts(k), []string{"old words", "new words"})
}
