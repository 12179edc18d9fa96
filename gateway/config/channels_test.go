package config

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley/channels"
	"parley/policy"
)

func TestAccountsInherit(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, `
channels:
  telegram:
    apiUrl: http://local
    dmPolicy: allowlist
    allowFrom: [1001, +49123, "@Ada", 007]
    groups: {-100: {requireMention: false}, "*": {allowFrom: ["*"]}}
    pacing: {perSecond: 0}
    textChunkLimit: 100
    accounts:
      one: {token: a}
      two:
        token: b
        apiUrl: http://other
        allowFrom: [2]
        groups: {}
        pacing: {perChatPerSecond: 0}
      off: {enabled: false}
`)
	yes, no := []string{"1001", "+49123", "@Ada", "007"}, false
	one, two := c.Channels[0], c.Channels[1]
	if one.ID != "one" || two.ID != "two" || len(c.Channels) != 3 || len(c.Disabled) != 1 || c.Disabled[0].ID != "off" {
		t.Fatalf("accounts %+v, disabled %+v", c.Channels, c.Disabled)
	}
	want := Account{
		Kind: "telegram", ID: "one", TextChunkLimit: 100, Line: 11,
		Access: policy.Access{DMPolicy: policy.DMAllowlist, AllowFrom: yes, GroupPolicy: policy.GroupAllowlist,
			Groups: map[string]policy.GroupAccess{"-100": {RequireMention: &no}, "*": {AllowFrom: []string{"*"}}}},
		Pacing:    channels.Pacing{PerChatPerSecond: 1, PerGroupPerMinute: 20},
		Streaming: channels.Streaming{Direct: channels.StreamDraft, Group: channels.StreamOff},
	}
	got := one
	got.Adapter = nil
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if a := *one.Adapter.(*telegramLike); a.Token.Reveal() != "a" || a.APIURL != "http://local" || a.PollSeconds != 50 {
		t.Errorf("one: %+v", a)
	}
	if a := *two.Adapter.(*telegramLike); a.Token.Reveal() != "b" || a.APIURL != "http://other" {
		t.Errorf("two: %+v", a)
	}
	if !slices.Equal(two.Access.AllowFrom, []string{"2"}) || len(two.Access.Groups) != 0 || two.Pacing != (channels.Pacing{PerGroupPerMinute: 20}) {
		t.Errorf("two: %+v", two)
	}
}

func TestDisabledChannels(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name, text   string
		on, disabled []string
	}{
		{"nothing written", "", []string{"webchat"}, nil},
		{"web chat off", "channels: {webchat: {enabled: false}}\n", nil, []string{"webchat"}},
		{"web chat changed", "channels: {webchat: {textChunkLimit: 9}}\n", []string{"webchat"}, nil},
		{"incomplete but off", "channels: {telegram: {enabled: false}}\n", []string{"webchat"}, []string{"telegram"}},
		{"an account cannot be on when its channel is off", "channels: {telegram: {enabled: false, accounts: {a: {enabled: true, token: x}, b: }}}\n", []string{"webchat"}, []string{"telegram", "telegram"}},
		{"no accounts are no accounts", "channels: {telegram: {token: x, accounts: {}}}\n", []string{"telegram", "webchat"}, nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			c := mustLoad(t, x.text)
			kinds := func(as []Account) (out []string) {
				for _, a := range as {
					out = append(out, string(a.Kind))
				}
				return out
			}
			if !slices.Equal(kinds(c.Channels), x.on) || !slices.Equal(kinds(c.Disabled), x.disabled) {
				t.Errorf("on %v, disabled %v", kinds(c.Channels), kinds(c.Disabled))
			}
		})
	}
}
