package chattest

import (
	"errors"
	"time"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

// onAccount gives a place on another account.
func onAccount(account channels.AccountID, a channels.Address) channels.Address {
	a.Account = account
	return a
}

func identify(f *fixture.Store, account channels.AccountID, who channels.UserID, configured ...channels.AccountID) sessions.Identified {
	f.Helper()
	found, err := f.Identify(f.Context(), sessions.Login{Channel: "telegram", Account: account, User: who, Configured: configured})
	f.OK(err)
	return found
}

func listRenames(f *fixture.Store) []sessions.Rename {
	f.Helper()
	list, err := f.Renames(f.Context())
	f.OK(err)
	return list
}

// chatKeys are a group's key and a person's with its account, by an account.
func chatKeys(account channels.AccountID) (group, person sessions.Key) {
	p := sessions.Parts{Form: sessions.FormGroup, Agent: "main", Channel: "telegram", Account: account, ID: "-1", Thread: "7"}
	group = p.Key()
	p.Form, p.ID, p.Thread = sessions.FormAccountPeer, "1", ""
	return group, p.Key()
}

// An account of the configuration gets another name, and the platform says that it is the same one: all that it had follows.
//
// source: https://core.telegram.org/bots/api#getme (a bot's id is its own, whatever a program calls it)
func renamedAccount(f *fixture.Store) {
	group := channels.Address{Channel: "telegram", Account: "default", Chat: "-1", Thread: "7", Type: channels.Group}
	inGroup, withPerson := chatKeys("default")
	f.Equal(identify(f, "default", "42", "default"), sessions.Identified{})
	first := fixture.NewArrival("1", "m1", "hello")
	first.Change.Session.Key, first.Change.Run.Key = withPerson, withPerson
	f.MustAccept(first)
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: inGroup, Agent: "main", Last: group}}})
	setSendPolicy(f, inGroup, policy.Deny)
	open, done := f.QueueDelivery(fixture.NewDelivery(inGroup, group, "x")), f.QueueDelivery(fixture.NewDelivery(inGroup, group, "x"))
	sending := f.QueueDelivery(fixture.NewDelivery(withPerson, fixture.Address("1"), "x"))
	f.MustBeginSend(sending.ID)
	f.MustBeginSend(done.ID)
	f.OK(f.PartSent(f.Context(), done.ID, channels.Receipt{ID: "r1"}, true))
	f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.PutJob{ID: "j", Agent: "main", Every: time.Hour, Message: "x", To: group, Next: time.Now().Add(time.Hour)}}})
	f.OK(f.BeginPreview(f.Context(), sessions.Preview{Run: "p", Session: inGroup, To: group, Key: "p"}))
	f.OK(f.Readdress(f.Context(), fixture.Address("0"), fixture.Address("1")))
	before, err := f.Positions(f.Context(), "telegram", "default")
	f.OK(err)

	f.Equal(identify(f, "second", "43", "default", "second"), sessions.Identified{})
	f.Equal(identify(f, "family", "42", "family", "second"), sessions.Identified{Moved: []channels.AccountID{"default"}})
	f.Equal(identify(f, "family", "42", "family", "second"), sessions.Identified{Moved: []channels.AccountID{"default"}}) // nobody may have heard of the first time
	f.Equal(listRenames(f), []sessions.Rename{{Channel: "telegram", Was: "default", Now: "family"}})
	nowGroup, nowPerson := chatKeys("family")
	if got := f.MustGet(nowGroup); got.Key != inGroup || got.Last != onAccount("family", group) || got.Settings.SendPolicy != policy.Deny {
		f.Errorf("%+v", got)
	}
	if got := f.MustGet(nowPerson); got.Key != withPerson || got.Last != onAccount("family", fixture.Address("1")) {
		f.Errorf("%+v", got)
	}
	f.Equal(f.MustGetDelivery(open.ID).To, onAccount("family", group))
	f.Equal(f.MustGetDelivery(sending.ID).To, onAccount("family", fixture.Address("1")))
	f.Equal(f.MustGetDelivery(f.QueueDelivery(fixture.NewDelivery(inGroup, group, "late")).ID).To, onAccount("family", group))
	f.Equal(f.MustGetDelivery(f.QueueDelivery(fixture.NewDelivery(withPerson, fixture.Address("0"), "late")).ID).To, onAccount("family", fixture.Address("1"))) // which had moved before
	j, err := f.GetJob(f.Context(), "j")
	f.OK(err)
	f.Equal(j.To, onAccount("family", group))
	again := first
	again.In.Address = onAccount("family", fixture.Address("1"))
	if acc := f.MustAccept(again); !acc.Duplicate {
		f.Errorf("%+v", acc)
	}
	if _, own, err := f.OwnMessage(f.Context(), onAccount("family", group), "r1"); err != nil || !own {
		f.Errorf("%v %v", own, err)
	}
	if run, found, err := f.Asked(f.Context(), onAccount("family", fixture.Address("1")), "m1"); err != nil || !found || run.ID != first.Change.Run.ID {
		f.Errorf("%+v %v %v", run, found, err)
	}
	shown, err := f.Previews(f.Context())
	f.OK(err)
	f.Equal(shown[0].To, onAccount("family", group))
	after, err := f.Positions(f.Context(), "telegram", "family")
	f.OK(err)
	for i := range before {
		before[i].Address = onAccount("family", before[i].Address)
	}
	f.Equal(after, before)

	f.Equal(identify(f, "default", "44", "default", "family"), sessions.Identified{}) // another bot has the old name now
	f.Equal(len(listRenames(f)), 0)
	f.Equal(f.MustGetDelivery(f.QueueDelivery(fixture.NewDelivery(inGroup, group, "x")).ID).To, group)
	f.Equal(identify(f, "default", "42", "default"), sessions.Identified{Moved: []channels.AccountID{"family"}}) // and back
	f.Equal(f.MustGet(inGroup).Last, group)
	f.Equal(f.MustGetDelivery(open.ID).To, group)
}

