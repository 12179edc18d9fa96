package storetest

import (
	"errors"
	"testing"
	"time"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
)

// on gives a place on another account.
func on(account channels.AccountID, a channels.Address) channels.Address {
	a.Account = account
	return a
}

func (f *fixture) identify(account channels.AccountID, who channels.UserID, configured ...channels.AccountID) sessions.Identified {
	f.t.Helper()
	found, err := f.Identify(f.ctx, sessions.Login{Channel: "telegram", Account: account, User: who, Configured: configured})
	f.ok(err)
	return found
}

func (f *fixture) renames() []sessions.Rename {
	f.t.Helper()
	list, err := f.Renames(f.ctx)
	f.ok(err)
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
func renamedAccount(_ *testing.T, f *fixture) {
	group := channels.Address{Channel: "telegram", Account: "default", Chat: "-1", Thread: "7", Type: channels.Group}
	inGroup, withPerson := chatKeys("default")
	f.equal(f.identify("default", "42", "default"), sessions.Identified{})
	first := message("1", "m1", "hello")
	first.Change.Session.Key, first.Change.Run.Key = withPerson, withPerson
	f.accept(first)
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: inGroup, Agent: "main", Last: group}}})
	f.silence(inGroup, policy.Deny)
	open, done := f.post(delivery(inGroup, group, "x")), f.post(delivery(inGroup, group, "x"))
	sending := f.post(delivery(withPerson, addr("1"), "x"))
	f.begin(sending.ID)
	f.begin(done.ID)
	f.ok(f.PartSent(f.ctx, done.ID, channels.Receipt{ID: "r1"}, true))
	f.submit(sessions.Change{Ops: []sessions.Op{sessions.PutJob{ID: "j", Agent: "main", Every: time.Hour, Message: "x", To: group, Next: time.Now().Add(time.Hour)}}})
	f.ok(f.BeginPreview(f.ctx, sessions.Preview{Run: "p", Session: inGroup, To: group, Key: "p"}))
	f.ok(f.Readdress(f.ctx, addr("0"), addr("1")))
	before, err := f.Positions(f.ctx, "telegram", "default")
	f.ok(err)

	f.equal(f.identify("second", "43", "default", "second"), sessions.Identified{})
	f.equal(f.identify("family", "42", "family", "second"), sessions.Identified{Moved: []channels.AccountID{"default"}})
	f.equal(f.identify("family", "42", "family", "second"), sessions.Identified{Moved: []channels.AccountID{"default"}}) // nobody may have heard of the first time
	f.equal(f.renames(), []sessions.Rename{{Channel: "telegram", Was: "default", Now: "family"}})
	nowGroup, nowPerson := chatKeys("family")
	if got := f.get(nowGroup); got.Key != inGroup || got.Last != on("family", group) || got.Settings.SendPolicy != policy.Deny {
		f.t.Errorf("%+v", got)
	}
	if got := f.get(nowPerson); got.Key != withPerson || got.Last != on("family", addr("1")) {
		f.t.Errorf("%+v", got)
	}
	f.equal(f.delivery(open.ID).To, on("family", group))
	f.equal(f.delivery(sending.ID).To, on("family", addr("1")))
	f.equal(f.delivery(f.post(delivery(inGroup, group, "late")).ID).To, on("family", group))
	f.equal(f.delivery(f.post(delivery(withPerson, addr("0"), "late")).ID).To, on("family", addr("1"))) // which had moved before
	j, err := f.GetJob(f.ctx, "j")
	f.ok(err)
	f.equal(j.To, on("family", group))
	again := first
	again.In.Address = on("family", addr("1"))
	if acc := f.accept(again); !acc.Duplicate {
		f.t.Errorf("%+v", acc)
	}
	if _, own, err := f.OwnMessage(f.ctx, on("family", group), "r1"); err != nil || !own {
		f.t.Errorf("%v %v", own, err)
	}
	if run, found, err := f.Asked(f.ctx, on("family", addr("1")), "m1"); err != nil || !found || run.ID != first.Change.Run.ID {
		f.t.Errorf("%+v %v %v", run, found, err)
	}
	shown, err := f.Previews(f.ctx)
	f.ok(err)
	f.equal(shown[0].To, on("family", group))
	after, err := f.Positions(f.ctx, "telegram", "family")
	f.ok(err)
	for i := range before {
		before[i].Address = on("family", before[i].Address)
	}
	f.equal(after, before)

	f.equal(f.identify("default", "44", "default", "family"), sessions.Identified{}) // another bot has the old name now
	f.equal(len(f.renames()), 0)
	f.equal(f.delivery(f.post(delivery(inGroup, group, "x")).ID).To, group)
	f.equal(f.identify("default", "42", "default"), sessions.Identified{Moved: []channels.AccountID{"family"}}) // and back
	f.equal(f.get(inGroup).Last, group)
	f.equal(f.delivery(open.ID).To, group)
}

