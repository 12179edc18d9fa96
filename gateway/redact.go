package gateway

import (
	"reflect"
	"slices"
	"strings"

	"parley/channels"
)

// redact takes the secrets that the host knows out of a text (contract H5).
func (h *Host) redact(text string) string {
	all := h.secrets()
	slices.SortFunc(all, func(a, b channels.Secret) int { return len(b.Reveal()) - len(a.Reveal()) }) // one may be a part of another
	for _, s := range all {
		// Shorter ones are words that anybody may write; a secret is long.
		if t := s.Reveal(); len(t) >= 8 {
			text = strings.ReplaceAll(text, t, "[secret]")
		}
	}
	return text
}

func (h *Host) secrets() []channels.Secret {
	c := h.deps.Config.Config()
	all := []channels.Secret{h.ownToken(), c.Store.DSN}
	for _, t := range c.Gateway.Tokens {
		all = append(all, t.Token)
	}
	all = append(all, c.Hooks.Token)
	for _, m := range c.Hooks.Mappings {
		all = append(all, m.Signature.Secret)
	}
	for _, p := range h.models.providers() {
		all = append(all, p.APIKey)
	}
	for _, m := range c.Tools.MCP.Servers {
		all = append(all, m.Secrets()...)
	}
	for _, a := range c.Channels {
		all = append(all, secretsIn(a.Adapter)...)
	}
	return all
}

// secretsIn gives the secrets among the fields of an adapter's configuration.
func secretsIn(conf any) (out []channels.Secret) {
	v := reflect.Indirect(reflect.ValueOf(conf))
	if v.Kind() != reflect.Struct {
		return nil
	}
	for field, f := range v.Fields() {
		if !field.IsExported() {
			continue
		}
		if s, ok := f.Interface().(channels.Secret); ok {
			out = append(out, s)
		} else {
			out = append(out, secretsIn(f.Interface())...)
		}
	}
	return out
}
