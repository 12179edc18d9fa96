package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"parley/gateway/prooftest"
)

// soaked are the figures of a soak.
type soaked struct {
	Seed     uint64
	Rate     float64
	WarmRate float64
	Window   time.Duration
	Took     time.Duration
	Windows  int

	Judged, Unjudged []string // marks; what a run is too short for

	Messages, Answers, Spawns, Exchanges, Flips, Breaches int

	P50, P95, P99, WorstP99 time.Duration // the host's own time for a message; the worst of all windows
	Measured                int           // messages
	Left                    unmeasuredMessages
	Slowest                 slowMessage
	Platforms               map[string]platformTimes
	WarmP99                 time.Duration // the same of the windows that had the rate for getting warm; 0 = there were none
	CPU                     float64       // of one core
	Machine                 machineFigures
	First, Last             sample // at rest, after the time to get warm and in the end
	RSS, Anon               trend  // while it works, MB an hour
	Heap, Goroutines, Files trend  // at rest
	State                   trend  // MB an hour: data, not memory

	synced, late, quiet latencies // see machine; the last one at the rate of the mark

	each   map[string]*latencies
	whole  bool // it came to its end
	warmed int  // messages until it was warm
	times  []timedLatencies
	series map[string][]point
	calm   []timed
}

// machineFigures say what the times of a run owe to the computer: they excuse nothing.
type machineFigures struct {
	Stolen, WorstStolen  float64       // part of the processors' time that other machines had: in the middle one and in the worst of the windows that are judged
	SyncedP50, SyncedP99 time.Duration // a page until it is on the disk
	LateP99              time.Duration // a pause, behind its time
	QuietP99             time.Duration // the host's own time for a message while hardly any was stolen
	Quiet                int           // messages of those
}

// machine adds what is known of the computer in a window.
func (f *soaked) machine(m *machine, quiet *latencies, fast bool) {
	f.synced, f.late = m.synced, m.late
	if !fast {
		f.quiet.join(quiet)
	}
}

// timed is a sample with its time, and how many messages there were until then.
type timed struct {
	at       time.Duration
	messages int
	sample
}

type timedLatencies struct {
	at   time.Duration
	fast bool // at the rate for getting warm
	*latencies
	stolen float64 // see sample.Stolen
}

// add takes the figures of a window.
func (f *soaked) add(at time.Duration, fast bool, work, calm sample, lat *latencies, breaches int, h *prooftest.History) {
	f.Windows++
	f.Breaches += breaches
	f.Flips += len(h.Flips)
	for _, m := range h.Said {
		f.Messages++
		for _, d := range m.Owes {
			switch d.Kind {
			case prooftest.Answer:
				f.Answers++
			case prooftest.Report:
				f.Spawns++
			case prooftest.Announce:
				f.Exchanges++
			}
		}
	}
	f.times = append(f.times, timedLatencies{at, fast, lat, calm.Stolen})
	if f.series == nil {
		f.series = map[string][]point{}
	}
	for name, value := range map[string]float64{"rss": work.RSS, "anon": work.Anon, "heap": calm.Heap, "goroutines": calm.besides(), "files": calm.Files, "state": calm.State} {
		f.series[name] = append(f.series[name], point{at, value})
	}
	f.calm = append(f.calm, timed{at, f.Messages, calm})
}

// besides is how many goroutines there are besides those of connections, of which each idle one has two: how many are kept open
// changes all the time.
func (s sample) besides() float64 { return s.Goroutines - 2*s.Files }

// leastMeasured is how many messages a window needs to have a 99th of its own.
const leastMeasured = 50

// warmUp is how long pools grow to their size and caches fill: a quarter of a run, at most an hour. A run of half an hour or more fills
// them meanwhile, at a rate of its own; a shorter one ends before they are full: see remembered.
func warmUp(of time.Duration) time.Duration { return min(of/4, time.Hour) }

