package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/gateway/prooftest"
)

// killConfig is one kill run.
type killConfig struct {
	Program                 string
	Dir                     string // for the world
	Kills, Messages, Spawns int
	Seed                    uint64
	At                      *regexp.Regexp // the fail-points, and no kill at random; nil = all, and half of the kills at random
	Patience                time.Duration  // for one of At; 0 = namedPatience
	Platform                string         // only this one is written on; "" = all
	Progress                io.Writer
}

// The pace of a kill run.
const (
	randomWithin   = 400 * time.Millisecond // of the start
	pointPatience  = 3 * time.Second        // for the host to reach a fail-point
	namedPatience  = 15 * time.Second       // the same, for one that was asked for by name: what has an unclear end is sent again after seconds
	errandPatience = 5 * time.Second        // more, where it has to be led there
	mostWaiting    = 120                    // messages that the model has not been asked about, before the host is left alone for a while
	restLimit      = 2 * time.Minute
	idleLimit      = 5 * time.Second // without anything to do
)

// run is a kill run at work.
type run struct {
	killConfig
	w      *world
	model  *puppet
	crowd  *crowd
	plans  planner
	dice   *rand.Rand // of the driver alone
	points *points

	errands  errands
	promises sync.WaitGroup // of the errands

	ledger    ledger
	previewed map[string]string // by run: its first delivery
	unseen    []prooftest.Fault // messages of errands
	lost      int               // messages that a host at rest had not come to
	silences  silences
	reloads   reloads
	kills     []prooftest.Kill
	fig       killed
}

// killRun does a run. The figures have a verdict when it came to its end; there are none when its world could not be made, or it was interrupted.
func killRun(ctx context.Context, c killConfig) (f *killed, err error) {
	began := time.Now()
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, err
	}
	at, kills := c.At, c.Kills
	if at == nil {
		at, kills = regexp.MustCompile(""), (c.Kills+1)/2
	}
	r := &run{killConfig: c, model: &puppet{}, dice: rand.New(rand.NewPCG(c.Seed, 1)), points: newPoints(at, kills), fig: killed{Seed: c.Seed, Asked: goals{c.Kills, c.Messages, c.Spawns}, Windows: map[string]int{}, Late: map[string]int{}}}
	r.points.named = c.At != nil
	r.reloads.dice = rand.New(rand.NewPCG(c.Seed, 4))
	if r.w, err = newWorld(ctx, worldConfig{Program: c.Program, Dir: c.Dir, Model: r.model.answer, Logs: true, Edges: true, Tells: c.Seed%2 == 0}); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.w.Close()) }()
	person := ctx
	ctx, stop := context.WithCancelCause(ctx)
	r.errands = errands{r: r, plans: planner{n: errandTokens}, pause: ctx, places: map[prooftest.Place]bool{}}
	var flips sync.WaitGroup
	defer func() {
		stop(nil)
		flips.Wait()
		r.promises.Wait()
		if f == nil && person.Err() == nil { // something is wrong: what people did and saw is evidence
			f = r.brokeOff()
		}
	}()
	why := func(err error) error { // of what a run broke off by, not of what that broke
		if cause := context.Cause(ctx); cause != nil && err != nil {
			return cause
		}
		return err
	}
	r.crowd = newCrowd(r.w)
	r.plans = planner{r: rand.New(rand.NewPCG(c.Seed, 2)), left: c.Messages, spawns: c.Spawns}
	for _, p := range r.w.places {
		if c.Platform == "" || p.Platform == c.Platform {
			r.plans.places = append(r.plans.places, p)
		}
	}
	if err := r.learn(ctx, stop); err != nil {
		return nil, why(err)
	}
	defer func() { r.sofar(person, err) }()
	over := make(chan struct{})
	flips.Go(func() {
		if err := r.flip(ctx, over); err != nil {
			stop(err)
		}
	})
	for k := 0; r.left() > 0 && r.fig.Stopped < c.Kills; k++ {
		if err := r.kill(ctx, k); err != nil {
			return nil, why(err)
		}
	}
	f, err = r.end(ctx, stop, began, func() { close(over); flips.Wait() })
	return f, why(err)
}

