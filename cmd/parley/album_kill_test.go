package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"parley/channels/telegram/telegramtest"
)

// TestAlbumOverAKill kills the program at one call of its store after the other while the first half of an album is taken, and the second half
// comes before the next start. The model sees the caption once, whether the album is one turn or the rest is a turn of its own.
//
// source: https://core.telegram.org/bots/api#getupdates ("An update is considered confirmed as soon as getUpdates is called with an offset higher than its update_id")
func TestAlbumOverAKill(t *testing.T) {
	t.Parallel()
	var apart, together atomic.Int32
	t.Run("at", func(t *testing.T) {
		for n := 1; n <= 10; n++ {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.config("", "")
				var parts []telegramtest.Option
				for i := range 4 {
					parts = append(parts, telegramtest.Photo(fmt.Sprint("garden", i)))
				}
				dead := w.launch(filepath.Join(w.dir, "trace"), n)
				killed := false
				w.tg.Album(owner, owner, "look", 0, parts, func(i int) {
					if i == 2 {
						killed = !w.alive(dead, "the first half is answered", func() bool { return w.tg.SentCount() > 0 })
					}
				})
				if !killed {
					return
				}
				w.start()
				w.sent(owner, 1)
				w.quiet()
				rest, times := 0, 0
				all := w.model.Requests()
				for _, m := range all[len(all)-1].Messages {
					switch {
					case m.Role != "user":
					case strings.Contains(m.Text, "\n> "):
						rest++
					case strings.Contains(m.Text, "look"):
						times++
					}
				}
				if times != 1 || rest > 1 {
					t.Errorf("the caption is shown %d times, then the rest %d times: %+v", times, rest, all[len(all)-1].Messages)
				}
				if rest > 0 {
					apart.Add(1)
				} else {
					together.Add(1)
				}
			})
		}
	})
	if apart.Load() == 0 || together.Load() == 0 {
		t.Errorf("an album was one turn after %d kills, and two after %d: one of them was not tried", together.Load(), apart.Load())
	}
}
