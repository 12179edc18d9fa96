package sessiontest

import (
	"strings"

	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

func labels(f *fixture.Store) {
	lab, other, none := "lab", "other", ""
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: fixture.Key("1"), Label: lab}}})
	_, err := f.Submit(f.Context(), sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: fixture.Key("2"), Label: lab}}})
	f.ErrorIs(err, sessions.ErrConflict)
	f.MakeSession(fixture.Key("2"))
	_, err = f.Patch(f.Context(), fixture.Key("2"), sessions.Patch{Label: &lab})
	f.ErrorIs(err, sessions.ErrConflict)
	if _, err = f.Patch(f.Context(), fixture.Key("1"), sessions.Patch{Label: &lab}); err != nil {
		f.Error("its own label is refused:", err)
	}
	// An archived session's label is free.
	f.OK(f.Archive(f.Context(), fixture.Key("1")))
	if _, err = f.Patch(f.Context(), fixture.Key("2"), sessions.Patch{Label: &lab}); err != nil {
		f.Fatal(err)
	}
	// When it comes back, the label belongs to the other one.
	if s := f.MustAccept(fixture.NewArrival("1", "1", "x")).Session; s.Archived || s.Label != "" {
		f.Errorf("%+v", s)
	}
	for _, l := range []*string{&other, &none} {
		s, err := f.Patch(f.Context(), fixture.Key("2"), sessions.Patch{Label: l})
		f.OK(err)
		f.Equal(s.Label, *l)
	}
	f.OK(f.Delete(f.Context(), fixture.Key("2")))
	if _, err = f.Patch(f.Context(), fixture.Key("1"), sessions.Patch{Label: &lab}); err != nil {
		f.Error(err)
	}
}

// Sub-agents may be called alike, and like a chat: a caller that names one is told nothing of sessions that it does not see.
//
// proves: V4
func labelsBelow(f *fixture.Store) {
	lab, mine := "lab", "mine"
	child := func(id string) sessions.Key { return sessions.SubagentKey("main", id) }
	spawn := func(id, label string) {
		f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: child(id), Label: label, SpawnedBy: fixture.Key("parent" + id)}}})
		f.Equal(f.MustGet(child(id)).Label, label)
	}
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: fixture.Key("1"), Label: lab}}})
	spawn("a", lab)
	spawn("b", lab)
	spawn("c", mine)
	if _, err := f.Patch(f.Context(), child("c"), sessions.Patch{Label: &lab}); err != nil {
		f.Error(err)
	}
	// One that comes back keeps its label.
	f.OK(f.Archive(f.Context(), child("a")))
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: child("a")}}})
	f.Equal(f.MustGet(child("a")).Label, lab)
	// A chat may be called like a sub-agent, and not like a chat.
	f.MakeSession(fixture.Key("2"))
	spawn("d", mine)
	if _, err := f.Patch(f.Context(), fixture.Key("2"), sessions.Patch{Label: &mine}); err != nil {
		f.Error(err)
	}
	_, err := f.Patch(f.Context(), fixture.Key("2"), sessions.Patch{Label: &lab})
	f.ErrorIs(err, sessions.ErrConflict)
	if strings.Contains(err.Error(), string(fixture.Key("1"))) {
		f.Errorf("another session is named: %v", err)
	}
}
