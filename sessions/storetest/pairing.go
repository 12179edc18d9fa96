package storetest

import (
	"testing"
	"time"

	"parley/channels"
	"parley/sessions"
)

// Who was let in is listed until it is taken back; who was turned down gets no code for a while, and counts for nobody else.
func unpairing(_ *testing.T, f *fixture) {
	now := fromMilli(time.Now())
	put := func(user string, at time.Time, limit int, want bool) {
		f.t.Helper()
		d := delivery("", addr(user), "code")
		ok, err := f.PutPairing(f.ctx, sessions.Pairing{Channel: "telegram", Account: "default", User: channels.UserID(user), Name: "N" + user, Address: addr(user), Hash: "h" + user, Created: at, Expires: at.Add(time.Hour), Delivery: &d}, limit)
		f.ok(err)
		f.equal(ok, want)
	}
	end := func(user string, approve bool, at time.Time) {
		f.t.Helper()
		_, err := f.Submit(f.ctx, sessions.Change{Ops: []sessions.Op{sessions.DecidePairing{Channel: "telegram", Hash: "h" + user, Approve: approve, Time: at}}})
		f.ok(err)
	}
	remove := func(user string, account channels.AccountID) error {
		told := delivery("", addr(user), "told")
		_, err := f.Submit(f.ctx, sessions.Change{Ops: []sessions.Op{sessions.RevokePairing{Channel: "telegram", Account: account, User: channels.UserID(user)}, sessions.EnqueueDelivery(told)}})
		_, none := f.GetDelivery(f.ctx, told.ID)
		f.equal(none == nil, err == nil) // all or nothing
		return err
	}
	admitted := func(want ...sessions.Admitted) {
		f.t.Helper()
		got, err := f.Admitted(f.ctx)
		f.ok(err)
		f.equal(got, want)
	}
	person := func(user string, at time.Time) sessions.Admitted {
		return sessions.Admitted{Channel: "telegram", Account: "default", User: channels.UserID(user), Name: "N" + user, Since: at}
	}
	put("2", now, 3, true)
	put("1", now, 3, true)
	admitted()
	end("2", true, now)
	end("1", true, now.Add(time.Minute))
	admitted(person("2", now), person("1", now.Add(time.Minute)))
	f.is(remove("2", "second"), sessions.ErrNotFound)
	f.is(remove("3", "default"), sessions.ErrNotFound)
	f.ok(remove("2", "default"))
	admitted(person("1", now.Add(time.Minute)))
	ok, err := f.Paired(f.ctx, "telegram", "default", "2")
	f.ok(err)
	f.equal(ok, false)
	f.is(remove("2", "default"), sessions.ErrNotFound)

	put("2", now, 1, true) // a stranger again
	f.is(remove("2", "default"), sessions.ErrNotFound)
	end("2", false, now)
	list, err := f.Pairings(f.ctx, now.Add(sessions.RejectedFor-time.Second))
	f.ok(err)
	if len(list) != 1 || !list[0].Rejected || list[0].User != "2" || list[0].Hash != "" || !list[0].Expires.Equal(now.Add(sessions.RejectedFor)) {
		f.t.Fatalf("%+v", list)
	}
	for _, hash := range []string{"h2", ""} { // no code is theirs
		_, err := f.Submit(f.ctx, sessions.Change{Ops: []sessions.Op{sessions.DecidePairing{Channel: "telegram", Hash: hash, Approve: true, Time: now}}})
		f.is(err, sessions.ErrNotFound)
	}
	put("2", now.Add(sessions.RejectedFor-time.Second), 3, false)
	put("4", now, 1, true) // one may wait, and does not
	put("5", now, 1, false)
	put("2", now.Add(sessions.RejectedFor+time.Second), 3, true)
	end("2", false, now.Add(sessions.RejectedFor+time.Second))
	f.ok(remove("2", "default")) // may ask at once
	put("2", now.Add(sessions.RejectedFor+2*time.Second), 3, true)
}
