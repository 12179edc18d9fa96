package operations_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"parley/agent"
	"parley/gateway/api"
	"parley/gateway/gatewaytest"
)

// The sessions in which a program talks are its own: another token that may write says nothing there, and stops nothing, whatever it
// calls them; their own token and admins do.
func TestSessionsOfPrograms(t *testing.T) {
	t.Parallel()
	o := openHost(t, t.TempDir(), gatewaytest.OutsideOn)
	o.Chat(gatewaytest.AnnsToken, gatewaytest.Talk("parley", "desk", "hello"))
	o.Model.Does(func(ctx context.Context, _ agent.Prompt, _ func(string)) error {
		<-ctx.Done()
		return ctx.Err()
	})
	const anns = "agent:main:openai:ann/desk"
	at := func(key, what string) string { return "/api/sessions/" + url.PathEscape(key) + what }
	said := func(token, path, body string, want int) {
		t.Helper()
		if got := o.Status("POST", path, token, body); got != want {
			t.Errorf("%s by %s: %d, want %d", path, token, got, want)
		}
	}
	for _, key := range []string{anns, "agent:main:openai:ann/another", "agent:main:mcp:ann", "agent:cook:openai:ann//x", "agent:main:openai:owner/x"} {
		said(gatewaytest.BobsToken, at(key, "/messages"), `{"message": "from bob"}`, http.StatusForbidden)
		said(gatewaytest.BobsToken, "/api/agent", `{"message": "from bob", "sessionKey": "`+key+`"}`, http.StatusForbidden)
	}
	said(gatewaytest.BobsToken, at(anns, "/abort"), `{}`, http.StatusForbidden)
	session, _ := told[api.Session](o, "GET", at(anns, ""), "")
	said(gatewaytest.AnnsToken, at(anns, "/messages"), `{"message": "from ann"}`, http.StatusOK)
	id := string(o.newest(anns).ID)
	said(gatewaytest.BobsToken, "/api/runs/"+id+"/cancel", `{}`, http.StatusForbidden)
	said(gatewaytest.BobsToken, at(string(session.ID), "/messages"), `{"message": "from bob"}`, http.StatusForbidden)
	said(gatewaytest.AnnsToken, "/api/runs/"+id+"/cancel", `{}`, http.StatusOK)
	said(gatewaytest.OwnersToken, at(anns, "/messages"), `{"message": "from the owner"}`, http.StatusOK)
	said(gatewaytest.OwnersToken, at(anns, "/abort"), `{}`, http.StatusOK)
	said(gatewaytest.BobsToken, at("agent:main:main", "/messages"), `{"message": "to everybody's session"}`, http.StatusOK)
	said(gatewaytest.BobsToken, at("agent:main:main", "/abort"), `{}`, http.StatusOK)

	s, err := o.MCP(gatewaytest.AnnsToken, "")
	if err != nil {
		t.Fatal(err)
	}
	child, err := gatewaytest.CallTool(t.Context(), s, "sessions_spawn", map[string]any{"task": "for ever"})
	if err != nil {
		t.Fatal(err)
	}
	below, _ := child["childSessionKey"].(string)
	said(gatewaytest.BobsToken, at(below, "/messages"), `{"message": "from bob"}`, http.StatusForbidden)
	said(gatewaytest.BobsToken, "/api/runs/"+string(o.newest(below).ID)+"/cancel", `{}`, http.StatusForbidden)
	said(gatewaytest.AnnsToken, at(below, "/abort"), `{}`, http.StatusOK)
}

// newest is the newest run of a session.
func (o *open) newest(key string) api.Run {
	o.T.Helper()
	runs, _ := told[[]api.Run](o, "GET", "/api/runs?session="+url.QueryEscape(key), "")
	if len(runs) == 0 {
		o.T.Fatalf("%s has no run", key)
	}
	return runs[0]
}

// told makes a request of the API, with a body when it is a POST, and reads its answer.
func told[Out any](o *open, method, path, body string) (out Out, status int) {
	o.T.Helper()
	req, err := http.NewRequestWithContext(o.T.Context(), method, o.URL+path, strings.NewReader(body))
	if err != nil {
		o.T.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+gatewaytest.OwnersToken)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		o.T.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		o.T.Fatal(err)
	}
	return out, res.StatusCode
}

// Whoever only looks at a run, with no time to wait, sees its end too when its message was answered by another's turn.
func TestLookAtARunOfABatch(t *testing.T) {
	t.Parallel()
	o := openHost(t, t.TempDir(), gatewaytest.OutsideOn)
	begun, goOn := make(chan bool, 10), make(chan bool)
	o.Model.Does(func(_ context.Context, _ agent.Prompt, yield func(string)) error {
		begun <- true
		<-goOn
		yield("first")
		return nil
	})
	say := func() api.Said {
		said, status := told[api.Said](o, "POST", "/api/sessions/main/messages", `{"message": "hello"}`)
		if status != http.StatusOK {
			t.Fatal(status)
		}
		return said
	}
	say()
	<-begun
	say()
	third := say()
	close(goOn)
	for _, timeout := range []string{"20000", "0"} {
		x, _ := told[api.Waited](o, "GET", "/api/runs/"+string(third.Run)+"/wait?timeoutMs="+timeout, "")
		if !x.Final || x.Status != "ok" || x.Reply == "" {
			t.Errorf("within %s ms: %+v", timeout, x)
		}
	}
}

// "last" is a chat outside, also where there is one session for all: the page is none.
func TestAgentToLast(t *testing.T) {
	t.Parallel()
	o := openHost(t, t.TempDir(), gatewaytest.OutsideOn+"\nsession: {scope: global}")
	if x, status := told[api.Failure](o, "POST", "/api/agent", `{"message": "hello", "to": "last"}`); status != http.StatusBadRequest || !strings.Contains(x.Error, "no last chat") {
		t.Errorf("before anybody wrote: %d %+v", status, x)
	}
	if _, status := told[map[string]any](o, "POST", "/api/chat/messages", `{"id": "m1", "text": "hello"}`); status >= 300 {
		t.Fatal(status)
	}
	if x, status := told[api.Failure](o, "POST", "/api/agent", `{"message": "hello", "to": "last"}`); status != http.StatusBadRequest || !strings.Contains(x.Error, "only the page has written") {
		t.Errorf("after the page has: %d %+v", status, x)
	}
}

// open is a host whose doors for programs of others are open.
type open struct{ *gatewaytest.Outside }

func openHost(t *testing.T, dir, more string) *open {
	return &open{gatewaytest.OpenOutside(t, dir, more)}
}
