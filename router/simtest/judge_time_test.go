package simtest

import (
	"slices"
	"time"

	"parley/router/settings"
	"parley/sessions"
)

// mostIdle bounds how long nothing may happen about what waits while nothing hinders it. The longest that a turn waits by itself is a tool call
// that waits for another session, 121 s, whose end may be found out 30 s later; messages are collected for ten quiet times of a second; a send
// that was limited waits 90 s, everything else that failed a minute.
const mostIdle = 4 * time.Minute

// judgeTime: from when a turn is accepted to its end something happens about it: its session's model is running, or the host is down or its store
// in trouble; and from when a delivery is made to its end its platform is called. So a turn is answered within the time that the model and the
// platform take for it and for what was there before it, and mostIdle for each of those steps.
func (r *rest) judgeTime() {
	hindered := r.hindered()
	thinks, calls := map[sessions.Key][][2]time.Time{}, map[settings.AccountRef][][2]time.Time{}
	for _, t := range r.w.thoughts {
		lane := laneOf(t.key())
		thinks[lane] = append(thinks[lane], [2]time.Time{t.began, r.w.until(t.began, t.ended)})
	}
	for _, c := range r.w.called {
		if c.isSign() {
			continue
		}
		calls[settings.Ref(c.to)] = append(calls[settings.Ref(c.to)], [2]time.Time{c.on, r.w.until(c.on, c.off)})
	}
	for _, run := range r.runs {
		if run.Ended.IsZero() {
			continue // it was deleted in the commit of its end
		}
		if from, d := idle(run.Created, run.Ended, hindered, thinks[laneOf(run.Key)]); d > mostIdle {
			r.wrong("late", "the %s run %s in %s of %q waits %s from %s on, and nothing hinders it", run.Kind, run.ID, run.Key, run.Source, d, from)
		}
	}
	for _, d := range r.deliveries {
		if from, n := idle(d.Created, d.Updated, hindered, calls[settings.Ref(d.To)]); d.State.Final() && n > mostIdle {
			r.wrong("late", "the %s %q to %s waits %s from %s on, and nothing hinders it", d.Kind, d.Text, d.To, n, from)
		}
	}
}

// laneOf puts all sub-agents together: they share what may be at work at once, and wait for one another.
func laneOf(key sessions.Key) sessions.Key {
	if sessions.IsSubagent(key) {
		return "sub-agents"
	}
	return key
}

// until gives an end, or that of the process at work at the beginning where it went first.
func (w *world) until(begin, end time.Time) time.Time {
	for _, x := range w.awake {
		if end.IsZero() && !x[1].Before(begin) {
			return x[1]
		}
	}
	return end
}

// hindered is when the host was down, or its store failed or stood still, and a minute more: so long it waits at most before it tries again.
func (r *rest) hindered() (out [][2]time.Time) {
	for i, x := range r.w.awake {
		if i > 0 {
			out = append(out, [2]time.Time{r.w.awake[i-1][1], x[0]})
		}
	}
	for _, x := range r.w.troubles {
		out = append(out, [2]time.Time{x.from, x.to.Add(time.Minute)})
	}
	return out
}

// idle finds the longest time between two moments that none of some times has a part of, and when it begins.
func idle(from, to time.Time, times ...[][2]time.Time) (at time.Time, longest time.Duration) {
	all := slices.Concat(times...)
	slices.SortFunc(all, func(a, b [2]time.Time) int { return a[0].Compare(b[0]) })
	look := func(until time.Time) {
		if d := until.Sub(from); d > longest {
			at, longest = from, d
		}
	}
	for _, x := range all {
		if x[0].After(to) {
			break
		}
		look(x[0])
		if x[1].After(from) {
			from = x[1]
		}
	}
	look(to)
	return at, longest
}
