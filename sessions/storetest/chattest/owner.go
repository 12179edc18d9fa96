package chattest

import (
	"time"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

// The first person who is ever let in becomes an owner where that is asked for, and nobody after them: also not when they were removed, nor when
// two are decided about in one commit.
func firstOwner(f *fixture.Store) {
	now := fixture.StoredTime(time.Now())
	ask := func(user string) {
		f.Helper()
		ok, err := f.PutPairing(f.Context(), sessions.Pairing{Channel: "telegram", Account: "default", User: channels.UserID(user), Address: fixture.Address(user), Hash: "h" + user, Created: now, Expires: now.Add(time.Hour)}, 3)
		f.OK(err)
		f.Equal(ok, true)
	}
	decide := func(user string, approve bool, owner sessions.Ownership) sessions.DecidePairing {
		return sessions.DecidePairing{Channel: "telegram", Hash: "h" + user, Approve: approve, Owner: owner, Time: now}
	}
	owners := func() (out []string) {
		list, err := f.Admitted(f.Context())
		f.OK(err)
		for _, p := range list {
			if p.Owner {
				out = append(out, string(p.User))
			}
		}
		return out
	}
	ever := func(want bool) {
		f.Helper()
		got, err := f.EverAdmitted(f.Context())
		f.OK(err)
		f.Equal(got, want)
	}
	for _, user := range []string{"1", "2", "3"} {
		ask(user)
	}
	acc := f.MustSubmit(sessions.Change{Ops: []sessions.Op{decide("3", false, sessions.FirstOwner)}})
	f.Equal(*acc.Decided, sessions.Decided{})
	ever(false)
	revoke := sessions.Change{Ops: []sessions.Op{sessions.RevokePairing{Channel: "telegram", Account: "default", User: "3"}}}
	f.MustSubmit(revoke) // of a rejection: nobody was let in by that
	ever(false)
	acc = f.MustSubmit(sessions.Change{Ops: []sessions.Op{decide("2", true, sessions.FirstOwner), decide("1", true, sessions.FirstOwner)}})
	f.Equal(*acc.Decided, sessions.Decided{}) // of the last one
	f.Equal(owners(), []string{"2"})
	ever(true)
	remove := func(user string) error {
		_, err := f.Submit(f.Context(), sessions.Change{Ops: []sessions.Op{sessions.RevokePairing{Channel: "telegram", Account: "default", User: channels.UserID(user)}}})
		return err
	}
	f.OK(remove("1"))
	f.OK(remove("2"))
	f.Equal(len(owners()), 0)
	ever(true)
	ask("4")
	acc = f.MustSubmit(sessions.Change{Ops: []sessions.Op{decide("4", true, sessions.FirstOwner)}})
	f.Equal(acc.Decided.Owner, false)
	f.Equal(len(owners()), 0)
	grant := func(user string) error {
		_, err := f.Submit(f.Context(), sessions.Change{Ops: []sessions.Op{sessions.GrantOwner{Channel: "telegram", Account: "default", User: channels.UserID(user)}}})
		return err
	}
	f.ErrorIs(grant("5"), sessions.ErrNotFound)
	f.OK(grant("4"))
	f.Equal(owners(), []string{"4"})
	ask("6")
	acc = f.MustSubmit(sessions.Change{Ops: []sessions.Op{decide("6", true, sessions.AnyOwner)}})
	f.Equal(acc.Decided.Owner, true)
}

// The conversation of a person who becomes an owner is the owner's session's in the same commit, with all that hangs on it; nothing leads back.
func handedOver(f *fixture.Store) {
	from, to := fixture.Key("1001"), sessions.MainKey("main")
	arrival := fixture.NewArrival("1001", "m1", "tell me of apples")
	arrival.Change.Session.Title = "Ann"
	acc := f.MustAccept(arrival)
	run := f.MustClaim(from)
	hand := func() sessions.Moved {
		f.Helper()
		now := time.Now()
		ok, err := f.PutPairing(f.Context(), sessions.Pairing{Channel: "telegram", Account: "default", User: "1001", Address: fixture.Address("1001"), Hash: "h", Created: now, Expires: now.Add(time.Hour)}, 3)
		f.OK(err)
		f.Equal(ok, true)
		got := f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.DecidePairing{Channel: "telegram", Hash: "h", Approve: true, Owner: sessions.AnyOwner, Handover: sessions.Handover{From: from, To: to}, Time: now}}})
		f.Equal(got.Decided.Owner, true)
		return got.Decided.Moved
	}
	f.Equal(hand(), sessions.MovedLater) // an answer is under way
	f.MustFinish(run.ID, sessions.Outcome{Status: sessions.Done, Messages: []sessions.Message{fixture.Assistant("apples are red")}})
	deny := policy.Deny
	_, err := f.Patch(f.Context(), from, sessions.Patch{SendPolicy: &deny})
	f.OK(err)
	f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.PutJob{ID: "j", Agent: "main", From: from, Message: "x"}}})
	f.Equal(hand(), sessions.MovedNow)
	at := f.MustGet(to)
	if at.ID != acc.Session.ID || at.Settings.SendPolicy != policy.Deny || at.Turns == 0 || at.Last != fixture.Address("1001") || at.Title != "" {
		f.Errorf("%+v", at)
	}
	f.Equal(fixture.Texts(f.MustTail(at.ID, sessions.TailQuery{})), []string{"tell me of apples", "apples are red"})
	if ks, err := f.Known(f.Context(), fixture.Address("1001")); err != nil || len(ks) != 1 || ks[0] != to {
		f.Error(ks, err)
	}
	if j, err := f.ListJobs(f.Context(), ""); err != nil || len(j) != 1 || j[0].From != to {
		f.Error(j, err)
	}
	was := f.MustGet(from)
	if was.ID == at.ID || !was.Archived || was.Settings.SendPolicy != policy.Deny || len(f.MustTail(was.ID, sessions.TailQuery{})) != 0 {
		f.Errorf("%+v", was)
	}
	f.Equal(f.MustGetRun(run.ID).Key, to)
	for key, want := range map[sessions.Key]int{to: 2, from: 0} {
		found, err := f.Search(f.Context(), sessions.SearchQuery{Text: "apples", Keys: []sessions.Key{key}, Limit: 10})
		f.OK(err)
		f.Equal(len(found), want)
	}
	// Of the former owner, what they write goes into their own session again.
	if acc := f.MustAccept(fixture.NewArrival("1001", "m2", "hello")); acc.Session.Key != from || acc.Session.ID == at.ID {
		f.Errorf("%+v", acc.Session)
	}
	f.Equal(f.MustGet(to).ID, at.ID)
	run = f.MustClaim(from)
	f.MustFinish(run.ID, sessions.Outcome{Status: sessions.Done})
	f.Equal(hand(), sessions.MovedNever)
	f.Equal(f.MustGet(to).ID, at.ID)

	// With a message of somebody who is an owner by now it is moved, too.
	a := fixture.NewArrival("2002", "m3", "pears")
	f.MustAccept(a)
	r := f.MustClaim(fixture.Key("2002"))
	f.MustFinish(r.ID, sessions.Outcome{Status: sessions.Done})
	next := fixture.NewArrival("2002", "m4", "more pears")
	other := sessions.Parts{Form: sessions.FormMain, Agent: "main", Thread: "7"}.Key()
	next.Change.Session.Key, next.Change.Session.From = other, fixture.Key("2002")
	next.Change.Run.Key = other
	acc = f.MustAccept(next)
	if !acc.Adopted || acc.Session.Key != other || acc.Run.Session != acc.Session.ID {
		f.Errorf("%+v", acc)
	}
	f.MustClaim(other)
	f.Equal(fixture.Texts(f.MustTail(acc.Session.ID, sessions.TailQuery{})), []string{"pears", "more pears"})
}

