package api

import (
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/google/uuid"
)

// PanicGuard wraps the handlers of requests: a panic becomes an answer of status 500, and the host continues. Answers do not show internal
// errors; the log has them, under the id that the answer names.
type PanicGuard struct {
	Log  *slog.Logger
	Done <-chan struct{} // closed when the host begins to stop
	// Fail answers with an error in the shape that the request's client reads.
	Fail func(w http.ResponseWriter, r *http.Request, err error)
}

// Wrap returns next with its panics caught.
func (s PanicGuard) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &guardedResponse{ResponseWriter: w, guard: s, r: r}
		defer func() {
			switch p := recover(); {
			case p == nil:
			case p == http.ErrAbortHandler: //nolint:errorlint // as net/http compares it
				panic(p)
			default:
				more := out.note(slog.LevelError, "panic", p, "stack", string(debug.Stack()))
				if out.begun {
					panic(http.ErrAbortHandler) // the client sees that the answer is cut off
				}
				s.Fail(out, r, inside(more))
			}
		}()
		next.ServeHTTP(out, r)
	})
}

// inside returns the answer to a request that failed because of an error inside the host.
func inside(more string) *Error {
	return &Error{Status: http.StatusInternalServerError, Code: "internal", Message: "internal error of the host" + more}
}

// guardedResponse is the answer to a request behind a PanicGuard.
type guardedResponse struct {
	http.ResponseWriter
	guard PanicGuard
	r     *http.Request
	begun bool
}

// guardedResponseOf returns the guardedResponse below w; nil = w is behind no PanicGuard.
func guardedResponseOf(w http.ResponseWriter) *guardedResponse {
	for w != nil {
		if s, ok := w.(*guardedResponse); ok {
			return s
		}
		u, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			break
		}
		w = u.Unwrap()
	}
	return nil
}

// note logs why a request failed, and returns the words about it for the answer. The log names only the pattern of the request: nothing
// that a client wrote. A nil response logs nothing.
func (s *guardedResponse) note(level slog.Level, why ...any) (more string) {
	if s == nil {
		return ""
	}
	id := uuid.NewString()[:8]
	log := s.guard.Log.With("request", id, "pattern", s.r.Pattern)
	if level == slog.LevelError {
		log.Error("a request failed", why...)
	} else {
		log.Warn("a request took too long", why...)
	}
	return "; the log has the cause under the request id " + id
}

// stopping reports whether the host stops.
func (s *guardedResponse) stopping() bool {
	if s == nil {
		return false
	}
	select {
	case <-s.guard.Done:
		return true
	default:
		return false
	}
}

func (s *guardedResponse) WriteHeader(status int) {
	s.begun = s.begun || status >= http.StatusOK
	s.ResponseWriter.WriteHeader(status)
}

func (s *guardedResponse) Write(p []byte) (int, error) {
	s.begun = true
	return s.ResponseWriter.Write(p)
}

// FlushError is for http.ResponseController.
func (s *guardedResponse) FlushError() error {
	s.begun = true
	return http.NewResponseController(s.ResponseWriter).Flush()
}

// Flush implements http.Flusher.
func (s *guardedResponse) Flush() { _ = s.FlushError() }

// Unwrap is for http.ResponseController.
func (s *guardedResponse) Unwrap() http.ResponseWriter { return s.ResponseWriter }
