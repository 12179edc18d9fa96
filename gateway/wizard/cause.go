package wizard

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"strings"

	"parley/agent"
	"parley/channels"
	"parley/gateway/config"
)

// cause says in one sentence, without its full stop, why a server could not be asked. address is the server's.
func cause(err error, address string) string {
	host := address
	if u, bad := url.Parse(address); bad == nil && u.Host != "" {
		host = u.Host
	}
	text := err.Error()
	var dns *net.DNSError
	var unknown x509.UnknownAuthorityError
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(text, p) {
				return true
			}
		}
		return false
	}
	invalid, isInvalid := errors.AsType[*config.Invalid](err)
	failed, isModel := errors.AsType[*agent.ModelError](err)
	switch {
	case isInvalid:
		return invalid.Error()
	case has("proxyconnect"):
		return host + " cannot be reached: the proxy of HTTPS_PROXY or HTTP_PROXY does not answer"
	case errors.As(err, &dns):
		return "the DNS lookup of " + dns.Name + " failed. Check the network, and the address"
	case has("no such host", "server misbehaving"):
		return "the DNS lookup of " + host + " failed. Check the network, and the address"
	case has("connection refused"):
		return host + " refuses connections"
	case has("network is unreachable", "no route to host"):
		return host + " cannot be reached (no network)"
	case errors.As(err, &unknown), has("x509:", "tls:"):
		return host + " has a certificate that is not trusted, or is not valid at this clock's time"
	case errors.Is(err, context.DeadlineExceeded), has("Client.Timeout", "i/o timeout", "deadline exceeded"):
		return host + " did not answer in time"
	case isModel && failed.Said != "":
		return host + " answered: " + failed.Said
	}
	if e, ok := errors.AsType[*channels.Error](err); ok && e.Err != nil {
		text = e.Err.Error()
	}
	return host + ": " + text
}