// One login that two configured accounts have stays two.
func renamedTwice(f *fixture.Store) {
	identify(f, "default", "42", "default")
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: fixture.Key("1"), Agent: "main", Last: fixture.Address("1")}}})
	f.Equal(identify(f, "family", "42", "default", "family"), sessions.Identified{Twice: []channels.AccountID{"default"}})
	f.Equal(f.MustGet(fixture.Key("1")).Last, fixture.Address("1"))
	f.Equal(len(listRenames(f)), 0)
}

// Two accounts exchange their names, one gives its name to a newcomer, and one comes back after another had its name: whom a chat has silenced
// stays silent there. What is said of a name later is said of who has it then, over restarts.
//
// proves: P4
func renamedAround(f *fixture.Store) {
	deny := func(account channels.AccountID, chat, thread string, o policy.Override) sessions.Key {
		k := sessions.Parts{Form: sessions.FormGroup, Agent: "main", Channel: "telegram", Account: account, ID: chat, Thread: channels.ThreadID(thread)}.Key()
		to := channels.Address{Channel: "telegram", Account: account, Chat: channels.ChatID(chat), Thread: channels.ThreadID(thread), Type: channels.Group}
		f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: "main", Last: to}}})
		setSendPolicy(f, k, o)
		return k
	}
	of := func(account channels.AccountID, chat, thread string) policy.Override {
		f.Helper()
		k, err := f.Get(f.Context(), sessions.Parts{Form: sessions.FormGroup, Agent: "main", Channel: "telegram", Account: account, ID: chat, Thread: channels.ThreadID(thread)}.Key())
		if errors.Is(err, sessions.ErrNotFound) {
			return policy.Inherit
		}
		f.OK(err)
		return k.Settings.SendPolicy
	}
	denied := func(account channels.AccountID, chat string) bool { return of(account, chat, "") == policy.Deny }
	identify(f, "a", "111", "a", "b")
	identify(f, "b", "222", "a", "b")
	deny("a", "-1", "", policy.Deny)
	deny("b", "-2", "", policy.Deny)
	deny("b", "-1", "7", policy.Allow)

	// Exchanged.
	f.Equal(identify(f, "b", "111", "a", "b"), sessions.Identified{Twice: []channels.AccountID{"a"}, Denied: []channels.AccountID{"a"}})
	f.Equal(identify(f, "a", "222", "a", "b"), sessions.Identified{Denied: []channels.AccountID{"b"}})
	f.Equal([]bool{denied("b", "-1"), denied("a", "-2")}, []bool{true, true})
	f.Equal(of("b", "-1", "7"), policy.Inherit)
	deny("a", "-3", "", policy.Deny)
	deny("b", "-1", "", policy.Inherit)
	for range 2 { // restarts
		f.Equal(identify(f, "b", "111", "a", "b"), sessions.Identified{})
		f.Equal(identify(f, "a", "222", "a", "b"), sessions.Identified{})
	}
	f.Equal([]bool{denied("b", "-1"), denied("b", "-3")}, []bool{false, false})

	// A newcomer has the name before who had it comes back under another one, and the other way round.
	f.Equal(identify(f, "a", "333", "a", "b", "c"), sessions.Identified{})
	f.Equal(identify(f, "c", "222", "a", "b", "c").Denied, []channels.AccountID{"a"})
	f.Equal([]bool{denied("c", "-2"), denied("c", "-3")}, []bool{true, true})
	deny("b", "-4", "", policy.Deny)
	f.Equal(identify(f, "d", "111", "a", "b", "c", "d").Denied, []channels.AccountID{"a", "b"})
	f.Equal(identify(f, "b", "444", "a", "b", "c", "d"), sessions.Identified{})
	f.Equal(denied("d", "-4"), true)
}

