package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"os"
	"strconv"
	"time"

	"parley/sessions"
	"parley/sessions/sqlstore"
)

// Error is the answer to a request that failed. It says what is wrong, where, and what to do, in words for the client.
type Error struct {
	Status  int           // of the answer
	Code    string        // for programs: invalid, unauthorized, forbidden, not_found, conflict, too_large, …
	Message string        // for people
	Rule    string        // of the send policy, where that refuses
	After   time.Duration // when it may be tried again; 0 = nothing is known
}

func (e *Error) Error() string { return e.Message }

// codes are the codes of errors that name none.
var codes = map[int]string{
	http.StatusBadRequest: "invalid", http.StatusUnauthorized: "unauthorized", http.StatusForbidden: "forbidden", http.StatusNotFound: "not_found",
	http.StatusMethodNotAllowed: "method", http.StatusConflict: "conflict", http.StatusRequestEntityTooLarge: "too_large",
	http.StatusUnsupportedMediaType: "media_type", http.StatusUnprocessableEntity: "mismatch", http.StatusTooManyRequests: "too_many",
	http.StatusBadGateway: "platform", http.StatusMisdirectedRequest: "misdirected", http.StatusServiceUnavailable: "unavailable", http.StatusGatewayTimeout: "timeout", http.StatusRequestTimeout: "slow",
}

// Refuse is an error with the status that it is answered with.
func Refuse(status int, format string, a ...any) error {
	return &Error{Status: status, Code: codes[status], Message: fmt.Sprintf(format, a...)}
}

// Bad returns the Error (status 400) of a request with a wrong value.
func Bad(format string, a ...any) error { return Refuse(http.StatusBadRequest, format, a...) }

// FormProblem returns the Error of a form that could not be read. most is the bound on its size, in bytes.
func FormProblem(err error, most int) *Error {
	status, why := http.StatusBadRequest, "the form could not be read"
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		status, why = http.StatusRequestEntityTooLarge, fmt.Sprintf("the form is longer than %d bytes", most)
	} else if errors.Is(err, os.ErrDeadlineExceeded) {
		status, why = http.StatusRequestTimeout, "the form did not arrive in time"
	}
	return &Error{Status: status, Code: codes[status], Message: why}
}

// Problem makes an Error of any error that w is answered with. An internal error is told without its details: those are in the
// log, under the id that the answer names.
func Problem(w http.ResponseWriter, err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	s := guardedResponseOf(w)
	broken := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
	switch {
	case errors.Is(err, sessions.ErrNotFound):
		return &Error{Status: http.StatusNotFound, Code: codes[http.StatusNotFound], Message: err.Error()}
	case errors.Is(err, sessions.ErrConflict):
		return &Error{Status: http.StatusConflict, Code: codes[http.StatusConflict], Message: err.Error()}
	case sqlstore.Full(err):
		_ = s.note(slog.LevelError, "err", err) // the words below say all that the caller can do
		return &Error{Status: http.StatusServiceUnavailable, Code: "disk_full", Message: "the disk is full: free some space on the disk of the state folder, then try again"}
	case sqlstore.Locked(err):
		_ = s.note(slog.LevelError, "err", err) // as above
		return &Error{Status: http.StatusServiceUnavailable, Code: "store_locked", Message: "another program has locked the host's database (" + sqlstore.DatabaseFile + "), for example an open sqlite3: find it with lsof, end it, then try again", After: stoppingRetryAfter}
	case broken && s.stopping():
		return &Error{Status: http.StatusServiceUnavailable, Code: codes[http.StatusServiceUnavailable], Message: "the host is stopping: try again when it is back", After: stoppingRetryAfter}
	case broken:
		return &Error{Status: http.StatusGatewayTimeout, Code: codes[http.StatusGatewayTimeout], Message: "the request took too long and was aborted" + s.note(slog.LevelWarn, "err", err)}
	}
	return inside(s.note(slog.LevelError, "err", err))
}

const stoppingRetryAfter = 5 * time.Second

// WriteError answers a request with an error: {"error": "…", "code": "…"}.
func WriteError(w http.ResponseWriter, err error) {
	e := Problem(w, err)
	if e.After > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(e.After.Seconds()))))
	}
	WriteJSON(w, e.Status, Failure{Error: e.Message, Code: e.Code, Rule: e.Rule})
}

// Failure is the body of every answer that is an error.
type Failure struct {
	Error string `json:"error" jsonschema:"text for people: what is wrong, where, what to do"`
	Code  string `json:"code,omitempty" jsonschema:"code for programs"`
	Rule  string `json:"rule,omitempty" jsonschema:"rule of the send policy that refused (code withheld)"`
}

// WriteJSON answers a request.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if text, err := Marshal(v); err == nil {
		_, _ = w.Write(append(text, '\n')) // a client that went away needs no answer
	}
}
