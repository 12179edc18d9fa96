package sessions

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// ShortestJob is the shortest time between two turns of a job.
const ShortestJob = time.Minute

// After returns the first time after t at which the job is due; zero = never again. The error names the problem of the schedule.
//
// A cron expression with a fixed hour means the clock on the wall: a time that the change to summer time skips comes as much later
// as the clock was put forward, and one that comes twice in autumn counts once. With any hour (*) it means time that passes.
func (j Job) After(t time.Time) (time.Time, error) {
	j.At, j.Created = j.At.Truncate(time.Millisecond), j.Created.Truncate(time.Millisecond) // as the store keeps times
	switch {
	case j.one() != 1:
		return time.Time{}, errors.New("give exactly one of at, every and cron")
	case !j.At.IsZero():
		if j.At.After(t) {
			return j.At, nil
		}
		return time.Time{}, nil
	case j.Cron != "":
		return j.afterCron(t)
	}
	if j.Every < ShortestJob {
		return time.Time{}, fmt.Errorf("every is %s; the minimum is %s", j.Every, ShortestJob)
	}
	if !j.Created.Before(t) {
		return j.Created.Add(j.Every), nil
	}
	return j.Created.Add((t.Sub(j.Created)/j.Every + 1) * j.Every), nil
}

// Newest gives the newest time until now at which the job is due, from first on, which is one. However long ago that is, it looks at a few
// dozen times only.
func (j Job) Newest(first, now time.Time) (newest time.Time, err error) {
	newest = first
	for end := now; end.Sub(newest) >= ShortestJob; { // none comes between end and now
		middle := newest.Add(end.Sub(newest) / 2)
		switch next, err := j.After(middle); {
		case err != nil:
			return first, err
		case next.IsZero() || next.After(now):
			end = middle
		default:
			newest = next
		}
	}
	return newest, nil
}

// one counts the kinds of schedule that are set.
func (j Job) one() (n int) {
	for _, set := range []bool{!j.At.IsZero(), j.Every != 0, j.Cron != ""} {
		if set {
			n++
		}
	}
	return n
}

func (j Job) afterCron(t time.Time) (time.Time, error) {
	if strings.Contains(j.Cron, "=") {
		return time.Time{}, fmt.Errorf("cron %q: write the time zone in zone", j.Cron)
	}
	s, err := cron.ParseStandard(j.Cron)
	if err != nil {
		return time.Time{}, fmt.Errorf("cron %q: %w", j.Cron, err)
	}
	zone, err := Zone(j.Zone)
	if err != nil {
		return time.Time{}, err
	}
	if f := strings.Fields(j.Cron); len(f) < 5 || strings.HasPrefix(f[1], "*") {
		next := s.Next(t.In(zone))
		if next.IsZero() {
			return next, fmt.Errorf("cron %q matches no date", j.Cron)
		}
		return next, nil
	}
	wall := onTheWall(t.In(zone)).Add(-24 * time.Hour) // what the change of the clock moved may lie behind
	for {
		if wall = s.Next(wall); wall.IsZero() {
			return wall, fmt.Errorf("cron %q matches no date", j.Cron)
		}
		if at := realTime(wall, zone); at.After(t) {
			return at, nil
		}
	}
}

// Zone finds a time zone by its IANA name; "" is the host's.
func Zone(name string) (*time.Location, error) {
	if name == "" {
		return time.Local, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("unknown time zone %q: use an IANA name such as Europe/Berlin", name)
	}
	return zone, nil
}

// onTheWall gives what the clock shows as if it were UTC.
func onTheWall(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// realTime gives when the clock on the wall first shows a time; where it never does, the time as much later as it is put forward.
func realTime(wall time.Time, zone *time.Location) time.Time {
	before := wall.Add(-26 * time.Hour).In(zone)
	after := wall.Add(26 * time.Hour).In(zone)
	_, was := before.Zone()
	_, is := after.Zone()
	for _, offset := range []int{max(was, is), min(was, is)} {
		if at := wall.Add(-time.Duration(offset) * time.Second).In(zone); onTheWall(at).Equal(wall) {
			return at
		}
	}
	return wall.Add(-time.Duration(was) * time.Second).In(zone)
}

// When words the schedule for people.
func (j Job) When() string {
	switch {
	case !j.At.IsZero():
		return "once"
	case j.Every > 0:
		every := j.Every.String()
		for _, nothing := range []string{"m0s", "h0m"} {
			if strings.HasSuffix(every, nothing) {
				every = every[:len(every)-2]
			}
		}
		return "every " + every
	case j.Zone != "":
		return j.Cron + " (" + j.Zone + ")"
	}
	return j.Cron
}
