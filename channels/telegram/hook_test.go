package telegram_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/telegram"
	"parley/channels/telegram/telegramtest"
)

const hookSecret = "a-secret_of-the-webhook"

// hooked is a bubble with a bot that has a webhook.
func hooked(t *testing.T, change func(*telegram.Config), test func(t *testing.T, r *rig)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.config.Webhook = telegram.Webhook{URL: hookURL, Secret: channels.NewSecret(hookSecret)}
		if change != nil {
			change(&r.config)
		}
		r.ch = r.open()
		test(t, r)
		if r.stop != nil {
			if err := r.stop(); err != nil {
				t.Errorf("Run: %v", err)
			}
		}
		if log := r.log.String(); telegramtest.IsSecret(log) || strings.Contains(log, hookSecret) {
			t.Errorf("the log has a secret in it:\n%s", log)
		}
	})
}

func (r *rig) listen() {
	r.srv.Route(r.ch.Hook())
	r.start()
	_ = r.srv.Wait(r.t.Context(), r.srv.Hooked)
	synctest.Wait()
}

func TestWebhookDelivers(t *testing.T) {
	hooked(t, nil, func(t *testing.T, r *rig) {
		r.srv.Say(anna, anna, "before it was set")
		r.listen()
		r.srv.Reacts(anna, anna, 1, "👍")
		p := r.srv.Say(anna, anna, "hello")
		got := r.wait(3)
		if got[0].Text != "before it was set" || got[1].Event != channels.Reacted || got[2].Text != "hello" || got[2].Address != direct("1001") {
			t.Errorf("%+v", got)
		}
		if err := r.srv.WaitConfirmed(t.Context(), p.UpdateID); err != nil {
			t.Error(err)
		}
		if h := r.ch.Health(); !h.Live(time.Now()) || h.Name != telegramtest.BotUsername {
			t.Errorf("%+v", h)
		}
		set := r.srv.Calls("setWebhook")
		if len(set) != 1 || set[0].Params.Get("secret_token") != hookSecret || set[0].Params.Get("url") != hookURL || !strings.Contains(set[0].Params.Get("allowed_updates"), "message_reaction") {
			t.Errorf("%+v", set)
		}
		time.Sleep(time.Hour) // virtual time, without any update
		if h := r.ch.Health(); !h.Live(time.Now()) {
			t.Errorf("quiet for an hour: %+v", h)
		}
		if n := len(r.srv.Calls("getWebhookInfo")); n < 58 || n > 63 {
			t.Errorf("%d looks in an hour", n)
		}
		if len(r.srv.Calls("getUpdates", "deleteWebhook")) != 0 || len(r.srv.Calls("setWebhook")) != 1 {
			t.Error("it polled, or set the webhook again")
		}
	})
}

// What the inbox refuses is answered with an error and delivered again, before what follows in its chat.
func TestWebhookRefusals(t *testing.T) {
	hooked(t, nil, func(t *testing.T, r *rig) {
		r.listen()
		tries := 0
		r.refusing(func(in channels.Inbound) error {
			if in.Text == "one" {
				if tries++; tries < 4 {
					return errors.New("disk full")
				}
			}
			return nil
		})
		first := r.srv.Say(anna, anna, "one")
		r.srv.Say(anna, anna, "two")
		r.srv.Say(bert, bert, "other chat")
		var order []string
		for _, in := range r.wait(3) {
			order = append(order, in.Text)
		}
		if !slices.Equal(order, []string{"other chat", "one", "two"}) || tries != 4 {
			t.Errorf("%v after %d tries", order, tries)
		}
		for _, d := range r.srv.Deliveries()[:3] {
			if d.Update == first.UpdateID && !strings.Contains(d.Problem, "503") {
				t.Errorf("%+v", d)
			}
		}
	})
}

// While Telegram cannot deliver, health says why; when it can again, nothing is lost.
func TestWebhookTrouble(t *testing.T) {
	hooked(t, nil, func(t *testing.T, r *rig) {
		r.listen()
		r.srv.Route(nil)
		r.srv.Say(anna, anna, "while unreachable")
		time.Sleep(5 * time.Minute) // virtual time
		if h := r.ch.Health(); h.Live(time.Now()) || h.State != channels.Disconnected || !strings.Contains(h.Detail, "Connection refused") {
			t.Errorf("unreachable: %+v", h)
		}
		r.srv.Route(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(30 * time.Second) // virtual time: a proxy without anything behind it
			w.WriteHeader(http.StatusGatewayTimeout)
		}))
		for range 180 { // between two tries nothing is delivered either
			time.Sleep(10 * time.Second) // virtual time
			if h := r.ch.Health(); h.State != channels.Disconnected {
				t.Fatalf("between two tries: %+v", h)
			}
		}
		r.srv.Route(r.ch.Hook())
		r.wait(1)
		time.Sleep(2 * time.Minute) // virtual time
		if h := r.ch.Health(); !h.Live(time.Now()) {
			t.Errorf("back: %+v", h)
		}
		r.srv.Down(true)
		time.Sleep(5 * time.Minute) // virtual time
		if h := r.ch.Health(); h.Live(time.Now()) || h.State != channels.Disconnected {
			t.Errorf("Telegram is down: %+v", h)
		}
		r.srv.Down(false)
		time.Sleep(2 * time.Minute) // virtual time
		if h := r.ch.Health(); !h.Live(time.Now()) {
			t.Errorf("up again: %+v", h)
		}
		r.srv.Inject(telegramtest.Fault{Method: "getWebhookInfo", Code: 401})
		time.Sleep(2 * time.Minute) // virtual time
		if h := r.ch.Health(); h.State != channels.Connected {
			t.Errorf("one refusal is no verdict: %+v", h)
		}
		r.srv.Inject(telegramtest.Fault{Code: 401, Times: -1})
		time.Sleep(10 * time.Minute) // virtual time
		if h := r.ch.Health(); h.State != channels.Revoked || class(r.stop()) != channels.Unauthorized {
			t.Errorf("revoked: %+v", h)
		}
		r.stop = nil
	})
}

