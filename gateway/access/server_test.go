package access

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener of connections in memory, which know virtual time.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func (p *pipes) dial() net.Conn {
	a, b := net.Pipe()
	p.conns <- b
	return a
}

// serving is a server with a door, in virtual time.
func serving(inner http.HandlerFunc) (*pipes, func()) {
	p := &pipes{make(chan net.Conn), make(chan struct{})}
	s := Server(New(Config{Settings: Settings{Tokens: three(), Open: []string{"/open"}}}).Guard(inner), slog.New(slog.DiscardHandler))
	s.Protocols = new(http.Protocols)
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	ended := make(chan struct{})
	go func() { defer close(ended); _ = s.Serve(&Strangers{Listener: p}) }()
	return p, func() {
		_ = s.Close()
		<-ended
		time.Sleep(time.Second) // virtual time: net/http ends connections after a moment
	}
}

// untilClosed gives how long a connection lives, and what came over it.
func untilClosed(c net.Conn) (time.Duration, string) {
	began := time.Now()
	b, _ := io.ReadAll(c)
	return time.Since(began), string(b)
}

// Who sends slowly is not waited for: headers, bodies, and nothing at all between two requests.
func TestSlowSenders(t *testing.T) {
	t.Parallel()
	const head = "POST /open HTTP/1.1\r\nHost: localhost\r\n"
	for name, tt := range map[string]struct {
		send   string
		within time.Duration
		says   string
	}{
		"headers":                     {head, headerTimeout, ""},
		"a body":                      {head + "Content-Length: 10\r\n\r\n12345", bodyTimeout, "read 5: true"},
		"a body in chunks":            {head + "Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n", bodyTimeout, "read 5: true"},
		"a body that nobody asks for": {head + "Content-Length: 10\r\nX-Ignore: 1\r\n\r\n12345", bodyTimeout, ""}, // the answer, too, may be late
		"nothing after a request":     {head + "\r\n", idleTimeout, "read 0: false"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p, stop := serving(func(w http.ResponseWriter, r *http.Request) {
					if r.Header.Get("X-Ignore") != "" {
						_, _ = io.WriteString(w, "ignored")
						return
					}
					b, err := io.ReadAll(r.Body)
					_, _ = fmt.Fprintf(w, "read %d: %v", len(b), errors.Is(err, os.ErrDeadlineExceeded))
				})
				defer stop()
				c := p.dial()
				go func() { _, _ = io.WriteString(c, tt.send) }()
				took, got := untilClosed(c)
				if took > tt.within+time.Second || took < tt.within-time.Second || !strings.Contains(got, tt.says) {
					t.Errorf("after %s: %q", took, got)
				}
			})
		})
	}
}

// Who reads nothing of an answer is let go; a stream that is silent for long, and whose request had a body, lives on.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failed := make(chan error, 1)
		p, stop := serving(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				_, err := w.Write(make([]byte, 1<<20))
				failed <- err
				return
			}
			if _, err := io.ReadAll(r.Body); err != nil {
				t.Error(err)
			}
			for range 3 {
				_, _ = io.WriteString(w, "event\n")
				_ = http.NewResponseController(w).Flush()
				select {
				case <-r.Context().Done():
					t.Error("a silent stream was ended")
				case <-time.After(10 * writeTimeout): // virtual time
				}
			}
			_, _ = io.WriteString(w, "end\n")
		})
		defer stop()
		c := p.dial()
		began := time.Now()
		_, _ = io.WriteString(c, "GET /open HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if err := <-failed; !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) > 2*writeTimeout {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		_ = c.Close()
		c = p.dial()
		_, _ = io.WriteString(c, "POST /open HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi")
		if _, got := untilClosed(c); strings.Count(got, "event") != 3 || !strings.Contains(got, "end") {
			t.Errorf("%q", got)
		}
		two := &http.Transport{Protocols: new(http.Protocols), DialContext: func(context.Context, string, string) (net.Conn, error) { return p.dial(), nil }}
		two.Protocols.SetUnencryptedHTTP2(true)
		defer two.CloseIdleConnections()
		resp, err := (&http.Client{Transport: two}).Post("http://localhost/open", "text/plain", strings.NewReader("hi"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		if got, err := io.ReadAll(resp.Body); err != nil || resp.ProtoMajor != 2 || strings.Count(string(got), "event") != 3 || !strings.Contains(string(got), "end") {
			t.Errorf("HTTP/%d: %q (%v)", resp.ProtoMajor, got, err)
		}
	})
}

