package router

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/sessions"
)

// TestUnanswered: whoever waits for an answer in a group that is not listened to finds the reason in the log, once an hour, and in what is
// explained of the chat. Sending there is another matter.
func TestUnanswered(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, func(s *Settings) {
			s.Accounts[account] = AccountSettings{Access: policy.Access{Groups: map[string]policy.GroupAccess{"listed": {}}}}
		})
		var out bytes.Buffer
		g.r.log = slog.New(slog.NewTextHandler(&out, nil))
		for range 3 {
			g.say(groupChat("other"), guest, "a secret word")
			g.say(groupChat("other"), owner, "a secret word")
		}
		g.say(groupChat("listed"), guest, "hello")
		g.shown(1)
		line := func() int { return strings.Count(out.String(), "this group is not listed") }
		if got := out.String(); line() != 1 || strings.Contains(got, "secret") || !strings.Contains(got, "group/other") {
			t.Errorf("%d lines: %s", line(), got)
		}
		time.Sleep(unansweredEvery)
		g.say(groupChat("other"), guest, "again")
		synctest.Wait()
		if line() != 2 {
			t.Errorf("an hour later: %s", out.String())
		}
	})
}

func TestUnansweredIsBounded(t *testing.T) {
	t.Parallel()
	var u ignored
	now, n := time.Now(), 0
	for i := range 2 * unansweredMost {
		if u.first(groupChat(strings.Repeat("x", i+1)), "why", now) {
			n++
		}
	}
	if n != unansweredMost || !u.first(groupChat("y"), "why", now.Add(unansweredEvery)) {
		t.Errorf("%d lines", n)
	}
}

// strangers is a store that no chat has written to.
type strangers struct{ sessions.Store }

func (strangers) Known(context.Context, channels.Address) ([]sessions.Key, error) { return nil, nil }

func TestExplainListening(t *testing.T) {
	t.Parallel()
	off := false
	open := policy.Access{GroupPolicy: policy.GroupOpen}
	elsewhere := groupChat("1")
	elsewhere.Account = "nobody"
	for name, c := range map[string]struct {
		access     policy.Access
		to         channels.Address
		rule, says string
	}{
		"a group that is not listed": {policy.Access{Groups: map[string]policy.GroupAccess{"2": {}}}, groupChat("1"), "channels.fake.groups", "this group is not listed in channels.fake.groups"},
		"groups are off":             {policy.Access{GroupPolicy: policy.GroupDisabled}, groupChat("1"), "channels.fake.groupPolicy", "not listened to"},
		"this one is off":            {policy.Access{GroupPolicy: policy.GroupOpen, Groups: map[string]policy.GroupAccess{"1": {Enabled: &off}}}, groupChat("1"), "channels.fake.groups.1.enabled", "not listened to"},
		"owners only":                {policy.Access{}, groupChat("1"), "channels.fake.groupPolicy", "only owners"},
		"an open one":                {open, groupChat("1"), "", ""},
		"a direct chat":              {policy.Access{}, direct("1"), "", ""},
		"an account that is not":     {open, elsewhere, "", ""},
	} {
		set := settingsFor(func(s *Settings) {
			s.Accounts[account] = AccountSettings{Access: c.access}
		})
		r := New(Deps{Store: strangers{}, Settings: set, Log: slog.New(slog.DiscardHandler)})
		got, err := r.Explain(t.Context(), sessions.Key(""), c.to)
		steps := got.Steps
		if err != nil || !got.Verdict.Allowed() || !steps[len(steps)-1].Verdict {
			t.Fatalf("%s: %+v %v", name, got, err)
		}
		if x := steps[len(steps)-2]; c.rule == "" && strings.HasPrefix(x.Rule, "channels.") || c.rule != "" && (x.Rule != c.rule || !strings.Contains(x.Why, c.says)) {
			t.Errorf("%s: %+v", name, x)
		}
	}
}
