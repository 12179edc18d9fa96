package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/channels/whatsapp/whatsapptest"
	"parley/gateway/api"
	"parley/sessions"
)

// A person of WhatsApp whose number is hidden is let in by a code, and then silenced. When the number becomes known, nothing leaves: the
// session goes on, with its send policy and its pairing. Then they may be answered again, by number.
//
// source: zeroclaw-labs/zeroclaw#6350
func TestHiddenNumberBecomesKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	wa := whatsapptest.New(t)
	bot, olga, other := wa.NewPhone("parley"), wa.NewPerson("Olga"), wa.NewPerson("Other")
	w.lead(wa)
	text := fmt.Sprintf(`
state: state
gateway: {listen: "127.0.0.1:0"}
models: {providers: {mock: {api: openai, baseUrl: %s/v1, apiKey: x}}}
agents: {defaults: {model: mock/mock-1}}
channels: {whatsapp: {allowFrom: [%q], pacing: {perSecond: 0, perChatPerSecond: 0, perGroupPerMinute: 0}}}
`, w.model.URL(), other.Number())
	if err := os.WriteFile(filepath.Join(w.dir, "config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	keys := filepath.Join(w.dir, "state", "channels", "whatsapp", "default")
	if err := os.MkdirAll(keys, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := bot.Link(filepath.Join(keys, "keys.db")); err != nil {
		t.Fatal(err)
	}
	w.start()
	w.until(20*time.Second, "the account is connected", func() bool {
		for _, a := range fromAPI[[]api.Account](w, "/api/channels", nil) {
			if a.Channel == "whatsapp" && a.Live {
				return true
			}
		}
		return false
	})
	olga.Name(whatsapptest.Hidden)
	olga.Say(bot, "let me in")
	code := ""
	w.until(20*time.Second, "she is told a code", func() bool {
		for _, m := range olga.Heard(bot) {
			if _, rest, ok := strings.Cut(m.Text, "parley pairing approve whatsapp "); ok {
				code = rest[:8]
			}
		}
		return code != ""
	})
	if out, exit := w.cli("pairing", "approve", "whatsapp", code); exit != 0 {
		t.Fatalf("pairing: %d %s", exit, out)
	}
	olga.Say(bot, "one")
	if !olga.WaitHeard(bot, "echo: one") {
		t.Fatal("she is not answered")
	}
	var key string
	for _, s := range fromAPI[[]api.Session](w, "/api/sessions", nil) {
		if strings.HasSuffix(string(s.Key), "@lid") {
			key = string(s.Key)
		}
	}
	patch := func(policy any) {
		t.Helper()
		if err := w.host.call(w.ctx(), http.MethodPatch, "/api/sessions/"+url.PathEscape(key), nil, map[string]any{"sendPolicy": policy}, &api.Session{}); err != nil {
			t.Fatal(err)
		}
	}
	patch("deny")
	n := len(olga.Heard(bot))
	olga.Name(whatsapptest.ByLID) // the stanza names the number beside it
	olga.Say(bot, "two")
	w.until(20*time.Second, "her answer is withheld", func() bool {
		list := fromCLI[[]sessions.Delivery](w, "deliveries", "list", "--state", "withheld")
		return len(list) == 1 && list[0].Text == "echo: two" && string(list[0].Session) == key
	})
	if got := olga.Heard(bot); len(got) != n {
		t.Errorf("she was told %+v", got[n:])
	}
	patch(nil)
	olga.Say(bot, "three")
	if !olga.WaitHeard(bot, "echo: three") {
		t.Error("she is not answered by number")
	}
}
