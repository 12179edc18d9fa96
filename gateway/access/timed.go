package access

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"parley/gateway/api"
)

const (
	bodyTimeout  = 30 * time.Second // a body that has not come by then is given up; handlers may set a limit of their own
	writeTimeout = 30 * time.Second // a reader that takes nothing for so long is gone; streams may be silent for longer
)

// timed serves a request with limits for slow clients, and notes it in the log. serve notes the request that went on, which gets
// the pattern that it meets.
func (d *Door) timed(serve func(*answer, *http.Request)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		out := &answer{ResponseWriter: w, rc: http.NewResponseController(w)}
		if r.Body != nil && r.Body != http.NoBody {
			_ = out.rc.SetReadDeadline(began.Add(bodyTimeout)) // net/http lifts it once the body is read; a recorder has none
		}
		if r.ProtoMajor == 1 && len(r.TransferEncoding) > 0 {
			// With a Content-Length as well, which net/http takes out, a proxy in front may see the end of the body elsewhere: what
			// follows on this connection is not read as a request (RFC 9112, 6.1).
			w.Header().Set("Connection", "close")
		}
		serve(out, r)
		if d.cfg.Log.Enabled(r.Context(), slog.LevelDebug) {
			d.cfg.Log.DebugContext(r.Context(), "request", "method", method(r), "path", template(out.pattern()), "status", max(out.status, http.StatusOK),
				"took", time.Since(began).Round(time.Microsecond).String(), "principal", out.who.Name)
		}
	})
}

// method is the method of a request when it is one of the usual.
func method(r *http.Request) string {
	if slices.Contains([]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}, r.Method) {
		return r.Method
	}
	return "other"
}

// template is the path of a pattern: nothing that a client wrote.
func template(pattern string) string {
	if i := strings.IndexByte(pattern, '/'); i >= 0 {
		return pattern[i:]
	}
	return "-"
}

// answer gives each write a deadline. What was flushed has gone, so that the deadline goes too.
type answer struct {
	http.ResponseWriter
	rc     *http.ResponseController
	status int
	who    api.Principal
	onward *http.Request // as it went through the door; nil = it did not
}

// pass lets a request through.
func (a *answer) pass(next http.Handler, r *http.Request) {
	a.who, a.onward = api.Caller(r.Context()), r
	next.ServeHTTP(a, r)
}

// passAs lets a request through as that of the person who has a key, on whose connection no strangers are any more. It ends with the key.
func (a *answer) passAs(next http.Handler, r *http.Request, k key) {
	releaseStranger(r.Context())
	ctx, cancel := context.WithCancel(api.With(r.Context(), k.principal()))
	defer cancel()
	var signedOut chan struct{}
	if k.byCookie {
		signedOut = k.signedOut
	}
	go func() {
		select {
		case <-k.over:
			cancel()
		case <-signedOut:
			cancel()
		case <-ctx.Done():
		}
	}()
	a.pass(next, r.WithContext(ctx))
}

func (a *answer) pattern() string {
	if a.onward == nil {
		return ""
	}
	return a.onward.Pattern
}

func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(p []byte) (int, error) {
	_ = a.rc.SetWriteDeadline(time.Now().Add(writeTimeout))
	return a.ResponseWriter.Write(p)
}

// FlushError is for http.ResponseController.
func (a *answer) FlushError() error {
	_ = a.rc.SetWriteDeadline(time.Now().Add(writeTimeout))
	err := a.rc.Flush()
	_ = a.rc.SetWriteDeadline(time.Time{})
	return err
}

// Flush implements http.Flusher.
func (a *answer) Flush() { _ = a.FlushError() }

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
