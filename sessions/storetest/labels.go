package storetest

import (
	"strings"
	"testing"

	"parley/sessions"
)

func labels(_ *testing.T, f *fixture) {
	lab, other, none := "lab", "other", ""
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: key("1"), Label: lab}}})
	_, err := f.Submit(f.ctx, sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: key("2"), Label: lab}}})
	f.is(err, sessions.ErrConflict)
	f.session(key("2"))
	_, err = f.Patch(f.ctx, key("2"), sessions.Patch{Label: &lab})
	f.is(err, sessions.ErrConflict)
	if _, err = f.Patch(f.ctx, key("1"), sessions.Patch{Label: &lab}); err != nil {
		f.t.Error("its own label is refused:", err)
	}
	// An archived session's label is free.
	f.ok(f.Archive(f.ctx, key("1")))
	if _, err = f.Patch(f.ctx, key("2"), sessions.Patch{Label: &lab}); err != nil {
		f.t.Fatal(err)
	}
	// When it comes back, the label belongs to the other one.
	if s := f.accept(message("1", "1", "x")).Session; s.Archived || s.Label != "" {
		f.t.Errorf("%+v", s)
	}
	for _, l := range []*string{&other, &none} {
		s, err := f.Patch(f.ctx, key("2"), sessions.Patch{Label: l})
		f.ok(err)
		f.equal(s.Label, *l)
	}
	f.ok(f.Delete(f.ctx, key("2")))
	if _, err = f.Patch(f.ctx, key("1"), sessions.Patch{Label: &lab}); err != nil {
		f.t.Error(err)
	}
}

// Sub-agents may be called alike, and like a chat: a caller that names one is told nothing of sessions that it does not see.
//
// proves: V4
func labelsBelow(_ *testing.T, f *fixture) {
	lab, mine := "lab", "mine"
	child := func(id string) sessions.Key { return sessions.SubagentKey("main", id) }
	spawn := func(id, label string) {
		f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: child(id), Label: label, SpawnedBy: key("parent" + id)}}})
		f.equal(f.get(child(id)).Label, label)
	}
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: key("1"), Label: lab}}})
	spawn("a", lab)
	spawn("b", lab)
	spawn("c", mine)
	if _, err := f.Patch(f.ctx, child("c"), sessions.Patch{Label: &lab}); err != nil {
		f.t.Error(err)
	}
	// One that comes back keeps its label.
	f.ok(f.Archive(f.ctx, child("a")))
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: child("a")}}})
	f.equal(f.get(child("a")).Label, lab)
	// A chat may be called like a sub-agent, and not like a chat.
	f.session(key("2"))
	spawn("d", mine)
	if _, err := f.Patch(f.ctx, key("2"), sessions.Patch{Label: &mine}); err != nil {
		f.t.Error(err)
	}
	_, err := f.Patch(f.ctx, key("2"), sessions.Patch{Label: &lab})
	f.is(err, sessions.ErrConflict)
	if strings.Contains(err.Error(), string(key("1"))) {
		f.t.Errorf("another session is named: %v", err)
	}
}
