package inbound

import (
	"testing"

	"parley/channels"
)

// A message is the same as long as what lasts of it is: votes come and go. source: tdlib/telegram-bot-api#388
func TestDigestWithoutCounters(t *testing.T) {
	t.Parallel()
	said := func(text, lasting string) string {
		return digest(channels.Inbound{Event: channels.Edited, Text: text, Lasting: lasting})
	}
	if said("[poll: soup (2)]", "[poll: soup]") != said("[poll: soup (3)]", "[poll: soup]") || said("[poll: soup (2)]", "[poll: soup]") == said("[poll: soup (2)]", "[poll: tea]") {
		t.Error("votes make another message")
	}
}
