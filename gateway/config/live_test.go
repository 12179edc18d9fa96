package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestReload(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const base = "state: /a\ncommands: {ownerAllowFrom: [telegram:1]}\nchannels: {telegram: {token: x}}\n"
	write(base)
	c, _, err := Load(path, table(), env())
	if err != nil {
		t.Fatal(err)
	}
	l := NewLive(c, table(), env())
	for _, x := range []struct{ name, text, want string }{
		{"nothing changed", "# moved down a line\n" + base, "[]"},
		{"live keys", base + "log: {level: debug}\nsession: {sendPolicy: {default: deny}}\n", "[session.sendPolicy.default log.level (needs a restart)]"},
		{"back", base, "[session.sendPolicy.default]"},
		{"state and listen", "gateway: {listen: 127.0.0.1:1}\nstate: /b\nchannels: {telegram: {token: x}}\n", "[state (needs a restart) gateway.listen (needs a restart) commands.ownerAllowFrom]"},
		{"restart still needed", "gateway: {listen: 127.0.0.1:1}\nstate: /b\nchannels: {telegram: {token: x}}\n", "[state (needs a restart) gateway.listen (needs a restart)]"},
		{"accounts", "state: /a\nchannels: {telegram: {accounts: {a: {token: y}}}}\nmodels: {providers: {p: {api: offline}}}\n", "[models.providers.p channels.telegram.a channels.telegram.default]"},
		{"account off", "state: /a\nchannels: {telegram: {accounts: {a: {token: y, enabled: false}}}}\nmodels: {providers: {p: {api: openai, baseUrl: http://x}}}\n", "[models.providers.p.api models.providers.p.baseUrl channels.telegram.a]"},
		{"secret", "state: /a\nstore: {dsn: postgres://x}\nchannels: {telegram: {accounts: {a: {token: z, enabled: false}}}}\nmodels: {providers: {p: {api: openai, baseUrl: http://x}}}\n", "[store.dsn (needs a restart) channels.telegram.a]"},
	} {
		write(x.text)
		changes, err := l.Reload()
		if err != nil {
			t.Fatalf("%s: %v", x.name, err)
		}
		if got := fmt.Sprint(changes); got != x.want {
			t.Errorf("%s: got %s, want %s", x.name, got, x.want)
		}
	}
	if c := l.Config(); c.State != "/a" || c.Gateway.Listen != "127.0.0.1:18790" || !c.Store.DSN.IsZero() {
		t.Errorf("what needs a restart changed: %s %s", c.State, c.Gateway.Listen)
	}
}

func TestReloadKeepsTheLastGoodFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte("log: {level: debug}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, err := Load(path, table(), env())
	if err != nil {
		t.Fatal(err)
	}
	l := NewLive(c, table(), env())
	for _, bad := range []string{"log: {level: loud}\n", "log: [\n", "\x00"} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Reload(); err == nil {
			t.Errorf("%q was applied", bad)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Reload(); err == nil {
		t.Error("a missing file was applied")
	}
	if l.Config() != c {
		t.Error("the configuration changed")
	}
	if _, err := NewLive(Default(table(), env()), table(), env()).Reload(); !errors.Is(err, ErrNoFile) {
		t.Errorf("without a file: %v", err)
	}
}
