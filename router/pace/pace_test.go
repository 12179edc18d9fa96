package pace

import (
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
)

// TestPreviewsLeaveRoom: what can be left out never takes the last token of a larger bucket: a message need not wait for it.
func TestPreviewsLeaveRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, to := New(channels.Pacing{PerGroupPerMinute: 20}), channels.Address{Channel: "test", Account: "default", Type: channels.Group, Chat: "a"}
		n := 0
		for p.Try(to) {
			n++
		}
		began := time.Now()
		if err := p.Wait(t.Context(), to); err != nil || time.Since(began) > 0 || n != 4 {
			t.Errorf("%d previews, then a message waited %s, %v", n, time.Since(began), err)
		}
	})
}
