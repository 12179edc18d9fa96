package main

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/gateway/prooftest"
)

// seriesOf makes the figures of n windows of 15 seconds: a base, a slope an hour, noise with some wild figures.
func seriesOf(r *rand.Rand, n int, base, slope, noise float64) (out []point) {
	for i := range n {
		at := time.Duration(i+1) * 15 * time.Second
		v := base + slope*at.Hours() + noise*r.NormFloat64()
		if r.IntN(10) == 0 {
			v += 5 * noise
		}
		out = append(out, point{at, v})
	}
	return out
}

// Noise is no trend in 99 of 100 series, and a slope is found through noise, with the true one between the bounds.
func TestTrend(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	const runs = 1000
	alarms, outside, off := 0, 0, 0.0
	for range runs {
		if trendOf(seriesOf(r, 16, 20, 0, 1)).Low > 0 {
			alarms++
		}
		x := trendOf(seriesOf(r, 60, 20, 40, 1))
		if x.Low > 40 || x.High < 40 {
			outside++
		}
		off += math.Abs(x.Slope-40) / runs
	}
	t.Logf("%d false alarms and %d slopes outside of their bounds in %d series, off by %.1f of 40", alarms, outside, runs, off)
	if alarms > runs/50 || outside > runs/20 || off > 3 {
		t.Error("the statistics are wrong")
	}
	if x := trendOf(seriesOf(r, 3, 20, 100, 0)); x.Rise() != 0 || !math.IsInf(x.Low, -1) {
		t.Errorf("three points say %+v", x)
	}
	if x := trendOf(seriesOf(r, 5000, 20, 3, 1)); x.Points > mostPoints || math.Abs(x.Slope-3) > 0.1 {
		t.Errorf("a long series: %+v", x)
	}
}

// steady is a run of five minutes whose figures are at rest, but for what a test adds to the sample of a window.
func steady(windows int, leak func(n int, s *sample)) *soaked {
	f, r := &soaked{}, rand.New(rand.NewPCG(3, 4))
	for n := range windows {
		idle := float64(r.IntN(5)) // connections
		s := sample{RSS: 90 + r.Float64(), Anon: 30 + r.Float64(), Heap: 8 + r.Float64(), Goroutines: 46 + 2*idle + float64(r.IntN(2)), Files: 42 + idle, CPU: time.Duration(n) * time.Second}
		leak(n, &s)
		l := &latencies{}
		for range 60 {
			l.add(5 * time.Millisecond)
		}
		f.add(time.Duration(n+1)*15*time.Second, false, s, s, l, 1, &prooftest.History{Said: make([]prooftest.Said, 75)})
	}
	return f
}

