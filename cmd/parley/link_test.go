package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/whatsapp/whatsapptest"
	"parley/gateway/api"
)

// TestLinkWhatsApp links a new account as a person does: the host shows a code, the phone scans it, a message is answered; then the link
// is ended. The code is in no log.
func TestLinkWhatsApp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	wa := whatsapptest.New(t)
	bot, olga := wa.NewPhone("parley"), wa.NewPerson("Olga")
	w.lead(wa)
	text := fmt.Sprintf(`
state: state
gateway: {listen: "127.0.0.1:0"}
models: {providers: {mock: {api: openai, baseUrl: %s/v1, apiKey: x}}}
agents: {defaults: {model: mock/mock-1}}
channels: {whatsapp: {allowFrom: [%q], dmPolicy: allowlist}}
`, w.model.URL(), olga.Number())
	if err := os.WriteFile(filepath.Join(w.dir, "config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := w.start()
	is := func(state channels.State) func() bool {
		return func() bool {
			for _, a := range fromAPI[[]api.Account](w, "/api/channels", nil) {
				if a.Channel == "whatsapp" {
					return a.State == state && a.Live == (state == channels.Connected)
				}
			}
			return false
		}
	}
	w.until(20*time.Second, "the account is not linked", is(channels.LoggedOut))

	req, err := http.NewRequestWithContext(w.ctx(), http.MethodPost, w.host.base+"/api/channels/login", strings.NewReader(`{"channel": "whatsapp"}`))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := w.host.do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var code string
	var last api.LoginStep
	for in := bufio.NewScanner(resp.Body); in.Scan() && !last.Done; {
		last = api.LoginStep{}
		if err := json.Unmarshal(in.Bytes(), &last); err != nil || last.Error != "" {
			t.Fatalf("%v: %s", err, in.Text())
		}
		if last.QR != "" && code == "" {
			code = last.QR
			if err := bot.Scan(code); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !last.Done || code == "" {
		t.Fatalf("the login ended with %+v", last)
	}
	w.until(20*time.Second, "the account is connected", is(channels.Connected))
	olga.Say(bot, "hello")
	if !olga.WaitHeard(bot, "echo: hello") {
		t.Error("the linked account does not answer")
	}
	if out, exit := w.cli("logout", "whatsapp"); exit != 0 {
		t.Errorf("logout: %d %s", exit, out)
	}
	w.until(20*time.Second, "the account is not linked any more", is(channels.LoggedOut))
	if _, secret, _ := strings.Cut(code, "#"); secret == "" || strings.Contains(p.log.String(), strings.Split(secret, ",")[3]) {
		t.Errorf("the log has the code, or there was none: %q", code)
	}
}
