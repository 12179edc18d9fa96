package router

import (
	"sync"
	"time"
)

// clock tells the time of day, and how old a stored time is. What is stored is the time of day; a computer's clock is set while the host
// runs, by hand or by a time server, and then what was stored a minute ago must not look an hour old. So it compares the time of day with
// the time that really passes, and leaves out of an age what the clock was set ahead since.
//
// A clock that is set back makes ages smaller, which is safe: nothing ends early. What happened between two processes cannot be told
// from time that passed.
type clock struct {
	now  func() time.Time     // the time of day
	pass func() time.Duration // time that really passes, that of a sleeping computer included

	mu    sync.Mutex
	drift time.Duration // of the time of day against the time that passes, when somebody last looked
	seen  time.Time     // the time of day then
	leaps []leap
}

// leap is one time that the clock was set ahead.
type leap struct {
	from time.Time // no later than the time of day then
	by   time.Duration
	at   time.Duration // when it was noticed, as pass tells it
}

const (
	leastLeap = time.Second // less is a clock that is put right in small steps
	mostLeaps = 100
)

func newClock() *clock {
	began := time.Now()
	c := &clock{now: time.Now, pass: func() time.Duration { return time.Since(began) + slept() }}
	c.begin()
	return c
}

// begin forgets what it knows of the time of day.
func (c *clock) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen, c.leaps = c.now().Round(0), nil
	c.drift = time.Duration(c.seen.UnixNano()) - c.pass()
}

// look notices that the clock was set. It gives the time of day. c.mu is held.
func (c *clock) look() time.Time {
	now, passed := c.now().Round(0), c.pass()
	drift := time.Duration(now.UnixNano()) - passed
	switch by := drift - c.drift; {
	case by >= leastLeap:
		if len(c.leaps) == mostLeaps {
			c.leaps = c.leaps[1:]
		}
		c.leaps = append(c.leaps, leap{from: c.seen, by: by, at: passed})
	case by <= -leastLeap: // what was set ahead is taken back, newest first
		for n := len(c.leaps); n > 0 && by < 0; n-- {
			back := min(c.leaps[n-1].by, -by)
			by += back
			if c.leaps[n-1].by -= back; c.leaps[n-1].by == 0 {
				c.leaps = c.leaps[:n-1]
			}
		}
	}
	c.drift, c.seen = drift, now
	return now
}

// age is how long ago a time was stored.
func (c *clock) age(stored time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	age := c.look().Sub(stored)
	for _, l := range c.leaps {
		if stored.Before(l.from.Add(l.by)) { // by the clock as it was
			age -= l.by
		}
	}
	return age
}

// steady reports whether the clock was not set ahead by much within a time. Nothing is thrown away for its age as long as it may be set
// back again.
func (c *clock) steady(within, much time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look()
	for _, l := range c.leaps {
		if l.by >= much && c.pass()-l.at < within {
			return false
		}
	}
	return true
}
