package history

import (
	"testing"

	"parley/gateway/openclaw/report"
	"parley/policy"
)

// A chat that was muted stays so: an unknown word denies, and a key of the old form finds its channel in the entry.
// source: openclaw/openclaw docs/concepts/session.md (sendPolicy; legacy group:<id> keys are recognized for migration)
func TestMutedChatsStaySo(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]policy.Override{"": policy.Inherit, "inherit": policy.Inherit, "allow": policy.Allow, "deny": policy.Deny, "denied": policy.Deny, "DENY": policy.Deny, unreadable: policy.Deny} {
		if got := (entry{SendPolicy: word}).override(); got != want {
			t.Errorf("%q is %q, want %q", word, got, want)
		}
	}
	for _, c := range []struct {
		raw  string
		e    entry
		want string
	}{
		{"group:-1001", entry{LastChannel: "telegram"}, "telegram:group:-1001"},
		{"agent:main:group:-1004", entry{Channel: "Telegram"}, "agent:main:telegram:group:-1004"},
		{"group:-1001", entry{}, "group:-1001"},
		{"agent:main:group:1@g.us", entry{}, "agent:main:whatsapp:group:1@g.us"},
		{"telegram:group:-1", entry{LastChannel: "telegram"}, "telegram:group:-1"},
	} {
		if got := c.e.fullKey(c.raw, plainIDs{}); got != c.want {
			t.Errorf("%q became %q, want %q", c.raw, got, c.want)
		}
	}
	r := &report.Report{}
	h := &History{reader: reader{report: r}, left: map[string][]string{}}
	if err := h.take(t.Context(), &found{raw: "1001", entry: entry{SendPolicy: "deny"}, mapped: mapped{left: unknownForm}}); err != nil || len(r.NeedsYou) != 1 {
		t.Errorf("a muted chat that cannot be found: %+v, %v", r.NeedsYou, err)
	}
}
