package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"parley/sessions"
)

// Error is why a request is not done: what is wrong, where, and what to do, in words for whoever sent it.
type Error struct {
	Status  int           // of the answer
	Code    string        // for programs: invalid, unauthorized, forbidden, not_found, conflict, too_large, …
	Message string        // for people
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

// Bad is what the caller got wrong.
func Bad(format string, a ...any) error { return Refuse(http.StatusBadRequest, format, a...) }

// problem makes an Error of any error. What the host does not expect is told without its details when it comes from inside.
func problem(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	status := http.StatusInternalServerError
	switch {
	case errors.Is(err, sessions.ErrNotFound):
		status = http.StatusNotFound
	case errors.Is(err, sessions.ErrConflict):
		status = http.StatusConflict
	}
	code := codes[status]
	if code == "" {
		code = "internal"
	}
	return &Error{Status: status, Code: code, Message: err.Error()}
}

// WriteError answers a request with an error: {"error": "…", "code": "…"}.
func WriteError(w http.ResponseWriter, err error) {
	e := problem(err)
	if e.After > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(e.After.Seconds()))))
	}
	WriteJSON(w, e.Status, Failure{Error: e.Message, Code: e.Code})
}

// Failure is the body of every answer that is an error.
type Failure struct {
	Error string `json:"error" jsonschema:"what is wrong, where, and what to do, for people"`
	Code  string `json:"code,omitempty" jsonschema:"the same for programs"`
}

// WriteJSON answers a request.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that went away needs no answer
}
