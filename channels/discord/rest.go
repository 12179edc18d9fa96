package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"

	"parley/channels"
)

// maxAnswer bounds what one answer may take in memory.
const maxAnswer = 64 << 20

var errTooLarge = errors.New("the answer is larger than 64 MiB")

// restClient makes single REST calls through discordgo. Besides what the platform asked to wait for it holds no state.
//
// discordgo's own rate limiter sleeps without a context, so every call gets a fresh one, which never sleeps; holds keeps the limits
// instead. Its retries are off: what a failed call means is for the gate to decide.
type restClient struct {
	base   string // with the API version
	client *http.Client
	bot    *discordgo.Session // token and user agent; nothing of it is ever opened
	hide   *strings.Replacer
	holds  *holds
}

func newREST(base, token string, client *http.Client, holds *holds) restClient {
	bot := &discordgo.Session{
		LogLevel:  -1, // it would print pages that it cannot read
		Token:     "Bot " + token,
		UserAgent: "DiscordBot (https://github.com/bwmarrin/discordgo, v" + discordgo.VERSION + ")",
	}
	return restClient{base: base, client: client, bot: bot, hide: channels.Hide(channels.NewSecret(token)), holds: holds}
}

// request is one REST call.
type request struct {
	method string
	path   string // below the base, with its leading slash, escaped; may have a query
	route  route
	body   any     // marshalled as JSON; nil = none
	upload *upload // instead of body
	limit  time.Duration
}

// exchange is the transport of one call: it notes whether the request left the machine and what came back, and reads the whole
// answer, so that discordgo meets a body that cannot stall.
type exchange struct {
	next    http.RoundTripper
	upload  *upload // takes the place of the request's body: discordgo takes bytes only
	written atomic.Bool
	status  int
	header  http.Header
	body    []byte
}

// RoundTrip implements http.RoundTripper.
func (x *exchange) RoundTrip(req *http.Request) (*http.Response, error) {
	trace := &httptrace.ClientTrace{WroteRequest: func(i httptrace.WroteRequestInfo) { x.written.Store(i.Err == nil) }}
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), trace))
	if x.upload != nil {
		req.Body, req.ContentLength, req.GetBody = x.upload, x.upload.length, nil
	}
	resp, err := x.next.RoundTrip(req)
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
	resp.Header = http.Header{} // discordgo would act on the limits in it, and fail on what it cannot read there
	return resp, nil
}

// call makes one call, unless the platform asked to wait. The error is a *channels.Error that wraps an *apiError.
func (r restClient) call(ctx context.Context, q request) ([]byte, error) {
	if q.upload != nil {
		defer func() { _ = q.upload.Close() }()
	}
	if wait := r.holds.wait(q.route); wait > 0 {
		return nil, &channels.Error{Class: channels.Limited, RetryAfter: wait,
			Err: &apiError{Call: q.name(), Text: "not called: Discord's rate limit has not passed"}}
	}
	if q.limit == 0 {
		q.limit = callTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, q.limit)
	defer cancel()
	var raw []byte
	mime := "application/json"
	switch {
	case q.upload != nil:
		raw, mime = []byte{}, q.upload.mime
	case q.body != nil:
		var err error
		if raw, err = json.Marshal(q.body); err != nil {
			return nil, &channels.Error{Class: channels.Rejected, Err: &apiError{Call: q.name(), Text: err.Error()}}
		}
	}
	x := &exchange{next: r.client.Transport, upload: q.upload}
	if x.next == nil {
		x.next = http.DefaultTransport
	}
	once := &http.Client{Transport: x, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	bucket := discordgo.NewRatelimiter().LockBucket(q.route.key())
	answer, err := r.bot.RequestWithLockedBucket(q.method, r.base+q.path, mime, raw, bucket, 0,
		discordgo.WithContext(ctx), discordgo.WithClient(once), discordgo.WithRetryOnRatelimit(false), discordgo.WithRestRetries(0))
	if _, own := spoken(x.body); own || !q.isTooLarge(x.status) {
		r.holds.note(q.route, x.status, x.header, x.body)
	}
	switch {
	case err == nil && len(answer) > 0 && !json.Valid(answer):
		return nil, &channels.Error{Class: channels.Ambiguous, Err: &apiError{Call: q.name(), Status: x.status, Text: "the answer is a web page: a proxy may have answered instead of Discord"}}
	case err == nil:
		return answer, nil
	case q.upload != nil && q.upload.broken.Load() != nil:
		return nil, q.upload.broken.Load()
	}
	return nil, r.classify(q, x, err)
}

// get makes a call that only reads and decodes its answer. Reading has no effect, so no error of it is ambiguous.
func (r restClient) get(ctx context.Context, path string, where route, into any) error {
	answer, err := r.call(ctx, request{method: http.MethodGet, path: path, route: where})
	if err == nil {
		if err = json.Unmarshal(answer, into); err != nil {
			err = &channels.Error{Class: channels.Transient, Err: &apiError{Call: where.key(), Text: "unexpected answer"}}
		}
	}
	if e, ok := errors.AsType[*channels.Error](err); ok && e.Class == channels.Ambiguous {
		e.Class = channels.Transient
	}
	return err
}

// isTooLarge reports whether an answer, whoever gives it, refuses the files of a call: a proxy that does not let them through does so
// whenever they are sent, and lets everything else of the route through.
func (q request) isTooLarge(status int) bool {
	return q.upload != nil && status == http.StatusRequestEntityTooLarge
}

func (q request) name() string { return q.method + " " + q.route.path }

// token is what the gateway is told.
func (r restClient) token() string { return strings.TrimPrefix(r.bot.Token, "Bot ") }
