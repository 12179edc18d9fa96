package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"parley/gateway/api"
)

// reach finds the running host, once for a command.
func (e *env) reach() (*host, error) {
	if e.found != nil {
		return e.found, nil
	}
	h, err := running(e)
	e.found = h
	return h, err
}

// request does one operation of the API; route and in are as in the host's own table.
func request[Out any](e *env, route string, in any) (out Out, err error) {
	return requestOnce[Out](e, route, in, "", callLimit)
}

// callLimit is how long an operation may take that is not known to take longer.
const callLimit = 30 * time.Second

// requestOnce is request with an idempotency key ("" = none) and a time limit.
func requestOnce[Out any](e *env, route string, in any, key string, limit time.Duration) (out Out, err error) {
	h, err := e.reach()
	if err != nil {
		return out, err
	}
	c := parts(route, in)
	if key != "" {
		c.body["idempotencyKey"] = key
	}
	var body any
	if c.method != http.MethodGet {
		body = c.body
	}
	err = h.callWithin(e.ctx, limit, c.method, c.path, c.query, body, &out)
	return out, h.explained(e, err)
}

// wire is the request that an operation's parameters make.
type wire struct {
	method, path string
	query        url.Values
	body         map[string]any
}

// parts sorts the parameters of an operation by their tags, as the host reads them. Zero values are left out: the host has its defaults.
func parts(route string, in any) wire {
	method, path, _ := strings.Cut(route, " ")
	c := wire{method: method, path: path, query: url.Values{}, body: map[string]any{}}
	v := reflect.ValueOf(in)
	for _, f := range reflect.VisibleFields(v.Type()) {
		x := v.FieldByIndex(f.Index)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Tag.Get("path") != "":
			c.path = strings.ReplaceAll(c.path, "{"+f.Tag.Get("path")+"}", url.PathEscape(fmt.Sprint(x)))
		case x.IsZero():
		case f.Tag.Get("query") != "":
			c.query.Set(f.Tag.Get("query"), fmt.Sprint(x))
		case name != "":
			c.body[name] = x.Interface()
		}
	}
	return c
}

// explained says of an error whether the host is another version than the command line: then that is the likely cause.
func (h *host) explained(e *env, err error) error {
	f, ok := errors.AsType[*failure](err)
	if !ok || f.exit != exitUsage && f.exit != exitMissing {
		return err
	}
	var s api.HostStatus
	if h.callWithin(e.ctx, 2*time.Second, http.MethodGet, "/api/status", nil, nil, &s) != nil || s.Version == version || s.Version == "" {
		return err
	}
	more := *f
	more.text += "\n" + versions(s.Version)
	return &more
}

// versions says what to do when host and command line differ.
func versions(host string) string {
	return fmt.Sprintf("The host runs parley %s, and this program is %s: restart the host with this program, or use the host's program.", host, version)
}

// asJSON is what every command has that prints something.
type asJSON struct {
	JSON bool `help:"Print JSON in the format of the API."`
}

// tell prints an answer: JSON when asked to, otherwise for people.
func tell[T any](e *env, j asJSON, v T, words func(p *page, v T)) error {
	p := e.page()
	if j.JSON {
		writeJSON(p.out, v)
		return nil
	}
	words(p, v)
	return nil
}

// writeJSON writes a value in lines. Characters that a terminal would obey are escaped.
func writeJSON(w io.Writer, v any) {
	b, err := api.Marshal(v)
	if err != nil {
		b, _ = json.Marshal(api.Failure{Error: "write the answer as JSON: " + err.Error()})
	}
	var lines bytes.Buffer
	_ = json.Indent(&lines, b, "", "  ") // it is JSON
	_, _ = io.WriteString(w, escapeJSON(lines.String())+"\n")
}

// escapeJSON writes what JSON lets through and terminals obey as \u….
func escapeJSON(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '\n' || !obeyed(r) {
			b.WriteRune(r)
			continue
		}
		_, _ = fmt.Fprintf(&b, `\u%04x`, r)
	}
	return b.String()
}
