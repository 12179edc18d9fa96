package telegramtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"syscall"
)

// ServeHTTP answers one request of the Bot API.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if a, ok := s.file(r.URL.Path); ok {
		w.WriteHeader(a.status)
		_, _ = w.Write(a.body)
		return
	}
	token, method, err := parsePath(r.URL.Path)
	var params url.Values
	var files uploads
	if err == nil {
		params, files, err = readParams(r)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	a := s.answer(r.Context(), token, method, params, files)
	if a.cut {
		panic(http.ErrAbortHandler)
	}
	for k, v := range a.header {
		w.Header()[k] = v
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}

// readParams reads the parameters of a call from the query and the body, in any of the encodings that the real server takes.
func readParams(r *http.Request) (url.Values, uploads, error) {
	params := r.URL.Query()
	if r.Body == nil {
		return params, nil, nil
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind == "multipart/form-data" {
		if err := r.ParseMultipartForm(64 << 20); err != nil {
			return nil, nil, err
		}
		files, err := readUploads(r.MultipartForm)
		return r.Form, files, err
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, nil, err
	}
	if kind == "application/json" {
		return params, nil, jsonParams(body, params)
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, nil, err
	}
	for k, v := range form {
		params[k] = append(params[k], v...)
	}
	return params, nil, nil
}

func jsonParams(body []byte, params url.Values) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return fmt.Errorf("JSON parameters: %w", err)
	}
	for k, raw := range fields {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		params.Set(k, text)
	}
	return nil
}

// Client gives an HTTP client whose requests reach the server without a network, whatever their host. It works inside a
// testing/synctest bubble, where real connections do not.
func (s *Server) Client() *http.Client { return &http.Client{Transport: direct{s}} }

type direct struct{ s *Server }

func (d direct) RoundTrip(req *http.Request) (*http.Response, error) {
	if a, ok := d.s.file(req.URL.Path); ok {
		return &http.Response{StatusCode: a.status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(a.body)), Request: req}, nil
	}
	if req.Body != nil {
		defer func() { _ = req.Body.Close() }()
	}
	token, method, err := parsePath(req.URL.Path)
	if err != nil {
		return nil, err
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	d.s.mu.Lock()
	down := d.s.down
	d.s.mu.Unlock()
	if down {
		return nil, refused()
	}
	params, files, err := readParams(req)
	if err != nil {
		return nil, err
	}
	if trace := httptrace.ContextClientTrace(req.Context()); trace != nil && trace.WroteRequest != nil {
		trace.WroteRequest(httptrace.WroteRequestInfo{})
	}
	a := d.s.answer(req.Context(), token, method, params, files)
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	if a.cut {
		return nil, io.ErrUnexpectedEOF
	}
	header := http.Header{"Content-Type": {"application/json"}}
	for k, v := range a.header {
		header[k] = v
	}
	return &http.Response{
		Status: http.StatusText(a.status), StatusCode: a.status, Header: header, Body: io.NopCloser(bytes.NewReader(a.body)),
		ContentLength: int64(len(a.body)), Request: req, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

func refused() error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: errors.Join(syscall.ECONNREFUSED)}
}

// IsSecret reports whether a text contains the bot's token or the secret half of it.
func IsSecret(text string) bool {
	_, secret, _ := strings.Cut(BotToken, ":")
	return strings.Contains(text, secret)
}