// A conversation stays while a sub-agent of its sub-agent works: the result would come to the session that had it.
func handedOverBelow(f *fixture.Store) {
	chat, child, grandchild := f.MakeFamily()
	to := sessions.MainKey("main")
	hand := func() sessions.Moved {
		f.Helper()
		now := time.Now()
		ok, err := f.PutPairing(f.Context(), sessions.Pairing{Channel: "telegram", Account: "default", User: "1", Address: fixture.Address("1"), Hash: "h", Created: now, Expires: now.Add(time.Hour)}, 3)
		f.OK(err)
		f.Equal(ok, true)
		return f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.DecidePairing{Channel: "telegram", Hash: "h", Approve: true, Owner: sessions.AnyOwner, Handover: sessions.Handover{From: chat, To: to}, Time: now}}}).Decided.Moved
	}
	f.MustAccept(fixture.NewArrival("1", "m1", "apples"))
	f.MustFinish(f.MustClaim(chat).ID, sessions.Outcome{Status: sessions.Done})
	for _, at := range []sessions.Key{grandchild, child} {
		f.QueueRun(at, map[sessions.Key]sessions.Key{grandchild: child, child: chat}[at], sessions.ChildRun, "work")
		f.Equal(hand(), sessions.MovedLater)
		f.MustFinish(f.MustClaim(at).ID, sessions.Outcome{Status: sessions.Done})
	}
	f.Equal(hand(), sessions.MovedNow)
	f.Equal(f.MustGet(child).SpawnedBy, to)
	f.Equal([]sessions.Key{f.MustGet(child).Top, f.MustGet(grandchild).Top}, []sessions.Key{to, to})
}

