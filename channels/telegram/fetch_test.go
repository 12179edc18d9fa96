package telegram_test

import (
	"bytes"
	"strings"
	"testing"

	"parley/channels"
	"parley/channels/telegram"
	"parley/channels/telegram/telegramtest"
)

func TestFetch(t *testing.T) {
	t.Parallel()
	srv := telegramtest.New(t)
	picture := bytes.Repeat([]byte("x"), 1000)
	srv.AddFile("pic-1280", picture)
	ch, err := telegram.New(telegram.Config{Token: channels.NewSecret(srv.Token())}, telegram.Deps{Client: srv.Client()})
	if err != nil {
		t.Fatal(err)
	}
	got, err := ch.Fetch(t.Context(), channels.Media{Kind: channels.Image, Ref: "pic-1280"}, 1000)
	if err != nil || !bytes.Equal(got, picture) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	for name, x := range map[string]struct {
		media channels.Media
		limit int64
		class channels.Class
		says  string
	}{
		"gone":           {channels.Media{Ref: "other"}, 1000, channels.Rejected, "file_id"},
		"too large":      {channels.Media{Ref: "pic-1280"}, 999, channels.Rejected, "1000 bytes, more than the limit of 999"},
		"known as large": {channels.Media{Ref: "pic-1280", Size: 5000}, 999, channels.Rejected, "5000 bytes, more than the limit of 999"},
	} {
		_, err := ch.Fetch(t.Context(), x.media, x.limit)
		if e := channels.Classify(err); err == nil || e.Class != x.class || !strings.Contains(err.Error(), x.says) || telegramtest.IsSecret(err.Error()) {
			t.Errorf("%s: %v", name, err)
		}
	}
	srv.Down(true)
	if _, err := ch.Fetch(t.Context(), channels.Media{Ref: "pic-1280"}, 1000); err == nil || telegramtest.IsSecret(err.Error()) {
		t.Errorf("down: %v", err)
	}
}
