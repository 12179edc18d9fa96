package accounts

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
)

// hooked is a channel with a hook.
type hooked struct {
	channels.Channel
	http.Handler
}

func (h hooked) Hook() http.Handler { return h.Handler }

// pipes is a listener whose connections are made in memory, so that time is virtual.
type pipes struct{ conns chan net.Conn }

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (pipes) Close() error   { return nil }
func (pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p pipes) dial() net.Conn {
	ours, theirs := net.Pipe()
	p.conns <- theirs
	return ours
}

// hookHost serves the hook of one account.
func hookHost(t *testing.T, next http.HandlerFunc) pipes {
	t.Helper()
	s := &Supervisor{Deps: Deps{Stopping: make(chan struct{})}}
	a := testAccount(hooked{Handler: next})
	s.list = []*Account{a}
	mux := http.NewServeMux()
	mux.HandleFunc(WebhookPattern, s.ServeWebhook)
	p := pipes{make(chan net.Conn)}
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = srv.Serve(p) }()
	t.Cleanup(func() {
		close(p.conns)
		_ = srv.Close()
	})
	return p
}

// begin sends the head of a request, and a body if there is one.
func begin(t *testing.T, c net.Conn, account, body string) {
	t.Helper()
	if _, err := io.WriteString(c, "POST /channels/fake/"+account+"/hook HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n"+body); err != nil {
		t.Error(err)
	}
}

// A body that does not come, for a hook that is there or not, holds its connection for a while only.
func TestHookSlowBody(t *testing.T) {
	t.Parallel()
	for _, account := range []string{"default", "other"} {
		synctest.Test(t, func(t *testing.T) {
			p := hookHost(t, func(_ http.ResponseWriter, r *http.Request) {
				if _, err := io.ReadAll(r.Body); err == nil {
					t.Error("a body came that was not sent")
				}
			})
			c := p.dial()
			defer func() { _ = c.Close() }()
			began := time.Now()
			begin(t, c, account, "ha")
			if err := c.SetReadDeadline(time.Now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, c); err != nil {
				t.Errorf("%s: the connection stays: %v", account, err)
			}
			if took := time.Since(began); took > webhookTimeout+time.Second {
				t.Errorf("%s: the connection was held for %s", account, took)
			}
		})
	}
}

// So many updates are taken at the same time and no more; the next one passes when one has ended.
func TestHooksAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		p := hookHost(t, func(http.ResponseWriter, *http.Request) { <-free })
		ask := func() (answer func() int) {
			c := p.dial()
			begin(t, c, "default", "hello")
			return func() int {
				defer func() { _ = c.Close() }()
				resp, err := http.ReadResponse(bufio.NewReader(c), nil)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = resp.Body.Close() }()
				return resp.StatusCode
			}
		}
		var taken []func() int
		for range maxWebhooks {
			taken = append(taken, ask())
		}
		synctest.Wait()
		if code := ask()(); code != http.StatusServiceUnavailable {
			t.Errorf("one too many: %d", code)
		}
		close(free)
		for _, answer := range taken {
			if code := answer(); code != http.StatusOK {
				t.Errorf("%d", code)
			}
		}
		synctest.Wait()
		if code := ask()(); code != http.StatusOK {
			t.Errorf("afterwards: %d", code)
		}
	})
}
