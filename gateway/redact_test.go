package gateway

import (
	"fmt"
	"reflect"
	"testing"

	"parley/agent"
	"parley/channels"
	"parley/gateway/config"
	"parley/gateway/hooks"
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
	h := &redactor{config: config.NewLive(c, nil, nil).Config, token: func() channels.Secret { return channels.Secret{} }, providers: func() map[string]agent.Provider { return c.Models.Providers }, revision: func() uint64 { return 0 }}
	if got := h.redact("a token-of-hooks b secret-that-signs c"); got != "a [secret] b [secret] c" {
		t.Error(got)
	}
}

// Every secret that a configuration can hold is taken out of texts, also one of a field that is new.
func TestRedactKnowsEverySecret(t *testing.T) {
	t.Parallel()
	c, texts := &config.Config{}, []string(nil)
	var fill func(v reflect.Value, depth int)
	fill = func(v reflect.Value, depth int) {
		switch {
		case depth > 12: // a type that holds itself
		case v.Type() == reflect.TypeFor[channels.Secret]():
			texts = append(texts, fmt.Sprintf("secret-number-%d/+&", len(texts)))
			v.Set(reflect.ValueOf(channels.NewSecret(texts[len(texts)-1])))
		case v.Kind() == reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), depth+1)
		case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
			for i := range v.Len() {
				fill(v.Index(i), depth+1)
			}
		case v.Kind() == reflect.Map && v.Type().Key().Kind() == reflect.String:
			one := reflect.New(v.Type().Elem()).Elem()
			fill(one, depth+1)
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(reflect.ValueOf("API_KEY").Convert(v.Type().Key()), one)
		case v.Kind() == reflect.Struct:
			for f, x := range v.Fields() {
				if f.IsExported() && x.CanSet() && f.Name != "Disabled" {
					fill(x, depth+1)
				}
			}
		}
	}
	fill(reflect.ValueOf(c).Elem(), 0)
	providers, revision := c.Models.Providers, uint64(0)
	h := &redactor{config: config.NewLive(c, nil, nil).Config, token: func() channels.Secret { return channels.Secret{} }, providers: func() map[string]agent.Provider { return providers }, revision: func() uint64 { return revision }}
	for range 2 { // the second time it is known already
		for _, text := range texts {
			if got := h.redact("a " + text + " b"); got != "a [secret] b" {
				t.Errorf("a secret is not known: %s", got)
			}
		}
	}
	if len(texts) < 8 {
		t.Errorf("only %d secrets", len(texts))
	}
	const password = "password-of-the-address"
	for _, set := range []func(){
		func() { c.Store.DSN = channels.NewSecret("postgres://parley:" + password + "@db/parley") },
		func() {
			providers = map[string]agent.Provider{"x": {BaseURL: "https://me:" + password + "@models/v1"}}
		},
	} {
		c.Store.DSN = channels.Secret{}
		set()
		revision++
		if got := h.redact("it is " + password); got != "it is [secret]" {
			t.Error(got)
		}
	}
}
