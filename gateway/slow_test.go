package gateway_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// wires is a listener whose connections are made in memory, so that time is virtual.
type wires chan net.Conn

func (w wires) Accept() (net.Conn, error) {
	c, ok := <-w
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (w wires) Close() error { close(w); return nil }
func (wires) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func (w wires) dial() net.Conn {
	ours, theirs := net.Pipe()
	w <- theirs
	return ours
}

// dribble sends the beginning at once, then a byte a second of what never ends, and gives for how long that is put up with, and the answer.
func dribble(c net.Conn, begin string) (time.Duration, string) {
	began := time.Now()
	go func() {
		_, err := io.WriteString(c, begin)
		for err == nil {
			time.Sleep(time.Second)
			_, err = io.WriteString(c, "a")
		}
	}()
	b, _ := io.ReadAll(c) // what is cut off ends there
	_ = c.Close()
	return time.Since(began), string(b)
}

// slowHost is a host before which time is virtual, in the clear, by TLS and by its socket.
type slowHost struct {
	clear, tls, socket wires
	client             *tls.Config
}

// slowly runs a test before the host.
func slowly(t *testing.T, h *host, test func(*testing.T, slowHost)) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	config := &tls.Config{Certificates: s.TLS.Certificates}
	s.Close()
	synctest.Test(t, func(t *testing.T) {
		x := slowHost{make(wires), make(wires), make(wires), &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // a test's own certificate
		var all sync.WaitGroup
		network, socket := h.Gateway.Rebuilt()
		network.TLSConfig = config
		all.Go(func() { _ = network.Serve(x.clear) })
		all.Go(func() { _ = network.ServeTLS(x.tls, "", "") })
		all.Go(func() { _ = socket.Serve(x.socket) })
		test(t, x)
		_, _ = network.Close(), socket.Close()
		all.Wait()
		time.Sleep(time.Minute) // net/http ends connections after a moment
	})
}

// Headers that come a byte at a time are given up after 10 s, a handshake too, on whatever way they come.
func TestSlowHeaders(t *testing.T) {
	t.Parallel()
	slowly(t, newHost(t), func(t *testing.T, x slowHost) {
		const head = "GET /api/status HTTP/1.1\r\nHost: localhost\r\nX: "
		for way, dial := range map[string]func() (net.Conn, string){
			"clear":       func() (net.Conn, string) { return x.clear.dial(), head },
			"TLS":         func() (net.Conn, string) { return tls.Client(x.tls.dial(), x.client), head },
			"socket":      func() (net.Conn, string) { return x.socket.dial(), head },
			"a handshake": func() (net.Conn, string) { return x.tls.dial(), "\x16\x03\x01\x02\x00" },
			"nothing":     func() (net.Conn, string) { return x.tls.dial(), "" },
		} {
			if took, _ := dribble(dial()); took > 11*time.Second {
				t.Errorf("%s: it was put up with for %s", way, took)
			}
		}
	})
}

// slowest is how long any body may take.
const slowest = 61 * time.Second

// A body that comes a byte at a time is given up, whatever the route, in the clear, by the socket and by TLS, from strangers and from who may send it, and
// nothing is done with what came.
func TestEverySlowBody(t *testing.T) {
	t.Parallel()
	h, doors, _ := opened(t, &script{})
	for _, o := range h.operations() {
		if o.method != http.MethodGet {
			doors = append(doors, door{pattern: o.id, method: o.method, path: o.path, most: 1 << 20})
		}
	}
	slowly(t, h, func(t *testing.T, x slowHost) {
		var all sync.WaitGroup
		for _, d := range doors {
			if d.most == 0 {
				continue
			}
			ways := map[string]func() net.Conn{"clear": x.clear.dial, "a stranger": x.clear.dial, "socket": x.socket.dial}
			if d.repeat != "" { // handshakes take time
				ways["TLS"] = func() net.Conn { return tls.Client(x.tls.dial(), x.client) }
			}
			for way, dial := range ways {
				all.Go(func() { d.dribbled(t, way, dial()) })
			}
		}
		all.Wait()
	})
}

// head are the headers of a request of who may send it.
func (d door) head() http.Header {
	head := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if d.form {
		head.Set("Content-Type", "application/x-www-form-urlencoded")
		head.Set("Hx-Request", "true")
	}
	for name, value := range d.holder() {
		head.Set(name, value)
	}
	return head
}

func (d door) dribbled(t *testing.T, way string, c net.Conn) {
	head := d.head()
	if way == "a stranger" {
		head.Del("Authorization")
	}
	var lines strings.Builder
	_ = head.Write(&lines)
	took, got := dribble(c, fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n%s\r\n", d.method, d.path, min(d.most, 200_000), lines.String())) // net/http reads so much after the answer
	if took > slowest {
		t.Errorf("%s, %s: it was put up with for %s", d.pattern, way, took)
	}
	if got != "" && !strings.HasPrefix(got, "HTTP/1.1 4") { // it may be cut off anywhere
		t.Errorf("%s, %s: %.300q", d.pattern, way, got)
	}
}
