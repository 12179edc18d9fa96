package config

import (
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"parley/channels"
	"parley/gateway/configfile"
	"parley/gateway/filesystem"
)

// Gateway is the section `gateway`.
type Gateway struct {
	Listen         string          `yaml:"listen" default:"127.0.0.1:18790" doc:"Address and port of the HTTP server. An address that other machines can reach requires gateway.token. A change needs a restart."`
	Hosts          []string        `yaml:"hosts" doc:"Host names under which browsers may open the page, besides localhost and IP addresses: names of this machine, or the name that a reverse proxy passes on."`
	Token          channels.Secret `yaml:"token" unset:"empty" doc:"The owner's token for the page and the API. Write ${PARLEY_TOKEN} to read it from the environment, where it may be unset. Empty = parley creates one in the state folder."`
	Tokens         []Token         `yaml:"tokens" doc:"More tokens, each with a name and a scope. Removing a token revokes it, and signs out its browsers, at the next reload."`
	TLS            TLS             `yaml:"tls" doc:"Serve https instead of http."`
	TrustedProxies []string        `yaml:"trustedProxies" doc:"Addresses or networks (10.0.0.0/8) of reverse proxies. The host trusts X-Forwarded-For and X-Forwarded-Proto only from these."`
	OpenAI         OpenAI          `yaml:"openai" doc:"Endpoints for programs that speak OpenAI's API."`
	MCP            MCP             `yaml:"mcp" doc:"The host as an MCP server, for external agents."`
}

// Token is an entry of gateway.tokens.
type Token struct {
	Name  string          `yaml:"name" required:"true" pattern:"^[A-Za-z0-9_-]{1,32}$" doc:"Name of the user of the token: 1 to 32 letters, digits, _ and -. Logs show the name, and agents see it as the sender of messages."`
	Token channels.Secret `yaml:"token" required:"true" doc:"At least 16 characters, for example from openssl rand -hex 20; write ${NAME} to read it from the environment."`
	Scope string          `yaml:"scope" required:"true" enum:"read,write,admin" doc:"read: read everything except secrets. write: also talk to agents, send and stop. admin: all rights of the owner."`
}

// TLS is gateway.tls.
type TLS struct {
	Cert string `yaml:"cert" doc:"Path of the certificate with its intermediate certificates, in PEM format; relative to the folder of this file. The host reloads the certificate when the file changes. A change of the path needs a restart."`
	Key  string `yaml:"key" doc:"Path of the certificate's private key, in PEM format. A change of the path needs a restart."`
}

// On reports whether the host serves https.
func (t TLS) On() bool { return t.Cert != "" }

// Proxies gives the networks of trustedProxies.
func (g Gateway) Proxies() []netip.Prefix {
	out := make([]netip.Prefix, 0, len(g.TrustedProxies))
	for _, text := range g.TrustedProxies {
		if p, err := network(text); err == nil { // checked with the configuration
			out = append(out, p)
		}
	}
	return out
}

func network(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil {
		return a.Unmap().WithZone("").Prefix(a.Unmap().BitLen())
	}
	p, err := netip.ParsePrefix(text)
	return p.Masked(), err
}

const (
	minToken  = 16
	ownerName = "owner" // api.Owner
)

// certificates makes the file names of gateway.tls whole, as all others.
func certificates(c *Config, file string, getenv func(string) string) {
	for _, p := range []*string{&c.Gateway.TLS.Cert, &c.Gateway.TLS.Key} {
		if *p = configfile.Home(*p, getenv); *p != "" && !filepath.IsAbs(*p) {
			*p = filepath.Join(filepath.Dir(file), *p)
		}
	}
}

