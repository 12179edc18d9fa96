package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"parley/channels/discord/discordtest"
)

// reload is what an owner does to the configuration of a host at work in one life, drawn before that begins. A kill may come at any time:
// the next life has the file as it is then, but for an error in it.
type reload struct {
	way     way
	account string        // that is switched off
	slow    time.Duration // how long Discord takes to confirm a message meanwhile: a reload waits for what is on its way
	wait    time.Duration // from when the host answers
	pause   time.Duration // before the account is switched on again
	writes  []*place      // where people write from the first signal on
	pauses  *rand.Rand    // between what they write

	asked chan struct{} // closed when the host is about to have the first signal
	over  <-chan struct{}
}

// way is one of the ways in which a file is read again.
type way int

const (
	onAgain way = iota // an account that an earlier life was killed without is switched on
	offAndOn
	nothingNew
	withError
)

// How often a life has a reload, in whose stead no errand is done, and how long all takes in it.
const (
	reloadEvery = 2
	slowest     = 40 * time.Millisecond
	longestWait = 40 * time.Millisecond
	longestOff  = 100 * time.Millisecond
	writesEvery = 8 * time.Millisecond
	reloadLimit = time.Minute // for the host to read its file: it gives adapters ten seconds to end
	goneLimit   = 10 * time.Second
	lastTimes   = 4                    // all accounts are switched off in the end
	lastEvery   = 2 * time.Millisecond // a command meanwhile
	lastMost    = 150                  // commands at most
)

// reloaded counts what became of reloads.
type reloaded struct {
	Off     int // with one account off, or all
	On      int // with it on again
	Same    int // with nothing new
	Refused int // of files with an error
	Cut     int // a kill came before the host said what became of it
}

// String is the row of the figures.
func (f reloaded) String() string {
	return fmt.Sprintf("%d switched an account off, %d on again, %d changed nothing, %d were refused for an error, %d were cut off by a kill", f.Off, f.On, f.Same, f.Refused, f.Cut)
}

// reloads are those of a run.
type reloads struct {
	dice     *rand.Rand
	fig      reloaded
	problems []string // what the run fails by
}

// draw gives the reload of the next life, nil for none, and has all accounts on where there is none: fail-points that are asked for by name, or
// led to by an errand, want all of the host. An account that is off is switched on by the next reload.
func (x *reloads) draw(r *run, k kind) *reload {
	if r.At != nil || k.make != nil || len(r.w.says.off) == 0 && x.dice.IntN(reloadEvery) > 0 {
		r.w.says.off = nil
		return nil
	}
	up := func(most time.Duration) time.Duration { return time.Duration(x.dice.Int64N(int64(most))) }
	c := &reload{slow: up(slowest), wait: up(longestWait), pause: up(longestOff), pauses: rand.New(rand.NewPCG(x.dice.Uint64(), 0)), writes: r.plans.places, asked: make(chan struct{})}
	if len(r.w.says.off) > 0 {
		return c
	}
	if c.way = []way{offAndOn, offAndOn, nothingNew, withError}[x.dice.IntN(4)]; c.way == offAndOn {
		c.account = r.plans.places[x.dice.IntN(len(r.plans.places))].account()
		c.writes = slices.DeleteFunc(slices.Clone(r.plans.places), func(at *place) bool { return at.account() != c.account })
	}
	return c
}

// next makes a message; in a life with a reload it is written from the first signal on, after a while.
func (c *reload) next(p *process, plans *planner) plan {
	if c == nil {
		return plans.next()
	}
	c.begun(p)
	select {
	case <-p.Done:
	case <-time.After(time.Duration(c.pauses.Int64N(int64(writesEvery)))):
	}
	return plans.nextIn(c.writes)
}

// begun waits until the first signal is given, or there will be none.
func (c *reload) begun(p *process) {
	if c == nil {
		return
	}
	select {
	case <-c.asked:
	case <-c.over:
	case <-p.Done:
	}
}

// make makes a reload once the host answers. What it gives is closed when it is over, or cut off.
func (x *reloads) make(ctx context.Context, w *world, p *process, c *reload) (over <-chan struct{}) {
	if c == nil {
		return closed
	}
	c.over = w.beside(ctx, p, func(ctx context.Context) { x.do(ctx, w, p, c) })
	return c.over
}

