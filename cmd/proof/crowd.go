package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"parley/gateway/prooftest"
	"parley/sessions"
)

// plan is one message that is to be written.
type plan struct {
	at   *place
	text string
	said prooftest.Said // without its time
}

// planner makes the messages of a run: the same for the same seed.
type planner struct {
	r      *rand.Rand
	places []*place
	n      int // messages so far
	spawns int // left
	left   int // messages left
}

// Of ten messages one asks another session.
const exchangeEvery = 10

// manners are how sub-agents end, each as often as it stands here.
var manners = []string{mannerOK, mannerOK, mannerOK, mannerOK, mannerOK, mannerGone, mannerGone, mannerFail, mannerLate, mannerNest}

// next makes a message.
func (p *planner) next() plan { return p.nextIn(p.places) }

// nextIn makes a message in one of some places. Exchanges that wait go from agent a to agent b only: two turns that wait for each other
// would do so until the end of their time.
func (p *planner) nextIn(places []*place) plan {
	at := places[p.r.IntN(len(places))]
	var to *place
	wait := 0
	if p.r.IntN(exchangeEvery) == 0 {
		if to = p.places[p.r.IntN(len(p.places))]; strings.HasPrefix(at.Session, "agent:a:") && strings.HasPrefix(to.Session, "agent:b:") {
			wait = p.r.IntN(2)
		}
	}
	var spawns []string
	for range p.spawnsNow() {
		spawns = append(spawns, manners[p.r.IntN(len(manners))])
	}
	return p.message(at, to, wait, spawns...)
}

// everything is a message that asks for one of everything.
func (p *planner) everything() plan {
	return p.message(p.places[0], p.places[len(p.places)-1], 1, mannerOK, mannerFail, mannerLate, mannerGone, mannerNest)
}

// message makes a message with all that it asks for: an exchange with another place, unless that is nil or the same, and sub-agents.
func (p *planner) message(at, to *place, wait int, spawns ...string) plan {
	p.n++
	p.left--
	token := fmt.Sprintf("m%d", p.n)
	text, owes := "["+token+"]", []prooftest.Debt{{Token: token, Kind: prooftest.Answer, Place: at.Place}}
	if to != nil && to != at {
		text += fmt.Sprintf(" ask:%s|%d", to.Session, wait)
		owes = append(owes, prooftest.Debt{Token: token + ".x1", Kind: prooftest.Announce, Place: to.Place})
	}
	for i, manner := range spawns {
		child := fmt.Sprintf("%s.s%d", token, i+1)
		text += " spawn:" + manner
		owes = append(owes, prooftest.Debt{Token: child, Kind: prooftest.Report, Place: at.Place, Ends: endOf[manner]})
		if p.spawns--; manner == mannerNest {
			p.spawns--
			owes = append(owes, prooftest.Debt{Token: child + ".n1", Kind: prooftest.Report, Place: at.Place, By: child, Ends: endOf[mannerOK]})
		}
	}
	return plan{at: at, text: text, said: prooftest.Said{Token: token, Place: at.Place, Text: text, Owes: owes}}
}

// endOf is the host's word for how the work of each manner ends.
var endOf = map[string]string{mannerOK: "success", mannerGone: "success", mannerNest: "success", mannerFail: "error", mannerLate: "timeout"}

// mostSpawns is how many sub-agents a message asks for at most.
const mostSpawns = 4

// spawnsNow is how many sub-agents a message asks for, so that all are spawned by the end: none mostly, else one to four.
func (p *planner) spawnsNow() int {
	if p.spawns <= 0 {
		return 0
	}
	const mean = (1 + mostSpawns) / 2.0
	least := min(p.spawns-mostSpawns*(p.left-1), mostSpawns) // those after it cannot ask for all
	if least <= 0 && p.r.Float64() >= float64(p.spawns)/mean/float64(p.left) {
		return 0
	}
	return max(1+p.r.IntN(mostSpawns), least)
}

// crowd writes to the host and changes the send policy, and keeps the log of it.
type crowd struct {
	w *world

	locks map[*place]*sync.Mutex // the order of the log is that of the platform
	mu    sync.Mutex
	said  []prooftest.Said
	ids   map[written]string // the tokens of what was written
	n     int                // commands
	flips []prooftest.Flip
}

func newCrowd(w *world) *crowd {
	c := &crowd{w: w, locks: map[*place]*sync.Mutex{}, ids: map[written]string{}}
	for _, p := range w.places {
		c.locks[p] = &sync.Mutex{}
	}
	return c
}

