package storetest

import (
	"testing"
	"time"

	"parley/channels"
	"parley/sessions"
)

// A session marked for deletion stays while it has another run, at work or waiting; the end of that one deletes it.
//
// proves: N14
func finishDeleteLater(_ *testing.T, f *fixture) {
	chat, child, _ := f.family()
	f.queue(child, "", sessions.ChildRun, "task")
	f.queue(child, "", sessions.ChildRun, "follow-up")
	f.finish(f.claim(child).ID, sessions.Outcome{Delete: &child})
	f.equal(f.get(child).Key, child)
	follow := f.claim(child)
	f.equal(follow.Input.Text(), "follow-up")
	f.queue(chat, "", sessions.ResultRun, "result")
	f.finish(f.claim(chat).ID, sessions.Outcome{Delete: &child}) // from another session
	f.equal(f.get(child).Key, child)
	f.finish(follow.ID, sessions.Outcome{Delete: &child, Next: &sessions.Change{Run: &sessions.Enqueue{Run: sessions.Run{ID: "announce", Kind: sessions.AnnounceRun, Key: child, Input: user("x")}}}})
	f.finish(f.claim(child).ID, sessions.Outcome{Delete: &child})
	_, err := f.Get(f.ctx, child)
	f.is(err, sessions.ErrNotFound)
	f.equal(f.get(chat).Key, chat)
}

// A session whose time has come is archived when its last run has ended, and again after a message brought it back.
//
// proves: N14
func expireLater(_ *testing.T, f *fixture) {
	k, now := key("1"), time.Now()
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, ArchiveAt: now.Add(-time.Minute)}}})
	expired := func() []sessions.Key {
		ks, err := f.Expire(f.ctx, now, time.Hour)
		f.ok(err)
		return ks
	}
	for range 2 {
		r := f.queue(k, "", sessions.ChildRun, "x")
		f.equal(len(expired()), 0)
		f.claim(k)
		f.equal(len(expired()), 0)
		f.equal(f.get(k).Archived, false)
		f.finish(r.ID, sessions.Outcome{})
		f.equal(expired(), []sessions.Key{k})
		f.equal(f.get(k).Archived, true)
	}
}

// The agents above a sub-agent and the session above all are set once; its rights and its budget go by them.
//
// proves: N7
func above(_ *testing.T, f *fixture) {
	k := sessions.Key("agent:a:subagent:1")
	first := []sessions.AgentID{"main", `a b",`, "", "\x00é"}
	made := f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, SpawnedBy: key("1"), Above: first, Top: key("0")}}}).Session
	f.equal(made.Above, first)
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Title: "t", SpawnedBy: key("2"), Above: []sessions.AgentID{"ops"}, Top: key("2")}}})
	_, err := f.Reset(f.ctx, k)
	f.ok(err)
	f.equal(f.get(k).Above, first)
	f.equal(f.get(k).Top, key("0"))
	list, err := f.List(f.ctx, sessions.Query{SpawnedBy: key("1")})
	f.ok(err)
	f.equal(list[0].Above, first)
	f.equal(len(f.session(key("1")).Above), 0)
	later := sessions.Key("agent:a:subagent:2") // one from before there was a top
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: later, SpawnedBy: key("1")}}})
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: later, Top: key("1")}}})
	f.equal(f.get(later).Top, key("1"))
}

// Known tells from which chats a session was written to, and moves with the chat.
func known(_ *testing.T, f *fixture) {
	knows := func(chat, thread string) []sessions.Key {
		f.t.Helper()
		a := addr(chat)
		a.Thread = channels.ThreadID(thread)
		ks, err := f.Known(f.ctx, a)
		f.ok(err)
		return ks
	}
	base := time.Now().Add(time.Hour)
	write := func(k sessions.Key, chat, thread string, at int) {
		a := addr(chat)
		a.Thread = channels.ThreadID(thread)
		f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Last: a, Updated: base.Add(time.Duration(at) * time.Second)}}})
	}
	one, two := sessions.Key("agent:main:main"), key("2")
	write(one, "1", "", 1)
	write(two, "1", "", 2)
	write(two, "5", "7", 3)
	f.queue(key("3"), one, sessions.ChildRun, "a session without a chat")
	f.equal(knows("1", ""), []sessions.Key{two, one}) // also from where it was written to before
	f.equal(knows("5", "7"), []sessions.Key{two})
	f.equal(len(knows("5", ""))+len(knows("9", ""))+len(knows("", "")), 0)
	write(one, "1", "", 4)
	f.equal(knows("1", ""), []sessions.Key{one, two}) // newest first

	// The chat moves; where it goes has been heard of already.
	write(one, "6", "", 5)
	f.ok(f.Readdress(f.ctx, addr("1"), addr("6")))
	f.ok(f.Readdress(f.ctx, addr("5"), addr("6")))
	f.ok(f.Readdress(f.ctx, addr("5"), addr("6")))
	f.equal(len(knows("1", ""))+len(knows("5", "7")), 0)
	f.equal(knows("6", ""), []sessions.Key{one, two})
	f.equal(knows("6", "7"), []sessions.Key{two})

	f.ok(f.Archive(f.ctx, one))
	f.equal(knows("6", ""), []sessions.Key{one, two})
	f.ok(f.Delete(f.ctx, one))
	f.equal(knows("6", ""), []sessions.Key{two})
	f.session(one) // the key again, and nobody has written to it
	f.equal(knows("6", ""), []sessions.Key{two})
}
