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

// What is left out has the name that the file has, and is not carried over as well.
func TestOldNames(t *testing.T) {
	t.Parallel()
	var r Report
	r.Carry("a.streamMode → a.streaming", "")
	r.Carry("a.blockStreaming → a.streaming", "")
	r.Leave("a.streaming", "parley has no equivalent")
	r.Carry("tools.exec.timeoutSec → tools.exec.timeoutSeconds", "")
	r.Leave("tools.exec", "parley has other tools")
	r.Carry("agent → agents.defaults", "")
	r.Leave("agents.defaults.x", "parley has no equivalent")
	for range 2 {
		r.Sort()
	}
	left := []Item{{"a.blockStreaming, a.streamMode", "parley has no equivalent"}, {"agents.defaults.x", "parley has no equivalent"}, {"tools.exec", "parley has other tools"}}
	if !slices.Equal(r.Left, left) || !slices.Equal(r.Carried, []Item{{"agent → agents.defaults", ""}}) {
		t.Errorf("%q, %q", r.Left, r.Carried)
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
