package chattest

import (
	"time"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

// Who was let in is listed until it is taken back; who was turned down gets no code for a while, and counts for nobody else.
func unpairing(f *fixture.Store) {
	now := fixture.StoredTime(time.Now())
	put := func(user string, at time.Time, limit int, want bool) {
		f.Helper()
		d := fixture.NewDelivery("", fixture.Address(user), "code")
		ok, err := f.PutPairing(f.Context(), sessions.Pairing{Channel: "telegram", Account: "default", User: channels.UserID(user), Name: "N" + user, Address: fixture.Address(user), Hash: "h" + user, Created: at, Expires: at.Add(time.Hour), Delivery: &d}, limit)
		f.OK(err)
		f.Equal(ok, want)
	}
	end := func(user string, approve bool, at time.Time) {
		f.Helper()
		_, err := f.Submit(f.Context(), sessions.Change{Ops: []sessions.Op{sessions.DecidePairing{Channel: "telegram", Hash: "h" + user, Approve: approve, Time: at}}})
		f.OK(err)
	}
	remove := func(user string, account channels.AccountID) error {
		told := fixture.NewDelivery("", fixture.Address(user), "told")
		_, err := f.Submit(f.Context(), sessions.Change{Ops: []sessions.Op{sessions.RevokePairing{Channel: "telegram", Account: account, User: channels.UserID(user)}, sessions.EnqueueDelivery(told)}})
		_, none := f.GetDelivery(f.Context(), told.ID)
		f.Equal(none == nil, err == nil) // all or nothing
		return err
	}
	admitted := func(want ...sessions.Admitted) {
		f.Helper()
		got, err := f.Admitted(f.Context())
		f.OK(err)
		f.Equal(got, want)
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
	f.ErrorIs(remove("2", "second"), sessions.ErrNotFound)
	f.ErrorIs(remove("3", "default"), sessions.ErrNotFound)
	f.OK(remove("2", "default"))
	admitted(person("1", now.Add(time.Minute)))
	ok, err := f.Paired(f.Context(), "telegram", "default", "2")
	f.OK(err)
	f.Equal(ok, false)
	f.ErrorIs(remove("2", "default"), sessions.ErrNotFound)

	put("2", now, 1, true) // a stranger again
	f.ErrorIs(remove("2", "default"), sessions.ErrNotFound)
	end("2", false, now)
	list, err := f.Pairings(f.Context(), now.Add(sessions.RejectedFor-time.Second))
	f.OK(err)
	if len(list) != 1 || !list[0].Rejected || list[0].User != "2" || list[0].Hash != "" || !list[0].Expires.Equal(now.Add(sessions.RejectedFor)) {
		f.Fatalf("%+v", list)
	}
	for _, hash := range []string{"h2", ""} { // no code is theirs
		_, err := f.Submit(f.Context(), sessions.Change{Ops: []sessions.Op{sessions.DecidePairing{Channel: "telegram", Hash: hash, Approve: true, Time: now}}})
		f.ErrorIs(err, sessions.ErrNotFound)
	}
	put("2", now.Add(sessions.RejectedFor-time.Second), 3, false)
	put("4", now, 1, true) // one may wait, and does not
	put("5", now, 1, false)
	put("2", now.Add(sessions.RejectedFor+time.Second), 3, true)
	end("2", false, now.Add(sessions.RejectedFor+time.Second))
	f.OK(remove("2", "default")) // may ask at once
	put("2", now.Add(sessions.RejectedFor+2*time.Second), 3, true)
}

func pairing(f *fixture.Store) {
	now := time.Now()
	put := func(user, hash string, account channels.AccountID) (bool, sessions.DeliveryID) {
		d := fixture.NewDelivery("", fixture.Address(user), "code")
		ok, err := f.PutPairing(f.Context(), sessions.Pairing{Channel: "telegram", Account: account, User: channels.UserID(user), Name: "N" + user, Address: fixture.Address(user), Hash: hash, Created: now, Expires: now.Add(time.Hour), Delivery: &d}, 2)
		f.OK(err)
		return ok, d.ID
	}
	ok, d := put("1", "h1", "default")
	f.Equal(ok, true)
	f.Equal(f.MustGetDelivery(d).State, sessions.Pending)
	ok, d = put("1", "h1b", "default")
	f.Equal(ok, false) // one code for a person
	_, err := f.GetDelivery(f.Context(), d)
	f.ErrorIs(err, sessions.ErrNotFound)
	ok, _ = put("2", "h2", "default")
	f.Equal(ok, true)
	ok, _ = put("3", "h3", "default")
	f.Equal(ok, false) // two wait
	ok, _ = put("3", "h3", "second")
	f.Equal(ok, true) // another account
	waiting, err := f.Pairings(f.Context(), now)
	f.OK(err)
	if len(waiting) != 3 || waiting[0].User != "1" || waiting[0].Hash != "h1" || waiting[0].Name != "N1" || waiting[0].Address != fixture.Address("1") || !waiting[0].Expires.Equal(fixture.StoredTime(now.Add(time.Hour))) {
		f.Fatalf("%+v", waiting)
	}
	if ok, err := f.Paired(f.Context(), "telegram", "default", "1"); err != nil || ok {
		f.Error(ok, err)
	}
	const unknown = "no pairing on telegram is waiting for this code (it may have expired or been used)" // people read it
	end := func(a sessions.DecidePairing) error {
		told := fixture.NewDelivery("", fixture.Address("1"), "told")
		_, err := f.Submit(f.Context(), sessions.Change{Ops: []sessions.Op{a, sessions.EnqueueDelivery(told)}})
		_, none := f.GetDelivery(f.Context(), told.ID)
		f.Equal(none == nil, err == nil) // nobody is told what did not happen
		return err
	}
	for _, a := range []sessions.DecidePairing{{Channel: "telegram", Hash: "wrong", Approve: true, Time: now}, {Channel: "telegram", Hash: "wrong", Time: now}} {
		err := end(a)
		f.ErrorIs(err, sessions.ErrNotFound)
		f.Equal(err.Error(), unknown)
	}
	f.ErrorIs(end(sessions.DecidePairing{Channel: "discord", Hash: "h1", Approve: true, Time: now}), sessions.ErrNotFound)
	f.ErrorIs(end(sessions.DecidePairing{Channel: "telegram", Hash: "h1", Approve: true, Time: now.Add(time.Hour)}), sessions.ErrNotFound) // past its time
	f.OK(end(sessions.DecidePairing{Channel: "telegram", Hash: "h1", Approve: true, Time: now}))
	for _, c := range []struct {
		account channels.AccountID
		user    channels.UserID
		want    bool
	}{{"default", "1", true}, {"second", "1", false}, {"default", "2", false}} {
		ok, err := f.Paired(f.Context(), "telegram", c.account, c.user)
		f.OK(err)
		f.Equal(ok, c.want)
	}
	f.OK(end(sessions.DecidePairing{Channel: "telegram", Hash: "h2", Time: now}))
	f.ErrorIs(end(sessions.DecidePairing{Channel: "telegram", Hash: "h2", Time: now}), sessions.ErrNotFound)
	if ok, err := f.Paired(f.Context(), "telegram", "default", "2"); err != nil || ok {
		f.Error(ok, err)
	}
	later := now.Add(2 * time.Hour)
	if waiting, err = f.Pairings(f.Context(), later); err != nil || len(waiting) != 1 || !waiting[0].Rejected {
		f.Error(waiting, err)
	}
	// What is past its time makes room, for the same person too.
	ok, err = f.PutPairing(f.Context(), sessions.Pairing{Channel: "telegram", Account: "second", User: "3", Hash: "h4", Created: later, Expires: later.Add(time.Hour)}, 1)
	f.OK(err)
	f.Equal(ok, true)
}
