package rights

import (
	"testing"

	"parley/channels"
	"parley/policy"
	"parley/router/settings"
	"parley/sessions"
)

// What a turn does that began for an owner and answers a guest as well counts for the guest, as its rights do.
func TestWhoAsksInAMergedTurn(t *testing.T) {
	set := &settings.Snapshot{Owners: policy.Owners{"telegram:1"}}
	run := func(sender string) *sessions.Run {
		return &sessions.Run{Input: sessions.Message{Provenance: &sessions.Provenance{Sender: sender, Owner: sender == "1", Address: channels.Address{Channel: "telegram"}}}}
	}
	for _, c := range []struct {
		run  *sessions.Run
		more []*sessions.Run
		want string
	}{
		{run("1"), nil, settings.OfOwners},
		{run("1"), []*sessions.Run{run("1")}, settings.OfOwners},
		{run("1"), []*sessions.Run{run("2")}, "telegram:2"},
		{run("3"), []*sessions.Run{run("1"), run("2")}, "telegram:3"},
		{run("1"), []*sessions.Run{{}}, "session " + string(keyA)},
	} {
		a := Requesters{Owner: true}
		a.Add(c.run.Input)
		for _, m := range c.more {
			a.Add(m.Input)
		}
		x := &Rights{set: set, asked: a}
		_, asked := x.Verdict("cron")
		if got := askerAmong(set, asked, keyA, c.run); got != c.want {
			t.Errorf("%+v: %q, want %q", a, got, c.want)
		}
	}
}
