package telegram_test

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"testing"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/channels/telegram"
	"parley/channels/telegram/telegramtest"
)

// platform is the stand-in as the conformance suite sees it.
type platform struct {
	srv  *telegramtest.Server
	open func(t *testing.T) channels.Channel
}

func (p platform) Say(at channeltest.Place, text string) bool {
	chat, from, opts := where(at)
	p.srv.Say(chat, from, text, opts...)
	return true
}

func (p platform) Shown(to channels.Address) []string {
	var texts []string
	for _, m := range p.srv.Sent() {
		thread := ""
		if m.Thread != 0 {
			thread = strconv.FormatInt(m.Thread, 10)
		}
		if strconv.FormatInt(m.Chat, 10) == string(to.Chat) && thread == string(to.Thread) && (m.Text != "" || len(m.Files) == 0) {
			texts = append(texts, m.Text)
		}
	}
	return texts
}

func (p platform) Fail(to channels.Address, class channels.Class) bool {
	chat, _ := strconv.ParseInt(string(to.Chat), 10, 64)
	f := telegramtest.Fault{Method: "sendMessage", Chat: chat}
	switch class {
	case channels.Limited:
		f.Code, f.RetryAfter = http.StatusTooManyRequests, 30
	case channels.Rejected:
		f.Code = http.StatusForbidden
	case channels.Unauthorized:
		f.Code = http.StatusUnauthorized
	case channels.Ambiguous:
		f.Cut = true
	case channels.Transient:
		f.Code, f.Body = http.StatusForbidden, "<html>a proxy</html>"
	case channels.Unsupported:
		return false
	}
	p.srv.Inject(f)
	return true
}

func (p platform) Disconnect() {
	_ = p.srv.Wait(context.Background(), func() bool { return p.srv.Polling() || p.srv.Hooked() }) // else there would be nothing to cut
	p.srv.Disconnect()
}

func (p platform) Reopen(t *testing.T, _ string) channels.Channel { return p.open(t) }

// The ways to run the suite.
const (
	polling  = "polling"  // on virtual time
	hooking  = "hooking"  // on virtual time, with a webhook
	overHTTP = "overHTTP" // over real connections
)

const hookURL = "https://parley.example.org/channels/telegram/default/hook"

// harness gives the suite a bot.
func harness(way string) channeltest.Harness {
	h := channeltest.Harness{
		Virtual: way != overHTTP, Secrets: []string{telegramtest.BotToken, telegramtest.BotToken[11:], hookSecret}, PlatformText: 4096,
		Reconnects: channeltest.Times(100, 1000),
	}
	h.New = func(t *testing.T, log *slog.Logger) (channels.Channel, channeltest.Platform) {
		srv := newServer(t)
		cfg := telegram.Config{Token: channels.NewSecret(srv.Token())}
		deps := telegram.Deps{Logger: log, Client: srv.Client()}
		switch way {
		case overHTTP:
			cfg.APIURL, deps.Client = srv.URL(), nil
		case hooking:
			cfg.Webhook = telegram.Webhook{URL: hookURL, Secret: channels.NewSecret(hookSecret)}
		}
		open := func(t *testing.T) channels.Channel {
			ch, err := telegram.New(cfg, deps)
			if err != nil {
				t.Fatal(err)
			}
			srv.Route(channels.Probe(ch).Hooked.Hook())
			return ch
		}
		return open(t), platform{srv, open}
	}
	if way == overHTTP {
		h.Reconnects = channeltest.Times(10, 1000)
	}
	return h
}

func TestConformance(t *testing.T) {
	t.Parallel()
	channeltest.Run(t, harness(polling))
}

func TestConformanceWithWebhook(t *testing.T) {
	t.Parallel()
	channeltest.Run(t, harness(hooking))
}

// Not parallel: the leak check would see other tests' goroutines.
func TestConformanceOverHTTP(t *testing.T) { channeltest.Run(t, harness(overHTTP)) }
