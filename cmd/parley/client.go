package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"syscall"
	"time"
)

// call does one request; out is filled from the answer.
func (h *host) call(ctx context.Context, method, path string, q url.Values, body, out any) error {
	return h.callWithin(ctx, callLimit, method, path, q, body, out)
}

// callWithin is call for what may take longer, or must not.
func (h *host) callWithin(ctx context.Context, limit time.Duration, method, path string, q url.Values, body, out any) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var r io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return err
		}
		r = bytes.NewReader(b)
	}
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, h.base+path, r)
	if err != nil {
		return err
	}
	resp, err := h.do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode/100 != 2 {
		return refusal(resp)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("read the host's answer: %w", err)
	}
	return json.Unmarshal(b, out)
}

// firstByte is how long a host may take to say anything at all. What a command asks for may take much longer.
const firstByte = 3 * time.Second

// answers asks the host for next to nothing. One that takes connections and says nothing is stopped or stuck: the error says what to do.
// All other errors are those of the command's own requests.
func (h *host) answers(ctx context.Context, pid int, within time.Duration) error {
	ask, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	req, err := http.NewRequestWithContext(ask, http.MethodOptions, h.base+"/healthz", nil) // neither the store nor a token is needed for the answer
	if err != nil {
		return err
	}
	resp, err := h.client.Do(req)
	if err == nil {
		return resp.Body.Close()
	}
	if ask.Err() == nil || ctx.Err() != nil {
		return nil //nolint:nilerr // see above
	}
	return failed(exitTimeout, "no_answer", "the host at %s (process %d) sent no answer within %s\n"+
		"If the process is suspended, run `kill -CONT %d`. If the host hangs, run `kill %d` (or `kill -9 %d` if it does not end), and start it again. The host keeps everything that it acknowledged.", h.base, pid, within, pid, pid, pid)
}

// do sends a request with the token; the error says what to do.
func (h *host) do(req *http.Request) (*http.Response, error) {
	if !h.token.IsZero() {
		req.Header.Set("Authorization", "Bearer "+h.token.Reveal())
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := h.client.Do(req)
	switch {
	case err == nil:
		return resp, nil
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil, &failure{exit: exitAway, code: "not_running", text: fmt.Sprintf("%v\n(the last host was at %s)", errNotRunning, h.base), err: errNotRunning}
	case errors.Is(err, context.Canceled):
		return nil, interrupted("")
	case errors.Is(err, context.DeadlineExceeded):
		return nil, failed(exitTimeout, "timeout", "the host at %s did not answer in time", h.base)
	}
	return nil, fmt.Errorf("the host at %s does not answer: %w", h.base, err)
}
