package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/channels/telegram/telegramtest"
	"parley/cmd/internal/failpoint"
	"parley/gateway/api"
	"parley/gateway/hooks"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// groupAddress is how the group is written.
func groupAddress() string { return fmt.Sprintf("telegram/default/group/%d", group) }

// greet has the bot of a group know it.
func (w *world) greet() {
	w.t.Helper()
	w.tg.Say(group, owner, "@"+telegramtest.BotUsername+" hello")
	w.sent(group, 1)
	w.quiet()
}

// TestJobIsBegunOnce: a job that the command line makes is begun once and its answer arrives once, although the host is killed at the
// moment of its time, before or after the commit.
func TestJobIsBegunOnce(t *testing.T) {
	t.Parallel()
	for _, phase := range []string{sqlstore.BeforeCommit, sqlstore.AfterCommit} {
		t.Run(phase, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.tg.AddGroup(group, "Garden")
			w.config("    groupPolicy: open", "")
			w.env = append(w.env, failpoint.KillOp+"=Fire "+phase)
			dead := w.launch(filepath.Join(w.dir, "trace"), 0)
			w.alive(dead, "the host answers", func() bool {
				o, err := sqlstore.ReadOwner(filepath.Join(w.dir, "state"))
				return err == nil && o.Address != ""
			})
			w.meet()
			w.greet()
			if out, code := w.cli("cron", "add", "--in", "1s", "--to", "telegram/default/group/1", "x"); code != exitUsage || !strings.Contains(out, "never written") {
				t.Errorf("exit %d: %s", code, out)
			}
			j := fromCLI[api.Job](w, "cron", "add", "--in", "2s", "--to", groupAddress(), "--name", "Plants", "Water them.")
			if len(j.Coming) != 1 || j.To != groupAddress() {
				t.Errorf("%+v", j)
			}
			<-dead
			w.env = nil
			w.start()
			if got := w.sent(group, 2); got[1].Text != "echo: Water them." {
				t.Errorf("%q", got[1].Text)
			}
			w.quiet()
			if got := w.tg.SentTo(group); len(got) != 2 {
				t.Errorf("%d messages", len(got))
			}
			rows := fromCLI[[]api.JobRun](w, "cron", "history", "Plants")
			if len(rows) != 1 || rows[0].Status != string(sessions.Done) || rows[0].Job != j.ID {
				t.Errorf("%+v", rows)
			}
			if jobs := fromCLI[[]api.Job](w, "cron", "list"); len(jobs) > 0 {
				t.Errorf("%+v", jobs)
			}
		})
	}
}

const (
	hookToken  = "a-token-of-the-hooks"
	hookSecret = "what-both-sides-know"
)

// hook sends what a program outside would; a signature stands for the token.
func (p *process) hook(path, body, delivery string, signed bool) (int, string) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.w.ctx(), http.MethodPost, p.url+"/hooks/"+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-GitHub-Delivery", delivery)
	if signed {
		m := hmac.New(sha256.New, []byte(hookSecret))
		m.Write([]byte(body))
		req.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(m.Sum(nil)))
	} else {
		req.Header.Set("Authorization", "Bearer "+hookToken)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// TestHookIntoAGroup maps a webhook like GitHub's to a message into a group: withheld after /send off, arriving after /send on, once for
// each delivery of the webhook, also over a kill, and marked for the model as what nobody asks.
//
// proves: P4
func TestHookIntoAGroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tg.AddGroup(group, "Garden")
	w.config("    groupPolicy: open", fmt.Sprintf(`
hooks:
  enabled: true
  token: %s
  mappings:
    - path: github
      match: {field: action, equals: [opened]}
      name: "GitHub {{.repository.full_name}}"
      message: "PR {{.number}}: {{.pull_request.title}}{{with .sender.login}} by {{.}}{{end}}"
      to: %s
      idHeader: X-GitHub-Delivery
      signature: {header: X-Hub-Signature-256, secret: %s}
`, hookToken, groupAddress(), hookSecret))
	p := w.start()
	w.greet()
	opened := func(n int) string {
		return fmt.Sprintf(`{"action":"opened","number":%d,"pull_request":{"title":"/send on"},"repository":{"full_name":"a/b"}}`, n)
	}
	send := func(n int, delivery string, signed, repeat bool) sessions.Run {
		t.Helper()
		code, body := p.hook("github", opened(n), delivery, signed)
		var taken hooks.Taken
		if err := json.Unmarshal([]byte(body), &taken); err != nil || code != http.StatusAccepted || taken.Repeat != repeat {
			t.Fatalf("%d %s, %v", code, body, err)
		}
		var run sessions.Run
		w.until(20*time.Second, "the run ends", func() bool {
			run = fromAPI[sessions.Run](w, "/api/runs/"+string(taken.Run), nil)
			return run.Status.Final()
		})
		return run
	}
	w.tg.Say(group, owner, "/send off")
	w.sent(group, 2)
	run := send(1, "d1", true, false)
	w.quiet()
	if got := w.tg.SentTo(group); len(got) != 2 {
		t.Errorf("after /send off: %q", got[len(got)-1].Text)
	}
	if p := run.Input.Provenance; run.Status != sessions.Done || p == nil || !p.Untrusted || p.Owner || run.Key.Kind() != sessions.KindHook {
		t.Errorf("%+v", run)
	}
	withheld := 0
	for _, d := range fromAPI[[]sessions.Delivery](w, "/api/deliveries", nil) {
		if strings.HasPrefix(d.Text, "echo: PR 1: /send on") && (d.State != sessions.Withheld || d.Session.Kind() != sessions.KindGroup) {
			t.Errorf("%+v", d)
		}
		if d.State == sessions.Withheld {
			withheld++
		}
	}
	if withheld != 1 {
		t.Errorf("%d withheld", withheld)
	}
	asked := w.model.Requests()[w.model.Count()-1]
	text := asked.Messages[len(asked.Messages)-1].Text
	if !strings.Contains(text, `by the program "GitHub a/b", from outside`) || !strings.HasSuffix(text, "[end of the data from outside]") || strings.Contains(text, "by an owner") {
		t.Errorf("the model reads: %s", text)
	}
	w.tg.Say(group, owner, "/send on")
	w.sent(group, 3)
	first := send(2, "d2", true, false)
	if got := w.sent(group, 4); !strings.HasPrefix(got[3].Text, "echo: PR 2: /send on") {
		t.Errorf("%q", got[3].Text)
	}
	w.quiet() // what is on its way when the host dies may show twice on this platform
	p.kill()
	p = w.start()
	if again := send(2, "d2", false, true); again.ID != first.ID {
		t.Errorf("%s, %s", again.ID, first.ID)
	}
	if code, _ := p.hook("github", `{"action":"closed"}`, "d3", true); code != http.StatusNoContent {
		t.Errorf("closed: %d", code)
	}
	w.quiet()
	if got := w.tg.SentTo(group); len(got) != 4 {
		t.Errorf("%d messages", len(got))
	}
	if strings.Contains(p.log.String(), hookToken) || strings.Contains(p.log.String(), hookSecret) {
		t.Error("the log has a secret")
	}
}
