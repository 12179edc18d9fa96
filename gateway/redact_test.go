package gateway

import (
	"testing"

	"parley/channels"
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
