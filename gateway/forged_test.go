package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode"

	"parley/agent"
)

// forged would be a header and a line of the log of its own, and would paint the terminal, wherever it is put as it is.
const forged = "x\r\nX-Forged: 1\r\ntime=2001-01-01T00:00:00Z level=ERROR msg=forged\n\x1b[31m\u2028\u202e"

// filled gives JSON whose %s is a forged text.
func filled(pattern string) string {
	text, _ := json.Marshal(forged)
	return strings.ReplaceAll(pattern, "%s", string(text))
}

// Whatever a value is called, by people, programs, models and platforms: none becomes a header or a line of the log.
func TestNothingIsForged(t *testing.T) {
	t.Parallel()
	model := &script{}
	h, _, _ := opened(t, model)
	network, _ := h.Gateway.Handlers()
	form := url.Values{"name": {forged}, "message": {forged}, "way": {"every"}, "when": {"1h"}, "label": {forged}, "channel": {forged}, "account": {forged}, "user": {forged}, "code": {forged}, "token": {forged}, "next": {"/" + forged}}.Encode()
	escaped := url.PathEscape(forged)
	as := func(pattern, body string) door {
		method, path, _ := strings.Cut(pattern, " ")
		return door{pattern: pattern, method: method, path: path, body: filled(body), form: body == form}
	}
	hook := func(path, body string) door {
		d := as("POST /hooks/"+path, body)
		d.keeper = byHooks
		return d
	}
	if w := as("POST /cron", form).knock(network, form, door{}.holder()); !strings.Contains(w.Header().Get("HX-Trigger"), "toast") {
		t.Errorf("no toast: %v", w.Header())
	}
	for what, d := range map[string]door{
		"a label": as("PATCH /api/sessions/main", `{"label": %s}`), "a model": as("PATCH /api/sessions/main", `{"model": %s}`), "a level": as("PATCH /api/sessions/main", `{"thinking": %s}`),
		"a field": as("PATCH /api/sessions/main", `{%s: 1}`), "a session": as("POST /api/sessions/"+escaped+"/messages", `{"text": "x"}`), "words": as("POST /api/sessions/main/messages", `{"text": %s}`),
		"an agent": as("POST /api/agent", `{"text": "x", "agent": %s, "label": %s}`), "an address": as("POST /api/send", `{"to": %s, "text": %s}`), "a job": as("POST /api/cron", `{"name": %s, "message": %s, "every": "1h"}`),
		"a zone": as("POST /api/cron", `{"message": "x", "cron": "0 9 * * *", "tz": %s}`), "a key of a body": as("POST /api/sessions/main/reset", `{"idempotencyKey": %s}`), "a code": as("POST /api/pairing/approve", `{"channel": %s, "code": %s}`),
		"a search": as("GET /api/search?q="+escaped, ""), "a parameter": as("GET /api/status?"+escaped+"=1", ""), "a path": as("GET /"+escaped, ""), "a run": as("GET /api/runs/"+escaped, ""),
		"a model of /v1": as("POST /v1/chat/completions", `{"model": %s, "messages": [{"role": "user", "content": "x"}]}`), "a card": as("GET /v1/models/"+escaped, ""),
		"a user of /v1": as("POST /v1/chat/completions", `{"model": "parley", "user": %s, "messages": [{"role": "user", "content": %s}]}`),
		"a file of /v1": as("POST /v1/responses", `{"model": "parley", "input": [{"role": "user", "content": [{"type": "input_file", "filename": %s, "file_data": %s}]}]}`),
		"a response":    as("POST /v1/responses", `{"model": "parley", "input": "x", "previous_response_id": %s}`),
		"a tool of MCP": as("POST /mcp", `{"jsonrpc": "2.0", "id": %s, "method": "tools/call", "params": {"name": %s, "arguments": {"message": %s}}}`), "a method of MCP": as("POST /mcp", `{"jsonrpc": "2.0", "id": 1, "method": %s}`),
		"a client of MCP": as("POST /mcp", `{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": %s, "capabilities": {}, "clientInfo": {"name": %s, "version": %s}}}`),
		"a hook":          hook("wake", `{"text": %s, "name": %s}`), "a hook's session": hook("agent", `{"message": %s, "name": %s, "sessionKey": %s}`), "a hook's agent": hook("agent", `{"message": "x", "agentId": %s, "model": %s}`),
		"a payload": hook("push", `{"text": %s, %s: 1}`), "a hook's path": hook(escaped, `{}`), "an update": as("POST /channels/fake/default/hook", `%s`), "an account": as("POST /channels/fake/"+escaped+"/hook", ``),
		"a form's job": as("POST /cron", form), "a form's label": as("POST /sessions/main/settings", form), "a form's person": as("POST /pairing/remove", form), "a form's code": as("POST /pairing/approve", form), "a form's token": as("POST /login", form),
		"a form's run": as("POST /runs/"+escaped+"/cancel", form), "a login code": as("GET /login?code="+escaped, ""), "a session's page": as("GET /sessions/"+escaped, ""),
	} {
		d.unforged(t, what, network, d.holder())
	}
	for _, name := range []string{
		"User-Agent", "X-Forwarded-For", "X-Forwarded-Proto", "Forwarded", "X-Request-Id", "Idempotency-Key", "X-Parley-Session", "X-Parley-Token", "X-Parley-Call", "Mcp-Session-Id", "Mcp-Protocol-Version", "Last-Event-Id",
		"Authorization", "Cookie", "Origin", "Referer", "Content-Type", "Accept", "Hx-Target", "Hx-Current-Url", "Host", "Traceparent",
	} {
		for _, d := range []door{as("GET /api/status", ""), as("POST /api/sessions/main/messages", `{"text": "x"}`), as("POST /v1/chat/completions", talked), as("POST /mcp", listing), hook("agent", `{"message": "x"}`), as("POST /cron", form), as("GET /sessions", "")} {
			d.unforged(t, name, network, d.holder(name, forged))
		}
	}
	model.Does(func(context.Context, agent.Prompt, func(string)) error { return errors.New(forged) })
	as("POST /v1/chat/completions", talked).unforged(t, "an error of a model", network, door{}.holder())
	h.Stop()
	n := 0
	if text := h.Log.String(); !strings.Contains(text, `x\r\nX-Forged`) {
		t.Error("no log line has what was sent: this test looks at nothing")
	}
	for line := range strings.Lines(h.Log.String()) {
		n++
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, "time=20") || strings.HasPrefix(line, "time=2001") || strings.ContainsFunc(line, func(c rune) bool { return !unicode.IsPrint(c) }) {
			t.Errorf("a line of the log: %q", line)
		}
		if strings.Contains(line, "msg=request ") && strings.Contains(line, "forged") {
			t.Errorf("a request is logged with what its client wrote: %q", line)
		}
	}
	if n < 100 {
		t.Errorf("the log has %d lines", n)
	}
}

// unforged sends a request and looks at the headers of its answer.
func (d door) unforged(t *testing.T, what string, network http.Handler, head map[string]string) {
	t.Helper()
	w := d.knock(network, d.body, head)
	if w.Code >= http.StatusInternalServerError && w.Code != http.StatusBadGateway && !strings.Contains(w.Body.String(), "run_failed") {
		t.Errorf("%s, %s: %d %.200s", d.pattern, what, w.Code, w.Body)
	}
	for name, values := range w.Header() {
		for _, v := range append(values, name) {
			if name == "X-Forged" || strings.ContainsFunc(v, func(c rune) bool { return c < ' ' || c > '~' }) {
				t.Errorf("%s, %s: the header %s: %q", d.pattern, what, name, v)
			}
		}
	}
}