// What the host does not take is no sign of life, what it takes is one at once.
func TestWebhookSeen(t *testing.T) {
	hooked(t, nil, func(t *testing.T, r *rig) {
		r.listen()
		seen := r.ch.Health().LastSeen
		time.Sleep(30 * time.Second) // virtual time, between two looks
		r.refusing(func(channels.Inbound) error { return errors.New("disk full") })
		r.srv.Say(anna, anna, "one")
		synctest.Wait()
		if now := r.ch.Health().LastSeen; now != seen {
			t.Errorf("refused, and seen %s later", now.Sub(seen))
		}
		r.refusing(nil)
		r.wait(1)
		if now := r.ch.Health().LastSeen; now.Sub(seen) < 30*time.Second || now.Sub(seen) > 40*time.Second {
			t.Errorf("taken, and seen %s later", now.Sub(seen))
		}
	})
}

// Another program's webhook stays, unless the configuration says otherwise.
func TestWebhookOfAnother(t *testing.T) {
	for _, takeOver := range []bool{false, true} {
		t.Run("", func(t *testing.T) {
			hooked(t, func(c *telegram.Config) { c.TakeOverWebhook = takeOver }, func(t *testing.T, r *rig) {
				r.srv.SetWebhook("https://example.org/another")
				r.srv.Route(r.ch.Hook())
				r.start()
				time.Sleep(3 * time.Minute) // virtual time
				want := channels.Conflict
				if takeOver {
					want = channels.Connected
				}
				if h := r.ch.Health(); h.State != want || r.srv.Hooked() != takeOver {
					t.Errorf("%+v, set %v", h, r.srv.Hooked())
				}
			})
		})
	}
}

// Back from a webhook to polling: nothing is lost, and the webhook goes when the configuration lets it.
func TestFromWebhookToPolling(t *testing.T) {
	hooked(t, nil, func(t *testing.T, r *rig) {
		r.listen()
		r.srv.Say(anna, anna, "by webhook")
		r.wait(1)
		_ = r.stop()
		r.srv.Say(anna, anna, "in between")
		synctest.Wait()
		r.config.Webhook, r.config.TakeOverWebhook = telegram.Webhook{}, true
		r.ch = r.open()
		if r.ch.Hook() != nil {
			t.Error("a hook without a webhook")
		}
		r.start()
		if got := r.wait(2); got[1].Text != "in between" || r.srv.Hooked() {
			t.Errorf("%+v", got)
		}
	})
}

