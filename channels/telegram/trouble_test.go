package telegram_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/telegram"
	"parley/channels/telegram/telegramtest"
)

func TestStrayConflict(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		synctest.Wait()
		for n := 1; n <= 2; n++ {
			r.srv.Inject(telegramtest.Conflict(1))
			r.srv.Disconnect()
			began := time.Now()
			time.Sleep(time.Second) // virtual time
			r.srv.Say(anna, anna, "during")
			r.wait(n)
			if took := time.Since(began); took < time.Second || took > 3*time.Second {
				t.Errorf("deaf for %s after conflict %d", took, n)
			}
			time.Sleep(10 * time.Minute) // virtual time: the next conflict has nothing to do with this one
		}
		if strings.Contains(r.log.String(), "level=ERROR") {
			t.Errorf("a stray conflict is nothing loud:\n%s", r.log)
		}
	})
}

// A host that polls beside this one for a while, as during a deployment, makes it deaf for little longer than that, and the state says why.
//
// source: tdlib/telegram-bot-api, Client.cpp (of two long polls the older one is ended); lorcalhost/BTB-manager-telegram#69 (a bot that is killed and started again)
func TestShortConflict(t *testing.T) {
	for _, lasts := range []time.Duration{2 * time.Second, 5 * time.Second, 12 * time.Second, 24 * time.Second} {
		t.Run(lasts.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				synctest.Wait()
				remove := r.srv.Inject(telegramtest.Conflict(-1))
				r.srv.Disconnect()
				time.Sleep(lasts) // virtual time
				if h := r.ch.Health(); !strings.Contains(h.Detail, "another process polls with this bot token") {
					t.Errorf("%s: %+v", lasts, h)
				}
				remove()
				began := time.Now()
				r.srv.Say(anna, anna, "hello")
				r.wait(1)
				if took := time.Since(began); took > lasts+2*time.Second {
					t.Errorf("a conflict of %s, and deaf for %s after it", lasts, took)
				}
			})
		})
	}
}

// Each poll of one host ends the other's with a conflict, and each succeeds after it.
func TestTwoHostsWithOneToken(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.open().Run(ctx, r.inbox) }()
		time.Sleep(time.Hour) // virtual time
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if n := len(r.srv.Calls("getUpdates")); n > 480 { // two hosts without a conflict make 240
			t.Errorf("%d polls in an hour of two hosts", n)
		}
		if !strings.Contains(r.log.String(), "state=conflict") {
			t.Errorf("no word about the conflict:\n%s", r.log)
		}
	})
}

func TestWebhook(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		synctest.Wait()
		r.srv.SetWebhook("https://example.org/hook")
		r.srv.Disconnect()
		time.Sleep(time.Minute) // virtual time
		if h := r.ch.Health(); h.State != channels.Conflict || !strings.Contains(h.Detail, "webhook") || len(r.srv.Calls("deleteWebhook")) != 0 {
			t.Errorf("another program's webhook has to stay: %+v", h)
		}
		if err := r.stop(); err != nil {
			t.Fatal(err)
		}
		cfg := telegram.Config{Token: channels.NewSecret(r.srv.Token()), TakeOverWebhook: true}
		ch, err := telegram.New(cfg, telegram.Deps{Client: r.srv.Client()})
		if err != nil {
			t.Fatal(err)
		}
		r.ch = ch
		r.srv.Say(anna, anna, "hello")
		r.srv.Inject(telegramtest.TooManyRequests("deleteWebhook", 70)) // that is waited for, and no longer
		began := time.Now()
		r.start()
		time.Sleep(10 * time.Second) // virtual time
		if h := ch.Health(); !strings.Contains(h.Detail, "parley waits until") {
			t.Errorf("%+v", h)
		}
		r.wait(1)
		if took := time.Since(began); took < 70*time.Second || took > 72*time.Second || len(r.srv.Calls("deleteWebhook")) != 2 {
			t.Errorf("taking over took %s, %d calls", took, len(r.srv.Calls("deleteWebhook")))
		}
	})
}

