package doctor

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http/httpproxy"

	"parley/agent"
	"parley/gateway/api"
	"parley/gateway/config"
)

// A server that cannot be reached is told by its cause, and what to do follows from the cause.
// source: RFC 9110, section 9.3.6 (CONNECT); net/http wraps an error of the way to a proxy in an OpError "proxyconnect"
func TestCauses(t *testing.T) {
	t.Parallel()
	u := &url.URL{Scheme: "https", Host: "api.example"}
	late := time.Date(1970, 1, 1, 0, 0, 7, 0, time.UTC)
	for name, c := range map[string]struct {
		proxy     string
		err       error
		text, fix string
	}{
		"dead proxy":    {"http://proxy.example:3128", &net.OpError{Op: "proxyconnect", Net: "tcp", Err: errors.New("connection refused")}, "the proxy proxy.example:3128 (HTTPS_PROXY) does not connect to api.example", "HTTPS_PROXY, or add api.example to NO_PROXY"},
		"proxy refuses": {"http://proxy.example:3128", errors.New("Proxy Authentication Required"), "(HTTPS_PROXY) does not connect", "NO_PROXY"},
		"no name":       {"", &net.DNSError{Err: "no such host", Name: "api.example", IsNotFound: true}, "the DNS does not know the name api.example", "resolv.conf"},
		"no DNS":        {"", &net.DNSError{Err: "i/o timeout", Name: "api.example", IsTimeout: true}, "the DNS lookup of api.example failed", "check the network"},
		"clock":         {"", &tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.Expired}}, "at the time of this machine, 1970-01-01 00:00 UTC", "check the clock"},
		"strange CA":    {"", &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, "is not trusted", "ca-certificates"},
		"refused":       {"", &net.OpError{Op: "dial", Err: errors.New("connection refused")}, "cannot connect to api.example", "set HTTPS_PROXY"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := exam{Deps: Deps{Now: func() time.Time { return late }}, proxies: &httpproxy.Config{HTTPSProxy: c.proxy}}
			f := x.unreachable("fake", u, &url.Error{Op: "Head", URL: "https://api.example/secret", Err: c.err})
			if f.Level != Failure || !strings.Contains(f.Text, c.text) || !strings.Contains(f.Fix, c.fix) || strings.Contains(f.Text, "secret") {
				t.Errorf("%+v", f)
			}
		})
	}
}

// A request through a proxy that does not answer names the proxy.
func TestProxyThatIsDown(t *testing.T) {
	t.Parallel()
	x := exam{Deps: Deps{Now: time.Now}, proxies: &httpproxy.Config{HTTPSProxy: "http://127.0.0.1:1", HTTPProxy: "http://127.0.0.1:1"}}
	fs := x.reach(t.Context(), "fake", "https://api.example", true)
	if len(fs) != 1 || !strings.Contains(fs[0].Text, "the proxy 127.0.0.1:1 (HTTPS_PROXY)") {
		t.Errorf("%+v", fs)
	}
}

// What a provider answers is told by its cause.
func TestRefusals(t *testing.T) {
	t.Parallel()
	well := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(well.Close)
	for class, want := range map[agent.ErrorClass][2]string{
		agent.BadKey: {"needs an API key (HTTP 401)", "set models.providers.mock.apiKey"}, agent.NoCredit: {"lack of credit", "add credit"},
		agent.BadAddress: {"no model API answers", "models.providers.mock.baseUrl"}, agent.RateLimited: {"no capacity now", "try again"}, agent.Broken: {"cannot list the models", "apiKey and baseUrl"},
	} {
		fs := setup{platform: well.URL, modelErr: fmt.Errorf("list models: %w", &agent.ModelError{Class: class, Status: 401, Tries: 1, Err: errors.New(`{"error":"no"}`)}), config: func(c *config.Config) {
			c.Models.Providers["mock"] = agent.Provider{API: "mock", BaseURL: well.URL}
		}}.run(t)
		expect(t, fs, "model mock", Failure, want[0])
		for _, f := range fs {
			if f.Check == "model mock" && f.Level == Failure && !strings.Contains(f.Fix, want[1]) {
				t.Errorf("%s: %+v", class, f)
			}
			if f.Check == "model" && f.Level == Fine && strings.Contains(f.Text, "answers") {
				t.Errorf("a model that was not called answers: %+v", f)
			}
		}
	}
}

// One finding is the one to act on first: a cause before what follows from it, an error before a warning; without either, the start of the host.
func TestFirst(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fs   []Finding
		want int
	}{
		{nil, -1},
		{[]Finding{fine("config", "x"), fine("host", "it runs")}, -1},
		{[]Finding{fine("config", "x"), {Check: "host", Level: Fine, Fix: "start the host: parley"}}, 1},
		{[]Finding{warn("host", "a", "x"), wrong("telegram", "b", "x"), warn("disk", "c", "x")}, 1},
		{[]Finding{wrong("host", "a", "x"), wrong("telegram", "b", "x"), wrong("disk", "c", "x"), wrong("store", "d", "x")}, 2},
		{[]Finding{wrong("telegram", "a", "x"), wrong("discord", "b", "x")}, 0},
	} {
		if got := first(c.fs); got != c.want {
			t.Errorf("%+v: %d, want %d", c.fs, got, c.want)
		}
	}
	fs := setup{platform: "http://127.0.0.1:1", models: []string{"m1"}, host: &api.HostStatus{Version: "1", Why: "telegram is away"}}.run(t)
	next := 0
	for _, f := range fs {
		if f.Next {
			next++
			if f.Check != "fake" {
				t.Errorf("next is %+v", f)
			}
		}
	}
	if next != 1 {
		t.Errorf("%d findings are next", next)
	}
}
