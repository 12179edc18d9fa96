package channels

import (
	"fmt"
	"math"
	"time"
)

// The first and the last second that a platform's clock may show: 2100 begins after lastSecond. What is larger is in a smaller unit.
const (
	firstSecond     = 1
	lastSecond      = 4_102_444_799
	firstFineSecond = 900_000_000 // 1998: a time in milliseconds or finer is not older
)

// UnixTime gives the time that a platform names in seconds since 1970. Adapters call it for every time that comes from outside, so that
// no later layer meets a year that it cannot write. Milliseconds, microseconds and nanoseconds, which some servers send instead, are
// recognised; any other value outside 1970 to 2099, zero included, is now.
func UnixTime(sec int64) time.Time {
	if t, known := KnownTime(sec); known {
		return t
	}
	return time.Now()
}

// KnownTime is the date of a message or of what it names, in seconds or finer units since 1970; false for one out of range.
func KnownTime(sec int64) (time.Time, bool) {
	if sec >= firstSecond && sec <= lastSecond {
		return time.Unix(sec, 0), true
	}
	for unit := int64(1000); unit <= int64(time.Second); unit *= 1000 {
		if whole := sec / unit; whole >= firstFineSecond && whole <= lastSecond {
			return time.Unix(whole, sec%unit*(int64(time.Second)/unit)), true
		}
	}
	return time.Time{}, false
}

// Degrees writes a place that a platform names; "" when there is no such place on Earth.
func Degrees(latitude, longitude float64) string {
	if !(math.Abs(latitude) <= 90) || !(math.Abs(longitude) <= 180) { // also what is no number
		return ""
	}
	return fmt.Sprintf("%.6f, %.6f", latitude, longitude)
}

// PlausibleTime gives t where its year is one that UnixTime gives as well, and now for any other: for times that a library has read.
func PlausibleTime(t time.Time) time.Time {
	if sec := t.Unix(); sec >= firstSecond && sec <= lastSecond {
		return t
	}
	return time.Now()
}