// sum works out what the windows say together.
func (f *soaked) sum(of time.Duration) {
	warm := warmUp(of)
	var early, all latencies
	var stolen []float64
	f.WorstP99 = 0
	for _, t := range f.times {
		if t.fast {
			early.join(t.latencies)
			continue
		}
		if all.join(t.latencies); t.N >= leastMeasured {
			f.WorstP99 = max(f.WorstP99, t.latencies.at(0.99))
		}
		stolen = append(stolen, t.stolen)
	}
	f.P50, f.P95, f.P99, f.Measured, f.WarmP99 = all.at(0.5), all.at(0.95), all.at(0.99), all.N, early.at(0.99)
	slices.Sort(stolen)
	f.Machine = machineFigures{Stolen: sortedQuantile(stolen, 0.5), WorstStolen: sortedQuantile(stolen, 1), SyncedP50: f.synced.at(0.5), SyncedP99: f.synced.at(0.99), LateP99: f.late.at(0.99),
		QuietP99: f.quiet.at(0.99), Quiet: f.quiet.N}
	trendOf := func(name string) trend {
		series := f.series[name]
		return trendOf(slices.DeleteFunc(slices.Clone(series), func(p point) bool { return p.At < warm }))
	}
	f.RSS, f.Anon, f.Heap, f.Goroutines, f.Files, f.State = trendOf("rss"), trendOf("anon"), trendOf("heap"), trendOf("goroutines"), trendOf("files"), trendOf("state")
	calm := slices.DeleteFunc(slices.Clone(f.calm), func(t timed) bool { return t.at < warm })
	if len(calm) > 0 {
		f.First, f.Last, f.warmed = calm[0].sample, calm[len(calm)-1].sample, calm[0].messages
		if over := calm[len(calm)-1].at - calm[0].at; over > 0 {
			f.CPU = float64(f.Last.CPU-f.First.CPU) / float64(over)
		}
	}
}

// What a series may rise by for sure (see trend.Rise) before it counts as a leak.
//
// In five minutes at five messages a second these find 2 kB that each message leaves in the heap, 64 kB that each new chat leaves, a
// goroutine or a descriptor at every connection that ends. They do not find 1 kB a message: caches that fill differ by as much from run
// to run. Half an hour finds that. A run of hours is warm for an hour, with all caches full, and may then grow by the mark an hour: at
// five messages a second, 60 bytes a message.
const (
	heapMayRise = 1.0 // MB
	anonMayRise = 16.0
	countsMay   = 2.0 // goroutines, descriptors
	longEnough  = 30 * time.Minute
	leastPoints = 10
)

// What the host remembers of the newest messages on purpose, each kind within its bounds: 8 MB of transcripts (router), 4096 messages and
// 2048 sent ones of Discord (1.3 MB), 2048 of WhatsApp (0.7 MB), the topics of 8192 of Telegram (0.3 MB). A message takes 1.8 kB of that
// until it is full, about 1.2 kB of it in transcripts, as heap profiles show: after 7,000 messages, six minutes at twenty a second.
const (
	remembersEach = 1.75 / 1024 // MB a message
	remembersMost = 12.0        // MB
)

// remembered is what of the heap is remembered on purpose after some messages, in MB.
func remembered(messages int) float64 { return min(float64(messages)*remembersEach, remembersMost) }

// judge says which marks are missed. What a short run shows of memory is noise and caches that fill up: it is judged by what has grown
// for sure. A long one has to keep the marks an hour.
func (f *soaked) judge(of time.Duration, rss float64, p99 time.Duration) error {
	f.sum(of)
	f.Judged, f.Unjudged = []string{"what everybody sees"}, nil
	var missed []string
	hold := func(ok bool, format string, args ...any) {
		mark := fmt.Sprintf(format, args...)
		if f.Judged = append(f.Judged, mark); !ok {
			missed = append(missed, mark)
		}
	}
	rise := func(what string, t trend, may float64, unit string) {
		hold(t.Rise() <= may, "%s: may rise %.1f%s, rose %.1f%s for sure", what, may, unit, t.Rise(), unit)
	}
	hold(f.Heap.Points >= leastPoints, "%d windows were measured after the warm-up, and at least %d are needed", f.Heap.Points, leastPoints)
	may := remembered(f.Messages) - remembered(f.warmed) + rss*f.Heap.Hours
	if of < longEnough {
		may += heapMayRise
	}
	rise("live heap", f.Heap, may, " MB")
	rise("memory that is no file's", f.Anon, anonMayRise+rss*max(of.Hours(), f.Heap.Hours), " MB")
	rise("goroutines besides those of connections", f.Goroutines, countsMay, "")
	rise("descriptors", f.Files, countsMay, "")
	resident, own := fmt.Sprintf("resident memory below %g MB an hour", rss), fmt.Sprintf("the host's own time for 99 of 100 messages below %s", p99)
	if of >= longEnough {
		hold(f.RSS.Slope < rss, "%s: %+.2f", resident, f.RSS.Slope)
		hold(f.Measured >= leastMeasured && f.P99 < p99, "%s: %s of %d measured", own, f.P99, f.Measured)
		plain := f.Measured + f.Left.Unanswered + f.Left.Disturbed
		hold(2*f.Measured >= plain, "half of the messages that ask for an answer alone are measured: %d of %d", f.Measured, plain)
	} else {
		f.Unjudged = []string{resident, own}
	}
	if len(missed) > 0 {
		return fmt.Errorf("%w: %s", errMark, strings.Join(missed, "; "))
	}
	return nil
}

