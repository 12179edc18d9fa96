package toolrights

import (
	"slices"
	"testing"
)

// What all lists together permit, as parley's lists say it.
// source: openclaw docs/gateway/config-tools/tool-policy.md
func TestCombine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		in   []Policy
		want Rights
	}{
		{"no list", nil, Rights{}},
		{"a list that cannot be read", []Policy{{Unreadable: true}}, Nothing()},
		{"only tools that parley has not", []Policy{{Allow: []string{"browser"}, Limited: true}}, Nothing()},
		{"a part of what a tool does", []Policy{{Deny: []string{"edit"}}}, Rights{Deny: []string{"files"}}},
		{"a tool of a server", []Policy{{Allow: []string{"cron", "github__search"}, Limited: true}}, Rights{Allow: []string{"cron", "github_search"}}},
		{"a list without servers", []Policy{{Allow: []string{"group:openclaw"}, Limited: true}}, Rights{Deny: []string{"group:mcp"}}},
		{"two lists", []Policy{{Allow: []string{"cron", "a__x", "b__y"}, Limited: true}, {Allow: []string{"cron", "message", "b__y"}, Limited: true}}, Rights{Allow: []string{"cron", "b_y"}}},
	} {
		if got := Combine(c.in); !slices.Equal(got.Allow, c.want.Allow) || !slices.Equal(got.Deny, c.want.Deny) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
