package clock

import (
	"math/rand/v2"
	"testing"
	"time"

	"parley/channels/channeltest"
)

// TestFaultClockAges sets a clock at random, and stores times by it: no age is ever larger than the time that has passed, but for what a
// clock that is put right in small steps may make of it.
func TestFaultClockAges(t *testing.T) {
	worst, stored := time.Duration(0), 0
	for seed := range uint64(channeltest.Times(50, 5000)) {
		r := rand.New(rand.NewPCG(seed, 21))
		day, passed := time.Date(2026, 6, 1, 10, 0, 0, 0, time.UTC), time.Duration(0)
		c := New()
		c.Set(func() time.Time { return day }, func() time.Duration { return passed }, nil)
		type thing struct {
			by time.Time
			at time.Duration
		}
		var things []thing
		for range 200 {
			step := time.Duration(r.Int64N(int64(30 * time.Second)))
			day, passed = day.Add(step), passed+step
			switch r.IntN(6) {
			case 0:
				day = day.Add([]time.Duration{time.Hour, 5 * time.Minute, 87_660 * time.Hour, 31 * time.Second, -5 * time.Minute, -time.Hour}[r.IntN(6)])
			case 1:
				things = append(things, thing{day, passed})
			case 2:
				c.Age(day)
			}
			for _, x := range things {
				if over := c.Age(x.by) - (passed - x.at); over > worst {
					worst = over
				}
			}
		}
		stored += len(things)
	}
	t.Logf("%d times stored; the most that one looked too old: %s", stored, worst)
	if worst > 2*minJump {
		t.Errorf("one looked %s too old", worst)
	}
}
