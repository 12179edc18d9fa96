package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/channels/channeltest"
	discordkinds "parley/channels/discord/discordtest/kinds"
	telegramkinds "parley/channels/telegram/telegramtest/kinds"
	whatsappkinds "parley/channels/whatsapp/whatsapptest/kinds"
)

// docs/channels.md shows, for each channel, the table of message kinds that the tests of its adapter hold.
func TestGeneratedKinds(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "docs", "channels.md")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for _, c := range []struct {
		channel string
		kinds   []channeltest.Kind
	}{
		{"Telegram", telegramkinds.Kinds()},
		{"Discord", discordkinds.Kinds()},
		{"WhatsApp", whatsappkinds.Kinds()},
	} {
		begin, end := "<!-- begin: message kinds of "+c.channel+" (generated) -->\n", "<!-- end -->"
		head, rest, began := strings.Cut(text, begin)
		_, tail, ended := strings.Cut(rest, end)
		if !began || !ended {
			t.Fatalf("docs/channels.md has no place for the table: a line %q, later a line %q", strings.TrimSpace(begin), end)
		}
		text = head + begin + "\n" + channeltest.KindsTable(c.kinds) + "\n" + end + tail
	}
	if text == string(raw) {
		return
	}
	if !*update {
		t.Fatal("docs/channels.md has drifted; write it again with: go test ./cmd/parley -run Generated -update")
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
