package prooftest

import (
	"bytes"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestTokens reads tokens from texts: whole words in square brackets.
func TestTokens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"m1", nil},
		{"[m1]", []string{"m1"}},
		{"[m10] and m1", []string{"m10"}},
		{"a [m1]\nb[m2][m1]", []string{"m1", "m2", "m1"}},
		{"[m1 ] [ m1] [] [m1", nil},
		{"[[m1]] [x[m2]", []string{"m1", "m2"}},
		{"[a.b_c:d-E9]", []string{"a.b_c:d-E9"}},
		{"[ä] [1] [m1\n]", []string{"1"}},
	} {
		if got := tokens(c.text); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

// at is a time so many seconds into a run.
func at(seconds int) time.Time { return time.Date(2026, 3, 1, 9, 0, seconds, 0, time.UTC) }

// TestDenyBounds tells a call at the moment of an acknowledgement from one after it, over any order of flips.
func TestDenyBounds(t *testing.T) {
	t.Parallel()
	p := Place{Platform: "discord", Chat: "1"}
	deny, allow := true, false
	never := time.Time{}
	for _, c := range []struct {
		name  string
		flips []Flip
		want  string // second by second from 0 to 9: x = nothing may pass
		may   string // m = a deny could have been in force
	}{
		{"none", nil, "..........", ".........."},
		{"deny", []Flip{{p, deny, at(2), at(4)}}, ".....xxxxx", "..mmmmmmmm"},
		{"deny, never acknowledged", []Flip{{p, deny, at(2), never}}, "..........", "..mmmmmmmm"},
		{"deny, allow", []Flip{{p, deny, at(1), at(2)}, {p, allow, at(5), at(7)}}, "...xx.....", ".mmmmmmm.."},
		{"deny, allow never acknowledged", []Flip{{p, deny, at(1), at(2)}, {p, allow, at(5), never}}, "...xx.....", ".mmmmmmmmm"},
		{"deny, allow never acknowledged, deny", []Flip{{p, deny, at(1), at(2)}, {p, allow, at(4), never}, {p, deny, at(5), at(6)}}, "...x...xxx", ".mmmmmmmmm"},
		{"deny, deny", []Flip{{p, deny, at(1), at(2)}, {p, deny, at(4), at(6)}}, "...xxxxxxx", ".mmmmmmmmm"},
		{"deny never acknowledged, allow", []Flip{{p, deny, at(1), never}, {p, allow, at(3), at(4)}}, "..........", ".mmmm....."},
		{"allow", []Flip{{p, allow, at(3), at(4)}}, "..........", ".........."},
		{"twice", []Flip{{p, deny, at(0), at(1)}, {p, allow, at(3), at(4)}, {p, deny, at(5), at(6)}, {p, allow, at(8), at(9)}}, "..x....x..", "mmmmmmmmmm"},
		{"another place", []Flip{{Place{Platform: "discord", Chat: "2"}, deny, at(1), at(2)}}, "..........", ".........."},
	} {
		got, may := "", ""
		for s := range 10 {
			h := &History{Flips: c.flips, Shown: []Shown{{At: at(s), Place: p, Verb: Typing}}}
			got += map[bool]string{true: ".", false: "x"}[Check(h).OK()]
			h = &History{
				Flips:  c.flips,
				Said:   []Said{{Token: "m", At: at(s), Place: p, Text: "[m]", Owes: []Debt{{Token: "m", Kind: Answer, Place: p}}}},
				Listed: []Listed{{ID: "d", Place: p, State: "withheld", Text: "[m]", Ended: at(s), Rule: "session override", Reason: "denied"}},
			}
			may += map[bool]string{true: "m", false: "."}[Check(h).OK()]
		}
		if got != c.want || may != c.may {
			t.Errorf("%s: got %s and %s, want %s and %s", c.name, got, may, c.want, c.may)
		}
	}
}

// TestSameWords tells apart what was said twice in the same words, by deliveries of which kills hid some of the ids.
func TestSameWords(t *testing.T) {
	t.Parallel()
	p := Place{Platform: "telegram", Chat: "1"}
	history := func(cuts int, ids ...string) *History {
		h := &History{
			Said: []Said{{Token: "c1", At: at(1), Place: p, Text: "/new", Command: true}, {Token: "c2", At: at(2), Place: p, Text: "/new", Command: true}},
			Listed: []Listed{
				{ID: "d1", Place: p, State: "held", Reason: "sent three times", Text: "Anew.", For: []string{"c1"}},
				{ID: "d2", Place: p, State: "sent", Text: "Anew.", Repeat: true, Receipts: []string{"12"}, For: []string{"c2"}},
			},
			Repeats: map[string]bool{"telegram": true}, Cut: map[string]int{"telegram": cuts},
		}
		for _, id := range ids {
			h.Shown = append(h.Shown, Shown{At: at(9), Place: p, ID: id, Verb: Post, Text: "Anew."})
		}
		return h
	}
	withheld := history(2, "11", "12") // the mark explains both lines
	withheld.Listed[0].State = "withheld"
	for _, c := range []struct {
		h    *History
		want []FaultKind
	}{
		{withheld, []FaultKind{Lost}},
		{history(2, "12"), nil},
		{history(2, "11", "12"), nil},
		{history(2, "10", "11", "12"), nil}, // one is the held one
		{history(3, "9", "10", "11", "12"), nil},
		{history(2, "9", "10", "11", "12"), []FaultKind{Unlisted}},
		{history(9, "8", "9", "10", "11", "12"), []FaultKind{Foreign}},
		{history(2, "11"), []FaultKind{Lost}},
		{history(2, "12", "13"), []FaultKind{Foreign}},
	} {
		var got []FaultKind
		for _, f := range Check(c.h).Faults {
			got = append(got, f.Kind)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d lines, %d cuts: got %q, want %q", len(c.h.Shown), c.h.Cut["telegram"], got, c.want)
		}
	}
}

// TestSharedNotice counts a marked notice that was shown again once, however many messages it is about.
func TestSharedNotice(t *testing.T) {
	t.Parallel()
	p := Place{Platform: "telegram", Chat: "1"}
	said := func(token string) Said {
		return Said{Token: token, At: at(1), Place: p, Text: "[" + token + "]", Owes: []Debt{{Token: token, Kind: Answer, Place: p}}}
	}
	v := Check(&History{
		Said:    []Said{said("m1"), said("m2")},
		Shown:   []Shown{{At: at(2), Place: p, ID: "1", Verb: Post, Text: "No."}, {At: at(3), Place: p, ID: "2", Verb: Post, Text: "No."}},
		Listed:  []Listed{{ID: "d1", Place: p, State: "sent", Text: "No.", Repeat: true, Receipts: []string{"2"}, For: []string{"m2", "m1"}}},
		Notices: []Notice{{Text: "No."}}, Repeats: map[string]bool{"telegram": true}, Cut: map[string]int{"telegram": 1},
	})
	if !v.OK() || v.Answers.Noticed != 2 || v.Twice != 1 || v.Times["d1"] != 2 {
		t.Errorf("%v, %v", v, v.Times)
	}
}

// TestShownAgain counts a text that was shown again once, however many messages it answers.
func TestShownAgain(t *testing.T) {
	t.Parallel()
	p := Place{Platform: "telegram", Chat: "1"}
	both := "done [r1] [r2]"
	v := Check(&History{
		Said:    []Said{{Token: "m1", At: at(1), Place: p, Text: "[m1]", Owes: []Debt{{Token: "r1", Kind: Report, Place: p}, {Token: "r2", Kind: Report, Place: p}}}},
		Shown:   []Shown{{At: at(2), Place: p, ID: "1", Verb: Post, Text: both}, {At: at(3), Place: p, ID: "2", Verb: Post, Text: both}},
		Listed:  []Listed{{ID: "d1", Place: p, State: "sent", Text: both, Repeat: true, Receipts: []string{"2"}}},
		Repeats: map[string]bool{"telegram": true}, Cut: map[string]int{"telegram": 1},
	})
	if !v.OK() || v.Twice != 1 || v.Times["d1"] != 2 {
		t.Errorf("%v, %v", v, v.Times)
	}
}

// TestNestedDebt releases what another debt begins only as long as the model was not shown what came of the call that begins it, and of no
// other call.
func TestNestedDebt(t *testing.T) {
	t.Parallel()
	p := Place{Platform: "discord", Chat: "1"}
	for _, c := range []struct {
		asked Asked
		lost  []string
	}{
		{Asked{Step: "turn", Token: "m"}, nil},
		{Asked{Step: "turn", Token: "m", Call: 1}, []string{"s"}},
		{Asked{Step: "child", Token: "s"}, []string{"s"}},
		{Asked{Step: "child", Token: "s", Call: 1}, []string{"s", "n"}},
		{Asked{Step: "child", Token: "n"}, []string{"n"}},
	} {
		v := Check(&History{
			Said: []Said{{Token: "m", At: at(1), Place: p, Text: "[m]", Owes: []Debt{
				{Token: "m", Kind: Answer, Place: p}, {Token: "s", Kind: Report, Place: p}, {Token: "n", Kind: Report, Place: p, By: "s"},
			}}},
			Asked:   []Asked{c.asked},
			Shown:   []Shown{{At: at(2), Place: p, ID: "1", Verb: Post, Text: "No."}},
			Listed:  []Listed{{ID: "d", Place: p, State: "sent", Text: "No.", Receipts: []string{"1"}, For: []string{"m"}}},
			Notices: []Notice{{Text: "No."}},
		})
		var lost []string
		for _, f := range v.Faults {
			lost = append(lost, f.Token)
		}
		if !slices.Equal(lost, c.lost) || v.Reports.Unbegun != 2-len(lost) {
			t.Errorf("%+v: %v", c.asked, v)
		}
	}
}

// TestFreeWords lets a message that is owed nothing have one text, and no more, and none of before it.
func TestFreeWords(t *testing.T) {
	t.Parallel()
	p := Place{Platform: "discord", Chat: "1"}
	for _, c := range []struct {
		shown []int // when
		want  int   // faults
	}{{nil, 0}, {[]int{5}, 0}, {[]int{5, 6}, 1}, {[]int{1}, 1}} {
		for _, listed := range []bool{true, false} {
			h := &History{Said: []Said{{At: at(2), Place: p, Text: "hello"}}}
			for i, s := range c.shown {
				id := string(rune('a' + i))
				h.Shown = append(h.Shown, Shown{At: at(s), Place: p, ID: id, Verb: Post, Text: "Hm."})
				if listed {
					h.Listed = append(h.Listed, Listed{ID: "d" + id, Place: p, State: "sent", Text: "Hm.", Receipts: []string{id}})
				}
			}
			if got := Check(h).Faults; len(got) != c.want || c.want > 0 && got[0].Kind != Foreign {
				t.Errorf("shown %v, listed %t: %v", c.shown, listed, got)
			}
		}
	}
}

// TestFigures counts what a small history holds, and tells a fault with all that was seen of it.
func TestFigures(t *testing.T) {
	t.Parallel()
	tg, dc := Place{Platform: "telegram", Account: "team", Chat: "1", Thread: "7"}, Place{Platform: "discord", Chat: "2"}
	h := &History{
		Said: []Said{
			{Token: "m1", At: at(1), Place: tg, Text: "[m1] go", Owes: []Debt{{Token: "m1", Kind: Answer, Place: tg}, {Token: "a1", Kind: Announce, Place: dc}, {Token: "r1", Kind: Report, Place: tg}}},
			{Token: "c1", At: at(2), Place: tg, Text: "/status", Command: true},
			{At: at(2), Place: tg, Text: "hello"},
		},
		Asked: []Asked{{At: at(3), Session: "main", Step: "turn", Token: "m1", Call: 0, Life: 1}},
		Shown: []Shown{
			{At: at(4), Place: tg, Verb: Typing},
			{At: at(5), Place: tg, ID: "11", Verb: Post, Text: "echo: [m1]"},
			{At: at(6), Place: tg, ID: "12", Verb: Post, Text: "echo: [m1]"},
			{At: at(6), Place: tg, ID: "12", Verb: React, Text: "👍"},
			{At: at(7), Place: dc, ID: "20", Verb: Post, Text: "[a1]", Key: "k"},
			{At: at(8), Place: dc, ID: "20", Verb: Post, Text: "[a1]", Key: "k"},
			{At: at(9), Place: tg, ID: "13", Verb: Post, Text: "All is well."},
			{At: at(9), Place: tg, ID: "13", Verb: Edit, Text: "All is very well."},
		},
		Flips: []Flip{{tg, true, at(20), at(21)}, {tg, false, at(22), time.Time{}}},
		Kills: []Kill{{At: at(5), Life: 1, Where: "Receipt before-commit", InSend: true}, {At: at(12), Life: 2, Where: "random"}},
		Listed: []Listed{
			{ID: "d1", Place: tg, Kind: "reply", State: "sent", Text: "echo: [m1]", Repeat: true, Receipts: []string{"12"}},
			{ID: "d2", Place: dc, Kind: "announce", State: "sent", Text: "[a1]"},
			{ID: "d3", Place: tg, Kind: "announce", State: "sent", Text: "[r1]", Receipts: []string{"15"}, Reason: "lost on the way"},
			{ID: "d4", Place: tg, Kind: "notice", State: "sent", Text: "All is very well.", Receipts: []string{"13"}, For: []string{"c1"}},
		},
		Repeats: map[string]bool{"telegram": true}, Refused: []Refusal{{tg, at(2)}},
	}
	const want = `1 messages and 1 commands
answers: 1 owed, 1 shown, 0 withheld, 0 noticed, 0 listed as ended otherwise, 0 skipped, 0 not begun
announces: 1 owed, 1 shown, 0 withheld, 0 noticed, 0 listed as ended otherwise, 0 skipped, 0 not begun
reports: 1 owed, 0 shown, 0 withheld, 0 noticed, 0 listed as ended otherwise, 0 skipped, 0 not begun
answers to commands: 1 owed, 1 shown, 0 withheld, 0 noticed, 0 listed as ended otherwise, 0 skipped, 0 not begun
1 calls of the model; platforms: 5 posts (1 without a second effect), 1 edits, 0 removals, 1 typing, 1 reactions; 4 deliveries
1 denies, 1 allows, 1 of them never acknowledged
2 kills, 1 inside a send window; 1 calls with an unknown end, 1 deliveries marked as possibly repeated, 1 texts shown again
1 faults: 1 report lost
  report lost: [r1] telegram/team/1/7: nothing accounts for it; the host says that it was sent; said 09:00:01.000 in telegram/team/1/7: "[m1] go"; ` +
		`owed: the report in telegram/team/1/7; listed: d3 announce sent for telegram/team/1/7 receipts 15 because "lost on the way" "[r1]"; ` +
		`killed within a minute: 09:00:05.000 process 1 at Receipt before-commit, 09:00:12.000 process 2 at random`
	if got := Check(h).String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	h.Listed[2].State, h.Listed[2].Ended = "dropped", at(9)
	h.Listed[0].Repeat, h.Shown[4].Text = false, "[a1] [m1]"
	got := Check(h).Text(1)
	for _, part := range []string{
		`shown: post 09:00:05.000 id 11 "echo: [m1]", post 09:00:06.000 id 12 "echo: [m1]"`, `shown there: post 09:00:07.000 id 20 key k "[a1] [m1]"`,
		`asked: 09:00:03.000 turn of main, call 0, process 1`, "2 faults: 1 wrong place, 1 unlisted", "\n  and 1 more",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("%q is missing from\n%s", part, got)
		}
	}
}

// TestLargeHistory checks as many messages as a full run has, and says how long it took.
func TestLargeHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(1, int(times(10_000, 100_000)))
	begun := time.Now()
	v := Check(&w.h)
	if !v.OK() {
		t.Fatal(v)
	}
	t.Logf("%d messages, %d debts, %d calls of platforms, %d kills in %s", v.Said, v.Answers.Owed+v.Announces.Owed+v.Reports.Owed, len(w.h.Shown), v.Kills, time.Since(begun))
	w.h.Listed, w.h.Skipped = nil, nil // as many faults as can be
	begun = time.Now()
	v = Check(&w.h)
	t.Logf("%d faults in %s", len(v.Faults), time.Since(begun))
}

// TestImportsNothingOfParley reads what this package imports: the checker shares no code with what it checks.
func TestImportsNothingOfParley(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	name := string(bytes.Fields(module)[1])
	read := 0
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		read++
		for _, i := range f.Imports {
			path, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if path == name || strings.HasPrefix(path, name+"/") || strings.Contains(path, ".") {
				t.Errorf("%s imports %s: the checker uses the standard library only", e.Name(), path)
			}
		}
	}
	if read < 8 {
		t.Errorf("only %d files were read", read)
	}
}
