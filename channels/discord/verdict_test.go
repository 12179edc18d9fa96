package discord

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/discord/discordtest"
)

// One strange answer ends no account: neither a single refusal of the token or of the intents, nor pages at any status for hours, nor a
// token that the gateway refuses and every other call takes.
// source: tdlib/telegram-bot-api#77, discord/discord-api-docs "Gateway Close Event Codes"
func TestOneStrangeAnswerIsNoVerdict(t *testing.T) {
	gateway := func(f discordtest.Fault) func(*discordtest.Server) {
		f.Route = discordtest.RouteGatewayBot
		return func(s *discordtest.Server) { s.Inject(f) }
	}
	links := func(list ...discordtest.Link) func(*discordtest.Server) {
		return func(s *discordtest.Server) { s.Next(list...) }
	}
	for name, spoil := range map[string]func(*discordtest.Server){
		"one 401":                gateway(discordtest.Fault{Status: 401}),
		"one 404 page":           gateway(discordtest.Fault{Status: 404, Body: "404 page not found\n"}),
		"401 pages for a while":  gateway(discordtest.Fault{Status: 401, Body: "<html>log in", Times: 20}),
		"403 pages for a while":  gateway(discordtest.Fault{Status: 403, Body: "<html>error code: 1020", Times: 8}),
		"429 pages for a while":  gateway(discordtest.Fault{Status: 429, Body: "<html>error code: 1015", Times: 8}),
		"other JSON for a while": gateway(discordtest.Fault{Status: 401, Body: `{"error":"unauthorized"}`, Times: 20}),
		"empty for a while":      gateway(discordtest.Fault{Status: 401, Empty: true, Times: 20}),
		"5xx for a while":        gateway(discordtest.Fault{Status: 503, Times: 20}),
		"one 4004":               links(ends(4004, 1)...),
		"one 4014":               links(ends(4014, 1)...),
		"the gateway alone":      links(ends(4004, 50)...),
		"upgrades with 401":      links(discordtest.Link{Status: 401}, discordtest.Link{Status: 403}, discordtest.Link{Status: 404}),
		"4011, but nobody there": func(s *discordtest.Server) {
			s.Next(ends(4011, 50)...)
			s.Inject(discordtest.Fault{Route: discordtest.RouteMe, Status: 502, Times: -1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHost(t)
				spoil(h.srv)
				h.start()
				h.after(2 * time.Hour)
				if s := h.ch.Health(); s.State != channels.Connected {
					t.Errorf("two hours later: %+v", s)
				}
				h.stop()
			})
		})
	}
}

// While a refusal is doubted, people read what is wrong and what to do.
func TestDoubtedRefusalIsSaid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.srv.Revoke(true)
		h.start()
		h.after(time.Minute)
		if s := h.ch.Health(); s.State != channels.Disconnected || !strings.Contains(s.Detail, "reset the token at") || !strings.Contains(s.Detail, "parley tries again") {
			t.Errorf("%+v", s)
		}
		_ = h.halt()
	})
}

// What is not said in Discord's own words says nothing about the bot or the message, with any status. A page after the message was made,
// or where the message should be described, leaves open whether it was.
// source: tdlib/telegram-bot-api#518 (a proxy's pages); Cloudflare's error 1015 and 1020
func TestPagesAreNoAnswers(t *testing.T) {
	for _, status := range []int{200, 201, 204, 301, 400, 401, 402, 403, 404, 405, 407, 408, 409, 410, 414, 418, 421, 422, 425, 426, 428, 429, 431, 451, 499, 500, 502, 503, 504, 520, 522, 530} {
		for what, body := range map[string]string{"page": "<html><body>no</body></html>", "text": "404 page not found\n", "JSON": `{"error":"no"}`, "list": `[]`, "nothing": ""} {
			inBubbleNamed(t, fmt.Sprint(status, " ", what), func(h *host) {
				h.srv.Inject(discordtest.Fault{Method: http.MethodPost, Route: discordtest.RouteMessages, Status: status, Body: body, Empty: body == ""})
				_, err := h.send(channels.Outbound{Key: "k", Text: "hello", Files: []channels.File{file("a.txt", "A")}})
				want := channels.Transient
				switch {
				case status == 429:
					want = channels.Limited
				case status >= 500, status < 300:
					want = channels.Ambiguous
				}
				if err == nil || err.Class != want {
					h.t.Errorf("%v, want %s", err, want)
				}
			})
		}
	}
}

func inBubbleNamed(t *testing.T, name string, test func(h *host)) {
	t.Run(name, func(t *testing.T) { inBubble(t, test) })
}

// Pages without a word of when to come again are met with waits that grow, until Discord itself answers.
// source: discord/discord-api-docs "Rate Limits", invalid requests: 10,000 in ten minutes block the address for an hour
func TestPagesMakeTheBotWaitLonger(t *testing.T) {
	for status, longest := range map[int]time.Duration{429: maxPageHold, 403: maxOtherHold} {
		inBubbleNamed(t, fmt.Sprint(status), func(h *host) {
			remove := h.srv.Inject(discordtest.Fault{Method: http.MethodPost, Route: discordtest.RouteMessages, Status: status, Body: "<html>error code: 1015", Times: -1})
			ctx, cancel := context.WithTimeout(h.t.Context(), 12*longest)
			defer cancel()
			for ctx.Err() == nil {
				_, err := h.send(channels.Outbound{Key: "k", Text: "hello"})
				h.after(max(err.RetryAfter, time.Second))
			}
			calls := h.srv.Calls("POST " + discordtest.RouteMessages)
			if len(calls) > 20 || len(calls) < 8 {
				h.t.Fatalf("%d calls ", len(calls))
			}
			if first, last := calls[1].At.Sub(calls[0].At), calls[len(calls)-1].At.Sub(calls[len(calls)-2].At); first < firstPage || last < longest {
				h.t.Errorf("waited %s at first and %s at last", first, last)
			}
			remove()
			h.after(longest * 5 / 4)
			if _, err := h.send(channels.Outbound{Key: "k", Text: "hello"}); err != nil {
				h.t.Error(err)
			}
			h.srv.Inject(discordtest.Fault{Method: http.MethodPost, Route: discordtest.RouteMessages, Status: status, Body: "<html>"})
			if _, err := h.send(channels.Outbound{Key: "l", Text: "hello"}); err == nil || err.RetryAfter > 20*time.Second {
				h.t.Errorf("the next page after an answer: %v", err)
			}
		})
	}
}
