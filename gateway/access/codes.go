package access

import (
	"crypto/rand"
	"crypto/sha256"
	"net/url"
	"slices"
	"sync"
	"time"

	"parley/gateway/api"
)

const (
	codeTTL  = 2 * time.Minute // how long a login code is good for
	maxCodes = 8               // that wait for one principal; for one more its oldest goes
)

// Invitation lets one browser in, once and soon.
type Invitation struct {
	Path    string    // of the link, behind the address of the host
	Expires time.Time // it is good for nothing from then on
}

// Invite makes a login code for the caller: a browser that opens the link gets a cookie of the same principal. The code is in memory
// only. ok is false when no token stands for the principal any more.
func (d *Door) Invite(p api.Principal) (inv Invitation, ok bool) {
	s := d.state.Load()
	i := slices.IndexFunc(s.keys, func(k key) bool { return k.name == p.Name && k.scope == p.Scope })
	if i < 0 {
		return inv, false
	}
	code, end := rand.Text(), time.Now().Add(codeTTL)
	d.codes.add(code, s.keys[i], end)
	return Invitation{Path: "/login?" + url.Values{"code": {code}}.Encode(), Expires: end}, true
}

// codes are the login codes that were not used yet. The zero value is ready.
type codes struct {
	mu   sync.Mutex
	open []openCode // oldest first
}

// openCode is a code that was given out.
type openCode struct {
	sum [sha256.Size]byte // of the code: finding one takes as long whatever is offered
	key key
	end time.Time
}

func (c *codes) add(code string, k key, end time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget()
	if same := func(o openCode) bool { return o.key.same(k) }; c.count(same) >= maxCodes {
		i := slices.IndexFunc(c.open, same)
		c.open = slices.Delete(c.open, i, i+1)
	}
	c.open = append(c.open, openCode{sha256.Sum256([]byte(code)), k, end})
}

func (c *codes) count(which func(openCode) bool) (n int) {
	for _, o := range c.open {
		if which(o) {
			n++
		}
	}
	return n
}

// take uses a code up: it gives the key that it was made for, the first time, in time, and while that key opens the door.
func (c *codes) take(code string, s *state) (key, bool) {
	sum := sha256.Sum256([]byte(code))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget()
	i := slices.IndexFunc(c.open, func(o openCode) bool { return o.sum == sum })
	if i < 0 {
		return key{}, false
	}
	k := c.open[i].key
	c.open = slices.Delete(c.open, i, i+1)
	j := slices.IndexFunc(s.keys, k.same)
	if j < 0 {
		return key{}, false
	}
	return s.keys[j], true
}

// clear makes all codes worth nothing.
func (c *codes) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = nil
}

// forget lets go of what is too old. c.mu is held.
func (c *codes) forget() {
	now := time.Now()
	c.open = slices.DeleteFunc(c.open, func(o openCode) bool { return !now.Before(o.end) })
}
