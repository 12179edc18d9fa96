package delivery

import (
	"time"

	"parley/router/clock"
	"parley/sessions"
)

// timeLeft is how long a delivery may still wait, however the clock was set ahead since it was made.
func timeLeft(ages *clock.Steady, d sessions.Delivery) time.Duration {
	return d.Expires.Sub(d.Created) - ages.Age(d.Created)
}

// decisionTime is the time by which it is decided whether a delivery has expired.
func decisionTime(ages *clock.Steady, d sessions.Delivery) time.Time {
	if d.Expires.IsZero() {
		return time.Now()
	}
	return d.Expires.Add(-timeLeft(ages, d))
}

// notBefore is a delivery's stored time of its next try as one that no setting of the clock moves, and no later than it was meant: the
// clock may have been set back since.
func notBefore(ages *clock.Steady, d sessions.Delivery) time.Time {
	if d.NotBefore.IsZero() {
		return d.NotBefore
	}
	meant := max(d.NotBefore.Sub(d.Updated), clock.MaxBackoff)
	return time.Now().Add(min(d.NotBefore.Sub(ages.Now()), meant))
}
