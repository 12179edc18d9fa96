package config

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"parley/gateway/config/field"
)

// Live holds the configuration that is in force. Reload replaces it by a good file and keeps it when the file is bad.
type Live struct {
	table   Table
	getenv  func(string) string
	current atomic.Pointer[Config]
}

// NewLive starts with a configuration from Load or Default.
func NewLive(c *Config, t Table, getenv func(string) string) *Live {
	l := &Live{table: t, getenv: getenv}
	l.current.Store(c)
	return l
}

// Config gives the configuration in force. It is immutable; ask again to see a later one.
func (l *Live) Config() *Config { return l.current.Load() }

// Change is a key whose value differs after a Reload.
type Change struct {
	Key     string // path of the key; a list or an account is named as a whole
	Restart bool   // the old value stays in force until the host is started again
}

func (c Change) String() string {
	if c.Restart {
		return c.Key + " (needs a restart)"
	}
	return c.Key
}

// restart are the keys that cannot change under a running host: what it opened when it started.
var restart = []string{"state", "store.dsn", "gateway.listen", "gateway.tls.cert", "gateway.tls.key", "session.scope", "log.level", "log.format"}

// ErrNoFile is returned by Reload when the host was started without a file.
var ErrNoFile = errors.New("parley was started without a configuration file; restart it to use one")

// Reload reads the file again. A good one is in force when it returns, except for the keys that need a restart, which keep their
// values and are named in the result each time until they agree again. For a bad one the error is an *Invalid and nothing
// changes. Any goroutine may call it.
func (l *Live) Reload() ([]Change, error) {
	for {
		old := l.current.Load()
		if old.Path == "" {
			return nil, ErrNoFile
		}
		c, _, err := Load(old.Path, l.table, l.getenv)
		if err != nil {
			return nil, err
		}
		changes := differences(old, c)
		c.State, c.Store, c.Session.Scope, c.Log = old.State, old.Store, old.Session.Scope, old.Log
		c.Gateway.Listen, c.Gateway.TLS = old.Gateway.Listen, old.Gateway.TLS
		if c.Gateway.Token.IsZero() && c.Gateway.open() { // the address in force needs one, whatever the file says about both
			c.Gateway.Token = old.Gateway.Token
			for i := range changes {
				changes[i].Restart = changes[i].Restart || changes[i].Key == "gateway.token"
			}
		}
		if l.current.CompareAndSwap(old, c) {
			return changes, nil
		}
	}
}

// differences lists what differs between two configurations, in the order of the struct.
func differences(a, b *Config) []Change {
	var keys []string
	diff(reflect.ValueOf(*a), reflect.ValueOf(*b), "", &keys)
	keys = append(keys, accountDifferences(slices.Concat(a.Channels, a.Disabled), slices.Concat(b.Channels, b.Disabled))...)
	for _, c := range accountDifferences(a.Channels, b.Channels) { // turned on or off
		if !slices.Contains(keys, c) {
			keys = append(keys, c)
		}
	}
	out := make([]Change, len(keys))
	for i, k := range keys {
		out[i] = Change{Key: k, Restart: slices.Contains(restart, k)}
	}
	return out
}

func diff(a, b reflect.Value, path string, out *[]string) {
	t := a.Type()
	switch {
	case t == channelsType: // compared by account
	case t.Kind() == reflect.Struct && t != field.SecretType:
		for _, f := range field.Of(t) {
			diff(a.FieldByIndex(f.Index), b.FieldByIndex(f.Index), strings.TrimPrefix(path+"."+f.Key, "."), out)
		}
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String:
		all := map[string]bool{}
		for _, m := range []reflect.Value{a, b} {
			for _, k := range m.MapKeys() {
				all[k.String()] = true
			}
		}
		for _, k := range slices.Sorted(maps.Keys(all)) {
			x, y := a.MapIndex(reflect.ValueOf(k).Convert(t.Key())), b.MapIndex(reflect.ValueOf(k).Convert(t.Key()))
			switch {
			case !x.IsValid() || !y.IsValid():
				*out = append(*out, path+"."+k)
			default:
				diff(x, y, path+"."+k, out)
			}
		}
	case (t.Kind() == reflect.Slice || t.Kind() == reflect.Map) && a.Len() == 0 && b.Len() == 0: // absent and empty are the same
	case !reflect.DeepEqual(a.Interface(), b.Interface()):
		*out = append(*out, path)
	}
}

// accountDifferences names the accounts that are new, gone or changed.
func accountDifferences(a, b []Account) []string {
	name := func(x Account) string { return "channels." + string(x.Kind) + "." + string(x.ID) }
	before, after := map[string]Account{}, map[string]Account{}
	for _, x := range a {
		before[name(x)] = x
	}
	for _, x := range b {
		after[name(x)] = x
	}
	var out []string
	for n, x := range before {
		y, ok := after[n]
		x.Line, y.Line = 0, 0
		if !ok || !reflect.DeepEqual(x, y) {
			out = append(out, n)
		}
	}
	for n := range after {
		if _, ok := before[n]; !ok {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}
