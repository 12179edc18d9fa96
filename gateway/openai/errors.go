package openai

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"parley/gateway/api"
	"parley/router/inbound"
	"parley/sessions"
)

// statusRunFailed is the status of a request whose run was begun and has no answer. A client that repeats such a request begins
// another run, with its tools and its costs, so it must be a status that no client repeats. OpenAI's SDKs, the AI SDK and LiteLLM
// repeat 408, 409, 429 and 5xx. LangChain.js repeats every status, 422 and 424 among them, but 400 to 407 and 409 (newer versions:
// 413). Of what is left 400 says that the caller is wrong, and some clients change such a request and send it again; 401 to 405 and
// 407 have meanings of their own.
const statusRunFailed = http.StatusNotAcceptable

// The codes of errors that clients may look for.
const (
	codeRunFailed   = "run_failed"
	codeRunTimeout  = "run_timeout"
	codeRunStopped  = "run_stopped"
	codeEmptyAnswer = "empty_answer"
	codeStopping    = "stopping"
)

// retryAfter is when a request may be repeated that changed nothing because the host is stopping or too many messages wait.
const retryAfter = 5 * time.Second

// problem is an error in the shape that clients of this API read.
type problem struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`

	status int
	final  bool          // it makes no sense to try again, whatever the status
	after  time.Duration // when it may be tried again; 0 = nothing is known
	ended  bool          // the run that was begun has ended
}

func (p *problem) Error() string { return p.Message }

// kinds are the types of errors by status; what is not listed is a server_error. In a stream the AI SDK takes the type for the status: a
// server_error before the first word is repeated.
var kinds = map[int]string{
	http.StatusBadRequest: "invalid_request_error", http.StatusUnauthorized: "authentication_error", http.StatusForbidden: "permission_error",
	http.StatusNotFound: "invalid_request_error", http.StatusMethodNotAllowed: "invalid_request_error", http.StatusConflict: "invalid_request_error",
	http.StatusRequestEntityTooLarge: "invalid_request_error", http.StatusUnsupportedMediaType: "invalid_request_error",
	http.StatusRequestTimeout: "invalid_request_error", http.StatusTooManyRequests: "rate_limit_error", statusRunFailed: "invalid_request_error",
}

// refuse is an error with its status. param and code may be "".
func refuse(status int, param, code, format string, a ...any) *problem {
	p := &problem{Message: fmt.Sprintf(format, a...)}
	p.setStatus(status)
	if param != "" {
		p.Param = &param
	}
	if code != "" {
		p.Code = &code
	}
	return p
}

// setStatus sets the status and the type that belongs to it.
func (p *problem) setStatus(status int) {
	p.status, p.Type = status, kinds[status]
	if p.Type == "" {
		p.Type = "server_error"
	}
}

// bad is what the caller got wrong.
func bad(param, format string, a ...any) *problem {
	return refuse(http.StatusBadRequest, param, "invalid_value", format, a...)
}

// unsupported is what the API has and parley has not.
func unsupported(param, format string, a ...any) *problem {
	return refuse(http.StatusBadRequest, param, "unsupported_parameter", format, a...)
}

// runProblem is the error of a run that was begun and gives no answer: final, with a status that no client repeats.
func runProblem(code, format string, a ...any) *problem {
	p := refuse(statusRunFailed, "", code, format, a...)
	p.final = true
	return p
}

// endedProblem is the error of a run that has ended without an answer.
func endedProblem(code, format string, a ...any) *problem {
	p := runProblem(code, format, a...)
	p.ended = true
	return p
}

// notBegun is the error of a request that changed nothing and is right to repeat.
func notBegun(status int, code, format string, a ...any) *problem {
	p := refuse(status, "", code, format, a...)
	p.after = retryAfter
	return p
}

// isRepeated reports whether clients repeat a request that is answered with this status.
func isRepeated(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusConflict || status == http.StatusTooManyRequests || status >= http.StatusInternalServerError
}

// problemOf makes any error that w is answered with one of this shape.
func problemOf(w http.ResponseWriter, err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	switch {
	case errors.Is(err, sessions.ErrBadRequest):
		return bad("", "%v", err)
	case errors.Is(err, inbound.ErrQueueFull):
		return notBegun(http.StatusTooManyRequests, "rate_limit_exceeded", "%v", err)
	}
	e := api.Problem(w, err)
	code := e.Code
	if code == "internal" {
		code = "internal_error"
	}
	p := refuse(e.Status, "", code, "%s", e.Message)
	p.after = e.After
	return p
}

// Fail answers a request of this API with an error.
func Fail(w http.ResponseWriter, err error) {
	p := problemOf(w, err)
	switch {
	case p.final:
		w.Header().Set("X-Should-Retry", "false") // OpenAI's SDKs obey it
	case p.after > 0:
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(p.after.Seconds()))))
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
