package sessions

import (
	"fmt"
	"strings"
	"time"
)

// ParseWhen reads a time as people write it: RFC 3339, or a date and a time of the clock in a zone ("2026-12-01 09:00", "tomorrow 9:00",
// "today 18:30"), or a time of the clock alone, which is the next such. A time that the change to summer time skips is as much later.
func ParseWhen(text string, zone *time.Location, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	if len(text) > len(time.DateOnly) && text[len(time.DateOnly)] == 'T' {
		text = strings.Replace(text, "T", " ", 1)
	}
	wrong := fmt.Errorf("at %.100q is not a time: write it as 2026-12-01 09:00, tomorrow 9:00, 18:30 or 2026-12-01T09:00:00+01:00", text)
	wall := onTheWall(now.In(zone))
	day, clock, ok := strings.Cut(strings.Join(strings.Fields(text), " "), " ")
	if !ok {
		day, clock = "", day
	}
	of, err := time.Parse("15:04", clock)
	if err != nil {
		if of, err = time.Parse("15:04:05", clock); err != nil {
			return time.Time{}, wrong
		}
	}
	on := wall
	switch strings.ToLower(day) {
	case "", "today":
	case "tomorrow":
		on = wall.AddDate(0, 0, 1)
	default:
		if on, err = time.Parse(time.DateOnly, day); err != nil {
			return time.Time{}, wrong
		}
	}
	at := func(day time.Time) time.Time {
		return realTime(time.Date(day.Year(), day.Month(), day.Day(), of.Hour(), of.Minute(), of.Second(), 0, time.UTC), zone)
	}
	if when := at(on); day != "" || when.After(now) {
		return when, nil
	}
	return at(wall.AddDate(0, 0, 1)), nil
}

// Coming gives the next times at which the job is due after t, at most so many.
func (j Job) Coming(t time.Time, most int) (times []time.Time, err error) {
	for range most {
		next, err := j.After(t)
		if err != nil || next.IsZero() {
			return times, err
		}
		times, t = append(times, next), next
	}
	return times, nil
}
