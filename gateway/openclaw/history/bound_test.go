package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Of a session that is larger than the bound the newest messages are read, over all of its windows, and the report says so. Nothing else changes.
func TestBoundOfASession(t *testing.T) {
	t.Parallel()
	s := newState(t)
	d := s.agent(24)
	var early, late []string
	for i := range 100 {
		early = append(early, fmt.Sprintf("user early %d %s", i, strings.Repeat("x", 500)))
		late = append(late, fmt.Sprintf("user late %d %s", i, strings.Repeat("x", 500)))
	}
	d.node("agent:main:telegram:direct:1", "{}", "00000001-0000-4000-8000-000000000000", "00000002-0000-4000-8000-000000000000")
	d.events("00000001-0000-4000-8000-000000000000", early...)
	d.events("00000002-0000-4000-8000-000000000000", late...)
	d.node("agent:main:telegram:direct:2", "{}", "00000003-0000-4000-8000-000000000000")
	d.events("00000003-0000-4000-8000-000000000000", "user hello")
	const bound = 80 << 10 // all have about 130 KB
	h, r := s.read(func(f *Folder) { f.maxEvents, f.maxMemory = bound, bound+(1<<10) })
	lines := s.story(h, "agent:main:telegram:direct:1")
	if n := len(lines); n < 101 || n > 130 || !strings.HasPrefix(lines[n-1], "user late 99 ") || !strings.HasPrefix(lines[0], "user early ") {
		t.Errorf("%d messages: %.40q", n, lines)
	}
	if i := slices.IndexFunc(h.Sessions, func(x Imported) bool { return x.Session.Key == "agent:main:telegram:direct:1" }); h.Sessions[i].Size != bound || h.Sessions[i].Count != len(lines) {
		t.Errorf("%d bytes, %d messages", h.Sessions[i].Size, h.Sessions[i].Count)
	}
	if got := s.story(h, "agent:main:telegram:direct:2"); !slices.Equal(got, []string{"user hello"}) {
		t.Errorf("%q", got)
	}
	for _, x := range h.Sessions {
		if x.kept == nil {
			t.Errorf("%s is read twice: %d bytes are kept of %d", x.Session.Key, h.kept, h.maxMemory)
		}
	}
	h, _ = s.read(func(f *Folder) { f.maxEvents, f.maxMemory = bound, bound-1 }) // the large one does not fit, the small one does
	for _, x := range h.Sessions {
		if fits := x.Session.Key == "agent:main:telegram:direct:2"; (x.kept != nil) != fits {
			t.Errorf("%s: kept is %t, want %t", x.Session.Key, x.kept != nil, fits)
		}
	}
	has(t, r.Left, "agent:main:telegram:direct:1: its oldest messages", "keep the file")
}
