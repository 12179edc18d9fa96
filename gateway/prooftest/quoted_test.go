package prooftest

import "testing"

// TestQuoted has an answer quote its message, one that nobody knows, and that of another answer.
func TestQuoted(t *testing.T) {
	t.Parallel()
	at := Place{Platform: "telegram", Chat: "1"}
	for about, wrong := range map[string]bool{"": false, "7": false, "9": false, "8": true} {
		h := &History{}
		for _, m := range []struct{ token, id string }{{"m1", "7"}, {"m2", "8"}} {
			h.Said = append(h.Said, Said{Token: m.token, ID: m.id, Place: at, Text: "[" + m.token + "]", Owes: []Debt{{Token: m.token, Kind: Answer, Place: at}}})
			h.Asked = append(h.Asked, Asked{Session: "s", Step: "turn", Token: m.token, Says: "done [" + m.token + "]"})
			h.Listed = append(h.Listed, Listed{ID: m.token, Place: at, State: "sent", Text: "done [" + m.token + "]"})
			h.Shown = append(h.Shown, Shown{Place: at, ID: "1" + m.id, Verb: Post, Text: "done [" + m.token + "]", About: m.id})
		}
		h.Shown[0].About = about
		v := Check(h)
		if found := len(v.Faults) == 1 && v.Faults[0].Kind == Misquoted; v.OK() == wrong || wrong && !found {
			t.Errorf("an answer to 7 that quotes %q: %s", about, v)
		}
	}
}
