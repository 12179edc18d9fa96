package channels_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
)

// A time in another unit is read as what was meant, and one that no calendar has is now.
// source: the Bot API's `Message.date` (Unix time in seconds); servers behind apiUrl send milliseconds.
func TestUnixTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		at := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
		for _, c := range []struct {
			in   int64
			want time.Time
		}{
			{1, time.Unix(1, 0)},
			{at.Unix(), at},
			{at.UnixMilli() + 250, at.Add(250 * time.Millisecond)},
			{at.UnixMicro() + 7, at.Add(7 * time.Microsecond)},
			{at.UnixNano() + 9, at.Add(9)},
			{4_102_444_799, time.Unix(4_102_444_799, 0)},
			{0, time.Now()},
			{-1, time.Now()},
			{math.MinInt64, time.Now()},
			{math.MaxInt64, time.Now()},
			{4_102_444_800, time.Now()},
			{899_999_999_999, time.Now()},
		} {
			if got := channels.UnixTime(c.in); !got.Equal(c.want) {
				t.Errorf("UnixTime(%d) = %v, want %v", c.in, got, c.want)
			}
		}
		if got := channels.PlausibleTime(at); !got.Equal(at) {
			t.Errorf("PlausibleTime(%v) = %v", at, got)
		}
		for _, odd := range []time.Time{{}, at.AddDate(8000, 0, 0), time.Unix(-5, 0)} {
			if got := channels.PlausibleTime(odd); !got.Equal(time.Now()) {
				t.Errorf("PlausibleTime(%v) = %v, want now", odd, got)
			}
		}
	})
}
