package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"parley/gateway/prooftest"
)

// up starts a host that is not to kill itself, with no deny in its configuration and no account switched off, and waits until it is connected everywhere.
func (r *run) up(ctx context.Context) (*process, error) {
	r.w.says.off = nil
	if err := r.silence(false); err != nil {
		return nil, err
	}
	p, err := r.w.start(ctx, "", 0)
	if err != nil {
		return nil, err
	}
	alive, err := r.w.ready(ctx, p)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		p.kill()
		return nil, fmt.Errorf("%w: life %d: %w\n%s", errMark, p.Life, err, p.log)
	case !alive:
		return nil, p.gone()
	}
	if _, err := os.Stat(p.trace); err != nil { // it makes the file when it starts
		return nil, fmt.Errorf("%s has no fail-points: build it with -tags failpoints, or leave out --program", r.Program)
	}
	<-r.inForce(ctx, p)
	err = until(ctx, 30*time.Second, "the host is connected", func() bool {
		s, err := r.w.status(ctx)
		return p.ended() || err == nil && s.Ready
	})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("%w: life %d: %w\n%s", errMark, p.Life, err, p.log)
	case p.ended():
		return nil, p.gone()
	}
	return p, nil
}

// rested ends a host that was left alone: it is killed, unless fail-points are asked for by name.
func (r *run) rested(ctx context.Context, p *process) error {
	where := "random"
	if r.At == nil {
		r.fig.Rest++
	} else {
		where = softly
		if err := p.stop(); errors.Is(err, errMark) {
			return err
		} else if err != nil {
			return p.over()
		}
	}
	return r.down(ctx, p, where)
}

// softly is where a host ended that was stopped as its fail-point did not come: no kill, unless a send was cut off.
const softly = "stopped softly"

// down kills a host, if it has not ended, and notes what was being sent.
func (r *run) down(ctx context.Context, p *process, where string) error {
	p.kill()
	k := prooftest.Kill{At: time.Now(), Life: p.Life, Where: where}
	if err := p.over(); err != nil && where != softly {
		return err
	}
	sends, err := r.ledger.underWay(ctx, r.w.state(), window{Kill: len(r.kills) + 1, Life: k.Life, At: k.At, Where: where})
	if err != nil {
		return err
	}
	k.InSend, k.Sends = len(sends) > 0, sends
	for platform := range sends {
		r.fig.Windows[platform]++
	}
	r.points.learn(p.traced())
	if where != softly || k.InSend {
		r.kills = append(r.kills, k)
	}
	return nil
}

// kill is one life: people write before the host starts and while it runs, and it is killed, at a fail-point or at random.
func (r *run) kill(ctx context.Context, k int) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	point, nth := "", 0
	if k%2 == 0 || r.At != nil {
		point, nth = r.points.next(r.dice)
	}
	kind := kindOf(point)
	n := max(0, (r.plans.left+r.left()-1)/r.left()) // what is left, spread over the kills that are left
	before, change := n/2, r.reloads.draw(r, kind)
	if change != nil && point == "" {
		before = n / 4
	}
	early, wait := before/2, pointPatience
	if r.At != nil {
		early, wait = before, cmp.Or(r.Patience, namedPatience)
	}
	nth = min(nth, max(1, early)) // so that it comes in this life
	for range before {
		r.crowd.say(r.plans.next())
	}
	if point != "" && kind.make == nil && r.points.tried[point] > 1 && r.points.reached[point] == 0 { // the usual messages did not lead there
		r.crowd.say(r.plans.everything())
	}
	if err := r.silence(kind.slow == 0); err != nil {
		return err
	}
	p, err := r.w.start(ctx, point, nth)
	if err != nil {
		return err
	}
	inForce := r.inForce(ctx, p)
	patience := wait + kind.slow
	if kind.make != nil {
		patience += errandPatience
	}
	if point == "" {
		patience = time.Duration(r.dice.Int64N(int64(randomWithin)))
	}
	done := r.send(ctx, p, kind)
	reloaded := r.reloads.make(ctx, r.w, p, change)
	written := make(chan struct{})
	go func() {
		defer close(written)
		for range n - before {
			r.crowd.say(change.next(p, &r.plans))
		}
	}()
	if point == "" {
		change.begun(p)
	}
	moment := time.NewTimer(patience)
	defer moment.Stop()
	select {
	case <-moment.C:
	case <-p.Done:
	}
	err = r.over(ctx, p, k, point)
	<-written
	<-done
	<-inForce
	<-reloaded
	if err != nil {
		return err
	}
	if (k+1)%50 == 0 {
		fmt.Fprintf(r.Progress, "%d kills, %d fail-points reached, %d messages, %d waiting\n", k+1, len(r.points.reached), r.plans.n, len(r.waiting()))
	}
	return r.calm(ctx)
}

// over ends the life of a host that was to come to a fail-point, and has or has not; point "" = it is killed at random.
func (r *run) over(ctx context.Context, p *process, k int, point string) error {
	there, where := p.ended(), "random"
	if !there && point != "" {
		then := "killed where it is"
		if r.At != nil {
			then = "stopped softly"
		}
		fmt.Fprintf(r.Progress, "kill %d: %s was not reached in time: %s\n", k+1, point, then)
		if r.At != nil {
			err := p.leave()
			if there = p.err != nil; err != nil { // it may come there as it stops
				return err
			}
			where = softly
		}
	}
	switch {
	case there && point != "":
		where = point
		r.points.hit(point)
		r.fig.AtPoints++
	case where == softly:
		r.fig.Stopped++
		r.fig.Late[point]++
	default:
		if r.fig.Random++; point != "" {
			r.fig.Late[point]++
		}
	}
	return r.down(ctx, p, where)
}

// send has an errand done while a host lives, and gives what is closed when it is over.
func (r *run) send(ctx context.Context, p *process, k kind) (over <-chan struct{}) {
	if k.name == "" { // it is killed at random
		k.make = stopExchange
	}
	if k.make == nil || r.Platform != "" && r.Platform != "telegram" {
		return closed
	}
	return r.w.beside(ctx, p, func(ctx context.Context) { k.make(ctx, &r.errands) })
}
