package gateway

import (
	"net/url"
	"reflect"
	"slices"
	"sync/atomic"

	"parley/agent"
	"parley/channels"
	"parley/gateway/config"
	"parley/tools"
)

// redactor takes the secrets that the host knows out of texts.
type redactor struct {
	config    func() *config.Config // in force
	token     func() channels.Secret
	providers func() map[string]agent.Provider // in force
	revision  func() uint64                    // of the providers
	known     atomic.Pointer[knownSecrets]
}

// redact takes the secrets that the host knows out of a text (contract H5).
func (r *redactor) redact(text string) string { return r.set().Replace(text) }

// set gives what takes the secrets that the host knows out of texts, by the configuration in force.
func (r *redactor) set() *channels.SecretSet {
	now := secretsSource{r.config(), r.revision(), r.token()}
	if k := r.known.Load(); k != nil && k.source == now {
		return k.set
	}
	k := &knownSecrets{now, channels.NewSecretSet(r.secrets(now)...)}
	r.known.Store(k)
	return k.set
}

// secretsSource is all that secrets come from: of each part another one replaces it, none is changed.
type secretsSource struct {
	config    *config.Config
	providers uint64 // revision, read before the providers
	token     channels.Secret
}

// knownSecrets is what takes the secrets of a source out of texts.
type knownSecrets struct {
	source secretsSource
	set    *channels.SecretSet
}

func (r *redactor) secrets(from secretsSource) []channels.Secret {
	c := from.config
	all := append(storeSecrets(c.Store.DSN.Reveal()), from.token, c.Gateway.Token, c.Store.DSN)
	for _, t := range c.Gateway.Tokens {
		all = append(all, t.Token)
	}
	all = append(all, c.Hooks.Token)
	for _, m := range c.Hooks.Mappings {
		all = append(all, m.Signature.Secret)
	}
	for _, p := range r.providers() {
		all = append(append(all, tools.AddressSecrets(p.BaseURL)...), p.Secrets()...)
	}
	for _, m := range c.Tools.MCP.Servers {
		all = append(all, m.Secrets()...)
	}
	for _, a := range c.Channels {
		all = append(all, secretsIn(a.Adapter)...)
	}
	return all
}

// storeSecrets gives the secrets of a database's address. The name of a user without a password lets nobody in, and is often a word that
// answers have.
func storeSecrets(dsn string) []channels.Secret {
	all := tools.AddressSecrets(dsn)
	if u, err := url.Parse(dsn); err == nil && u.User != nil {
		if _, has := u.User.Password(); !has {
			all = slices.DeleteFunc(all, func(s channels.Secret) bool { return s.Reveal() == u.User.Username() })
		}
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