func TestHangingPoll(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		synctest.Wait()
		r.srv.Inject(telegramtest.Fault{Method: "getUpdates", Hang: true})
		r.srv.Say(bert, bert, "ends the poll under way") // the next one hangs
		r.wait(1)
		synctest.Wait()
		began := time.Now()
		r.srv.Say(anna, anna, "while deaf")
		r.wait(2)
		if took := time.Since(began); took > 60*time.Second {
			t.Errorf("the hanging poll was noticed after %s", took)
		}
		r.srv.Inject(telegramtest.Fault{Method: "getUpdates", Cut: true})
		r.srv.Inject(telegramtest.Fault{Method: "getUpdates", Hang: true}) // the next poll, which does not wait on the server
		r.srv.Disconnect()
		time.Sleep(time.Minute) // virtual time
		for _, deadline := range []string{"for 45s", "for 15s"} {
			if n := strings.Count(r.log.String(), deadline); n != 1 {
				t.Errorf("%d lines name the deadline %s:\n%s", n, deadline, r.log)
			}
		}
	})
}

func TestServerErrorsOnPolls(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		synctest.Wait()
		for _, f := range []telegramtest.Fault{
			{Method: "getUpdates", Code: 500}, {Method: "getUpdates", Code: 502, Body: "<html>Bad Gateway</html>"},
			{Method: "getUpdates", Cut: true}, {Method: "getUpdates", Body: "not JSON"}, {Method: "getUpdates", Body: `{"ok":true,"result":{"update_id":1}}`},
			{Method: "getUpdates", Body: `{"ok":true}`}, {Method: "getUpdates", Body: `{}`},
		} {
			r.srv.Inject(f)
		}
		r.srv.Disconnect()
		time.Sleep(10 * time.Millisecond) // virtual time
		if h := r.ch.Health(); h.State != channels.Disconnected {
			t.Errorf("health after a cut: %+v", h)
		}
		r.srv.Say(anna, anna, "hello")
		r.wait(1)
		remove := r.srv.Inject(telegramtest.Fault{Method: "getUpdates", Code: 503, Times: -1})
		r.srv.Disconnect()
		time.Sleep(time.Hour) // virtual time
		r.srv.Say(anna, anna, "again")
		remove()
		began := time.Now()
		r.wait(2)
		if took := time.Since(began); took > time.Minute {
			t.Errorf("back %s after the outage, at most a minute is allowed", took)
		}
		if n := len(r.srv.Calls("getUpdates")); n < 60 || n > 240 {
			t.Errorf("%d polls in an hour of outage", n)
		}
	})
}

func TestPollObeysRetryAfter(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		for _, seconds := range []int{3, 491, 3600} {
			synctest.Wait()
			r.srv.Inject(telegramtest.TooManyRequests("getUpdates", seconds))
			r.srv.Disconnect()
			time.Sleep(time.Second) // virtual time
			r.srv.Forget()
			r.srv.Say(anna, anna, "hello")
			limitedAt := time.Now().Add(-time.Second)
			r.mu.Lock()
			n := len(r.got)
			r.mu.Unlock()
			if seconds == 3600 {
				time.Sleep(50 * time.Minute) // virtual time: longer than wait's bound
			}
			r.wait(n + 1)
			first := r.srv.Calls("getUpdates")[0].At
			if waited := first.Sub(limitedAt); waited < time.Duration(seconds)*time.Second {
				t.Errorf("polled %s after a retry_after of %d s", waited, seconds)
			}
		}
	})
}

