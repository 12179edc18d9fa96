package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/channels"
)

// The bounds of what is read over HTTP.
const (
	mostAnswer = 4 << 20  // bytes of the answer to a request, and of one event
	mostStream = 64 << 20 // bytes of a stream of events; a new one is opened then
)

// dialHTTP makes a connection to a server that is reached by its URL. No I/O.
func (s *server) dialHTTP(context.Context) (*dialed, error) {
	u, err := url.Parse(s.conf.URL)
	if err != nil {
		return nil, errors.New("its address cannot be read")
	}
	base := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext, TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 4, IdleConnTimeout: 90 * time.Second, MaxResponseHeaderBytes: 64 << 10,
	}
	client := &http.Client{Transport: &messenger{base: base, to: u, headers: s.conf.Headers}, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		switch {
		case !sameHost(r.URL, u):
			return errors.New("it redirects to another host, which is not followed")
		case len(via) >= 5:
			return errors.New("it redirects too often")
		}
		return nil
	}}
	t := &sdk.StreamableClientTransport{Endpoint: s.conf.URL, HTTPClient: client, MaxRetries: 3, MaxEventSize: mostAnswer}
	return &dialed{transport: t, end: func() string { return "" }, free: base.CloseIdleConnections}, nil
}

func sameHost(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }

// messenger adds the configured headers to requests to the server, to no other host, and bounds the answers.
type messenger struct {
	base    http.RoundTripper
	to      *url.URL
	headers map[string]channels.Secret
}

// RoundTrip implements http.RoundTripper.
func (m *messenger) RoundTrip(r *http.Request) (*http.Response, error) {
	if !sameHost(r.URL, m.to) {
		return nil, errors.New("a request to another host is not sent")
	}
	r = r.Clone(r.Context())
	for name, v := range m.headers {
		r.Header.Set(name, v.Reveal())
	}
	resp, err := m.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	stream := kind == "text/event-stream"
	most := int64(mostAnswer)
	if stream {
		most = mostStream
	}
	resp.Body = &lean{ReadCloser: &bounded{resp.Body, most, most}, stream: stream}
	return resp, nil
}

// bounded is a body that ends with an error after so many bytes.
type bounded struct {
	io.ReadCloser
	most, left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("it sent more than %d MiB", b.most>>20)
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}
