package web

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/gateway/api"
	"parley/sessions"
)

func share(t *testing.T, s string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
	if err != nil {
		t.Fatalf("%q is no percentage", s)
	}
	return f
}

// Bars stand on each other without a gap, inside of the drawing, as high as their value; nothing is lost by summing up.
func TestChart(t *testing.T) {
	t.Parallel()
	last := time.Date(2026, 3, 31, 0, 0, 0, 0, time.UTC) // with the change to summer time before it
	for _, days := range []int{7, 30, 90} {
		for agents := range 12 {
			var rows []api.UsageRow
			var sum int64
			for d := range days + 3 { // the oldest do not belong
				for a := range agents {
					n := rand.IntN(3) * rand.IntN(1_000_000)
					rows = append(rows, api.UsageRow{Day: last.AddDate(0, 0, -d).Format(time.DateOnly), Agent: sessions.AgentID(fmt.Sprint("a", a)), UsageSum: api.UsageSum{Input: n, Output: 1, Cost: 5}})
					if d < days {
						sum += int64(n) + 1
					}
				}
			}
			c := newChart(rows, byTokens, last, days)
			if c.Total != sum || len(c.Days) != days || c.Days[days-1].Day != last || len(c.Labels) > maxLabels {
				t.Fatalf("%d days, %d agents: total %d, want %d; %d days until %s, %d labels", days, agents, c.Total, sum, len(c.Days), c.Days[len(c.Days)-1].Day, len(c.Labels))
			}
			if len(c.Series) > maxSeries+1 || agents > maxSeries+1 && c.Series[maxSeries].Name != others {
				t.Fatalf("%d agents make the series %v", agents, c.Series)
			}
			top := c.Ticks[len(c.Ticks)-1].Value
			if n := len(c.Ticks); n < 2 || n > 7 {
				t.Errorf("%d lines for %d", n, top)
			}
			for _, d := range c.Days {
				floor, stacked := 100.0, int64(0)
				for _, b := range d.Bars {
					y, h := share(t, b.Y), share(t, b.H)
					if want := float64(b.Value) / float64(top) * 100; h-want > 0.01 || want-h > 0.01 || floor-y-h > 0.01 || y+h-floor > 0.01 || y < -0.001 {
						t.Fatalf("a bar of %d of %d is at %s, %s high, on %.3f", b.Value, top, b.Y, b.H, floor)
					}
					floor, stacked = y, stacked+b.Value
				}
				if stacked != d.Total {
					t.Fatalf("%s: the bars are %d, the day %d", d.Day, stacked, d.Total)
				}
			}
		}
	}
	if c := newChart([]api.UsageRow{{Day: "2026-03-31", Agent: "a", UsageSum: api.UsageSum{Cost: 40, Input: 7}}}, byCost, last, 7); c.Total != 40 || c.Amount(c.Total) != "$0.0000" {
		t.Errorf("cost: %d, %s", c.Total, c.Amount(c.Total))
	}
}
