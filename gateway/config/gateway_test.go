package config

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// What the section gateway refuses, and what it warns of.
func TestGateway(t *testing.T) {
	t.Parallel()
	const (
		open = "gateway: {listen: 0.0.0.0:1, token: long-enough-for-this, "
		good = "abcdefghijklmnop"
	)
	plain := ":1: gateway.listen: warning: other machines reach this address without encryption, so others on the network can read tokens and messages (set gateway.tls, or put a reverse proxy in front and name it in gateway.trustedProxies)"
	for text, want := range map[string][]string{
		"gateway: {tokens: [{name: grafana, token: " + good + ", scope: read}]}\n": nil,
		"gateway: {tokens: [{name: a, token: " + good + "}]}\n":                    {":1: gateway.tokens[0].scope: is missing (read: read everything except secrets. write: also talk to agents, send and stop. admin: all rights of the owner)"},
		"gateway: {tokens: [{name: a, token: " + good + ", scope: root}]}\n":       {`:1: gateway.tokens[0].scope: "root" is not allowed (use one of: read, write, admin)`},
		"gateway: {tokens: [{name: Owner, token: " + good + ", scope: read}]}\n":   {":1: gateway.tokens[0].name: is reserved for gateway.token (choose another name)"},
		"gateway: {tokens: [{name: a.b, token: " + good + ", scope: read}]}\n":     {":1: gateway.tokens[0].name: \"a.b\" is not allowed (Name of the user of the token: 1 to 32 letters, digits, _ and -. Logs show the name, and agents see it as the sender of messages)"},
		"gateway: {tokens: [{name: a, token: short, scope: read}]}\n":              {":1: gateway.tokens[0].token: is shorter than 16 characters (create one with openssl rand -hex 20)"},
		"gateway: {tokens: [{name: a, token: \"" + good + " x\", scope: read}]}\n": {":1: gateway.tokens[0].token: contains a character that a header cannot have (use ASCII letters, digits and signs, without spaces)"},
		"gateway: {tokens: [{name: a, token: " + good + ", scope: read}, {name: a, token: " + good + ", scope: write}]}\n": {
			":1: gateway.tokens[1].name: is used twice (give each token its own name)",
			":1: gateway.tokens[1].token: is the same as gateway.tokens[0].token (give each its own token, so that one can be revoked)"},
		"gateway: {token: " + good + ", tokens: [{name: a, token: " + good + ", scope: read}]}\n": {
			":1: gateway.tokens[0].token: is the same as gateway.token (give each its own token, so that one can be revoked)"},
		open + "}\n":                           {plain},
		open + "trustedProxies: [10.0.0.1]}\n": nil,
		"gateway: {trustedProxies: [10.0.0.0/8, \"fd00::/8\", 127.0.0.1]}\n":     nil,
		"gateway: {trustedProxies: [proxy, 0.0.0.0/0]}\n":                        {":1: gateway.trustedProxies[0]: is not an IP address or network (for example 127.0.0.1 or 10.0.0.0/8)", ":1: gateway.trustedProxies[1]: trusts every address (name the addresses of the proxies)"},
		"gateway: {hosts: [parley.example, \"https://x\"]}\n":                    {":1: gateway.hosts[1]: is not a host name (write it without https:// and without a port, for example parley.example.org)"},
		"gateway: {tls: {cert: a.pem}}\n":                                        {":1: gateway.tls: has cert but no key (set both files)"},
		"gateway: {tls: {key: a.pem}}\n":                                         {":1: gateway.tls: has key but no cert (set both files)"},
		"gateway: {tls: {cert: /none/a.pem, key: b.pem}}\n":                      {":1: gateway.tls: warning: cannot be used: open /none/a.pem: no such file or directory (cert and key must be files in PEM format that belong together)"},
		"gateway: {listen: 0.0.0.0:1, token: short, trustedProxies: [10.0.0.1]}": {":1: gateway.token: is too short for a host that other machines can reach (use at least 16 characters, for example from openssl rand -hex 20)"},
	} {
		_, ps, _ := load(text)
		t.Run(text, func(t *testing.T) { compare(t, ps, want) })
	}
}

// Relative names of files are relative to the configuration, and networks are read with what they leave out.
func TestGatewayValues(t *testing.T) {
	t.Parallel()
	c, _, err := load("gateway: {tls: {cert: tls/a.pem, key: /x/b.pem}, trustedProxies: [\"::ffff:10.0.0.1\", 192.168.7.9/16]}\n")
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Gateway.TLS; got.Cert != "/etc/parley/tls/a.pem" || got.Key != "/x/b.pem" || !got.On() {
		t.Errorf("%+v", got)
	}
	if got := c.Gateway.Proxies(); !slices.Equal(got, []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32"), netip.MustParsePrefix("192.168.0.0/16")}) {
		t.Errorf("%v", got)
	}
}

// Tokens, names and proxies change with the file; the address stays, and never without a token of its own.
func TestGatewayReload(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("gateway: {listen: 0.0.0.0:1, token: first-token-of-the-owner, tokens: [{name: a, token: abcdefghijklmnop, scope: read}]}\n")
	c, _, err := Load(path, table(), env())
	if err != nil {
		t.Fatal(err)
	}
	l := NewLive(c, table(), env())
	for _, x := range []struct{ text, want, token string }{
		{"gateway: {listen: 0.0.0.0:1, token: second-token-of-owner, hosts: [a.example]}\n", "[gateway.hosts gateway.token gateway.tokens]", "second-token-of-owner"},
		{"gateway: {listen: 127.0.0.1:1, tls: {cert: a, key: b}}\n", "[gateway.listen (needs a restart) gateway.hosts gateway.token (needs a restart) gateway.tls.cert (needs a restart) gateway.tls.key (needs a restart)]", "second-token-of-owner"},
	} {
		write(x.text)
		changes, err := l.Reload()
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(changes); got != x.want {
			t.Errorf("got %s, want %s", got, x.want)
		}
		if g := l.Config().Gateway; g.Listen != "0.0.0.0:1" || g.TLS.On() || g.Token.Reveal() != x.token || len(g.Tokens) != 0 {
			t.Errorf("in force: %+v", g)
		}
	}
}
