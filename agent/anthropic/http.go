package anthropic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"parley/agent"
	"parley/agent/wire"
)

// apiVersion is the version of the API that is spoken.
const apiVersion = "2023-06-01"

// send makes one request and lets s read its answer. Its errors are *agent.ModelError, or errPaused.
func (m *Model) send(ctx context.Context, body []byte, set agent.ModelSettings, s *stream) error {
	ctx, t := m.wire.Start(ctx)
	defer t.Stop()
	s.t = t
	res, err := m.do(ctx, t, http.MethodPost, "messages", nil, body, set)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // the try is over; its error was seen on reading
	return s.read(res.Body)
}

// do makes a request below /v1 and gives its answer, when the status says that there is one.
func (m *Model) do(ctx context.Context, t *wire.Try, method, path string, query url.Values, body []byte, set agent.ModelSettings) (*http.Response, error) {
	address := m.base + "/v1/" + path
	if q := m.queryOf(query, set); q != "" {
		address += "?" + q
	}
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, &agent.ModelError{Class: agent.BadRequest, Provider: m.name, Err: errors.New("baseUrl is not a URL")}
	}
	m.setHeaders(req.Header, set)
	t.Hide(set, address)
	if body == nil {
		req.Body, req.GetBody, req.ContentLength = nil, nil, 0
		req.Header.Del("Content-Type")
	}
	res, err := m.wire.HTTP().Do(req)
	if err != nil {
		return nil, t.Error(err)
	}
	if res.StatusCode >= 300 {
		_, _ = io.Copy(io.Discard, res.Body) // the try keeps its beginning; what cannot be read says nothing
		_ = res.Body.Close()
		return nil, t.Error(fmt.Errorf("the server answered %q and nothing else", res.Status))
	}
	return res, nil
}

// queryOf merges the query of the address, of the settings and of the request.
func (m *Model) queryOf(query url.Values, set agent.ModelSettings) string {
	if len(m.query)+len(query)+len(set.Query) == 0 {
		return ""
	}
	out := url.Values{}
	maps.Copy(out, m.query)
	maps.Copy(out, query)
	for k, v := range set.Query {
		out.Set(k, v)
	}
	return out.Encode()
}

// setHeaders sets the headers of a request. Configured ones replace those of the same name, an empty one removes it; the key is sent as
// x-api-key unless the configuration has an Authorization.
func (m *Model) setHeaders(h http.Header, set agent.ModelSettings) {
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "text/event-stream, application/json")
	h.Set("Anthropic-Version", apiVersion)
	h.Set("User-Agent", "parley")
	if !m.key.IsZero() {
		h.Set("X-Api-Key", m.key.Reveal())
	}
	for name, value := range set.Headers {
		if strings.EqualFold(name, "Authorization") && !value.IsZero() {
			h.Del("X-Api-Key")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set.Headers)) {
		h.Del(name)
		if value := set.Headers[name]; !value.IsZero() {
			h.Set(name, value.Reveal())
		}
	}
}
