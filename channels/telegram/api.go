package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"parley/channels"
)

// maxAnswer bounds what one answer may take in memory.
const maxAnswer = 64 << 20

var errTooLarge = errors.New("the answer is larger than 64 MiB")

// api makes single calls. It holds no state besides what a call needs.
type api struct {
	base     string
	endpoint string // format with the token and the method
	token    string
	hide     *strings.Replacer
}

func newAPI(base, token string) api {
	_, secret, _ := strings.Cut(token, ":")
	hide := channels.Hide(channels.NewSecret(token), channels.NewSecret(secret))
	return api{base: base, endpoint: strings.ReplaceAll(base, "%", "%%") + "/bot%s/%s", token: token, hide: hide}
}

// apiError is what the platform said, or what kept it from saying anything.
type apiError struct {
	Method      string
	Code        int // of the platform; 0 = no answer
	Description string
	moved       bool   // the chat has another id now
	tooLarge    bool   // something in between does not let through as much
	body        []byte // the whole answer, where it came and could not be read
	cause       error
}

func (e *apiError) Error() string {
	if e.Code == 0 {
		return e.Method + ": " + e.Description
	}
	return fmt.Sprintf("%s: %d %s", e.Method, e.Code, e.Description)
}

func (e *apiError) Unwrap() error { return e.cause }

func (e *apiError) says(text string) bool {
	return strings.Contains(strings.ToLower(e.Description), text)
}

// exchange is the library's HTTP client for one call: it attaches the context, notes whether the request left the machine, and
// reads the whole answer, so that the connection can be used again.
type exchange struct {
	ctx     context.Context
	client  *http.Client
	written atomic.Bool
	status  int
	body    []byte
	header  http.Header
}

// Do implements tgbotapi.HTTPClient.
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	trace := &httptrace.ClientTrace{WroteRequest: func(i httptrace.WroteRequestInfo) { x.written.Store(i.Err == nil) }}
	resp, err := x.client.Do(req.WithContext(httptrace.WithClientTrace(x.ctx, trace)))
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	x.status, x.header = resp.StatusCode, resp.Header
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxAnswer {
		return nil, errTooLarge
	}
	x.body = body
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// errorCode is what the Bot API says went wrong; 0 = the answer is not the Bot API's. The library does not tell it of uploads.
func (x *exchange) errorCode() int {
	var said struct {
		Code int `json:"error_code"`
	}
	if json.Unmarshal(x.body, &said) != nil {
		return 0
	}
	return said.Code
}

// call makes one call of a method within limit. The error is a *channels.Error that wraps an *apiError.
func (a api) call(ctx context.Context, client *http.Client, limit time.Duration, method string, params tgbotapi.Params) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	x := &exchange{ctx: ctx, client: client}
	bot := tgbotapi.BotAPI{Token: a.token, Client: x} // by hand: the library's constructor calls getMe and waits for it
	bot.SetAPIEndpoint(a.endpoint)
	resp, err := bot.MakeRequest(method, params)
	if err != nil {
		return nil, a.classify(method, x, err)
	}
	return resp.Result, nil
}

// classify turns whatever went wrong into the error that the contract asks for, without the token.
func (a api) classify(method string, x *exchange, err error) *channels.Error {
	said, ok := errors.AsType[*tgbotapi.Error](err)
	if code := x.errorCode(); ok && code != 0 {
		e := &apiError{Method: method, Code: code, Description: a.hide.Replace(said.Message)}
		out := &channels.Error{Class: classOf(method, code, said.Message), Err: e}
		if out.Class == channels.Limited {
			out.RetryAfter = retryAfter(said.RetryAfter, x.header)
		}
		if e.moved = said.MigrateToChatID != 0; e.moved {
			out.Class, out.Moved = channels.Transient, channels.ChatID(strconv.FormatInt(said.MigrateToChatID, 10))
		}
		return out
	}
	if x.status >= http.StatusMultipleChoices {
		e := &apiError{Method: method, Description: foreign(x.status), tooLarge: x.status == http.StatusRequestEntityTooLarge}
		out := &channels.Error{Class: foreignClass(x.status), Err: e}
		if out.Class == channels.Limited {
			out.RetryAfter = retryAfter(0, x.header)
		}
		return out
	}
	class := channels.Transient
	if x.written.Load() {
		class = channels.Ambiguous
	}
	return &channels.Error{Class: class, Err: &apiError{Method: method, Description: channels.Redact(err, a.hide), body: x.body, cause: channels.Cause(err, errTooLarge)}}
}

// foreign words an answer that is not the Bot API's, and so says nothing about the message, the chat or the token: a proxy's page, or
// JSON of something else.
func foreign(status int) string {
	return fmt.Sprintf("%d %s, not from the Bot API: a proxy may have answered", status, http.StatusText(status))
}

// foreignClass is what becomes of a call that got such an answer. After 5xx it may have been carried out behind what answered.
func foreignClass(status int) channels.Class {
	switch {
	case status == http.StatusTooManyRequests:
		return channels.Limited
	case status >= http.StatusInternalServerError:
		return channels.Ambiguous
	}
	return channels.Transient
}

// classOf says what an error code of the Bot API means. 5xx is ambiguous: Telegram has been seen to answer so after it had acted.
func classOf(method string, code int, text string) channels.Class {
	switch {
	case code == http.StatusUnauthorized:
		return channels.Unauthorized
	case code == http.StatusNotFound:
		// Telegram answers so to a token that it cannot read, and, in other words, to methods that a server lacks.
		if strings.Contains(strings.ToLower(text), "method not found") {
			return channels.Unsupported
		}
		if method == "getMe" || method == "getUpdates" || method == "sendMessage" {
			return channels.Unauthorized
		}
		return channels.Unsupported
	case code == http.StatusTooManyRequests:
		return channels.Limited
	case code >= http.StatusInternalServerError, code < http.StatusMultipleChoices:
		return channels.Ambiguous
	case code < http.StatusBadRequest, code == http.StatusConflict:
		return channels.Transient
	default:
		return channels.Rejected
	}
}

// retryAfter is how long the platform asks to wait: its parameter in seconds, or the header.
func retryAfter(seconds int, h http.Header) time.Duration {
	if seconds > 0 {
		return channels.AskedSeconds(float64(seconds))
	}
	said, _ := strconv.ParseFloat(h.Get("Retry-After"), 64)
	return channels.AskedSeconds(said)
}
