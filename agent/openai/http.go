package openai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"parley/agent"
	"parley/agent/wire"
)

// address is where a provider is.
type address struct {
	base     url.URL
	official bool // OpenAI's own service
	azure    bool // the key goes into a header of its own
	switches bool // thinking is switched off by a field of its own
	sessions bool // requests name their conversation in a header
	bad      error
}

// switchHosts are the ends of the host names of services that switch thinking off with thinking: {type: disabled}.
// source: api-docs.deepseek.com/guides/thinking_mode, platform.moonshot.ai/docs, docs.z.ai/guides/capabilities/thinking-mode, volcengine.com/docs/82379
var switchHosts = []string{"api.deepseek.com", "api.moonshot.ai", "api.moonshot.cn", "api.z.ai", "open.bigmodel.cn", ".volces.com", ".bytepluses.com"}

func addressOf(base string) address {
	u, err := url.Parse(base)
	if err != nil {
		return address{bad: errors.New("baseUrl is not a URL")} // the error has the URL in it
	}
	host := strings.ToLower(u.Hostname())
	a := address{base: *u, official: host == "api.openai.com", azure: agent.AzureHost(host)}
	a.sessions = host == "opencode.ai" || strings.HasSuffix(host, ".opencode.ai")
	for _, end := range switchHosts {
		a.switches = a.switches || strings.HasSuffix(host, end)
	}
	a.base.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions")
	a.base.RawPath, a.base.Fragment = "", ""
	return a
}

// url gives the address of a path below the base. The query of the base is kept.
func (a address) url(path string, query map[string]string) string {
	u := a.base
	u.Path += "/" + path
	if len(query) > 0 {
		q := u.Query()
		for k, v := range query {
			q.Set(k, v)
		}
		u.RawQuery = q.Encode()
	}
	return u.String()
}

// do makes one request of a try; body nil = GET, session is that of the prompt. An answer with an error status is an error. The caller closes the body.
func (m *Model) do(ctx context.Context, t *wire.Try, path string, body []byte, session string, s agent.ModelSettings) (*http.Response, error) {
	if m.at.bad != nil {
		return nil, &agent.ModelError{Class: agent.BadRequest, Provider: m.name, Err: m.at.bad}
	}
	method, read := http.MethodGet, io.Reader(nil)
	if body != nil {
		method, read = http.MethodPost, bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, m.at.url(path, s.Query), read)
	if err != nil {
		return nil, &agent.ModelError{Class: agent.BadRequest, Provider: m.name, Err: errors.New("baseUrl is not a URL")} // the error has the URL in it
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("User-Agent", "parley")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	switch {
	case m.key.IsZero():
	case m.at.azure:
		req.Header.Set("Api-Key", m.key.Reveal())
	default:
		req.Header.Set("Authorization", "Bearer "+m.key.Reveal())
	}
	if m.at.sessions && session != "" { // source: genspark-ai/genoffice#331
		req.Header.Set("X-Opencode-Session", cacheKey(session))
	}
	for name, value := range s.Headers {
		req.Header.Set(name, value.Reveal())
	}
	t.Hide(s, req.URL.String())
	res, err := m.wire.HTTP().Do(req)
	if err != nil {
		return nil, t.Error(err)
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		_, err = io.Copy(io.Discard, res.Body) // what it says is kept below; an error only shortens it
		_ = res.Body.Close()
		if err == nil {
			err = fmt.Errorf("%s without a reason", res.Status)
		}
		return nil, t.Error(err)
	}
	return res, nil
}