// A run in which nothing grows passes; goroutines left at each connection that ends, descriptors or memory left by messages do not.
func TestSoakJudges(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		leak func(n int, s *sample)
		want string
	}{
		"nothing grows":                  {func(int, *sample) {}, ""},
		"caches fill up while it warms":  {func(n int, s *sample) { s.Heap += min(float64(n), 4); s.Goroutines += min(float64(2*n), 8) }, ""},
		"a goroutine for each breach":    {func(n int, s *sample) { s.Goroutines += float64(n) }, "goroutines besides those of connections: may rise 2.0, rose "},
		"a descriptor for 50 messages":   {func(n int, s *sample) { s.Files += 1.5 * float64(n) }, "descriptors"},
		"4 kB for each message":          {func(n int, s *sample) { s.Heap += float64(n*75*4) / 1024 }, "live heap: may rise "},
		"1.8 kB for each message":        {func(n int, s *sample) { s.Heap += float64(n*75) * 1.8 / 1024 }, ""}, // caches fill as fast
		"memory that is no heap":         {func(n int, s *sample) { s.Anon += float64(3 * n) }, "memory that is no file's: may rise 16."},
		"memory that files are held by":  {func(n int, s *sample) { s.RSS += float64(3 * n) }, ""}, // of five minutes it says nothing
		"it ends before it was measured": {nil, "windows"},
	} {
		windows := 20
		if x.leak == nil {
			windows, x.leak = 9, func(int, *sample) {}
		}
		err := steady(windows, x.leak).judge(5*time.Minute, 1, 20*time.Millisecond)
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Hours show more: what caches may take is full by then, and all that grows has to keep the mark.
	for slope, want := range map[float64]bool{0.5: true, 1.5: false} { // MB an hour
		f := steady(960, func(n int, s *sample) {
			s.Heap += remembered(75*n) + slope*float64(n)/240
		})
		if err := f.judge(4*time.Hour, 1, 20*time.Millisecond); (err == nil) != want || err != nil && !strings.Contains(err.Error(), "live heap: may rise") {
			t.Errorf("%v MB an hour in a run of hours: %v", slope, err)
		}
	}
	// So do half-hours: 1 kB that each message leaves, which is as much as caches take, is one too much; and so is a map of chats, of which
	// each window has a new one.
	for name, leak := range map[string]func(n int) float64{
		"1 kB for each message": func(n int) float64 { return float64(75*n) / 1024 },
		"64 kB for each chat":   func(n int) float64 { return float64(64*n) / 1024 },
	} {
		err := steady(120, func(n int, s *sample) { s.Heap += remembered(75*n) + leak(n) }).judge(longEnough, 1, 20*time.Millisecond)
		if err == nil || !strings.Contains(err.Error(), "live heap: may rise") {
			t.Errorf("%s in half an hour: %v", name, err)
		}
	}
	// The times that are judged are those at the rate of the mark.
	of := 100 * time.Minute
	for name, slow := range map[string]bool{"at the other rate": false, "at the rate of the mark": true} {
		f := steady(400, func(int, *sample) {})
		for i := range f.times {
			w := &f.times[i]
			if w.fast = w.at < warmUp(of)*4/5; w.fast != slow {
				w.latencies.add(50 * time.Millisecond)
			}
		}
		if err := f.judge(of, 1, 20*time.Millisecond); (err != nil) != slow || (f.WarmP99 > 20*time.Millisecond) == slow {
			t.Errorf("slow %s: %v, %s while it gets warm, %s then", name, err, f.WarmP99, f.P99)
		}
	}
	few := steady(400, func(int, *sample) {})
	few.Left = unmeasuredMessages{Orders: 1 << 20, Unanswered: 400*60 - 20, Disturbed: 20}
	for n, want := range []string{"", "half of the messages that ask for an answer alone are measured: 24000 of 48001"} {
		few.Left.Disturbed += n
		if err := few.judge(of, 1, 20*time.Millisecond); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", few.Left, err)
		}
	}
	f := steady(400, func(n int, s *sample) { s.RSS += float64(n) * 2 / 240 }) // 2 MB an hour
	if err := f.judge(100*time.Minute, 1, time.Millisecond); err == nil || !strings.Contains(err.Error(), "resident") || !strings.Contains(err.Error(), "99 of 100") {
		t.Errorf("a long run: %v", err)
	}
	// Which marks a run is too short for is said beside those that it has kept.
	said := func(of time.Duration) string {
		var table strings.Builder
		_ = f.judge(of, 1, time.Millisecond)
		f.print(&table)
		return table.String()
	}
	if short, long := said(5*time.Minute), said(time.Hour); !strings.Contains(short, "NOT judged") || strings.Contains(long, "NOT judged") || !strings.Contains(short, "resident memory below 1 MB an hour") ||
		!strings.Contains(long, "resident memory below 1 MB an hour: +2.0") || !strings.Contains(short, "descriptors: may rise 2.0, rose 0.0 for sure") {
		t.Errorf("%s\n%s", short, long)
	}
}

// What a run that is cut off did not measure is said to be so, and is no number in JSON; one that could measure has its figures.
func TestSoakCutOff(t *testing.T) {
	t.Parallel()
	for windows, want := range map[int][]string{
		0:  {"the host's own time *not measured", "live heap *not measured", "in 0 windows"},
		2:  {"worst window 5", "live heap *not measured"},
		8:  {"live heap *8.. MB to 8.. MB, too few windows for a trend"},
		12: {"live heap *8.. MB to 8.. MB, [+-]"},
	} {
		f := steady(windows, func(int, *sample) {})
		f.sum(4 * time.Minute)
		var table strings.Builder
		f.print(&table)
		for _, w := range append(want, "judged *what everybody saw in .*did not come to its end") {
			if !regexp.MustCompile(w).MatchString(table.String()) {
				t.Errorf("%d windows: no %q in\n%s", windows, w, table.String())
			}
		}
		if b, err := json.Marshal(f); err != nil || strings.Contains(table.String(), "Inf") {
			t.Errorf("%d windows: %s, %v\n%s", windows, b, err, table.String())
		}
	}
	few := &soaked{}
	few.add(time.Minute, false, sample{}, sample{}, &latencies{N: 1, Counts: [400]int{1}}, 0, &prooftest.History{})
	var table strings.Builder
	few.sum(time.Minute)
	if few.print(&table); !strings.Contains(table.String(), "p99 of the worst window not measured: none had 50 messages") {
		t.Error(table.String())
	}
}

