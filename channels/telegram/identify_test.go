package telegram_test

import (
	"net/http"
	"strings"
	"testing"

	"parley/channels"
	"parley/channels/telegram"
	"parley/channels/telegram/telegramtest"
)

func TestIdentify(t *testing.T) {
	t.Parallel()
	srv := telegramtest.New(t)
	ask := func(token string) (string, error) {
		ch, err := telegram.New(telegram.Config{Token: channels.NewSecret(token), APIURL: srv.URL()}, telegram.Deps{Client: http.DefaultClient})
		if err != nil {
			t.Fatal(err)
		}
		return channels.Probe(ch).Identifier.Identify(t.Context())
	}
	if name, err := ask(srv.Token()); name != "@"+telegramtest.BotUsername || err != nil {
		t.Errorf("the bot is %q, %v", name, err)
	}
	const other = "999:nobody-knows-it"
	_, err := ask(other)
	if channels.Classify(err).Class != channels.Unauthorized || strings.Contains(err.Error(), other) {
		t.Errorf("another token: %v", err)
	}
}
