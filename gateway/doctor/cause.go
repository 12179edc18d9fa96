package doctor

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"

	"golang.org/x/net/http/httpproxy"

	"parley/agent"
)

// proxyOf returns the proxy for an address, as the clients of platforms and models choose it; nil = none, also where the variable has no valid URL.
func (x *exam) proxyOf(u *url.URL) (*url.URL, error) {
	if x.proxies != nil {
		return x.proxies.ProxyFunc()(u)
	}
	return httpproxy.FromEnvironment().ProxyFunc()(u)
}

// proxyVariable returns the name of the variable that names the proxy for a scheme.
func proxyVariable(scheme string) string {
	name := strings.ToUpper(scheme) + "_PROXY"
	if os.Getenv(name) == "" && os.Getenv(strings.ToLower(name)) != "" {
		return strings.ToLower(name)
	}
	return name
}

// unreachable names the step at which a request to a server failed, and the cause: proxy, DNS, clock, certificate or network.
func (x *exam) unreachable(check string, u *url.URL, err error) Finding {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // without the address
	}
	host, variable := u.Host, proxyVariable(u.Scheme)
	if proxy, bad := x.proxyOf(u); bad == nil && proxy != nil && !isCertificate(err) {
		return wrong(check, fmt.Sprintf("correct or unset %s, or add %s to NO_PROXY", variable, u.Hostname()), "the proxy %s (%s) does not connect to %s: %v", proxy.Host, variable, host, err)
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		if e.IsNotFound {
			return wrong(check, "check the network and the name servers of this machine (/etc/resolv.conf), and the address in the configuration", "the DNS does not know the name %s", e.Name)
		}
		return wrong(check, "check the network, and the name servers of this machine (/etc/resolv.conf)", "the DNS lookup of %s failed: %v", e.Name, e)
	}
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok && e.Reason == x509.Expired {
		return wrong(check, "check the clock of this machine: timedatectl", "the certificate of %s is not valid at the time of this machine, %s: %v", host, x.Now().Format("2006-01-02 15:04 MST"), err)
	}
	if isCertificate(err) {
		return wrong(check, "install the CA certificates of this machine (package ca-certificates), and check for a proxy that replaces certificates", "the certificate of %s is not trusted: %v", host, err)
	}
	if errors.Is(err, syscall.ECONNREFUSED) && !isElsewhere(u.String()) {
		return wrong(check, "start the server of this address, or correct the address in the configuration", "no server listens on %s of this machine", host)
	}
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "dial" {
		return wrong(check, "check the network and a firewall; behind a proxy, set "+variable, "cannot connect to %s: %v", host, err)
	}
	return wrong(check, "check the network and a firewall; behind a proxy, set "+variable, "%s does not answer: %v", host, err)
}

// isElsewhere reports whether an address is that of another machine.
func isElsewhere(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return true
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback())
}

func isCertificate(err error) bool {
	_, cert := errors.AsType[*tls.CertificateVerificationError](err)
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	return cert || unknown
}

// refused names the cause of an error of a provider that was reached.
func (x *exam) refused(check, name string, p agent.Provider, err error) Finding {
	at := "models.providers." + name
	key := at + ".apiKey, or the variable in it"
	if _, described := x.Config.Models.Providers[name]; !described {
		key = strings.ToUpper(name) + "_API_KEY"
	}
	e, ok := errors.AsType[*agent.ModelError](err)
	switch {
	case ok && e.Class == agent.BadKey && p.APIKey.IsZero():
		return wrong(check, "set "+key, "provider %s needs an API key (HTTP %d)", name, e.Status)
	case ok && e.Class == agent.BadKey:
		return wrong(check, "correct "+key, "provider %s rejected the API key (HTTP %d)", name, e.Status)
	case ok && e.Class == agent.NoCredit:
		return wrong(check, "add credit to the account of the provider", "provider %s refuses calls for lack of credit (HTTP %d)", name, e.Status)
	case ok && e.Class == agent.BadAddress:
		return wrong(check, "correct "+at+".baseUrl, for example http://127.0.0.1:11434/v1", "no model API answers at the baseUrl of provider %s: %v", name, err)
	case ok && (e.Class == agent.Overloaded || e.Class == agent.RateLimited):
		return wrong(check, "try again in a moment; the log of that server may say more", "provider %s has no capacity now (HTTP %d)", name, e.Status)
	}
	return wrong(check, "check apiKey and baseUrl of "+at, "cannot list the models of provider %s: %v", name, err)
}
