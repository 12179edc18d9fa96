package clock

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Steady tells the time of day, and how old a stored time is. What is stored is the time of day; a computer's clock is set while the host
// runs, by hand or by a time server, and then what was stored a minute ago must not look an hour old, nor as if it were still to come. So
// it compares the time of day with the time that really passes, and remembers how the clock offsets.
//
// Where an age cannot be told for certain the smallest is taken, which is safe: nothing ends early. What happened between two processes
// cannot be told from time that passed.
type Steady struct {
	day    func() time.Time                  // the time of day
	pass   func() time.Duration              // time that really passes, that of a sleeping computer included
	jitter func(time.Duration) time.Duration // draws a time below another

	mu      sync.Mutex
	offsets []offset      // oldest first, never empty; the last one is how it stands
	seen    time.Duration // of the last look, as pass tells it
}

// offset is how the clock offsets until it was set. from and to are as pass tells them; as it was set between two looks, that of the next
// one begins before this one's end.
type offset struct {
	ahead    time.Duration // the time of day less the time that passes
	from, to time.Duration // to is of the last look
}

// Span is some of the times that a clock showed, both ends included.
type Span struct{ From, To time.Time }

const (
	// minJump is how far a clock must jump to count as set: less is one that is adjusted in small steps.
	minJump    = time.Second
	maxOffsets = 100
)

// New returns a clock that reads the computer's.
func New() *Steady {
	began := time.Now()
	c := &Steady{day: time.Now, pass: func() time.Duration { return time.Since(began) + slept() }, jitter: rand.N[time.Duration]}
	c.Restart()
	return c
}

// Now is the time of day.
func (c *Steady) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.day()
}

// Set replaces how the clock is read, where a func is given, and begins again.
func (c *Steady) Set(now func() time.Time, pass func() time.Duration, jitter func(time.Duration) time.Duration) {
	c.mu.Lock()
	if now != nil {
		c.day = now
	}
	if pass != nil {
		c.pass = pass
	}
	if jitter != nil {
		c.jitter = jitter
	}
	c.mu.Unlock()
	c.Restart()
}

// Restart forgets what it knows of the time of day.
func (c *Steady) Restart() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, passed := c.day(), c.pass()
	c.seen, c.offsets = passed, []offset{{ahead: dayTime(now) - passed, from: passed, to: passed}}
}

// dayTime is a time of day as what has passed since 1970, for times from then to 2262.
func dayTime(t time.Time) time.Duration { return max(t.Sub(time.Unix(0, 0)), 0) }

// observe notices that the clock was set. It gives the time that has passed. c.mu is held.
func (c *Steady) observe() time.Duration {
	now, passed := c.day(), c.pass()
	ahead, last := dayTime(now)-passed, &c.offsets[len(c.offsets)-1]
	last.to = passed
	if by := ahead - last.ahead; by > -minJump && by < minJump {
		last.ahead = ahead
	} else {
		if len(c.offsets) == maxOffsets {
			c.offsets = slices.Delete(c.offsets, 0, 1)
		}
		c.offsets = append(c.offsets, offset{ahead: ahead, from: c.seen, to: passed})
	}
	c.seen = passed
	return passed
}

// Age returns how long ago a time was stored, on the steady clock.
func (c *Steady) Age(stored time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	passed, at := c.observe(), dayTime(stored)
	least := c.offsets[0].ahead
	for _, x := range slices.Backward(c.offsets) {
		if since := at - x.ahead; x.from <= since && since <= x.to {
			return passed - since // by the clock as it offsets
		}
		least = min(least, x.ahead)
	}
	return passed + least - at // from before this process, or from another clock
}

// Left is how long it is until a time that was stored together with another one: as long after it as was meant then.
func (c *Steady) Left(until, stored time.Time) time.Duration {
	return until.Sub(stored) - c.Age(stored)
}

// Earliest gives the time of day by the clock that was furthest behind within a time: nothing is thrown away for its age by a clock that
// may have been set ahead by mistake.
func (c *Steady) Earliest(within time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	passed := c.observe()
	least := c.offsets[len(c.offsets)-1].ahead
	for _, x := range c.offsets {
		if passed-x.to < within {
			least = min(least, x.ahead)
		}
	}
	return time.Unix(0, int64(passed+least))
}

// Intervals gives the times of day that the clock has shown within a time, in order. What lies before this process it shows as the clock offsets
// at its beginning.
func (c *Steady) Intervals(within time.Duration) (all []Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	passed := c.observe()
	for i, x := range c.offsets {
		from := passed - within
		if i > 0 {
			from = max(from, x.from)
		}
		if from <= x.to {
			all = append(all, Span{time.Unix(0, int64(from+x.ahead)), time.Unix(0, int64(x.to+x.ahead))})
		}
	}
	slices.SortFunc(all, func(a, b Span) int { return cmp.Or(a.From.Compare(b.From), a.To.Compare(b.To)) })
	joined := all[:1]
	for _, x := range all[1:] {
		if last := &joined[len(joined)-1]; !x.From.After(last.To) {
			if x.To.After(last.To) {
				last.To = x.To
			}
			continue
		}
		joined = append(joined, x)
	}
	return joined
}
