package clock

import (
	"testing"
	"time"
)

// TestFaultClockBehind sets a clock ahead: what is thrown away for its age is judged by the clock as it was, for a day; a clock that is put
// right again leaves nothing of it.
func TestFaultClockBehind(t *testing.T) {
	for _, by := range []time.Duration{time.Hour, 87_660 * time.Hour} {
		day, passed := time.Date(2026, 6, 1, 10, 0, 0, 0, time.UTC), time.Duration(0)
		c := New()
		c.Set(func() time.Time { return day }, func() time.Duration { return passed }, nil)
		step := func(d time.Duration) { day, passed = day.Add(d), passed+d }
		check := func(want time.Duration) {
			t.Helper()
			if got := day.Sub(c.Earliest(24 * time.Hour)); got != want {
				t.Errorf("set by %s: %s behind, want %s", by, got, want)
			}
		}
		check(0)
		step(time.Minute)
		day = day.Add(by)
		check(by)
		step(23 * time.Hour)
		check(by)
		step(2 * time.Hour)
		check(0)
		day = day.Add(-by)
		check(0)
	}
}
