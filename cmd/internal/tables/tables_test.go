package tables_test

import (
	"log/slog"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/discord"
	"parley/cmd/internal/tables"
	"parley/gateway/accounts"
	"parley/gateway/config"
)

// The table hands Discord's adapter what the platform asked of the process before (Telegram's: TestFaultLimitOverAKill).
func TestTableHandsHoldsOver(t *testing.T) {
	t.Parallel()
	held := channels.NewHolds("", slog.New(slog.DiscardHandler))
	held.Of("http://127.0.0.1:1/api", "bot").Set(time.Hour, "*")
	for _, row := range tables.Adapters() {
		if row.Kind != discord.Kind {
			continue
		}
		conf := &discord.Config{Token: channels.NewSecret("bot.x.y"), APIURL: "http://127.0.0.1:1/api/v10/"}
		ch, err := row.Open(config.Account{Kind: discord.Kind, ID: channels.DefaultAccount, Adapter: conf}, accounts.Env{Log: slog.New(slog.DiscardHandler), Holds: held})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := channels.Probe(ch).Identifier.Identify(t.Context()); channels.Classify(err).Class != channels.Limited {
			t.Errorf("asked all the same: %v", err)
		}
		return
	}
	t.Error("no Discord in the table")
}
