package policy

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// proves: N7
func TestPermits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		layers []ToolRules
		want   Action
		rule   string
	}{
		{"sessions_send", nil, Allow, "tools"},
		{"sessions_send", []ToolRules{{}}, Allow, "tools"},
		{"sessions_send", []ToolRules{{Name: "tools", Allow: []string{"*"}, Deny: []string{"x", "sessions_*"}}}, Deny, "tools.deny[1]"},
		{"sessions_send", []ToolRules{{Deny: []string{"group:sessions"}}}, Deny, "tools layer 0.deny[0]"},
		{"agents_list", []ToolRules{{Deny: []string{"Group:Sessions"}}}, Allow, "tools"},
		{"sessions_send", []ToolRules{{Allow: []string{"group:sessions"}}}, Allow, "tools"},
		{"sessions_send", []ToolRules{{}, {Name: "b", Allow: []string{"remember"}}}, Deny, "b.allow"},
		{"sessions_send", []ToolRules{{Allow: []string{"SESSIONS_SEND"}}, {Allow: []string{"*_send"}}}, Allow, "tools"},
		{"sessions_send2", []ToolRules{{Allow: []string{"sessions_send"}}}, Deny, "tools layer 0.allow"},
	} {
		if got := Permits(c.name, c.layers...); got.Action != c.want || got.Rule != c.rule || got.Reason == "" {
			t.Errorf("%s under %+v: %+v, want %s by %s", c.name, c.layers, got, c.want, c.rule)
		}
	}
}

// What is permitted is what every layer permits by itself: each can only take away, so that rights of a child never exceed its
// parent's.
// proves: N7
func TestLayersOnlyNarrow(t *testing.T) {
	t.Parallel()
	names := rapid.SampledFrom([]string{"*", "a*", "*b", "ab", "group:sessions", "sessions_list"})
	layer := rapid.Custom(func(t *rapid.T) ToolRules {
		return ToolRules{Allow: rapid.SliceOfN(names, 0, 2).Draw(t, "allow"), Deny: rapid.SliceOfN(names, 0, 2).Draw(t, "deny")}
	})
	rapid.Check(t, func(t *rapid.T) {
		layers := rapid.SliceOfN(layer, 1, 4).Draw(t, "layers")
		name := rapid.SampledFrom([]string{"ab", "b", "sessions_list"}).Draw(t, "name")
		if Permits(name, layers...).Allowed() && !Permits(name, layers[:len(layers)-1]...).Allowed() {
			t.Fatalf("%s: the last of %+v gives what the others deny", name, layers)
		}
		all := true
		for _, l := range layers {
			all = all && Permits(name, l).Allowed()
		}
		if got := Permits(name, layers...).Allowed(); got != all {
			t.Fatalf("%s under %+v: %v; each by itself: %v", name, layers, got, all)
		}
	})
}

func TestGlob(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.StringMatching(`[ab*.]{0,6}`).Draw(t, "pattern")
		s := rapid.StringMatching(`[ab.]{0,6}`).Draw(t, "text")
		want := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(p), `\*`, ".*") + "$").MatchString(s)
		if got := Glob(p, s); got != want {
			t.Fatalf("Glob(%q, %q) = %v", p, s, got)
		}
	})
}

func TestPairingCodes(t *testing.T) {
	t.Parallel()
	seen := map[rune]bool{}
	for range 200 {
		c, err := NewCode(rand.Reader)
		if err != nil || !regexp.MustCompile(`^[A-HJ-NP-Z2-9]{8}$`).MatchString(c) {
			t.Fatalf("%q, %v", c, err)
		}
		for _, r := range c {
			seen[r] = true
		}
	}
	if len(seen) != 32 {
		t.Errorf("%d different characters in 1600, want 32", len(seen))
	}
	if _, err := NewCode(bytes.NewReader([]byte("short"))); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("short of random bytes: %v", err)
	}
	h := HashCode("telegram", "ABCD2345")
	if h != HashCode("telegram", " abcd2345\n") || h == HashCode("discord", "ABCD2345") || h == HashCode("telegram", "ABCD2346") || len(h) != 64 {
		t.Errorf("hash %s", h)
	}
}
