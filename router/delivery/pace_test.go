package delivery

import (
	"testing"
	"time"

	"parley/channels"
)

// TestPreviewsLeaveRoom: what can be left out never takes the last token of a larger bucket: a message need not wait for it.
func TestPreviewsLeaveRoom(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p, to := newPacer(channels.Pacing{PerGroupPerMinute: 20}), groupChat("a")
		n := 0
		for p.try(to) {
			n++
		}
		began := time.Now()
		if err := p.wait(t.Context(), to); err != nil || time.Since(began) > 0 || n != 4 {
			t.Errorf("%d previews, then a message waited %s, %v", n, time.Since(began), err)
		}
	})
}