func (k *checker) gateway() {
	g := k.config.Gateway
	k.listen(g)
	k.tokens(g)
	k.tls(g.TLS)
	for i, text := range g.TrustedProxies {
		at := fmt.Sprintf("gateway.trustedProxies[%d]", i)
		if p, err := network(text); err != nil {
			k.wrong(at, "is not an IP address or network", "for example 127.0.0.1 or 10.0.0.0/8")
		} else if p.Bits() == 0 {
			k.wrong(at, "trusts every address", "name the addresses of the proxies")
		}
	}
	for i, name := range g.Hosts {
		if at := fmt.Sprintf("gateway.hosts[%d]", i); !hostName.MatchString(name) {
			k.wrong(at, "is not a host name", "write it without https:// and without a port, for example parley.example.org")
		}
	}
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

func (k *checker) listen(g Gateway) {
	host, port, err := net.SplitHostPort(g.Listen)
	_, perr := strconv.ParseUint(port, 10, 16)
	switch {
	case err != nil || perr != nil:
		k.wrong("gateway.listen", "must be an address with a port", "for example 127.0.0.1:18790")
	case loopback(host):
	case g.Token.IsZero():
		k.wrong("gateway.listen", "other machines can reach this address, and gateway.token is not set", "set gateway.token, or listen on 127.0.0.1")
	case !g.TLS.On() && len(g.TrustedProxies) == 0:
		k.report(Warning, "gateway.listen", "other machines reach this address without encryption, so others on the network can read tokens and messages",
			"set gateway.tls, or put a reverse proxy in front and name it in gateway.trustedProxies")
	}
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

// open reports whether other machines reach the host.
func (g Gateway) open() bool {
	host, _, err := net.SplitHostPort(g.Listen)
	return err != nil || !loopback(host)
}

func (k *checker) tokens(g Gateway) {
	if t := g.Token.Reveal(); t != "" && len(t) < minToken && g.open() {
		k.wrong("gateway.token", "is too short for a host that other machines can reach", fmt.Sprintf("use at least %d characters, for example from openssl rand -hex 20", minToken))
	}
	names, texts := map[string]bool{}, map[string]string{g.Token.Reveal(): "gateway.token"}
	for i, t := range g.Tokens {
		at, text := fmt.Sprintf("gateway.tokens[%d]", i), t.Token.Reveal()
		switch {
		case strings.EqualFold(t.Name, ownerName):
			k.wrong(at+".name", "is reserved for gateway.token", "choose another name")
		case names[t.Name] && t.Name != "":
			k.wrong(at+".name", "is used twice", "give each token its own name")
		}
		names[t.Name] = true
		switch {
		case text == "": // said already
		case strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c > '~' }):
			k.wrong(at+".token", "contains a character that a header cannot have", "use ASCII letters, digits and signs, without spaces")
		case len(text) < minToken:
			k.wrong(at+".token", fmt.Sprintf("is shorter than %d characters", minToken), "create one with openssl rand -hex 20")
		case texts[text] != "":
			k.wrong(at+".token", "is the same as "+texts[text], "give each its own token, so that one can be revoked")
		}
		if text != "" && texts[text] == "" {
			texts[text] = at + ".token"
		}
	}
}

func (k *checker) tls(t TLS) {
	switch {
	case t == TLS{}:
	case t.Cert == "":
		k.wrong("gateway.tls", "has key but no cert", "set both files")
	case t.Key == "":
		k.wrong("gateway.tls", "has cert but no key", "set both files")
	default:
		if _, err := filesystem.KeyPair(t.Cert, t.Key); err != nil {
			// No error: other commands than the host's own need no certificate. See ForHost.
			k.report(Warning, tlsKey, "cannot be used: "+k.redact(err.Error()), "cert and key must be files in PEM format that belong together")
		}
	}
}

const tlsKey = "gateway.tls"

// ForHost gives the warnings as a host has them that is started now: without its certificate it does not start. The error is an
// *Invalid when one of them keeps it from that.
func (c *Config) ForHost() ([]Problem, error) {
	ps := slices.Clone(c.Warnings)
	for i, p := range ps {
		if p.Key == tlsKey {
			ps[i].Severity = SevereError
		}
	}
	if failed(ps) {
		return ps, &Invalid{Path: c.Path, Problems: ps}
	}
	return ps, nil
}
