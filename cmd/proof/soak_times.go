package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"parley/gateway/prooftest"
)

// ownTimes are the host's own times for the messages of a window.
type ownTimes struct {
	all, quiet latencies // quiet: while other machines left this one its processors
	each       map[string]*latencies
	slowest    slowMessage
	left       unmeasuredMessages
}

// slowMessage is one that took long, and since when the run was on.
type slowMessage struct {
	Took, At time.Duration
	Platform string
	Chat     string
	Token    string
}

// unmeasuredMessages are those whose time says nothing of the host's own, at the rate of the mark.
type unmeasuredMessages struct {
	Orders     int // asked for more than an answer, which they waited for
	Unanswered int // have no post of their own: withheld
	Disturbed  int // their platform was away meanwhile
}

// platformTimes are the host's own times for the messages of a platform.
type platformTimes struct {
	P50, P99 time.Duration
	Measured int // messages
}

// overhead gives the time of each plain message from the moment at which the platform had it to the moment at which its answer came
// there. What was said or answered while that platform was disturbed does not count: then its retries are measured. left says what was not
// measured, and why.
func (s *soak) overhead(h *prooftest.History) *ownTimes {
	answers := map[string]time.Time{}
	for _, x := range h.Shown {
		if x.Verb != prooftest.Post {
			continue
		}
		for _, t := range all(bracketed, x.Text) {
			if _, ok := answers[t]; !ok {
				answers[t] = x.At
			}
		}
	}
	own := &ownTimes{each: map[string]*latencies{}}
	for _, m := range h.Said {
		at, ok := answers[m.Token]
		switch {
		case len(m.Owes) == 0:
		case len(m.Owes) > 1 || strings.Contains(m.Text, ":"):
			own.left.Orders++
		case !ok:
			own.left.Unanswered++
		case slices.ContainsFunc(s.disturbed, func(d disturbance) bool {
			return d.platform == m.Place.Platform && m.At.Before(d.end) && at.After(d.begin)
		}):
			own.left.Disturbed++
		default:
			own.add(slowMessage{Took: at.Sub(m.At), At: m.At.Sub(s.began), Platform: m.Place.Platform, Chat: m.Place.Chat, Token: m.Token}, s.machine.quiet(m.At, at))
		}
	}
	return own
}

// add takes the time of a message.
func (o *ownTimes) add(m slowMessage, quiet bool) {
	o.all.add(m.Took)
	if quiet {
		o.quiet.add(m.Took)
	}
	if o.each[m.Platform] == nil {
		o.each[m.Platform] = &latencies{}
	}
	o.each[m.Platform].add(m.Took)
	if m.Took > o.slowest.Took {
		o.slowest = m
	}
}

// own takes the times of a window; those of fast ones are not told of.
func (f *soaked) own(o *ownTimes, fast bool) {
	if fast {
		return
	}
	f.Left.Orders, f.Left.Unanswered, f.Left.Disturbed = f.Left.Orders+o.left.Orders, f.Left.Unanswered+o.left.Unanswered, f.Left.Disturbed+o.left.Disturbed
	if o.slowest.Took > f.Slowest.Took {
		f.Slowest = o.slowest
	}
	if f.each == nil {
		f.each, f.Platforms = map[string]*latencies{}, map[string]platformTimes{}
	}
	for name, l := range o.each {
		if f.each[name] == nil {
			f.each[name] = &latencies{}
		}
		f.each[name].join(l)
		f.Platforms[name] = platformTimes{f.each[name].at(0.5), f.each[name].at(0.99), f.each[name].N}
	}
}

// ofPlatforms tells the times of each platform, and the slowest message of all.
func (f *soaked) ofPlatforms() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(f.Platforms)) {
		p := f.Platforms[name]
		out = append(out, fmt.Sprintf("%s p50 %s, p99 %s (%d)", name, p.P50, p.P99, p.Measured))
	}
	x := f.Slowest
	return strings.Join(append(out, fmt.Sprintf("slowest %s on %s, %s after the start", x.Took.Round(time.Millisecond), x.Platform, x.At.Round(time.Second))), "; ")
}
