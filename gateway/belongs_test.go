package gateway_test

import (
	"context"
	"net/http"
	"net/url"
	"testing"

	"parley/agent"
	"parley/gateway/api"
)

// The sessions in which a program talks are its own: another token that may write says nothing there, and stops nothing, whatever it
// calls them; their own token and admins do.
func TestSessionsOfPrograms(t *testing.T) {
	t.Parallel()
	o := openHost(t, t.TempDir(), outsideOn)
	o.chat(annsToken, talk("parley", "desk", "hello"))
	o.model.does(func(ctx context.Context, _ agent.Prompt, _ func(string)) error {
		<-ctx.Done()
		return ctx.Err()
	})
	const anns = "agent:main:openai:ann/desk"
	at := func(key, what string) string { return "/api/sessions/" + url.PathEscape(key) + what }
	said := func(token, path, body string, want int) {
		t.Helper()
		if got := o.status("POST", path, token, body); got != want {
			t.Errorf("%s by %s: %d, want %d", path, token, got, want)
		}
	}
	for _, key := range []string{anns, "agent:main:openai:ann/another", "agent:main:mcp:ann", "agent:cook:openai:ann//x", "agent:main:openai:owner/x"} {
		said(bobsToken, at(key, "/messages"), `{"message": "from bob"}`, http.StatusForbidden)
		said(bobsToken, "/api/agent", `{"message": "from bob", "sessionKey": "`+key+`"}`, http.StatusForbidden)
	}
	said(bobsToken, at(anns, "/abort"), `{}`, http.StatusForbidden)
	session, _ := told[api.Session](o, "GET", at(anns, ""), "")
	said(annsToken, at(anns, "/messages"), `{"message": "from ann"}`, http.StatusOK)
	id := string(o.newest(anns).ID)
	said(bobsToken, "/api/runs/"+id+"/cancel", `{}`, http.StatusForbidden)
	said(bobsToken, at(string(session.ID), "/messages"), `{"message": "from bob"}`, http.StatusForbidden)
	said(annsToken, "/api/runs/"+id+"/cancel", `{}`, http.StatusOK)
	said(ownersToken, at(anns, "/messages"), `{"message": "from the owner"}`, http.StatusOK)
	said(ownersToken, at(anns, "/abort"), `{}`, http.StatusOK)
	said(bobsToken, at("agent:main:main", "/messages"), `{"message": "to everybody's session"}`, http.StatusOK)
	said(bobsToken, at("agent:main:main", "/abort"), `{}`, http.StatusOK)

	s, err := o.mcp(bearer{annsToken, ""})
	if err != nil {
		t.Fatal(err)
	}
	child, err := tool(t.Context(), s, "sessions_spawn", args{"task": "for ever"})
	if err != nil {
		t.Fatal(err)
	}
	below, _ := child["childSessionKey"].(string)
	said(bobsToken, at(below, "/messages"), `{"message": "from bob"}`, http.StatusForbidden)
	said(bobsToken, "/api/runs/"+string(o.newest(below).ID)+"/cancel", `{}`, http.StatusForbidden)
	said(annsToken, at(below, "/abort"), `{}`, http.StatusOK)
}

// newest is the newest run of a session.
func (o *open) newest(key string) api.Run {
	o.t.Helper()
	runs, _ := told[[]api.Run](o, "GET", "/api/runs?session="+url.QueryEscape(key), "")
	if len(runs) == 0 {
		o.t.Fatalf("%s has no run", key)
	}
	return runs[0]
}
