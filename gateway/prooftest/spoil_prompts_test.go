package prooftest

import (
	"slices"
	"strings"
	"testing"
)

// TestPrompts spoils what the model was shown in each way by itself.
func TestPrompts(t *testing.T) {
	t.Parallel()
	here, there := Place{Platform: "telegram", Chat: "1"}, Place{Platform: "telegram", Chat: "2"}
	for _, x := range []struct {
		name, why string
		spoil     func(a *Asked)
	}{
		{"nothing", "", func(*Asked) {}},
		{"older messages are left out", "", func(a *Asked) { a.Prompt = append([]Told{{"user", "(cut)"}}, a.Prompt[2]) }},
		{"the input twice", "twice", func(a *Asked) { a.Prompt[2].Text += "\n\n" + a.Prompt[2].Text }},
		{"the input is missing", "not shown the message that it answers", func(a *Asked) { a.Prompt = a.Prompt[:2] }},
		{"another sender", "somebody else's", func(a *Asked) { a.Prompt[2].Text = "Mallory: [m2]" }},
		{"the conversation is missing", "gave before", func(a *Asked) { a.Prompt = a.Prompt[2:] }},
		{"another chat in the instructions", "of another chat", func(a *Asked) { a.System = []string{"m3"} }},
		{"another chat in the conversation", "of another chat", func(a *Asked) { a.Prompt[0].Text += "\n\nOlga: [m3]" }},
		{"an answer kept otherwise", "did not say", func(a *Asked) { a.Prompt[1].Text += "\n\n(gone)" }},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			h := &History{Lasting: map[string]Place{"s": here}, Heads: []string{"Olga: "}, Shortened: "(cut)"}
			for _, m := range []struct {
				token string
				at    Place
			}{{"m1", here}, {"m2", here}, {"m3", there}} {
				h.Said = append(h.Said, Said{Token: m.token, Place: m.at, Text: "[" + m.token + "]", Owes: []Debt{{Token: m.token, Kind: Answer, Place: m.at}}})
				h.Listed = append(h.Listed, Listed{ID: m.token, Place: m.at, State: "sent", Text: "done [" + m.token + "]"})
				h.Shown = append(h.Shown, Shown{Place: m.at, ID: m.token, Verb: Post, Text: "done [" + m.token + "]"})
			}
			h.Asked = []Asked{
				{Session: "s", Step: "turn", Token: "m1", Says: "done [m1]", Prompt: []Told{{"user", "Olga: [m1]"}}},
				{Session: "s", Step: "turn", Token: "m2", Says: "done [m2]", Prompt: []Told{{"user", "Olga: [m1]"}, {"assistant", "done [m1]"}, {"user", "Olga: [m2]"}}},
				{Session: "other", Step: "turn", Token: "m3", Says: "done [m3]"},
			}
			x.spoil(&h.Asked[1])
			v := Check(h)
			if x.why == "" && !v.OK() || x.why != "" && !slices.ContainsFunc(v.Faults, func(f Fault) bool { return f.Kind == Prompted && strings.Contains(f.Why, x.why) }) {
				t.Error(v)
			}
		})
	}
}
