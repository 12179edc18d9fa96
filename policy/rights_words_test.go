package policy

import (
	"slices"
	"testing"
)

// What is permitted is found without words: what is said about it, layer by layer, comes to the same.
func TestPermitsIsTheVerdictOfAllLayers(t *testing.T) {
	lists := [][]string{nil, {"*"}, {"sessions_send"}, {"group:sessions"}, {"read*", "web_fetch"}, {"SESSIONS_SEND "}}
	asked := 0
	for _, allow := range lists {
		for _, deny := range lists {
			for _, fixed := range []string{"", "never here"} {
				layers := []ToolRules{{Name: "first"}, {Allow: allow, Deny: deny, Fixed: fixed}}
				for _, name := range []string{"sessions_send", "sessions_list", "read_file", "web_fetch", "other"} {
					asked++
					verdicts := ToolVerdicts(name, layers...)
					want := slices.IndexFunc(verdicts, func(v Verdict) bool { return !v.Allowed() })
					got := Permits(name, layers...)
					if got.Allowed() != (want < 0) || want >= 0 && got != verdicts[want] {
						t.Errorf("%s, allow %q, deny %q: %+v, the layers say %+v", name, allow, deny, got, verdicts)
					}
				}
			}
		}
	}
	layers := []ToolRules{{Name: "a", Allow: []string{"sessions_*"}}, {Deny: []string{"read"}}}
	few := testing.AllocsPerRun(100, func() { Permits("sessions_send", layers...) })
	all := testing.AllocsPerRun(100, func() { ToolVerdicts("sessions_send", layers...) })
	if 2*few > all {
		t.Errorf("%v allocations for a tool that is permitted, the words of all layers take %v", few, all)
	}
	t.Logf("%d questions", asked)
}
