package openai

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"parley/gateway/api"
	"parley/router"
	"parley/sessions"
)

// problem is an error in the shape that clients of this API read.
type problem struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`

	status int
	final  bool // it makes no sense to try again, whatever the status
}

func (p *problem) Error() string { return p.Message }

// kinds are the types of errors by status; what is not listed is a server_error.
var kinds = map[int]string{
	http.StatusBadRequest: "invalid_request_error", http.StatusUnauthorized: "authentication_error", http.StatusForbidden: "permission_error",
	http.StatusNotFound: "invalid_request_error", http.StatusMethodNotAllowed: "invalid_request_error", http.StatusConflict: "invalid_request_error",
	http.StatusRequestEntityTooLarge: "invalid_request_error", http.StatusUnsupportedMediaType: "invalid_request_error",
	http.StatusRequestTimeout: "invalid_request_error", http.StatusTooManyRequests: "rate_limit_error",
}

// refuse is an error with its status. param and code may be "".
func refuse(status int, param, code, format string, a ...any) *problem {
	p := &problem{Message: fmt.Sprintf(format, a...), Type: kinds[status], status: status}
	if p.Type == "" {
		p.Type = "server_error"
	}
	if param != "" {
		p.Param = &param
	}
	if code != "" {
		p.Code = &code
	}
	return p
}

// bad is what the caller got wrong.
func bad(param, format string, a ...any) *problem {
	return refuse(http.StatusBadRequest, param, "invalid_value", format, a...)
}

// unsupported is what the API has and parley has not.
func unsupported(param, format string, a ...any) *problem {
	return refuse(http.StatusBadRequest, param, "unsupported_parameter", format, a...)
}

// problemOf makes any error one of this shape.
func problemOf(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	if e, ok := errors.AsType[*api.Error](err); ok {
		return refuse(e.Status, "", e.Code, "%s", e.Message)
	}
	switch {
	case errors.Is(err, router.ErrWords):
		return bad("", "%v", err)
	case errors.Is(err, router.ErrBusy):
		return refuse(http.StatusTooManyRequests, "", "rate_limit_exceeded", "%v", err)
	case errors.Is(err, sessions.ErrNotFound):
		return refuse(http.StatusNotFound, "", "not_found", "%v", err)
	case errors.Is(err, sessions.ErrConflict):
		return refuse(http.StatusConflict, "", "conflict", "%v", err)
	}
	return refuse(http.StatusInternalServerError, "", "internal_error", "%v", err)
}

// fail answers a request with an error.
func fail(w http.ResponseWriter, err error) {
	p := problemOf(err)
	if p.final {
		w.Header().Set("X-Should-Retry", "false") // a client would begin another run
	}
	api.WriteJSON(w, p.status, map[string]*problem{"error": p})
}

// Refuse answers for the door in front, in the shape of this API, when the request is for it.
func Refuse(w http.ResponseWriter, r *http.Request, status int, why string) bool {
	if !strings.HasPrefix(r.URL.Path, "/v1/") {
		return false
	}
	code := map[int]string{http.StatusUnauthorized: "invalid_api_key", http.StatusTooManyRequests: "rate_limit_exceeded"}[status]
	fail(w, refuse(status, "", code, "%s", why))
	return true
}