func TestHookIsGuarded(t *testing.T) {
	hooked(t, nil, func(t *testing.T, r *rig) {
		const good = `{"update_id":5,"message":{"message_id":5,"date":1,"chat":{"id":1001,"type":"private","first_name":"A"},"from":{"id":1001,"is_bot":false,"first_name":"A"},"text":"hi"}}`
		post := func(method, secret, body string) int {
			req := httptest.NewRequestWithContext(t.Context(), method, "/hook", strings.NewReader(body))
			req.Header.Set("X-Telegram-Bot-Api-Secret-Token", secret)
			rec := httptest.NewRecorder()
			req.Body = http.MaxBytesReader(rec, req.Body, 1<<20) // as the host bounds it: cut there, an update is listed all the same
			r.ch.Hook().ServeHTTP(rec, req)
			return rec.Code
		}
		if code := post("POST", hookSecret, good); code != http.StatusServiceUnavailable {
			t.Errorf("before Run: %d", code)
		}
		r.listen()
		for _, c := range []struct {
			name, method, secret, body string
			want, events               int
		}{
			{"no secret", "POST", "", good, 401, 0}, {"wrong secret", "POST", hookSecret + "x", good, 401, 0}, {"GET", "GET", hookSecret, good, 405, 0},
			{"good", "POST", hookSecret, good, 200, 1}, {"ignored", "POST", hookSecret, `{"update_id":6,"poll":{}}`, 200, 0},
			{"no JSON", "POST", hookSecret, "{{{", 200, 1}, {"nothing", "POST", hookSecret, "", 200, 1}, {"endless", "POST", hookSecret, `{"update_id":7,"x":"` + strings.Repeat("x", 3<<20) + `"}`, 200, 1},
		} {
			n := len(r.wait(0))
			if code := post(c.method, c.secret, c.body); code != c.want || len(r.wait(0))-n != c.events {
				t.Errorf("%s: %d, %d events", c.name, code, len(r.wait(0))-n)
			}
			if c.events == 1 && c.name != "good" && (r.got[n].Event != channels.Unreadable || len(r.got[n].Raw) > 4<<10) {
				t.Errorf("%s: %+v", c.name, r.got[n])
			}
		}
		// The caller goes away while the inbox works: what has begun is finished. Run waits for it.
		began, n := make(chan struct{}), len(r.wait(0))
		r.refusing(func(channels.Inbound) error {
			close(began)
			time.Sleep(3 * time.Second) // virtual time
			return nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		req := httptest.NewRequestWithContext(ctx, "POST", "/hook", strings.NewReader(strings.Replace(good, ":5,", ":9,", 1)))
		req.Header.Set("X-Telegram-Bot-Api-Secret-Token", hookSecret)
		go r.ch.Hook().ServeHTTP(httptest.NewRecorder(), req)
		<-began
		cancel()
		if err := r.stop(); err != nil || len(r.got) != n+1 {
			t.Errorf("%v, %d events", err, len(r.got)-n)
		}
		r.stop = nil
		if code := post("POST", hookSecret, good); code != http.StatusServiceUnavailable {
			t.Errorf("after Run: %d", code)
		}
	})
}

// However requests of a chat overlap, its events are offered one after the other, and chats do not wait for each other.
// The parts of an album come one after the other, each when the one before it was taken: each says that more may follow, and other messages
// do not.
// source: Bot API, "setWebhook" (an update is sent again until it is answered with 2xx), Message.media_group_id
func TestWebhookAlbum(t *testing.T) {
	hooked(t, nil, func(t *testing.T, r *rig) {
		r.listen()
		r.srv.Album(anna, anna, "look", 1, pictures(3), nil)
		r.srv.Say(anna, anna, "that is all")
		got, files := r.wait(4), ""
		for i, in := range got {
			files += refs(in) + " "
			if in.Event != channels.Message || in.More != (i < 3) {
				t.Errorf("%d: %s, more: %v", i, in.Event, in.More)
			}
		}
		if files != "p0 p1 p2  " || got[1].Text != "look" {
			t.Errorf("%q, %q", files, got[1].Text)
		}
	})
}

func TestHookKeepsChatsApart(t *testing.T) {
	hooked(t, nil, func(t *testing.T, r *rig) {
		r.listen()
		var inAnna, most, others atomic.Int64
		deps := telegram.Deps{Client: r.srv.Client()}
		ch, err := telegram.New(r.config, deps)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- ch.Run(ctx, func(_ context.Context, in channels.Inbound) error {
				if in.Address.Chat != "1001" {
					others.Add(1)
					return nil
				}
				most.Store(max(most.Load(), inAnna.Add(1)))
				time.Sleep(time.Second) // virtual time
				inAnna.Add(-1)
				return nil
			})
		}()
		synctest.Wait()
		for id, chat := range []string{"1001", "1001", "1001", "1002"} {
			body := strings.NewReplacer("$id", string(rune('1'+id)), "$chat", chat).Replace(`{"update_id":$id,"message":{"message_id":$id,"date":1,"chat":{"id":$chat,"type":"private"},"from":{"id":$chat},"text":"x"}}`)
			req := httptest.NewRequestWithContext(t.Context(), "POST", "/hook", strings.NewReader(body))
			req.Header.Set("X-Telegram-Bot-Api-Secret-Token", hookSecret)
			go ch.Hook().ServeHTTP(httptest.NewRecorder(), req)
		}
		synctest.Wait()
		if most.Load() != 1 || others.Load() != 1 {
			t.Errorf("%d at once in one chat, %d of others", most.Load(), others.Load())
		}
		time.Sleep(5 * time.Second) // virtual time
		if most.Load() != 1 {
			t.Errorf("%d at once in one chat", most.Load())
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestWebhookConfig(t *testing.T) {
	t.Parallel()
	token := channels.NewSecret("1:" + strings.Repeat("s", 20))
	for name, c := range map[string]struct {
		url, secret, says string
	}{
		"good": {hookURL, "a_b-9", ""}, "none": {"", "", ""}, "no secret": {hookURL, "", "webhook.secret: is missing"}, "no URL": {"", "a", "webhook.url: is missing"},
		"plain http": {"http://example.org/x", "a", "webhook.url: want"}, "no host": {"https:///x", "a", "webhook.url: want"},
		"odd secret": {hookURL, "a secret!", "webhook.secret: want"}, "long secret": {hookURL, strings.Repeat("a", 257), "webhook.secret: want"},
	} {
		cfg := telegram.Config{Token: token, PollTimeoutSeconds: 30, Webhook: telegram.Webhook{URL: c.url, Secret: channels.NewSecret(c.secret)}}
		err := cfg.Validate()
		if (err == nil) != (c.says == "") || err != nil && (!strings.Contains(err.Error(), c.says) || c.secret != "" && c.secret != "a" && strings.Contains(err.Error(), c.secret)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
