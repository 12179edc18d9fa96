package report

import (
	"slices"
	"testing"
)

// Each thing is one line in one section, with all reasons that hold: a key that was carried over first and left out later is left out.
func TestSort(t *testing.T) {
	t.Parallel()
	var r Report
	r.Carry("session.reset.graceful", "")
	r.Differ("channels.discord.allowBots", "it means something else")
	r.Leave("session.reset.graceful", "parley has no such mode")
	r.Leave("channels.discord.allowBots", "parley does not take it")
	r.Differ("channels.telegram", "pairing is per account")
	r.Carry("channels.telegram", "")
	r.Need("channels.telegram", "set the token")
	r.Leave("hooks", "set them up again")
	r.See("hooks", "a folder")
	r.Leave("x", "one")
	r.Leave("x", "two")
	r.Leave("x", "two")
	r.Sort()
	want := Report{
		NeedsYou:   []Item{{"channels.telegram", "set the token; pairing is per account"}},
		OpenToMore: []Item{}, Different: []Item{}, Carried: []Item{}, Also: []Item{},
		Left: []Item{{"channels.discord.allowBots", "parley does not take it"}, {"hooks", "set them up again; a folder"}, {"session.reset.graceful", "parley has no such mode"}, {"x", "one; two"}},
	}
	for i, s := range r.Sections() {
		if w := want.Sections()[i]; s.Items == nil || !slices.Equal(s.Items, w.Items) {
			t.Errorf("%s: %q, want %q", s.Title, s.Items, w.Items)
		}
	}
}

// Lines with one reason are one group.
func TestGroups(t *testing.T) {
	t.Parallel()
	got := Groups([]Item{{"a", "no such setting"}, {"b", "old"}, {"c", "no such setting"}})
	if len(got) != 2 || !slices.Equal(got[0].What, []string{"a", "c"}) || got[1].Why != "old" {
		t.Errorf("%q", got)
	}
}
