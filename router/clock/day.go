package clock

import "time"

// Day gives the midnights around a time, the host's time zone.
func Day(now time.Time) (began, ends time.Time) {
	y, m, d := now.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, now.Location()), time.Date(y, m, d+1, 0, 0, 0, 0, now.Location())
}
