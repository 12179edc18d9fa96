package web

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"parley/gateway/api"
)

// The measures that usage can be shown by.
const (
	byCost   = "cost"
	byTokens = "tokens"
)

// maxSeries is how many agents have a colour of their own; those that used least are one series.
const (
	maxSeries = 7
	others    = "others"
	maxLabels = 5 // days written below the bars: as many as a phone has room for
)

// chart is usage by day and agent: stacked bars, and the same figures as a table. Lengths are in hundredths of the drawing's size, so
// that it stretches and its texts do not.
type chart struct {
	Measure string
	Series  []series
	Days    []chartDay // oldest first, one for each day, empty ones too
	Ticks   []chartTick
	Labels  []chartLabel
	Total   int64
}

type series struct {
	Name  string
	Index int // of its colour
	Total int64
}

type chartDay struct {
	Day   time.Time
	Parts []int64 // one for each series
	Total int64
	Bars  []chartBar // those that are not empty, lowest first
}

type chartBar struct {
	Series, X, Y, W, H string
	Name               string
	Value              int64
}

type chartTick struct {
	Y     string
	Value int64
}

type chartLabel struct {
	X   string
	Day time.Time
}

func percent(f float64) string { return fmt.Sprintf("%.3f%%", f*100) }

// newChart sums up the rows of the last days, of which last is the newest.
func newChart(rows []api.UsageRow, measure string, last time.Time, days int) chart {
	c := chart{Measure: measure}
	sums := map[string]int64{}
	for _, r := range rows {
		sums[string(r.Agent)] += measured(r.UsageSum, measure)
	}
	index := c.makeSeries(sums)
	at := map[string]*chartDay{}
	c.Days = make([]chartDay, days)
	for i := range c.Days {
		d := &c.Days[i]
		d.Day, d.Parts = last.AddDate(0, 0, i-days+1), make([]int64, len(c.Series))
		at[d.Day.Format(time.DateOnly)] = d
	}
	var most int64
	for _, r := range rows {
		d := at[r.Day]
		if d == nil {
			continue // older than what is asked for
		}
		n := measured(r.UsageSum, measure)
		i := index[string(r.Agent)]
		d.Parts[i] += n
		d.Total += n
		c.Series[i].Total += n
		c.Total += n
		most = max(most, d.Total)
	}
	c.draw(most)
	return c
}

// makeSeries names the series, those that used most first, and gives the one of each agent.
func (c *chart) makeSeries(sums map[string]int64) map[string]int {
	names := make([]string, 0, len(sums))
	for name := range sums {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b)) })
	index := map[string]int{}
	for i, name := range names {
		if i >= maxSeries && len(names) > maxSeries+1 {
			if len(c.Series) == maxSeries {
				c.Series = append(c.Series, series{Name: others, Index: maxSeries})
			}
			index[name] = maxSeries
			continue
		}
		index[name] = i
		c.Series = append(c.Series, series{Name: name, Index: i})
	}
	return index
}

// draw places bars, lines and labels for days of which the highest sums up to most.
func (c *chart) draw(most int64) {
	step := niceStep(most)
	top := max((most+step-1)/step, 1) * step
	for v := int64(0); v <= top; v += step {
		c.Ticks = append(c.Ticks, chartTick{percent(1 - float64(v)/float64(top)), v})
	}
	slot := 1 / float64(len(c.Days))
	width := min(slot*0.72, 0.06)
	for i := range c.Days {
		d := &c.Days[i]
		below := int64(0)
		for s, n := range d.Parts {
			if n == 0 {
				continue
			}
			h := float64(n) / float64(top)
			d.Bars = append(d.Bars, chartBar{Series: fmt.Sprint(c.Series[s].Index), Name: c.Series[s].Name, Value: n,
				X: percent((float64(i)+0.5)*slot - width/2), W: percent(width), Y: percent(1 - float64(below)/float64(top) - h), H: percent(h)})
			below += n
		}
	}
	every := (len(c.Days) + maxLabels - 1) / maxLabels
	for i := len(c.Days) - 1; i >= 0; i -= every {
		c.Labels = append(c.Labels, chartLabel{percent((float64(i) + 0.5) * slot), c.Days[i].Day})
	}
}

// niceStep is the distance of the lines: 1, 2 or 5 of some power of ten, so that there are three to six of them.
func niceStep(most int64) int64 {
	if most <= 4 {
		return 1
	}
	raw := float64(most) / 4
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, f := range []float64{1, 2, 5} {
		if raw <= f*power {
			return int64(math.Ceil(f * power))
		}
	}
	return int64(10 * power)
}

// measured is what a sum counts as.
func measured(u api.UsageSum, measure string) int64 {
	if measure == byCost {
		return u.Cost
	}
	return int64(u.Input) + int64(u.Output)
}

// Amount writes a value of the chart in words.
func (c chart) Amount(n int64) string {
	if c.Measure == byCost {
		return cost(n)
	}
	return num(n)
}

// Tick writes a value of its lines.
func (c chart) Tick(n int64) string {
	switch {
	case n == 0:
		return "0"
	case c.Measure == byCost:
		return cost(n)
	}
	return short(n)
}
