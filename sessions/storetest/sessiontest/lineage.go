package sessiontest

import (
	"time"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

// A session marked for deletion stays while it has another run, at work or waiting; the end of that one deletes it.
//
// proves: N14
func finishDeleteLater(f *fixture.Store) {
	chat, child, _ := f.MakeFamily()
	f.QueueRun(child, "", sessions.ChildRun, "task")
	f.QueueRun(child, "", sessions.ChildRun, "follow-up")
	f.MustFinish(f.MustClaim(child).ID, sessions.Outcome{Delete: &child})
	f.Equal(f.MustGet(child).Key, child)
	follow := f.MustClaim(child)
	f.Equal(follow.Input.Text(), "follow-up")
	f.QueueRun(chat, "", sessions.ResultRun, "result")
	f.MustFinish(f.MustClaim(chat).ID, sessions.Outcome{Delete: &child}) // from another session
	f.Equal(f.MustGet(child).Key, child)
	f.MustFinish(follow.ID, sessions.Outcome{Delete: &child, Next: &sessions.Change{Run: &sessions.Enqueue{Run: sessions.Run{ID: "announce", Kind: sessions.AnnounceRun, Key: child, Input: fixture.User("x")}}}})
	f.MustFinish(f.MustClaim(child).ID, sessions.Outcome{Delete: &child})
	_, err := f.Get(f.Context(), child)
	f.ErrorIs(err, sessions.ErrNotFound)
	f.Equal(f.MustGet(chat).Key, chat)
}

// A session whose time has come is archived when its last run has ended, and again after a message brought it back.
//
// proves: N14
func expireLater(f *fixture.Store) {
	k, now := fixture.Key("1"), time.Now()
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, ArchiveAt: now.Add(-time.Minute)}}})
	expired := func() []sessions.Key {
		ks, err := f.Expire(f.Context(), now, time.Hour)
		f.OK(err)
		return ks
	}
	for range 2 {
		r := f.QueueRun(k, "", sessions.ChildRun, "x")
		f.Equal(len(expired()), 0)
		f.MustClaim(k)
		f.Equal(len(expired()), 0)
		f.Equal(f.MustGet(k).Archived, false)
		f.MustFinish(r.ID, sessions.Outcome{})
		f.Equal(expired(), []sessions.Key{k})
		f.Equal(f.MustGet(k).Archived, true)
	}
}

// The agents above a sub-agent and the session above all are set once; its rights and its budget go by them.
//
// proves: N7
func above(f *fixture.Store) {
	k := sessions.Key("agent:a:subagent:1")
	first := []sessions.AgentID{"main", `a b",`, "", "\x00é"}
	made := f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, SpawnedBy: fixture.Key("1"), Above: first, Top: fixture.Key("0")}}}).Session
	f.Equal(made.Above, first)
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Title: "t", SpawnedBy: fixture.Key("2"), Above: []sessions.AgentID{"ops"}, Top: fixture.Key("2")}}})
	_, err := f.Reset(f.Context(), k)
	f.OK(err)
	f.Equal(f.MustGet(k).Above, first)
	f.Equal(f.MustGet(k).Top, fixture.Key("0"))
	list, err := f.List(f.Context(), sessions.Query{SpawnedBy: fixture.Key("1")})
	f.OK(err)
	f.Equal(list[0].Above, first)
	f.Equal(len(f.MakeSession(fixture.Key("1")).Above), 0)
	later := sessions.Key("agent:a:subagent:2") // one from before there was a top
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: later, SpawnedBy: fixture.Key("1")}}})
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: later, Top: fixture.Key("1")}}})
	f.Equal(f.MustGet(later).Top, fixture.Key("1"))
}

// Known tells from which chats a session was written to, and moves with the chat.
func known(f *fixture.Store) {
	knows := func(chat, thread string) []sessions.Key {
		f.Helper()
		a := fixture.Address(chat)
		a.Thread = channels.ThreadID(thread)
		ks, err := f.Known(f.Context(), a)
		f.OK(err)
		return ks
	}
	base := time.Now().Add(time.Hour)
	write := func(k sessions.Key, chat, thread string, at int) {
		a := fixture.Address(chat)
		a.Thread = channels.ThreadID(thread)
		f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Last: a, Updated: base.Add(time.Duration(at) * time.Second)}}})
	}
	one, two := sessions.Key("agent:main:main"), fixture.Key("2")
	write(one, "1", "", 1)
	write(two, "1", "", 2)
	write(two, "5", "7", 3)
	f.QueueRun(fixture.Key("3"), one, sessions.ChildRun, "a session without a chat")
	f.Equal(knows("1", ""), []sessions.Key{two, one}) // also from where it was written to before
	f.Equal(knows("5", "7"), []sessions.Key{two})
	f.Equal(len(knows("5", ""))+len(knows("9", ""))+len(knows("", "")), 0)
	write(one, "1", "", 4)
	f.Equal(knows("1", ""), []sessions.Key{one, two}) // newest first

	// The chat moves; where it goes has been heard of already.
	write(one, "6", "", 5)
	f.OK(f.Readdress(f.Context(), fixture.Address("1"), fixture.Address("6")))
	f.OK(f.Readdress(f.Context(), fixture.Address("5"), fixture.Address("6")))
	f.OK(f.Readdress(f.Context(), fixture.Address("5"), fixture.Address("6")))
	f.Equal(len(knows("1", ""))+len(knows("5", "7")), 0)
	f.Equal(knows("6", ""), []sessions.Key{one, two})
	f.Equal(knows("6", "7"), []sessions.Key{two})

	f.OK(f.Archive(f.Context(), one))
	f.Equal(knows("6", ""), []sessions.Key{one, two})
	f.OK(f.Delete(f.Context(), one))
	f.Equal(knows("6", ""), []sessions.Key{two})
	f.MakeSession(one) // the key again, and nobody has written to it
	f.Equal(knows("6", ""), []sessions.Key{two})
}
