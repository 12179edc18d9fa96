package gateway

import (
	"log/slog"
	"strings"
	"testing"

	"parley/channels"
	"parley/gateway/api"
	"parley/gateway/config"
	"parley/gateway/hooks"
	"parley/sessions"
)

// Every secret of an adapter's configuration is known to the host, so that it can be taken out of texts.
func TestSecretsIn(t *testing.T) {
	t.Parallel()
	conf := struct {
		Token, Other channels.Secret
		Name         string
		Hook         struct{ Key channels.Secret }
		hidden       int
	}{Token: channels.NewSecret("one"), Other: channels.NewSecret("two"), Name: "three", hidden: 4}
	conf.Hook.Key = channels.NewSecret("five")
	got := secretsIn(&conf)
	if len(got) != 3 || got[0].Reveal() != "one" || got[1].Reveal() != "two" || got[2].Reveal() != "five" || conf.hidden != 4 {
		t.Errorf("%d secrets", len(got))
	}
	if secretsIn(nil) != nil || secretsIn((*struct{})(nil)) != nil {
		t.Error("secrets of nothing")
	}
}

// The secrets of hooks are taken out of texts like all others.
func TestRedactHooks(t *testing.T) {
	t.Parallel()
	c := &config.Config{Hooks: hooks.Config{Token: channels.NewSecret("token-of-hooks"),
		Mappings: []hooks.Mapping{{Signature: hooks.Signature{Secret: channels.NewSecret("secret-that-signs")}}}}}
	h := &Host{deps: Deps{Config: config.NewLive(c, nil, nil)}, models: newModels(nil, slog.New(slog.DiscardHandler))}
	if got := h.redact("a token-of-hooks b secret-that-signs c"); got != "a [secret] b [secret] c" {
		t.Error(got)
	}
}

// A pairing code that waits to go out is shown to nobody who may not let people in.
func TestPairingCodesAreNotShown(t *testing.T) {
	t.Parallel()
	for scope, want := range map[api.Scope]int{api.Read: 1, api.Write: 1, api.Admin: 2} {
		ctx := api.With(t.Context(), api.Principal{Name: "x", Scope: scope})
		n := 0
		for _, d := range withoutCodes(ctx, []sessions.Delivery{{Kind: sessions.Reply, Text: "code 1"}, {Kind: sessions.Invite, Text: "code 2"}}) {
			n += strings.Count(d.Text, "code 1") + strings.Count(d.Text, "code 2")
		}
		if n != want {
			t.Errorf("%s sees %d", scope, n)
		}
	}
}
