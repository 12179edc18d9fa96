package telegram

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"parley/channels"
)

// seeds are answers of getUpdates.
var seeds = []string{
	`[{"update_id":7,"message":{"message_id":5,"date":1,"chat":{"id":-100,"type":"supergroup","is_forum":true},"from":{"id":1},"message_thread_id":3,"is_topic_message":true,
		"text":"😀 @parley_bot /x@parley_bot","entities":[{"type":"mention","offset":3,"length":11},{"type":"bot_command","offset":15,"length":13}],"reply_to_message":{"message_id":3}}}]`,
	`[{"update_id":7,"edited_channel_post":{"message_id":5,"chat":{"id":5,"type":"channel"},"caption":"\u0000\ud800","photo":[{"file_id":"a","width":1,"height":1}]}},null,5]`,
	`[{"update_id":7,"message":{"new_chat_title":"x","chat":{"id":1,"type":"group"},"message_id":1,"from":{"id":3}}},{"update_id":8,"telepathy":1}]`,
	`[{"update_id":7,"message_reaction":{"chat":{"id":-1,"type":"group","title":"\u0000"},"message_id":1,"user":{"id":3},"date":1,"old_reaction":[],"new_reaction":[{"type":"emoji","emoji":"\ud800"},{"type":"paid"}]}}]`,
	`[{"update_id":7,"my_chat_member":{"chat":{"id":1,"type":"private"},"from":{"id":3},"date":1,"old_chat_member":{"status":"member"},"new_chat_member":{"status":"kicked"}}}]`,
	`[{"update_id":7,"message":{"message_id":5,"date":1,"chat":{"id":1,"type":"private"},"from":{"id":1},"media_group_id":"g","photo":[{"file_id":"a"}]}},{"update_id":8,"message":{"message_id":6,"date":1,
		"chat":{"id":1,"type":"private"},"from":{"id":1},"media_group_id":"g","caption":"c","video":{"file_id":"b","duration":-1}}},{"update_id":9,"message":{"message_id":7,"date":1,"chat":{"id":2,"type":"private"},"from":{"id":1},"media_group_id":"h","photo":[{"file_id":"c"}]}}]`,
	`[{"update_id":7,"message":{"message_id":5,"date":1,"chat":{"id":-1,"type":"group"},"from":{"id":1},"migrate_to_chat_id":-2}},{"update_id":8,"message":{"message_id":5,"date":1,"chat":{"id":-2,"type":"supergroup"},"from":{"id":1},"new_chat_members":[{"id":4},{"id":99}]}}]`,
}

// A batch, whatever it is: nothing panics, every event is sound, and every update is offered, passed over, or spoken for by another
// part of its album, once.
func FuzzUpdates(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		d := testDecoder
		d.topics = newTopics()
		items, err := d.batch(raw)
		if err != nil {
			return
		}
		files := 0
		for i := range items {
			if items[i].skip == "" {
				checkInbound(t, items[i].in)
			}
			files += len(items[i].in.Media)
		}
		p := poller{c: &Channel{}, done: map[int64]bool{}}
		now := time.Now()
		if p.collect(items, now) > 0 {
			if items, err = d.batch(raw); err != nil { // the server gives them again
				t.Fatal(err)
			}
			if p.collect(items, now.Add(albumBound)) != 0 {
				t.Error("an album is held for ever")
			}
		}
		offered, parts := 0, 0
		kept := 0
		for _, group := range byChat(items) {
			for _, it := range group {
				offered++
				parts += len(it.rest)
				kept += len(it.in.Media)
				if it.skip == "" {
					checkInbound(t, it.in)
				}
				it.committed = true
				for _, part := range it.rest {
					part.committed = true
				}
			}
		}
		if offered+parts != len(items) || kept != files {
			t.Errorf("%d updates: %d offered, %d spoken for; %d files of %d", len(items), offered, parts, kept, files)
		}
		p.noteRenumbering(items)
		if p.advance(items); p.offset < 0 {
			t.Errorf("offset %d", p.offset)
		}
	})
}

// The body of a webhook, whatever it is: it is taken or passed over, and never refused, or Telegram would deliver it for ever.
func FuzzHook(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s[1 : len(s)-1]))
	}
	f.Add([]byte("{{{"))
	c, err := New(Config{Token: channels.NewSecret("1:x"), Webhook: Webhook{URL: "https://e.org/h", Secret: channels.NewSecret("s")}}, Deps{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		f.Fatal(err)
	}
	c.me = &testDecoder.me
	f.Fuzz(func(t *testing.T, raw []byte) {
		stop := c.hook.run(t.Context(), func(_ context.Context, in channels.Inbound) error {
			checkInbound(t, in)
			return nil
		})
		defer stop()
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", bytes.NewReader(raw))
		req.Header.Set(secretHeader, "s")
		rec := httptest.NewRecorder()
		if c.Hook().ServeHTTP(rec, req); rec.Code != http.StatusOK {
			t.Errorf("answered %d", rec.Code)
		}
	})
}