// unmeasured stands in the place of a figure that a run was too short for.
const unmeasured = "not measured"

func (f *soaked) print(to io.Writer) {
	t := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(t, name+"\t"+format+"\n", args...) }
	atRest := func(name, format string, args ...any) {
		if f.First == (sample{}) {
			format, args = unmeasured, nil
		}
		row(name, format, args...)
	}
	row("took", "%s, %d windows, seed %d", f.Took.Round(time.Second), f.Windows, f.Seed)
	row("messages", "%d (%d to be answered, %d sub-agents, %d exchanges, %d changes of the send policy)", f.Messages, f.Answers, f.Spawns, f.Exchanges, f.Flips)
	row("connections ended", "%d", f.Breaches)
	worst := fmt.Sprintf("%s: none had %d messages", unmeasured, leastMeasured)
	if f.WorstP99 > 0 {
		worst = f.WorstP99.String()
	}
	if f.Measured > 0 {
		row("the host's own time", "p50 %s, p95 %s, p99 %s (%d messages), p99 of the worst window %s", f.P50, f.P95, f.P99, f.Measured, worst)
	} else {
		row("the host's own time", unmeasured)
	}
	if len(f.Platforms) > 0 {
		row("of each platform", "%s", f.ofPlatforms())
	}
	row("not measured", "%d messages with orders, %d without an answer, %d whose platform was away meanwhile", f.Left.Orders, f.Left.Unanswered, f.Left.Disturbed)
	if f.WarmP99 > 0 {
		row("while it got warm", "p99 %s, with %g messages a second: not judged", f.WarmP99, f.WarmRate)
	}
	m := f.Machine
	row("the machine", "other machines had %.1f %% of its processors' time in the middle one of the windows, %.1f %% in the worst; a page is on the disk in p50 %s, p99 %s; a pause is late by p99 %s",
		100*m.Stolen, 100*m.WorstStolen, m.SyncedP50, m.SyncedP99, m.LateP99)
	row("while nobody had", "p99 %s of the host's own time (%d messages)", m.QuietP99, m.Quiet)
	atRest("CPU", "%.1f %% of a core", 100*f.CPU)
	atRest("resident memory", "%.1f MB to %.1f MB, %s", f.First.RSS, f.Last.RSS, f.RSS)
	atRest("of it no files", "%.1f MB to %.1f MB, %s", f.First.Anon, f.Last.Anon, f.Anon)
	atRest("live heap", "%.1f MB to %.1f MB, %s", f.First.Heap, f.Last.Heap, f.Heap)
	atRest("goroutines at rest", "%.0f to %.0f, besides those of connections %s", f.First.Goroutines, f.Last.Goroutines, f.Goroutines)
	atRest("descriptors at rest", "%.0f to %.0f, %s", f.First.Files, f.Last.Files, f.Files)
	atRest("state folder", "%.1f MB to %.1f MB, %s", f.First.State, f.Last.State, f.State)
	if len(f.Judged) > 0 {
		row("judged", "%s", strings.Join(f.Judged, "\n\t"))
	} else {
		row("judged", "what everybody saw in %d windows, and nothing else: the run did not come to its end", f.Windows)
	}
	if len(f.Unjudged) > 0 {
		row("NOT judged", "%s: that takes a run of %s", strings.Join(f.Unjudged, ", "), longEnough)
	}
	_ = t.Flush() // to whoever still reads
}