// One strange answer is no verdict. Only Telegram's own refusal of the token, given over minutes and by getMe as well, ends an account, which
// says since when and why, and is tried again half an hour later.
// source: tdlib/telegram-bot-api#77, tdlib/telegram-bot-api#518
func TestRevokedToken(t *testing.T) {
	for _, code := range []int{http.StatusUnauthorized, http.StatusNotFound} {
		t.Run(http.StatusText(code), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				mend := r.srv.Inject(telegramtest.Fault{Code: code, Times: -1})
				began := time.Now()
				err := r.ch.Run(t.Context(), r.inbox)
				took := time.Since(began)
				h := r.ch.Health()
				if class(err) != channels.Unauthorized || h.State != channels.Revoked ||
					!strings.Contains(h.Detail, began.UTC().Format(time.RFC3339)) || !strings.Contains(h.Detail, http.StatusText(code)) {
					t.Errorf("%v, health %+v", err, h)
				}
				if took < 3*time.Minute || took > 6*time.Minute {
					t.Errorf("it ended after %s", took)
				}
				began = time.Now() // what the supervisor does later
				if err := r.ch.Run(t.Context(), r.inbox); class(err) != channels.Unauthorized || time.Since(began) > time.Second {
					t.Errorf("tried again: %v after %s", err, time.Since(began))
				}
				mend()
				r.start()
				r.srv.Say(anna, anna, "hello")
				r.wait(1)
				if h := r.ch.Health(); h.State != channels.Connected || h.Detail != "" {
					t.Errorf("mended: %+v", h)
				}
				if err := r.stop(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// What ends no account: a single refusal, one that getMe does not confirm, and pages of something in between, whatever their status says and
// however long they come.
// source: tdlib/telegram-bot-api#77, Naltox/telegram-node-bot#92, mvrozanti/RAT-via-Telegram#45
func TestStrangeAnswersEndNoAccount(t *testing.T) {
	faults := map[string]telegramtest.Fault{
		"401 once":            {Method: "getUpdates", Code: 401},
		"404 once":            {Method: "getUpdates", Code: 404, Description: "Not Found"},
		"401 of getMe once":   {Method: "getMe", Code: 401},
		"401 not confirmed":   {Method: "getUpdates", Code: 401, Times: -1},
		"Traefik":             {Code: 404, Body: "404 page not found\n", Times: -1},
		"JSON of a proxy":     {Code: 404, Body: `{"error":"not found"}`, Times: -1},
		"JSON with ok":        {Code: 401, Body: `{"ok":false,"description":"who are you"}`, Times: -1},
		"401 without a body":  {Code: 401, Empty: true, Times: -1},
		"403 page":            {Code: 403, Body: "<html>blocked</html>", Times: -1},
		"5xx for ever":        {Code: 503, Times: -1},
		"page with status OK": {Code: 200, Body: "<html>please log in</html>", Times: -1},
	}
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				mend := r.srv.Inject(f)
				r.start()
				time.Sleep(time.Hour) // virtual time
				if h := r.ch.Health(); h.State.Permanent() || f.Times < 0 && h.State != channels.Disconnected {
					t.Errorf("after an hour: %+v", h)
				}
				if n := len(r.srv.Calls("getUpdates")); f.Times < 0 && n > 200 {
					t.Errorf("%d polls in an hour", n)
				}
				mend()
				time.Sleep(2 * time.Minute) // virtual time
				r.srv.Say(anna, anna, "hello")
				r.wait(1)
				if err := r.stop(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestIdentityComesLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.srv.Inject(telegramtest.Fault{Method: "getMe", Code: 500, Times: 5})
		r.srv.Say(team, anna, "@"+telegramtest.BotUsername+" hello")
		r.start()
		synctest.Wait()
		if h := r.ch.Health(); h.State != channels.Connecting && h.State != channels.Connected || len(r.srv.Calls("getUpdates")) != 1 {
			t.Errorf("polling does not wait for getMe: %+v", h)
		}
		if in := r.wait(1)[0]; !in.Mentioned || in.Addressed != "hello" {
			t.Errorf("an event before the identity was known: %+v", in)
		}
		_ = r.stop()
	})
}

// A kill between the commit and the next poll: the server has no confirmation, so it delivers again.
func TestCrashBeforeConfirmation(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		synctest.Wait()
		r.refusing(func(channels.Inbound) error { r.srv.Down(true); return nil }) // the last sign of life: the commit
		r.srv.Say(anna, anna, "committed")
		r.wait(1)
		_ = r.stop()
		r.refusing(nil)
		r.srv.Down(false)
		r.ch = r.open()
		r.start()
		if got := r.wait(2); got[0].ID != got[1].ID || got[0].Address != got[1].Address {
			t.Errorf("not the same event: %+v", got)
		}
	})
}

func TestStopLetsEventsUnderWayFinish(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		began := make(chan struct{})
		r.refusing(func(channels.Inbound) error {
			close(began)
			time.Sleep(3 * time.Second) // virtual time
			return nil
		})
		p := r.srv.Say(anna, anna, "slow commit")
		<-began
		if err := r.stop(); err != nil {
			t.Error(err)
		}
		if len(r.got) != 1 || r.srv.Confirmed() != p.UpdateID {
			t.Errorf("taken %d, confirmed %d: the commit under way counts", len(r.got), r.srv.Confirmed())
		}
		r.stop = func() error { return nil }
	})
}

