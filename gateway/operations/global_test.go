package operations_test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"parley/gateway/api"
	"parley/gateway/gatewaytest"
	"parley/sessions"
)

var oneSessionsKey = regexp.MustCompile(`.{0,60}\bglobal\b.{0,60}`)

// Where all chats share one session, its name is main: no page and no answer of the API shows its key, also not what names it as a link, in a title or
// in an error.
//
// proves: K6
func TestOneSessionIsMainEverywhere(t *testing.T) {
	t.Parallel()
	o := openHost(t, t.TempDir(), gatewaytest.OutsideOn+"\nsession: {scope: global, sendPolicy: {rules: [{match: {keyPrefix: 'agent:cook:'}, action: deny}, {match: {rawKeyPrefix: 'agent:cook:'}, action: deny}]}}")
	look := func(path string) string {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, o.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+gatewaytest.OwnersToken)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		text, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Errorf("%s: %d, %v, %s", path, res.StatusCode, err, text)
		}
		return string(text)
	}
	for status := 0; status != http.StatusOK; { // 503 until the account of the page is there
		if _, status = told[map[string]any](o, "POST", "/api/chat/messages", `{"id": "m1", "text": "hello"}`); t.Context().Err() != nil {
			t.Fatal(status)
		}
	}
	said, status := told[api.Said](o, "POST", "/api/sessions/main/messages", `{"message": "and the bins"}`)
	if status != http.StatusOK || said.Key != "main" {
		t.Fatalf("%d, %+v", status, said)
	}
	if x, _ := told[api.Waited](o, "GET", "/api/runs/"+string(said.Run)+"/wait?timeoutMs=20000", ""); x.Outcome != api.Answered {
		t.Fatalf("%+v", x)
	}
	job, status := told[api.Job](o, "POST", "/api/cron", `{"name": "tea", "message": "make tea", "every": "1h", "to": "webchat/default/direct/main"}`)
	if status != http.StatusOK && status != http.StatusCreated {
		t.Fatalf("%d, %+v", status, job)
	}
	left, _ := told[[]sessions.Delivery](o, "GET", "/api/deliveries?session=main", "")
	if len(left) != 1 {
		t.Fatalf("%+v", left)
	}
	for _, path := range []string{
		"/", "/sessions", "/sessions/main", "/sessions/main/panel", "/search?q=hello", "/search?q=hello&session=main", "/runs", "/runs?session=main", "/runs/" + string(said.Run), "/deliveries", "/deliveries?session=main",
		"/deliveries/" + string(left[0].ID), "/policy", "/policy?session=main", "/usage", "/cron", "/cron/" + job.ID, "/status", "/channels", "/api/chat/history", "/api/chat/info",
		"/api/sessions", "/api/sessions/main", "/api/sessions/main/messages", "/api/runs", "/api/runs/" + string(said.Run), "/api/deliveries", "/api/search?q=hello", "/api/policy/explain?session=main", "/api/trace/" + string(said.Run), "/api/status", "/api/cron",
	} {
		if found := oneSessionsKey.FindString(look(path)); found != "" {
			t.Errorf("%s shows the key: %s", path, found)
		}
	}
	if page := look("/sessions"); !strings.Contains(page, `href="/sessions/main"`) {
		t.Error("the list of sessions has no link to main")
	}
	for _, body := range []string{`{"message": "x", "sessionKey": "main", "deliver": true}`, `{"message": "x", "sessionKey": "main", "agentId": "cook"}`} {
		if x, status := told[api.Failure](o, "POST", "/api/agent", body); status/100 == 4 && oneSessionsKey.MatchString(x.Error) {
			t.Errorf("%s: %+v", body, x)
		}
	}
}