// One login that two configured accounts have stays two.
func renamedTwice(_ *testing.T, f *fixture) {
	f.identify("default", "42", "default")
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: key("1"), Agent: "main", Last: addr("1")}}})
	f.equal(f.identify("family", "42", "default", "family"), sessions.Identified{Twice: []channels.AccountID{"default"}})
	f.equal(f.get(key("1")).Last, addr("1"))
	f.equal(len(f.renames()), 0)
}

// Two accounts exchange their names, one gives its name to a newcomer, and one comes back after another had its name: whom a chat has silenced
// stays silent there. What is said of a name later is said of who has it then, over restarts.
//
// proves: P4
func renamedAround(_ *testing.T, f *fixture) {
	deny := func(account channels.AccountID, chat, thread string, o policy.Override) sessions.Key {
		k := sessions.Parts{Form: sessions.FormGroup, Agent: "main", Channel: "telegram", Account: account, ID: chat, Thread: channels.ThreadID(thread)}.Key()
		to := channels.Address{Channel: "telegram", Account: account, Chat: channels.ChatID(chat), Thread: channels.ThreadID(thread), Type: channels.Group}
		f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: "main", Last: to}}})
		f.silence(k, o)
		return k
	}
	of := func(account channels.AccountID, chat, thread string) policy.Override {
		f.t.Helper()
		k, err := f.Get(f.ctx, sessions.Parts{Form: sessions.FormGroup, Agent: "main", Channel: "telegram", Account: account, ID: chat, Thread: channels.ThreadID(thread)}.Key())
		if errors.Is(err, sessions.ErrNotFound) {
			return policy.Inherit
		}
		f.ok(err)
		return k.Settings.SendPolicy
	}
	denied := func(account channels.AccountID, chat string) bool { return of(account, chat, "") == policy.Deny }
	f.identify("a", "111", "a", "b")
	f.identify("b", "222", "a", "b")
	deny("a", "-1", "", policy.Deny)
	deny("b", "-2", "", policy.Deny)
	deny("b", "-1", "7", policy.Allow)

	// Exchanged.
	f.equal(f.identify("b", "111", "a", "b"), sessions.Identified{Twice: []channels.AccountID{"a"}, Denied: []channels.AccountID{"a"}})
	f.equal(f.identify("a", "222", "a", "b"), sessions.Identified{Denied: []channels.AccountID{"b"}})
	f.equal([]bool{denied("b", "-1"), denied("a", "-2")}, []bool{true, true})
	f.equal(of("b", "-1", "7"), policy.Inherit)
	deny("a", "-3", "", policy.Deny)
	deny("b", "-1", "", policy.Inherit)
	for range 2 { // restarts
		f.equal(f.identify("b", "111", "a", "b"), sessions.Identified{})
		f.equal(f.identify("a", "222", "a", "b"), sessions.Identified{})
	}
	f.equal([]bool{denied("b", "-1"), denied("b", "-3")}, []bool{false, false})

	// A newcomer has the name before who had it comes back under another one, and the other way round.
	f.equal(f.identify("a", "333", "a", "b", "c"), sessions.Identified{})
	f.equal(f.identify("c", "222", "a", "b", "c").Denied, []channels.AccountID{"a"})
	f.equal([]bool{denied("c", "-2"), denied("c", "-3")}, []bool{true, true})
	deny("b", "-4", "", policy.Deny)
	f.equal(f.identify("d", "111", "a", "b", "c", "d").Denied, []channels.AccountID{"a", "b"})
	f.equal(f.identify("b", "444", "a", "b", "c", "d"), sessions.Identified{})
	f.equal(denied("d", "-4"), true)
}