// Both accounts have a session of the same chat: that of the new one takes over what waits, and both have the stricter policy.
func renamedToSession(f *fixture.Store) {
	old, _ := chatKeys("default")
	next, _ := chatKeys("family")
	group := channels.Address{Channel: "telegram", Account: "default", Chat: "-1", Thread: "7", Type: channels.Group}
	arrive := func(account channels.AccountID, k sessions.Key, id string) {
		a := fixture.NewArrival("1", id, "hello")
		a.In.Address = onAccount(account, group)
		a.Change.Session.Key, a.Change.Session.Last, a.Change.Run.Key = k, onAccount(account, group), k
		f.MustAccept(a)
	}
	identify(f, "default", "42", "default")
	arrive("default", old, "m1")
	arrive("default", old, "m2")
	arrive("family", next, "m2") // taken twice, by a host of before
	for _, x := range []struct{ was, now, want policy.Override }{
		{policy.Deny, policy.Allow, policy.Deny}, {policy.Inherit, policy.Deny, policy.Deny},
	} {
		setSendPolicy(f, old, x.was)
		setSendPolicy(f, next, x.now)
		f.Equal(len(identify(f, "default", "42", "default").Moved)+len(identify(f, "family", "42", "family").Moved) > 0, true)
		f.Equal(sendPolicyOf(f, old), x.want)
		f.Equal(sendPolicyOf(f, next), x.want)
	}
	waits := 0
	runs, err := f.ListRuns(f.Context(), sessions.RunQuery{Key: next})
	f.OK(err)
	for _, r := range runs {
		if r.Status == sessions.Queued {
			waits++
		}
	}
	f.Equal(waits, 3)
	known, err := f.Known(f.Context(), onAccount("family", group))
	f.OK(err)
	f.Equal(known, []sessions.Key{next})
}

// Who was let in, waits or was turned down at the old account is so at the new one.
func renamedPairing(f *fixture.Store) {
	now := fixture.StoredTime(time.Now())
	put := func(account channels.AccountID, user, hash string) {
		f.Helper()
		_, err := f.PutPairing(f.Context(), sessions.Pairing{Channel: "telegram", Account: account, User: channels.UserID(user), Name: "N", Address: onAccount(account, fixture.Address(user)), Hash: hash, Created: now, Expires: now.Add(time.Hour)}, 9)
		f.OK(err)
	}
	end := func(hash string, approve bool) {
		f.Helper()
		f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.DecidePairing{Channel: "telegram", Hash: hash, Approve: approve, Time: now}}})
	}
	identify(f, "default", "42", "default")
	put("default", "in", "h1")
	put("default", "waits", "h2")
	put("default", "out", "h3")
	put("family", "out", "h4")
	put("default", "once", "h5")
	put("family", "once", "h6")
	put("third", "waits", "h7")
	end("h1", true)
	end("h3", false)
	end("h6", false)
	identify(f, "family", "42", "family")
	for account, want := range map[channels.AccountID]bool{"default": false, "family": true} {
		in, err := f.Paired(f.Context(), "telegram", account, "in")
		f.OK(err)
		f.Equal(in, want)
	}
	all, err := f.Pairings(f.Context(), now)
	f.OK(err)
	got := map[string]bool{} // whether they were turned down
	for _, p := range all {
		if p.Address != onAccount(p.Account, fixture.Address(string(p.User))) {
			f.Errorf("%+v", p)
		}
		got[string(p.Account)+" "+string(p.User)] = p.Rejected
	}
	f.Equal(got, map[string]bool{"family waits": false, "family out": true, "family once": true, "third waits": false})
}

// The new account continues where the old one stood, unless it has come to somewhere itself. What the old name says next is another login's.
//
// source: https://docs.discord.com/developers/resources/message#get-channel-messages (what came in between is asked for by the last id)
func renamedCursor(f *fixture.Store) {
	reach := func(account channels.AccountID, position string) {
		a := fixture.NewArrival("1", position, "x")
		a.In.Address, a.In.Cursor = onAccount(account, a.In.Address), position
		f.MustAccept(a)
	}
	at := func(account channels.AccountID) string {
		f.Helper()
		c, err := f.Cursor(f.Context(), "telegram", account)
		f.OK(err)
		return c
	}
	identify(f, "default", "42", "default")
	reach("default", "7")
	identify(f, "family", "42", "family")
	f.Equal([]string{at("default"), at("family")}, []string{"", "7"})
	reach("work", "9")
	identify(f, "work", "42", "work")
	f.Equal([]string{at("family"), at("work")}, []string{"", "9"})
}
