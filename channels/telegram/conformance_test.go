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
	switch at {
	case channeltest.OneToOne:
		p.srv.Say(anna, anna, text)
	case channeltest.Another:
		p.srv.Say(bert, bert, text)
	case channeltest.InGroup:
		p.srv.Say(team, anna, text)
	case channeltest.InThread:
		p.srv.Say(forum, anna, text, telegramtest.InTopic(topic))
	}
	return true
}

func (p platform) Shown(to channels.Address) []string {
	var texts []string
	for _, m := range p.srv.Sent() {
		thread := ""
		if m.Thread != 0 {
			thread = strconv.FormatInt(m.Thread, 10)
		}
		if strconv.FormatInt(m.Chat, 10) == string(to.Chat) && thread == string(to.Thread) {
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
		f.Code, f.MigrateTo = http.StatusBadRequest, -100999
	case channels.Unsupported:
		return false
	}
	p.srv.Inject(f)
	return true
}

func (p platform) Disconnect() {
	_ = p.srv.Wait(context.Background(), p.srv.Polling) // else there would be nothing to cut
	p.srv.Disconnect()
}

func (p platform) Reopen(t *testing.T, _ string) channels.Channel { return p.open(t) }

// harness gives the suite a bot; real says over real connections.
func harness(real bool) channeltest.Harness {
	h := channeltest.Harness{Virtual: !real, Secrets: []string{telegramtest.BotToken, telegramtest.BotToken[11:]}, PlatformText: 4096}
	h.New = func(t *testing.T, log *slog.Logger) (channels.Channel, channeltest.Platform) {
		srv := newServer(t)
		cfg := telegram.Config{Token: channels.NewSecret(srv.Token())}
		deps := telegram.Deps{Logger: log, Client: srv.Client()}
		if real {
			cfg.APIURL, deps.Client = srv.URL(), nil
		}
		open := func(t *testing.T) channels.Channel {
			ch, err := telegram.New(cfg, deps)
			if err != nil {
				t.Fatal(err)
			}
			return ch
		}
		return open(t), platform{srv, open}
	}
	if real {
		h.Reconnects = 10
	}
	return h
}

func TestConformance(t *testing.T) {
	t.Parallel()
	channeltest.Run(t, harness(false))
}

// Not parallel: the leak check would see other tests' goroutines.
func TestConformanceOverHTTP(t *testing.T) { channeltest.Run(t, harness(true)) }
