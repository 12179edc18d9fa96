package access

import (
	"encoding/hex"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

// Whatever a cookie says, only what was signed opens the door, and what is read is written the same again.
func FuzzCookie(f *testing.F) {
	s := &state{keys: keys(three(), "")}
	good := ticket{name: "eye", end: 99999999999}
	for _, text := range []string{"", ".", "..", "eye.1.00", "eye.99999999999.zz", "owner.-1.", "a.b.c.d", good.text() + "." + hex.EncodeToString(s.keys[1].seal(good))} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if tk, ok := readTicket(text); ok {
			if again, ok := readTicket(tk.text() + "." + hex.EncodeToString(tk.mac)); !ok || again.text() != tk.text() || string(again.mac) != string(tk.mac) {
				t.Errorf("%q reads as %+v, and then as %+v", text, tk, again)
			}
		}
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = "127.0.0.1"
		r.Header.Set("Cookie", "parley="+text)
		k, _, ok := s.session(r)
		if !ok {
			return
		}
		tk, _ := readTicket(text)
		if string(k.seal(tk)) != string(tk.mac) || k.name != tk.name {
			t.Errorf("%q opened the door", text)
		}
	})
}

// A client can put anything before what trusted proxies wrote, and nothing behind it.
func FuzzForwardedFor(f *testing.F) {
	for _, text := range []string{"", ",", "1.2.3.4", "[::1]:1, 10.0.0.1", "x, 10.0.0.1", strings.Repeat("10.0.0.1,", 99), "::ffff:1.2.3.4%eth0"} {
		f.Add(text)
	}
	proxies := netip.MustParsePrefix("10.0.0.0/8")
	peer := netip.MustParseAddr("10.0.0.9")
	f.Fuzz(func(t *testing.T, text string) {
		got := client(peer, []string{text}, proxies.Contains)
		if !got.IsValid() || got.Zone() != "" || got.Is4In6() {
			t.Errorf("%q: %v", text, got)
		}
		behind := client(peer, []string{text + ",192.0.2.1, 10.0.0.3"}, proxies.Contains)
		if behind != netip.MustParseAddr("192.0.2.1") {
			t.Errorf("%q: the client is %v", text, behind)
		}
	})
}
