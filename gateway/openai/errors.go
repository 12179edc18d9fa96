package openai

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"parley/gateway/api"
	"parley/router"
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

// problemOf makes any error that w is answered with one of this shape.
func problemOf(w http.ResponseWriter, err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	switch {
	case errors.Is(err, router.ErrWords):
		return bad("", "%v", err)
	case errors.Is(err, router.ErrBusy):
		return refuse(http.StatusTooManyRequests, "", "rate_limit_exceeded", "%v", err)
	}
	e := api.Problem(w, err)
	code := e.Code
	if code == "internal" {
		code = "internal_error"
	}
	return refuse(e.Status, "", code, "%s", e.Message)
}

// Fail answers a request of this API with an error.
func Fail(w http.ResponseWriter, err error) {
	p := problemOf(w, err)
	if p.final {
		w.Header().Set("X-Should-Retry", "false") // a client would begin another run
	}
	api.WriteJSON(w, p.status, map[string]*problem{"error": p})
}

// Refuse answers for the door in front, in the shape of this API, when the request is for it.
func Refuse(w http.ResponseWriter, r *http.Request, status int, why string) bool {
	if !Ours(r) {
		return false
	}
	code := map[int]string{http.StatusUnauthorized: "invalid_api_key", http.StatusTooManyRequests: "rate_limit_exceeded"}[status]
	Fail(w, refuse(status, "", code, "%s", why))
	return true
}

// Ours reports whether a request is for this API.
func Ours(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/v1/") }
