package router_test

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
	"parley/router"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// TestUnanswered: the person who waits for an answer in a group that is not listened to finds the reason in the log, once an hour, and in what is
// explained of the chat. Sending there is another matter.
func TestUnanswered(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		var out bytes.Buffer
		g := routertest.With(t, func(d *router.Deps) { d.Log = slog.New(slog.NewTextHandler(&out, nil)) }, channeltest.Options{}, func(s *settings.Snapshot) {
			s.Accounts[routertest.Account] = settings.Account{Access: policy.Access{Groups: map[string]policy.GroupAccess{"listed": {}}}}
		})
		for range 3 {
			g.Say(routertest.Group("other"), routertest.Guest, "a secret word")
			g.Say(routertest.Group("other"), routertest.Owner, "a secret word")
		}
		g.Say(routertest.Group("listed"), routertest.Guest, "hello")
		g.Shown(1)
		synctest.Wait()
		line := func() int { return strings.Count(out.String(), "this group is not listed") }
		if got := out.String(); line() != 1 || strings.Contains(got, "secret") || !strings.Contains(got, "group/other") {
			t.Errorf("%d lines: %s", line(), got)
		}
		time.Sleep(time.Hour)
		g.Say(routertest.Group("other"), routertest.Guest, "again")
		synctest.Wait()
		if line() != 2 {
			t.Errorf("an hour later: %s", out.String())
		}
	})
}

// strangers is a store that no chat has written to.
type strangers struct{ sessions.Store }

func (strangers) Known(context.Context, channels.Address) ([]sessions.Key, error) { return nil, nil }

func TestExplainListening(t *testing.T) {
	t.Parallel()
	off := false
	open := policy.Access{GroupPolicy: policy.GroupOpen}
	elsewhere := routertest.Group("1")
	elsewhere.Account = "nobody"
	for name, c := range map[string]struct {
		access     policy.Access
		to         channels.Address
		rule, says string
	}{
		"a group that is not listed": {policy.Access{Groups: map[string]policy.GroupAccess{"2": {}}}, routertest.Group("1"), "channels.fake.groups", "the host ignores messages in this group, because channels.fake.groups does not list the group"},
		"groups are off":             {policy.Access{GroupPolicy: policy.GroupDisabled}, routertest.Group("1"), "channels.fake.groupPolicy", "the host ignores messages in this chat"},
		"this one is off":            {policy.Access{GroupPolicy: policy.GroupOpen, Groups: map[string]policy.GroupAccess{"1": {Enabled: &off}}}, routertest.Group("1"), "channels.fake.groups.1.enabled", "the host ignores messages in this chat"},
		"owners only":                {policy.Access{}, routertest.Group("1"), "channels.fake.groupPolicy", "only owners"},
		"an open one":                {open, routertest.Group("1"), "", ""},
		"a direct chat":              {policy.Access{}, routertest.Direct("1"), "", ""},
		"an account that is not":     {open, elsewhere, "", ""},
	} {
		set := routertest.SettingsFor(func(s *settings.Snapshot) {
			s.Accounts[routertest.Account] = settings.Account{Access: c.access}
		})
		r := router.New(router.Deps{Store: strangers{}, Settings: set, Log: slog.New(slog.DiscardHandler)})
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
