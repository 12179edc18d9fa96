package sqlstore

import "time"

// The times that JSON can say, in any zone (years 0 to 9999, RFC 3339). A platform that counts in another unit says others.
var (
	minTime = time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC)
	maxTime = time.Date(9999, 12, 30, 0, 0, 0, 0, time.UTC)
)

// clampTime gives the nearest time that can be stored; the zero time stays.
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

func Ms(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return ClampTime(t).UnixMilli()
}

func FromMs(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return ClampTime(time.UnixMilli(n))
}