// Headers are bounded, and a request with two lengths is none.
func TestBadRequests(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ send, want string }{
		"long headers":     {"GET /open HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 2*maxHeader) + "\r\n\r\n", "431"},
		"two lengths":      {"POST /open HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "400"},
		"odd encoding":     {"POST /open HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n", "501"},
		"a folded header":  {"GET /open HTTP/1.1\r\nHost: localhost\r\nX: a\r\n\x00b: c\r\n\r\n", "400"},
		"two hosts":        {"GET /open HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", "400"},
		"no host":          {"GET /open HTTP/1.1\r\n\r\n", "400"},
		"length and chunk": {"POST /open HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n", "200"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var paths []string
				p, stop := serving(func(_ http.ResponseWriter, r *http.Request) {
					_, _ = io.ReadAll(r.Body)
					paths = append(paths, r.URL.Path)
				})
				c := p.dial()
				go func() { _, _ = io.WriteString(c, tt.send) }()
				resp, err := http.ReadResponse(bufio.NewReader(c), nil)
				if err != nil {
					t.Fatal(err)
				}
				_ = resp.Body.Close()
				if !strings.HasPrefix(resp.Status, tt.want) {
					t.Errorf("%s, want %s", resp.Status, tt.want)
				}
				_ = c.Close()
				stop()
				if len(paths) > 1 || (len(paths) == 1) != (tt.want == "200") {
					t.Errorf("served %q", paths)
				}
			})
		})
	}
}

// Strangers cannot keep others out: of too many connections the oldest without a token is closed, never one that has shown one.
func TestStrangers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, stop := serving(inner)
		defer stop()
		known := p.dial()
		_, _ = io.WriteString(known, "GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer token-of-who-reads\r\n\r\n")
		answers := bufio.NewReader(known)
		read := func() string {
			resp, err := http.ReadResponse(answers, nil)
			if err != nil {
				return err.Error()
			}
			defer func() { _ = resp.Body.Close() }()
			b, _ := io.ReadAll(resp.Body)
			return string(b)
		}
		if got := read(); got != "inside eye read" {
			t.Fatal(got)
		}
		first := p.dial()
		for range maxStrangers {
			p.dial()
		}
		synctest.Wait()
		if took, _ := untilClosed(first); took > 0 {
			t.Errorf("the oldest stranger stayed for %s", took)
		}
		_, _ = io.WriteString(known, "GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer token-of-who-reads\r\n\r\n")
		if got := read(); got != "inside eye read" {
			t.Error(got)
		}
	})
}

// writePair writes a new certificate that says who it is.
func writePair(t *testing.T, dir, name string) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotAfter: time.Now().Add(time.Hour)},
		&x509.Certificate{SerialNumber: big.NewInt(1)}, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	own, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: text}, key: {Type: "EC PRIVATE KEY", Bytes: own}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// A certificate that is replaced is served without a restart; a broken one is not, and is reported once. Nothing below TLS 1.2 is spoken.
func TestCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := writePair(t, dir, "one.example")
	var log bytes.Buffer
	c, err := OpenCertificate(cert, key, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	shake := func(version uint16) (string, error) {
		a, b := net.Pipe()
		defer func() { _, _ = a.Close(), b.Close() }()
		go func() { _ = tls.Server(b, c.Config()).HandshakeContext(t.Context()) }()
		client := tls.Client(a, &tls.Config{InsecureSkipVerify: true, MinVersion: version, MaxVersion: version})
		if err := client.HandshakeContext(t.Context()); err != nil {
			return "", err
		}
		return client.ConnectionState().PeerCertificates[0].DNSNames[0], nil
	}
	expect := func(want string) {
		t.Helper()
		for _, v := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			if got, err := shake(v); err != nil || got != want {
				t.Errorf("%s (%v), want %s", got, err, want)
			}
		}
	}
	expect("one.example")
	if _, err := shake(tls.VersionTLS11); err == nil {
		t.Error("TLS 1.1 is spoken")
	}
	writePair(t, dir, "second.example")
	c.mu.Lock()
	c.looked = time.Now().Add(-checkInterval) // some time has passed
	c.mu.Unlock()
	expect("second.example")
	if err := os.WriteFile(key, []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Reload()
	c.Reload()
	expect("second.example")
	if n := strings.Count(log.String(), "cannot load the changed gateway.tls files"); n != 1 {
		t.Errorf("reported %d times: %s", n, log.String())
	}
	writePair(t, dir, "the-third.example")
	c.Reload()
	expect("the-third.example")
	if _, err := OpenCertificate(cert, filepath.Join(dir, "none"), nil); err == nil {
		t.Error("a missing key was taken")
	}
}

// The socket is the user's alone; a dead one is replaced, a live one is not, and a long name is refused.
func TestSocket(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "p") // t.TempDir may be too long a name
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, SocketName)
	dead, err := net.Listen("unix", path) // what a killed process leaves behind
	if err != nil {
		t.Fatal(err)
	}
	if u, ok := dead.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false)
	}
	_ = dead.Close()
	l, err := Socket(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || info.Mode()&os.ModeSocket == 0 {
		t.Errorf("%v (%v)", info, err)
	}
	if _, err := Socket(t.Context(), dir); !errors.Is(err, ErrInUse) {
		t.Errorf("a live one: %v", err)
	}
	if c, err := (&net.Dialer{}).DialContext(context.Background(), "unix", path); err != nil {
		t.Error(err)
	} else {
		_ = c.Close()
	}
	_ = l.Close()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
	if _, err := Socket(t.Context(), filepath.Join(dir, strings.Repeat("x", maxSocket))); !errors.Is(err, ErrLongPath) {
		t.Errorf("a long one: %v", err)
	}
}