func (x *reloads) do(ctx context.Context, w *world, p *process, c *reload) {
	quick := w.discord.Inject(discordtest.Fault{Method: http.MethodPost, Route: discordtest.RouteMessages, Times: -1, Delay: c.slow})
	defer quick()
	_ = pause(ctx, c.wait) // what comes next fails by itself
	now := w.says
	next := now
	switch c.way {
	case onAgain:
		next.off = nil
	case offAndOn:
		next.off = []string{c.account}
	case withError:
		next.wrong = true
	}
	close(c.asked)
	if !x.read(ctx, w, p, next) {
		return
	}
	switch c.way {
	case offAndOn:
		quick()
		_ = pause(ctx, c.pause)
		x.read(ctx, w, p, now)
	case withError: // what is in force is in the file again
		x.failed(w.write(now))
	}
}

// last has a host that is left alone read its file again, with all accounts off and then on, some times. From each signal until they are
// gone people give commands everywhere, so that the last of them meet adapters that are about to end.
func (x *reloads) last(ctx context.Context, r *run, p *process) {
	now := r.w.says
	next := now
	for _, at := range r.w.places {
		if !slices.Contains(next.off, at.account()) {
			next.off = append(next.off, at.account())
		}
	}
	for range lastTimes {
		gone, given := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(given)
			for range lastMost {
				r.crowd.command(r.w.places[x.dice.IntN(len(r.w.places))], "/whoami")
				select {
				case <-gone:
					return
				case <-time.After(time.Duration(x.dice.Int64N(int64(lastEvery)))):
				}
			}
		}()
		off := x.read(ctx, r.w, p, next)
		close(gone)
		<-given
		if !off || !x.read(ctx, r.w, p, now) {
			break
		}
	}
	x.failed(r.w.write(now))
}

// What a host says of a file that it reads again.
const (
	saysRead    = "configuration reloaded"
	saysRefused = "configuration not reloaded"
)

// read writes a configuration, has the host read it, and sees what it says of it, and that what is switched off is let go of. It is false when
// the life ended before.
func (x *reloads) read(ctx context.Context, w *world, p *process, s settings) bool {
	before := w.says
	info, err := os.Stat(p.log.file)
	if err == nil {
		err = w.write(s)
	}
	if err != nil {
		x.failed(err)
		return false
	}
	_ = p.cmd.Process.Signal(syscall.SIGHUP) // it may have ended
	said := ""
	err = until(ctx, reloadLimit, "the host reads its configuration again", func() bool {
		said = p.saidSince(info.Size())
		return strings.Contains(said, saysRead) || strings.Contains(said, saysRefused)
	})
	switch taken := strings.Contains(said, saysRead); {
	case err != nil && ctx.Err() != nil:
		x.fig.Cut++
		return false
	case err != nil:
		x.problem(p, "it neither read its configuration again nor refused it within %s", reloadLimit)
	case s.wrong && taken:
		x.problem(p, "it took a configuration with an error in it")
	case s.wrong:
		x.fig.Refused++
	case !taken:
		x.problem(p, "it refused a configuration without an error: %s", said[strings.Index(said, saysRefused):])
	case len(s.off) > 0:
		x.fig.Off++
		x.gone(ctx, w, p, s.off)
	case len(before.off) == 0:
		x.fig.Same++
	default:
		x.fig.On++
	}
	return true
}

// gone sees that accounts are let go of.
func (x *reloads) gone(ctx context.Context, w *world, p *process, off []string) {
	for _, account := range off {
		if err := until(ctx, goneLimit, "it is gone", func() bool { return !w.connected(account) }); err != nil && ctx.Err() == nil {
			x.problem(p, "%s was switched off and is connected %s later", account, goneLimit)
		}
	}
}

func (x *reloads) problem(p *process, format string, a ...any) {
	x.problems = append(x.problems, fmt.Sprintf("reload in life %d: %s", p.Life, fmt.Sprintf(format, a...)))
}

func (x *reloads) failed(err error) {
	if err != nil {
		x.problems = append(x.problems, "reload: "+err.Error())
	}
}

// judge gives what a run fails by; one that has many kills and is no special one does so without each kind of reload, too.
func (x *reloads) judge(all bool) []string {
	if all && min(x.fig.Off, x.fig.On, x.fig.Same, x.fig.Refused, x.fig.Cut) == 0 {
		return append(x.problems, "not every kind of reload was made: "+x.fig.String())
	}
	return x.problems
}

// saidSince is what the process has printed behind so many bytes of its file.
func (p *process) saidSince(n int64) string {
	f, err := os.Open(p.log.file)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.NewSectionReader(f, n, 1<<62))
	if err != nil {
		return ""
	}
	return string(b)
}