// brokeOff is a run that did not come to its end: it has no verdict, and a history without what only the host knows, if that did not tell.
func (r *run) brokeOff() *killed {
	if r.fig.history == nil {
		r.fig.history = r.seen()
	}
	return &r.fig
}

// alone has a run break off when a host ends that is left alone; over is called before it is ended.
func alone(p *process, stop context.CancelCauseFunc) (over func()) {
	left := make(chan struct{})
	go func() {
		select {
		case <-left:
		case <-p.Done:
			select {
			case <-left: // it was ended after that
			default:
				stop(p.gone())
			}
		}
	}()
	return sync.OnceFunc(func() { close(left) })
}

// left is how many kills are left.
func (r *run) left() int { return r.Kills - r.fig.AtPoints - r.fig.Random }

// learn runs the host once without a kill, until it has done a little of everything: the calls of its store are the fail-points, and
// everybody has written once, so that Discord is asked for what was missed.
func (r *run) learn(ctx context.Context, stop context.CancelCauseFunc) error {
	p, err := r.up(ctx)
	if err != nil {
		return err
	}
	over := alone(p, stop)
	defer over()
	for _, at := range r.w.places {
		r.crowd.command(at, "/send inherit")
	}
	if err := until(ctx, 30*time.Second, "every place has its session", func() bool {
		return !slices.ContainsFunc(r.w.places, func(at *place) bool {
			return r.w.ask(ctx, http.MethodGet, "/api/sessions/"+url.PathEscape(at.Session), nil, nil, nil) != nil
		})
	}); err != nil {
		return err
	}
	r.crowd.say(r.plans.everything())
	for _, at := range r.w.places[:2] {
		for _, deny := range []bool{true, false} {
			for way := range flipWays {
				if err := r.crowd.flip(ctx, at, deny, way); err != nil {
					return err
				}
			}
		}
	}
	if err := r.rest(ctx); err != nil {
		return err
	}
	r.points.learn(p.traced())
	fmt.Fprintf(r.Progress, "seed %d: %d fail-points\n", r.Seed, len(r.points.all))
	over()
	return r.rested(ctx, p)
}

func (r *run) waiting() []string { return r.model.missed(r.crowd.tokens()) }

// calm lets the host catch up when too much waits.
func (r *run) calm(ctx context.Context) error {
	if len(r.waiting()) < r.lost+mostWaiting {
		return nil
	}
	p, err := r.up(ctx)
	if err != nil {
		return err
	}
	if err := r.taken(ctx, func() bool { return p.ended() || len(r.waiting()) < r.lost+mostWaiting/4 }); err != nil {
		return fmt.Errorf("%w\n%s", err, p.log)
	}
	return r.rested(ctx, p)
}

// taken waits until the host has taken enough of what was written, or has nothing to do for a while: what it then has not come to is
// lost, and left to the checker.
func (r *run) taken(ctx context.Context, enough func() bool) error {
	idle, last := time.Now(), 0
	err := until(ctx, restLimit, "the host takes what was written", func() bool {
		s, err := r.w.status(ctx)
		n := len(r.waiting())
		if err != nil || n != last || r.w.untaken() > 0 || len(s.Working)+s.Waiting > 0 {
			idle, last = time.Now(), n
		}
		return enough() || time.Since(idle) > idleLimit
	})
	if !enough() {
		r.lost = len(r.waiting())
	}
	if err != nil && ctx.Err() == nil { // left to the checker as well
		fmt.Fprintln(r.Progress, err)
		return nil
	}
	return err
}

// flip changes the send policy of one place after the other until the run is over; then all is allowed again.
func (r *run) flip(ctx context.Context, over <-chan struct{}) error {
	dice := rand.New(rand.NewPCG(r.Seed, 3))
	for {
		select {
		case <-over:
			return nil
		case <-ctx.Done():
			return nil
		case <-time.After(time.Duration(dice.IntN(2000)) * time.Millisecond):
		}
		at := r.w.places[dice.IntN(len(r.w.places))]
		if !at.policy.TryLock() { // the configuration denies it
			continue
		}
		if err := r.crowd.flip(ctx, at, true, dice.IntN(flipWays)); err != nil {
			return err
		}
		select {
		case <-over:
		case <-ctx.Done():
		case <-time.After(time.Duration(dice.IntN(200)) * time.Millisecond):
		}
		if err := r.crowd.flip(ctx, at, false, dice.IntN(flipWays)); err != nil {
			return err
		}
		at.policy.Unlock()
	}
}