// What other machines took is told beside the times, and excuses none of them.
func TestSoakStolen(t *testing.T) {
	t.Parallel()
	began := time.Now()
	m := &machine{}
	for n := range 10 {
		x := slice{began.Add(time.Duration(n) * sliceTakes), began.Add(time.Duration(n+1) * sliceTakes), 0.001}
		if n == 5 {
			x.stolen = 0.08
		}
		m.slices = append(m.slices, x)
	}
	f := &soaked{}
	for n := range 400 {
		all, quiet := &latencies{}, &latencies{}
		for i := range leastMeasured {
			from, took := began.Add(time.Duration(i)*sliceTakes/5), 5*time.Millisecond
			if i/5 == 5 {
				took = 50 * time.Millisecond
			}
			if all.add(took); m.quiet(from, from.Add(took)) {
				quiet.add(took)
			}
		}
		s := sample{RSS: 90, Anon: 30, Heap: 8, Goroutines: 46, Files: 42, CPU: time.Duration(n) * time.Second, Stolen: 0.001 + 0.02*float64(n%2)}
		f.add(time.Duration(n+1)*15*time.Second, false, s, s, all, 1, &prooftest.History{Said: make([]prooftest.Said, 75)})
		f.machine(m, quiet, false)
	}
	if err := f.judge(100*time.Minute, 1, 20*time.Millisecond); err == nil || !strings.Contains(err.Error(), "99 of 100") {
		t.Errorf("%v", err)
	}
	var table strings.Builder
	f.print(&table)
	if x := f.Machine; x.QuietP99 > 6*time.Millisecond || x.Quiet != 400*(leastMeasured-5) || !strings.Contains(table.String(), "2.1 % in the worst") {
		t.Errorf("%+v\n%s", x, &table)
	}
	if m.quiet(began.Add(-time.Hour), began.Add(-time.Minute)) {
		t.Error("a time of which nothing is known is quiet")
	}
	a, b := processors{stolen: 10, all: 1000}, processors{stolen: 30, all: 1200}
	if got := b.since(a); got != 0.1 {
		t.Errorf("20 of 200 ticks are %v", got)
	}
	if p := readProcessors(); p.stolen < 0 || p.all < p.stolen {
		t.Errorf("the kernel says %+v", p)
	}
}

// Latencies are told to a twentieth.
func TestLatencies(t *testing.T) {
	t.Parallel()
	var l, o latencies
	for n := range 1000 {
		l.add(time.Duration(n) * time.Millisecond)
	}
	o.add(time.Hour)
	o.join(&l)
	for q, want := range map[float64]time.Duration{0.5: 500 * time.Millisecond, 0.99: 990 * time.Millisecond} {
		if got := l.at(q); got < want || got > want*11/10 {
			t.Errorf("%v: %s", q, got)
		}
	}
	if o.N != 1001 || o.at(1) < time.Minute || (&latencies{}).at(0.5) != 0 {
		t.Errorf("%d, %s", o.N, o.at(1))
	}
}

// A window ends when it is over, and not with the next message.
func TestSpeakEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, began := &soak{dice: rand.New(rand.NewPCG(1, 1))}, time.Now()
		s.speak(t.Context(), leastRate, began.Add(10*time.Second))
		if d := time.Since(began); d != 10*time.Second || s.messages != 0 {
			t.Errorf("%s, %d messages", d, s.messages)
		}
	})
}

// A soak of some seconds comes to its end, and the checker finds nothing. It measures too little to pass.
func TestSoak(t *testing.T) {
	t.Parallel()
	path, dir := theHost(t), shortDir(t)
	c := soakCmd{For: 2 * time.Second, Window: time.Second, Rate: 20, Progress: t.Output(), Seed: 1}
	f, err := c.run(t.Context(), path, dir)
	if err == nil || !strings.Contains(err.Error(), "windows were measured") || f.Messages < 30 || f.Windows < 1 || f.Breaches < 1 || f.Measured == 0 || f.Last.Goroutines == 0 {
		t.Errorf("%+v: %v", f, err)
	}
}
