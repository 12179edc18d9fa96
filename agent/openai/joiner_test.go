package openai

import (
	"strings"
	"testing"
)

// TestJoinerIsBounded: of an answer that is longer than what is kept of it, the joiner keeps no more, and it changes nothing.
func TestJoinerIsBounded(t *testing.T) {
	t.Parallel()
	var j joiner
	piece := strings.Repeat("I should look. ", 1000)
	given, said := 0, 0
	for given < 3*maxJoined {
		given += len(piece)
		said += len(j.add(piece, false))
	}
	if said += len(j.end()); said != given {
		t.Errorf("%d bytes of %d", said, given)
	}
	if kept := j.text.Len(); kept > maxJoined+len(piece) {
		t.Errorf("%d bytes are kept", kept)
	}
}

// TestJoinerDropsRepeats: all of a text that comes once more is dropped where it came in several pieces; a line that a model repeats stays.
// source: openclaw/openclaw#142888
func TestJoinerDropsRepeats(t *testing.T) {
	t.Parallel()
	const line = "I must not talk in class today.\n"
	for name, c := range map[string]struct {
		pieces []string
		want   string
	}{
		"in the middle":        {[]string{"I must not ", "talk in ", "class today", "I must not talk in class today", ", nor tomorrow."}, "I must not talk in class today, nor tomorrow."},
		"with more behind it":  {[]string{"I must not ", "talk in ", "class today", "I must not talk in class today, nor", " tomorrow."}, "I must not talk in class today, nor tomorrow."},
		"a line that repeats":  {[]string{line, line, line}, line + line + line},
		"a laugh that repeats": {[]string{"ha", " ha", " ha", "ha ha ha"}, "ha ha haha ha ha"},
	} {
		var j joiner
		var got strings.Builder
		for _, p := range c.pieces {
			got.WriteString(j.add(p, false))
		}
		got.WriteString(j.end())
		if got.String() != c.want {
			t.Errorf("%s: %q, not %q", name, got.String(), c.want)
		}
	}
}

// TestJoinerShortRepeatAtTheEnd: a short text that comes once more as the last piece is dropped where that is no accident.
// source: openclaw/openclaw#142888
func TestJoinerShortRepeatAtTheEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pieces []string // the last one ends the answer
		want   string
	}{
		"in two pieces":              {[]string{"It is", " noon.", "It is noon."}, "It is noon."},
		"one piece said twice":       {[]string{"Hurrah!", "Hurrah!"}, "Hurrah!Hurrah!"},
		"a laugh":                    {[]string{"ha", "ha", "haha"}, "hahahaha"},
		"digits":                     {[]string{"12", "34", "1234"}, "12341234"},
		"a little":                   {[]string{"n", "o", "no"}, "nono"},
		"another text of its length": {[]string{"It is", " noon.", "Or is it so"}, "It is noon.Or is it so"},
	} {
		var j joiner
		var got strings.Builder
		for i, p := range c.pieces {
			got.WriteString(j.add(p, i == len(c.pieces)-1))
		}
		got.WriteString(j.end())
		if got.String() != c.want {
			t.Errorf("%s: %q, not %q", name, got.String(), c.want)
		}
	}
}