// sofar says how far a run came that does not come to its end.
func (r *run) sofar(ctx context.Context, err error) {
	if err != nil && ctx.Err() != nil {
		fmt.Fprintf(r.Progress, "interrupted after %d kills, %d of %d fail-points, %d messages: the run has no result\n",
			r.fig.AtPoints+r.fig.Random, len(r.points.reached), len(r.points.all), r.plans.n)
	}
}

// rest waits until everything that was written has come to the model and nothing moves any more. What never comes there is left to
// the checker.
func (r *run) rest(ctx context.Context) error {
	if err := r.taken(ctx, func() bool { return len(r.waiting()) == 0 }); err != nil {
		return err
	}
	return r.w.rest(ctx, restLimit)
}

// end lets the host come to rest, collects the logs and has them checked.
func (r *run) end(ctx context.Context, stop context.CancelCauseFunc, began time.Time, overFlips func()) (*killed, error) {
	p, err := r.up(ctx)
	if err != nil {
		return nil, err
	}
	over := alone(p, stop)
	defer over()
	if r.At == nil {
		r.reloads.last(ctx, r, p)
	}
	hangs := time.AfterFunc(2*restLimit, func() {
		stop(fmt.Errorf("%w: life %d takes no change of the policy, or nothing of what errands have promised\n%s", errMark, p.Life, p.log))
	})
	overFlips()
	r.promises.Wait()
	hangs.Stop()
	stuck := r.rest(ctx)
	h, err := r.history(ctx)
	if err != nil {
		return nil, errors.Join(stuck, err)
	}
	if stuck != nil {
		fmt.Fprintln(r.Progress, stuck)
		h.Unfinished = max(h.Unfinished, 1)
	}
	r.fig.history = h
	over()
	if err := p.stop(); err != nil {
		return nil, fmt.Errorf("%w: stop the host: %w\n%s", errMark, err, p.log)
	}
	f := &r.fig
	f.Lives, f.Flips, f.Points, f.Reached, f.Unreached = r.w.lives, len(h.Flips), len(r.points.all), len(r.points.reached), r.points.unreached()
	if r.At != nil {
		f.At = r.points.reached
	}
	for _, s := range h.Said {
		for _, d := range s.Owes {
			switch d.Kind {
			case prooftest.Report:
				if strings.Contains(d.Token, ".j") {
					f.Jobs++
				} else {
					f.Spawns++
				}
			case prooftest.Answer:
				f.Messages++
			case prooftest.Announce:
				f.Exchanges++
			}
		}
	}
	f.Verdict, f.history, f.Took = prooftest.Check(h), h, time.Since(began)
	var unlisted []prooftest.Fault
	f.Ambiguous, unlisted = ambiguities(h, f.Verdict.Times, r.ledger.all, r.previewed)
	f.Sends, f.Verdict.Faults = r.ledger.all, slices.Concat(f.Verdict.Faults, unlisted, r.unseen)
	f.Broken, f.Refused, f.Aside = r.ledger.sum(), len(h.Refused), len(r.errands.asked)
	if f.Few = r.points.brief; r.Platform == "" || r.At != nil {
		f.Missed = r.points.judge()
	}
	r.silenced(h)
	if f.Stops == 0 && r.At == nil && (r.Platform == "" || r.Platform == "telegram") && r.Kills >= judgedFrom() {
		f.Missed = append(f.Missed, "no turn or exchange was stopped")
	}
	f.Reloads = r.reloads.fig
	f.Missed = append(f.Missed, r.reloads.judge(r.At == nil && r.Kills >= judgedFrom())...)
	return f, nil
}
