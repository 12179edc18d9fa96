package api

import (
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/google/uuid"
)

// Shelter stands in front of all that answers requests. What an answer does not say for its being the inside's is in the log, under the
// id that the answer names; and a panic is answered as well: the host goes on.
type Shelter struct {
	Log  *slog.Logger
	Done <-chan struct{} // closed when the host begins to stop
	// Fail answers with an error in the shape that the request's client reads.
	Fail func(w http.ResponseWriter, r *http.Request, err error)
}

// Over gives the handler, sheltered.
func (s Shelter) Over(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &sheltered{ResponseWriter: w, shelter: s, r: r}
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

// inside is the answer to a request that failed through no fault of its own.
func inside(more string) *Error {
	return &Error{Status: http.StatusInternalServerError, Code: "internal", Message: "something went wrong inside the host" + more}
}

// sheltered is the answer to a request under a shelter.
type sheltered struct {
	http.ResponseWriter
	shelter Shelter
	r       *http.Request
	begun   bool
}

// shelterOf finds the shelter that an answer is under.
func shelterOf(w http.ResponseWriter) *sheltered {
	for w != nil {
		if s, ok := w.(*sheltered); ok {
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

// note logs why a request failed, and gives the words about it for the answer. Of the request only the pattern is named: nothing that a
// client wrote. Without a shelter there is no log.
func (s *sheltered) note(level slog.Level, why ...any) (more string) {
	if s == nil {
		return ""
	}
	id := uuid.NewString()[:8]
	log := s.shelter.Log.With("request", id, "pattern", s.r.Pattern)
	if level == slog.LevelError {
		log.Error("a request failed", why...)
	} else {
		log.Warn("a request took too long", why...)
	}
	return "; the log says what, under the request id " + id
}

// stopping reports whether the host is.
func (s *sheltered) stopping() bool {
	if s == nil {
		return false
	}
	select {
	case <-s.shelter.Done:
		return true
	default:
		return false
	}
}

func (s *sheltered) WriteHeader(status int) {
	s.begun = s.begun || status >= http.StatusOK
	s.ResponseWriter.WriteHeader(status)
}

func (s *sheltered) Write(p []byte) (int, error) {
	s.begun = true
	return s.ResponseWriter.Write(p)
}

// FlushError is for http.ResponseController.
func (s *sheltered) FlushError() error {
	s.begun = true
	return http.NewResponseController(s.ResponseWriter).Flush()
}

// Flush implements http.Flusher.
func (s *sheltered) Flush() { _ = s.FlushError() }

// Unwrap is for http.ResponseController.
func (s *sheltered) Unwrap() http.ResponseWriter { return s.ResponseWriter }
