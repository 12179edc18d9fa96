package engine

import "time"

// The times that JSON can say, in any zone (years 0 to 9999, RFC 3339). A platform that counts in another unit says others.
var (
	minTime = time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC)
	maxTime = time.Date(9999, 12, 30, 0, 0, 0, 0, time.UTC)
)

// ClampTime gives the nearest time that can be stored; the zero time stays.
func ClampTime(t time.Time) time.Time {
	switch {
	case t.IsZero():
		return t
	case t.Before(minTime):
		return minTime
	case t.After(maxTime):
		return maxTime
	}
	return t
}

// Ms returns a time as it is stored, in milliseconds; 0 = the zero time.
func Ms(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return ClampTime(t).UnixMilli()
}

// FromMs returns a time that Ms wrote.
func FromMs(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return ClampTime(time.UnixMilli(n))
}
