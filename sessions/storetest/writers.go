package storetest

import (
	"testing"
	"time"

	"parley/channels"
	"parley/sessions"
)

func writers(_ *testing.T, f *fixture) {
	at := fromMilli(time.Now()).Add(-time.Hour)
	main := sessions.MainKey("main")
	said := 0
	say := func(chat string) {
		f.t.Helper()
		said++
		a := message(chat, id(), "x")
		a.In.Time = at.Add(time.Duration(said) * time.Minute)
		a.Change.Session.Key, a.Change.Run.Key = main, main
		f.accept(a)
	}
	want := func(list ...channels.Address) {
		f.t.Helper()
		got, err := f.Writers(f.ctx, main)
		f.ok(err)
		f.equal(got, list)
	}
	want()
	f.accept(message("9", "1", "x")) // in a session of its own
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: main, Agent: "main"}}})
	want()
	say("1")
	say("2")
	say("3")
	want(addr("3"), addr("2"), addr("1"))
	say("1")
	want(addr("1"), addr("3"), addr("2"))
	f.ok(f.Readdress(f.ctx, addr("1"), addr("5")))
	want(addr("5"), addr("3"), addr("2"))
	f.ok(f.Delete(f.ctx, main))
	want()
}