func TestGapIsLogged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		ch, err := telegram.New(telegram.Config{Token: channels.NewSecret(r.srv.Token())}, telegram.Deps{
			Client: r.srv.Client(), Logger: logger(r.log), Cursor: func(context.Context) (string, error) { return "1000", nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		r.ch = ch
		r.srv.Say(anna, anna, "hello")
		r.start()
		r.wait(1)
		_ = r.stop()
		if !strings.Contains(r.log.String(), "missing=") {
			t.Errorf("no word about the updates that are gone:\n%s", r.log)
		}
	})
}

func TestRenumberedUpdates(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.srv.Say(anna, anna, "before")
		r.wait(1)
		synctest.Wait()
		// A server that starts counting anew, lower than before, and gives updates below the offset.
		r.srv.Inject(telegramtest.Fault{Method: "getUpdates", Times: 200, Body: `{"ok":true,"result":[{"update_id":5,"message":
			{"message_id":77,"date":1,"chat":{"id":1001,"type":"private"},"from":{"id":1001,"is_bot":false,"first_name":"A"},"text":"renumbered"}}]}`})
		r.srv.Disconnect()
		if got := r.wait(2); got[1].Text != "renumbered" {
			t.Errorf("taken: %+v", got)
		}
		time.Sleep(time.Minute) // virtual time
		if n := len(r.srv.Calls("getUpdates")); n > 80 {
			t.Errorf("%d polls: a server that repeats itself must not be hammered", n)
		}
	})
}

func TestNewRefusesBadConfig(t *testing.T) {
	t.Parallel()
	token := channels.NewSecret("1:" + strings.Repeat("s", 20))
	for name, cfg := range map[string]telegram.Config{
		"no token":     {},
		"odd token":    {Token: channels.NewSecret("a b/c")},
		"odd URL":      {Token: token, APIURL: "api.telegram.org"},
		"long timeout": {Token: token, PollTimeoutSeconds: 51},
		"no time":      {Token: token, PollTimeoutSeconds: -1},
	} {
		if _, err := telegram.New(cfg, telegram.Deps{}); err == nil || strings.Contains(err.Error(), "ssss") {
			t.Errorf("%s: %v", name, err)
		}
		if name != "no time" && name != "long timeout" {
			cfg.PollTimeoutSeconds = 30
		}
		var checked interface{ Validate() error } = &cfg // as the host has it
		if err := checked.Validate(); err == nil || strings.Contains(err.Error(), "ssss") {
			t.Errorf("%s: Validate: %v", name, err)
		}
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	token := channels.NewSecret("1:" + strings.Repeat("s", 20))
	for seconds, want := range map[int]bool{-1: false, 0: false, 1: true, 50: true, 51: false} {
		if err := (telegram.Config{Token: token, PollTimeoutSeconds: seconds}).Validate(); (err == nil) != want {
			t.Errorf("%d s: %v", seconds, err)
		}
	}
	if _, err := telegram.New(telegram.Config{Token: token}, telegram.Deps{}); err != nil { // zero values are the defaults
		t.Error(err)
	}
}

// The host's logger names the channel and the account: a second time would be a second key in a JSON line.
func TestLogKeysAreSaidOnce(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		synctest.Wait()
		r.refusing(func(channels.Inbound) error { return context.Canceled })
		r.srv.Say(anna, anna, "refused")
		time.Sleep(time.Second) // virtual time
		r.refusing(nil)
		r.wait(1)
		if log := r.log.String(); strings.Contains(log, "account=") || strings.Contains(log, "error=") || !strings.Contains(log, "err=") {
			t.Errorf("the log has keys that it should not have, or lacks err:\n%s", log)
		}
	})
}

func TestRunAfterDeadNetwork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.srv.Down(true)
		r.start()
		time.Sleep(10 * time.Minute) // virtual time
		if h := r.ch.Health(); h.State != channels.Disconnected || h.Detail == "" {
			t.Errorf("health: %+v", h)
		}
		_, err := r.ch.Send(t.Context(), channels.Outbound{To: direct("1001"), Text: "x"})
		if class(err) != channels.Transient || telegramtest.IsSecret(err.Error()) {
			t.Errorf("refused connection: %v", err)
		}
		r.srv.Down(false)
		r.srv.Say(anna, anna, "hello")
		r.wait(1)
		if err := r.stop(); err != nil || telegramtest.IsSecret(r.log.String()) {
			t.Errorf("%v; log:\n%s", err, r.log)
		}
	})
}