// say writes a message.
func (c *crowd) say(p plan) {
	order := c.lock(p.at)
	order.Lock()
	defer order.Unlock()
	p.said.At = time.Now()
	at := c.note(p.said)
	id := p.at.Say(p.text)
	c.mu.Lock()
	c.said[at].ID = id
	c.ids[written{p.at.Place, id}] = p.said.Token
	c.mu.Unlock()
}

func (c *crowd) lock(at *place) *sync.Mutex {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.locks[at] == nil {
		c.locks[at] = &sync.Mutex{}
	}
	return c.locks[at]
}

// note puts something into the log and says where.
func (c *crowd) note(s prooftest.Said) (at int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said = append(c.said, s)
	return len(c.said) - 1
}

// command writes something for the host itself; words that are none and have no token are owed nothing.
func (c *crowd) command(at *place, text string) {
	c.mu.Lock()
	c.n++
	token := fmt.Sprintf("c%d", c.n)
	c.mu.Unlock()
	c.say(plan{at: at, text: text, said: prooftest.Said{Token: token, Place: at.Place, Text: text, Command: strings.HasPrefix(text, "/")}})
}

// tokens are those of all messages that want an answer.
func (c *crowd) tokens() (out []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.said {
		if len(s.Owes) > 0 {
			out = append(out, s.Token)
		}
	}
	return out
}

// flip changes the send policy of a place, in one of the ways that there are, and waits until that is acknowledged; when the host is
// killed meanwhile, the change is asked for once more. Each time is a flip of the log.
func (c *crowd) flip(ctx context.Context, at *place, deny bool, way int) error {
	for {
		asked := time.Now()
		n := c.changing(prooftest.Flip{Place: at.Place, Deny: deny, Asked: asked})
		limit := flipLimit
		if way == 0 { // what was written is done some time: asked for once more, it might be done behind a later change
			limit = restLimit
		}
		try, cancel := context.WithTimeout(ctx, limit)
		var ok bool
		switch way {
		case 0:
			ok = c.flipInChat(try, at, deny, asked)
		case 1:
			ok = c.flipByAPI(try, at, deny)
		default:
			ok = c.flipByCommand(try, at, deny)
		}
		cancel()
		if ok {
			c.changed(n)
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("changing the send policy of %s to deny=%t: %w", at.Session, deny, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// changing notes a change of a send policy that is asked for; n is its place in the log.
func (c *crowd) changing(f prooftest.Flip) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flips = append(c.flips, f)
	return len(c.flips) - 1
}

// changed notes that it is in force now.
func (c *crowd) changed(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flips[n].Acked = time.Now()
}

const (
	flipWays  = 3
	flipLimit = 10 * time.Second
)

func (c *crowd) flipByAPI(ctx context.Context, at *place, deny bool) bool {
	var to any // null: what the rules say
	if deny {
		to = "deny"
	}
	return c.w.ask(ctx, http.MethodPatch, "/api/sessions/"+url.PathEscape(at.Session), nil, map[string]any{"sendPolicy": to}, nil) == nil
}

func (c *crowd) flipByCommand(ctx context.Context, at *place, deny bool) bool {
	to := "inherit"
	if deny {
		to = "deny"
	}
	return c.w.command(ctx, "sessions", "patch", at.Session, "--send-policy", to) == nil
}

// flipInChat has the owner give the command. It counts as acknowledged when the ledger says that the answer has arrived, as one that was
// shown and whose receipt is lost comes once more; or may have each time that it was sent; or that it was withheld, because an earlier try has
// denied the chat already.
func (c *crowd) flipInChat(ctx context.Context, at *place, deny bool, since time.Time) bool {
	word := "inherit"
	if deny {
		word = "off"
	} else if since.UnixNano()%2 == 0 {
		word = "on"
	}
	c.command(at, "/send "+word)
	return until(ctx, restLimit, "the answer to /send", func() bool {
		var all []sessions.Delivery
		err := c.w.ask(ctx, http.MethodGet, "/api/deliveries", url.Values{"session": {at.Session}, "limit": {"50"}}, nil, &all)
		if err != nil {
			return false
		}
		for _, d := range all {
			if strings.HasPrefix(d.Text, "⚙️ Send policy set to "+word) && d.Created.After(since.Add(-time.Millisecond)) && (d.State == sessions.Sent || d.State == sessions.Withheld || d.State == sessions.Held) {
				return true
			}
		}
		return false
	}) == nil
}