// Both accounts have a session of the same chat: that of the new one takes over what waits, and both have the stricter policy.
func renamedToSession(_ *testing.T, f *fixture) {
	old, _ := chatKeys("default")
	next, _ := chatKeys("family")
	group := channels.Address{Channel: "telegram", Account: "default", Chat: "-1", Thread: "7", Type: channels.Group}
	arrive := func(account channels.AccountID, k sessions.Key, id string) {
		a := message("1", id, "hello")
		a.In.Address = on(account, group)
		a.Change.Session.Key, a.Change.Session.Last, a.Change.Run.Key = k, on(account, group), k
		f.accept(a)
	}
	f.identify("default", "42", "default")
	arrive("default", old, "m1")
	arrive("default", old, "m2")
	arrive("family", next, "m2") // taken twice, by a host of before
	for _, x := range []struct{ was, now, want policy.Override }{
		{policy.Deny, policy.Allow, policy.Deny}, {policy.Inherit, policy.Deny, policy.Deny},
	} {
		f.silence(old, x.was)
		f.silence(next, x.now)
		f.equal(len(f.identify("default", "42", "default").Moved)+len(f.identify("family", "42", "family").Moved) > 0, true)
		f.equal(f.policyOf(old), x.want)
		f.equal(f.policyOf(next), x.want)
	}
	waits := 0
	runs, err := f.ListRuns(f.ctx, sessions.RunQuery{Key: next})
	f.ok(err)
	for _, r := range runs {
		if r.Status == sessions.Queued {
			waits++
		}
	}
	f.equal(waits, 3)
	known, err := f.Known(f.ctx, on("family", group))
	f.ok(err)
	f.equal(known, []sessions.Key{next})
}

// Who was let in, waits or was turned down at the old account is so at the new one.
func renamedPairing(_ *testing.T, f *fixture) {
	now := fromMilli(time.Now())
	put := func(account channels.AccountID, user, hash string) {
		f.t.Helper()
		_, err := f.PutPairing(f.ctx, sessions.Pairing{Channel: "telegram", Account: account, User: channels.UserID(user), Name: "N", Address: on(account, addr(user)), Hash: hash, Created: now, Expires: now.Add(time.Hour)}, 9)
		f.ok(err)
	}
	end := func(hash string, approve bool) {
		f.t.Helper()
		f.submit(sessions.Change{Ops: []sessions.Op{sessions.DecidePairing{Channel: "telegram", Hash: hash, Approve: approve, Time: now}}})
	}
	f.identify("default", "42", "default")
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
	f.identify("family", "42", "family")
	for account, want := range map[channels.AccountID]bool{"default": false, "family": true} {
		in, err := f.Paired(f.ctx, "telegram", account, "in")
		f.ok(err)
		f.equal(in, want)
	}
	all, err := f.Pairings(f.ctx, now)
	f.ok(err)
	got := map[string]bool{} // whether they were turned down
	for _, p := range all {
		if p.Address != on(p.Account, addr(string(p.User))) {
			f.t.Errorf("%+v", p)
		}
		got[string(p.Account)+" "+string(p.User)] = p.Rejected
	}
	f.equal(got, map[string]bool{"family waits": false, "family out": true, "family once": true, "third waits": false})
}

// The new account continues where the old one stood, unless it has come to somewhere itself. What the old name says next is another login's.
//
// source: https://docs.discord.com/developers/resources/message#get-channel-messages (what came in between is asked for by the last id)
func renamedCursor(_ *testing.T, f *fixture) {
	reach := func(account channels.AccountID, position string) {
		a := message("1", position, "x")
		a.In.Address, a.In.Cursor = on(account, a.In.Address), position
		f.accept(a)
	}
	at := func(account channels.AccountID) string {
		f.t.Helper()
		c, err := f.Cursor(f.ctx, "telegram", account)
		f.ok(err)
		return c
	}
	f.identify("default", "42", "default")
	reach("default", "7")
	f.identify("family", "42", "family")
	f.equal([]string{at("default"), at("family")}, []string{"", "7"})
	reach("work", "9")
	f.identify("work", "42", "work")
	f.equal([]string{at("family"), at("work")}, []string{"", "9"})
}
