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
	"os"
	"syscall"
	"time"

	"parley/channels"
	"parley/gateway"
	"parley/sessions/sqlstore"
)

// host is the running host as the command line sees it: nothing but its API.
type host struct {
	base  string
	token channels.Secret
}

// errNotRunning is what a command says when there is no host to ask.
var errNotRunning = errors.New("parley is not running here: start it with `parley` (or name its configuration with --config)")

// running finds the host that owns the state folder of the configuration.
func running(e *env) (*host, error) {
	c, err := load(e)
	if err != nil {
		return nil, err
	}
	o, err := sqlstore.ReadOwner(c.State)
	if err != nil || o.Address == "" {
		return nil, errNotRunning
	}
	token, ok, err := gateway.Token(c.State, c.Gateway.Token)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errNotRunning
	}
	return &host{base: o.Address, token: token}, nil
}

// direct goes to the host itself: a proxy must not see the token.
var direct = &http.Client{Transport: &http.Transport{}}

// call does one request; out is filled from the answer.
func (h *host) call(ctx context.Context, method, path string, q url.Values, body, out any) error {
	return h.callWithin(ctx, 30*time.Second, method, path, q, body, out)
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
		return failure(resp)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("reading the host's answer: %w", err)
	}
	return json.Unmarshal(b, out)
}

// do sends a request with the token; the error says what to do.
func (h *host) do(req *http.Request) (*http.Response, error) {
	req.Header.Set("Authorization", "Bearer "+h.token.Reveal())
	req.Header.Set("Content-Type", "application/json")
	resp, err := direct.Do(req)
	switch {
	case err == nil:
		return resp, nil
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil, fmt.Errorf("%w\n(the last one was at %s)", errNotRunning, h.base)
	case errors.Is(err, context.Canceled):
		return nil, errors.New("interrupted")
	}
	return nil, fmt.Errorf("the host at %s does not answer: %w", h.base, err)
}

// failure is what an answer says that is none.
func failure(resp *http.Response) error {
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("reading the host's answer: %w", err)
	}
	var fail struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(b, &fail) != nil || fail.Error == "" {
		fail.Error = resp.Status
	}
	return errors.New(fail.Error)
}

// ask finds the host and does one request.
func ask[T any](e *env, method, path string, q url.Values, body any) (out T, err error) {
	h, err := running(e)
	if err != nil {
		return out, err
	}
	err = h.call(e.ctx, method, path, q, body, &out)
	return out, err
}

// show prints a value as JSON when asked to, otherwise with the given func.
func show[T any](asJSON bool, v T, print func(w io.Writer, v T)) error {
	if asJSON {
		enc := json.NewEncoder(os.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(v)
	}
	print(os.Stdout, v)
	return nil
}
