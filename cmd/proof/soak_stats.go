package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"
)

// point is a figure at a time.
type point struct {
	At    time.Duration // since the start
	Value float64
}

// trend is how a series of figures goes on, by Theil and Sen: the median of the slopes of all pairs, which a few wild figures do not
// move. Low and High are the bounds that the true slope is within in 99 of 100 series of mere noise.
type trend struct {
	Slope, Low, High float64 // an hour
	Hours            float64 // that the series lasts
	Points           int
}

// mostPoints bounds the pairs of a long series: neighbours are joined by their median until there are no more.
const mostPoints = 600

// trendOf needs four points to say anything: with fewer it is zero, and its bounds are infinite.
func trendOf(series []point) trend {
	series = thinned(series, mostPoints)
	n := len(series)
	t := trend{Low: math.Inf(-1), High: math.Inf(1), Points: n}
	if n < 4 {
		return t
	}
	var slopes []float64
	for i, a := range series {
		for _, b := range series[i+1:] {
			if b.At > a.At {
				slopes = append(slopes, (b.Value-a.Value)/(b.At-a.At).Hours())
			}
		}
	}
	if len(slopes) == 0 {
		return t
	}
	slices.Sort(slopes)
	t.Slope, t.Hours = sortedQuantile(slopes, 0.5), (series[n-1].At - series[0].At).Hours()
	// Kendall's variance of the number of rising pairs gives how far from the median the bounds are.
	const sure = 2.576
	far := sure * math.Sqrt(float64(n*(n-1)*(2*n+5))/18)
	m := float64(len(slopes))
	if low := int((m-far)/2) - 1; low >= 0 {
		t.Low = slopes[low]
	}
	if high := int((m+far)/2) + 1; high < len(slopes) {
		t.High = slopes[high]
	}
	return t
}

// String says what a trend is an hour.
func (t trend) String() string {
	if math.IsInf(t.Low, 0) || math.IsInf(t.High, 0) {
		return "too few windows for a trend"
	}
	return fmt.Sprintf("%+.2f an hour (%.2f to %.2f)", t.Slope, t.Low, t.High)
}

// MarshalJSON leaves bounds away that are infinite: JSON has no such number.
func (t trend) MarshalJSON() ([]byte, error) {
	out := map[string]float64{"Slope": t.Slope, "Hours": t.Hours, "Points": float64(t.Points)}
	for name, bound := range map[string]float64{"Low": t.Low, "High": t.High} {
		if !math.IsInf(bound, 0) {
			out[name] = bound
		}
	}
	return json.Marshal(out)
}

// Rise is how much the figures rose in the time of the series for sure: what noise may explain is left away.
func (t trend) Rise() float64 {
	if math.IsInf(t.Low, 0) || t.Low <= 0 {
		return 0
	}
	return t.Low * t.Hours
}

// thinned joins neighbours until there are at most n points.
func thinned(series []point, n int) []point {
	if len(series) <= n {
		return series
	}
	each := (len(series) + n - 1) / n
	var out []point
	for part := range slices.Chunk(series, each) {
		values := make([]float64, len(part))
		for i, p := range part {
			values[i] = p.Value
		}
		slices.Sort(values)
		out = append(out, point{part[len(part)/2].At, sortedQuantile(values, 0.5)})
	}
	return out
}

// sortedQuantile gives the q-th quantile of sorted figures; 0 when there are none.
func sortedQuantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// latencies counts times in steps that grow by a twentieth, so that a run of any length takes the same memory.
type latencies struct {
	Counts [400]int
	N      int
}

const latencyStep = 1.05

func (l *latencies) add(d time.Duration) {
	i := int(math.Log(max(float64(d)/float64(10*time.Microsecond), 1)) / math.Log(latencyStep))
	l.Counts[min(i, len(l.Counts)-1)]++
	l.N++
}

func (l *latencies) join(o *latencies) {
	for i, n := range o.Counts {
		l.Counts[i] += n
	}
	l.N += o.N
}

// at gives the time that a part q of all took at most.
func (l *latencies) at(q float64) time.Duration {
	want, sum := int(math.Ceil(q*float64(l.N))), 0
	for i, n := range l.Counts {
		if sum += n; n > 0 && sum >= want {
			return time.Duration(float64(10*time.Microsecond) * math.Pow(latencyStep, float64(i+1)))
		}
	}
	return 0
}
