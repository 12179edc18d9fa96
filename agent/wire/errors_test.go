package wire

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"testing"

	"parley/agent"
)

// TestUnreached: a connection that cannot be made in time is a provider that cannot be reached, not a model that is slow.
// source: golang/go, net.OpError and net/http's "TLS handshake timeout"
func TestUnreached(t *testing.T) {
	t.Parallel()
	try := &Try{c: New(Config{Name: "p"}), parent: t.Context(), ctx: t.Context()}
	for name, c := range map[string]struct {
		err  error
		want agent.ErrorClass
	}{
		"dial":     {&net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}, agent.Unreachable},
		"TLS":      {slow("net/http: TLS handshake timeout"), agent.Unreachable},
		"DNS":      {&net.OpError{Op: "dial", Err: &net.DNSError{Err: "i/o timeout", Name: "x", IsTimeout: true}}, agent.Unreachable},
		"refused":  {&net.OpError{Op: "dial", Err: errors.New("connection refused")}, agent.Unreachable},
		"read":     {&net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}, agent.Timeout},
		"no bytes": {slow("net/http: timeout awaiting response headers"), agent.Timeout},
	} {
		got := try.modelError(&url.Error{Op: http.MethodPost, URL: "http://x.test", Err: c.err})
		if got.Class != c.want {
			t.Errorf("%s: %s", name, got.Class)
		}
	}
}

// slow is a timeout of net/http.
type slow string

func (s slow) Error() string { return string(s) }
func (slow) Timeout() bool   { return true }
func (slow) Temporary() bool { return true }

var _ net.Error = slow("")
