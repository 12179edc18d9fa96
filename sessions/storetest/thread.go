package storetest

import (
	"testing"
	"time"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
)

// A thread goes by the deny of the place that it lies in, unless it, or a place between, has an override of its own.
// source: https://core.telegram.org/bots/api#message (ephemeral_message_id; is_topic_message in private chats): the writer chooses the place
// proves: P3
func beginSendThread(_ *testing.T, f *fixture) {
	at := func(thread channels.ThreadID) sessions.Key {
		return sessions.Parts{Form: sessions.FormGroup, Agent: "main", Channel: "fake", Account: channels.DefaultAccount, ID: "g", Thread: thread}.Key()
	}
	check := func(thread channels.ThreadID, want bool) {
		f.t.Helper()
		d := f.post(delivery(at(thread), addr("1"), "x"))
		_, err := f.BeginSend(f.ctx, d.ID, time.Now(), func(s sessions.Session) policy.Verdict {
			if s.ChatDeny != want {
				f.t.Errorf("thread %q: the chat denies: %t", thread, s.ChatDeny)
			}
			return policy.Verdict{Action: policy.Deny}
		}, sessions.FirstContactQuota{})
		f.ok(err)
		if s := f.get(at(thread)); s.ChatDeny != want {
			f.t.Errorf("thread %q as it is read: the chat denies: %t", thread, s.ChatDeny)
		} else if list, err := f.List(f.ctx, sessions.Query{Keys: []sessions.Key{at(thread)}}); err != nil || len(list) != 1 || list[0].ChatDeny != want {
			f.t.Errorf("thread %q in a list: %+v %v", thread, list, err)
		} else if s, err := f.GetByID(f.ctx, s.ID); err != nil || s.ChatDeny != want {
			f.t.Errorf("thread %q by its id: %+v %v", thread, s, err)
		}
	}
	set := func(thread channels.ThreadID, to policy.Override) {
		f.t.Helper()
		_, err := f.Patch(f.ctx, at(thread), sessions.Patch{SendPolicy: &to})
		f.ok(err)
	}
	for _, thread := range []channels.ThreadID{"", "10", "only7", "only7.10"} {
		f.session(at(thread))
	}
	check("only7", false)
	set("10", policy.Deny)
	check("only7", false)
	check("only7.10", true)
	set("", policy.Deny)
	check("", false)
	check("10", true)
	check("only7", true)
	set("10", policy.Allow)
	check("only7.10", false)
}
