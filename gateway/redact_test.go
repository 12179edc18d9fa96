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
	}{channels.NewSecret("one"), channels.NewSecret("two"), "three"}
	got := secretsIn(&conf)
	if len(got) != 2 || got[0].Reveal() != "one" || got[1].Reveal() != "two" {
		t.Errorf("%d secrets", len(got))
	}
	if secretsIn(nil) != nil || secretsIn((*struct{})(nil)) != nil {
		t.Error("secrets of nothing")
	}
}