// The send policy of the person's own session is that of the owner's session only where it denies, and then also without a message: what one chat was
// allowed does not hold for the chats that the owners share a session with.
func handedOverPolicy(f *fixture.Store) {
	from, to := fixture.Key("1001"), sessions.MainKey("main")
	hand := func(user string, from, to sessions.Key) {
		f.Helper()
		now := time.Now()
		ok, err := f.PutPairing(f.Context(), sessions.Pairing{Channel: "telegram", Account: "default", User: channels.UserID(user), Address: fixture.Address(user), Hash: "h", Created: now, Expires: now.Add(time.Hour)}, 3)
		f.OK(err)
		f.Equal(ok, true)
		f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.DecidePairing{Channel: "telegram", Hash: "h", Approve: true, Owner: sessions.AnyOwner, Handover: sessions.Handover{From: from, To: to}, Time: now}}})
	}
	f.MustAccept(fixture.NewArrival("1001", "m1", "apples"))
	f.MustFinish(f.MustClaim(from).ID, sessions.Outcome{Status: sessions.Done})
	allow, deny := policy.Allow, policy.Deny
	_, err := f.Patch(f.Context(), from, sessions.Patch{SendPolicy: &allow})
	f.OK(err)
	hand("1001", from, to)
	f.Equal(f.MustGet(to).Settings.SendPolicy, policy.Inherit)
	f.Equal(f.MustGet(from).Settings.SendPolicy, policy.Allow)

	from, to = fixture.Key("2002"), sessions.Parts{Form: sessions.FormMain, Agent: "main", Thread: "7"}.Key()
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: from, Agent: "main"}, Ops: []sessions.SessionOp{sessions.PatchSession{SendPolicy: &deny}}}})
	hand("2002", from, to)
	f.Equal(f.MustGet(to).Settings.SendPolicy, policy.Deny)
	f.Equal(f.MustGet(from).Settings.SendPolicy, policy.Deny)
}

// The conversation of a person whose id has changed since is found by the id that they have now, and what they write later does not go into the
// owner's session.
func handedOverMoved(f *fixture.Store) {
	from, now, to := fixture.Key("1001"), fixture.Key("2002"), sessions.MainKey("main")
	f.MustAccept(fixture.NewArrival("1001", "m1", "apples"))
	f.MustFinish(f.MustClaim(from).ID, sessions.Outcome{Status: sessions.Done})
	f.OK(f.Readdress(f.Context(), fixture.Address("1001"), fixture.Address("2002")))
	f.Equal(f.MustGet(now).Key, from)
	at := time.Now()
	ok, err := f.PutPairing(f.Context(), sessions.Pairing{Channel: "telegram", Account: "default", User: "2002", Address: fixture.Address("2002"), Hash: "h", Created: at, Expires: at.Add(time.Hour)}, 3)
	f.OK(err)
	f.Equal(ok, true)
	acc := f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.DecidePairing{Channel: "telegram", Hash: "h", Approve: true, Owner: sessions.AnyOwner, Handover: sessions.Handover{From: now, To: to}, Time: at}}})
	f.Equal(*acc.Decided, sessions.Decided{Owner: true, Moved: sessions.MovedNow})
	f.Equal(fixture.Texts(f.MustTail(f.MustGet(to).ID, sessions.TailQuery{})), []string{"apples"})
	if acc := f.MustAccept(fixture.NewArrival("2002", "m2", "pears")); acc.Session.Key != from || acc.Session.ID == f.MustGet(to).ID {
		f.Errorf("%+v", acc.Session)
	}
}
