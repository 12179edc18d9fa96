package tools

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// addressError says that an address may not be reached.
type addressError struct{ addr netip.Addr }

func (e *addressError) Error() string {
	return fmt.Sprintf("%s is an address of this machine, of a private network or without use on the internet", e.addr)
}

// publicDial gives a dialer that connects to addresses of the internet only. It looks at the address that is really dialled, after
// the name was resolved: neither a name that means several things nor a redirect leads elsewhere.
func publicDial(private bool) func(ctx context.Context, network, address string) (net.Conn, error) {
	d := &net.Dialer{Timeout: 10 * time.Second}
	if !private {
		d.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
			ap, err := netip.ParseAddrPort(address)
			if err != nil {
				return fmt.Errorf("%q is not an address: %w", address, err)
			}
			return reachable(ap.Addr(), net.InterfaceAddrs)
		}
	}
	return d.DialContext
}

// reachable refuses addresses outside the internet, and the addresses of this machine's own interfaces, public or not: its services may
// listen on all of them. own gives those.
func reachable(a netip.Addr, own func() ([]net.Addr, error)) error {
	if !public(a) {
		return &addressError{a}
	}
	all, err := own()
	if err != nil {
		return fmt.Errorf("list the addresses of this machine: %w", err)
	}
	for _, o := range all {
		if p, err := netip.ParsePrefix(o.String()); err == nil && carried(p.Addr()) == carried(a) {
			return &addressError{a}
		}
	}
	return nil
}

// closed are the parts of the IPv4 internet that nobody should fetch from: https://www.iana.org/assignments/iana-ipv4-special-registry,
// multicast, and the address at which Azure's machines find their host.
var closed = prefixes("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3", "168.63.129.16/32")

// The parts of IPv6 that matter: what is given out for the internet, what of it is for special uses
// (https://www.iana.org/assignments/iana-ipv6-special-registry), and the two forms that carry an IPv4 address to the internet.
var (
	open6   = netip.MustParsePrefix("2000::/3")
	closed6 = prefixes("2001::/23", "2001:db8::/32", "3fff::/20")
	sixTo4  = netip.MustParsePrefix("2002::/16")
	nat64   = netip.MustParsePrefix("64:ff9b::/96")
)

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, p := range list {
		out[i] = netip.MustParsePrefix(p)
	}
	return out
}

// carried gives the IPv4 address that an IPv6 address carries to the internet, or the address as it is.
func carried(a netip.Addr) netip.Addr {
	a = a.Unmap()
	switch b := a.As16(); {
	case nat64.Contains(a):
		return netip.AddrFrom4([4]byte(b[12:]))
	case sixTo4.Contains(a):
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return a
}

// public reports whether an address belongs to the internet. An address that carries another one is as public as that one.
func public(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	a = carried(a)
	in := func(p netip.Prefix) bool { return p.Contains(a) }
	if a.Is4() {
		return !slices.ContainsFunc(closed, in)
	}
	return open6.Contains(a) && !slices.ContainsFunc(closed6, in)
}
