package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"parley/gateway/prooftest"
	"parley/sessions"
)

// soakCmd has the real program work for hours: people write on all platforms, new ones come all the time, agents ask each other,
// sub-agents are spawned, the send policy changes, connections end. After each window of time the host comes to rest, the checker
// judges what people saw, and what the process takes is measured: then nothing is under way that could explain a goroutine.
type soakCmd struct {
	program
	For      time.Duration `default:"4h" help:"Length of the run. Runs under half an hour judge growth, but no latency."`
	Rate     float64       `default:"5" help:"Messages a second."`
	WarmRate float64       `name:"warm-rate" default:"20" help:"Messages a second in the warm-up, which is most of the first quarter of a run of half an hour or more. From 50 minutes on the warm-up fills the host's record of the newest messages. The limit on times is for messages of the other rate."`
	Window   time.Duration `help:"Time from one rest to the next; 0 = a twentieth of the run, at most a minute."`
	MarkRSS  float64       `name:"mark-rss" default:"1" help:"Limit on the growth of the resident memory, in MB an hour."`
	MarkP99  time.Duration `name:"mark-p99" default:"20ms" help:"Limit on the 99th percentile of the host's own time for a message."`
	Seed     uint64        `help:"Seed of the random numbers; 0 = a new one."`
	Dir      string        `type:"path" placeholder:"DIR" help:"An empty folder for the run, with a short path. It keeps its files if a fault ends the run. Default: a temporary folder."`
	JSON     bool          `name:"json" help:"Print the figures as JSON."`
	Quiet    bool          `short:"q" help:"Print no progress."`
	Progress io.Writer     `kong:"-"`
}

// soak is a run at work.
type soak struct {
	soakCmd
	w         *world
	p         *process
	model     *puppet
	crowd     *crowd
	plans     planner
	dice      *rand.Rand
	newcomers []*place
	began     time.Time

	messages, people, breaches int
	disturbed                  []disturbance // of this window
	processors                 processors    // when it began
	machine                    *machine
	fig                        soaked
}

// Run implements the command.
func (c *soakCmd) Run(ctx context.Context) error {
	dir, err := newRunFolder(c.Dir, "soak")
	if err != nil {
		return err
	}
	f, err := c.in(ctx, dir.path)
	if f != nil && !f.whole && ctx.Err() == nil {
		return errors.Join(err, dir.keep())
	}
	dir.leave()
	return err
}

// in does the run in a folder and prints what came of it.
func (c *soakCmd) in(ctx context.Context, dir string) (*soaked, error) {
	c.Progress = os.Stderr
	if c.Quiet {
		c.Progress = io.Discard
	}
	path, err := c.build(ctx, dir)
	if err != nil {
		return nil, err
	}
	f, err := c.run(ctx, path, filepath.Join(dir, worldFolder))
	if f == nil || f.Windows == 0 && err != nil {
		return f, err
	}
	if c.JSON {
		_ = json.NewEncoder(os.Stdout).Encode(f) // to whoever still reads
	} else {
		f.print(os.Stdout)
	}
	return f, err
}

// windowTakes is the time from one rest to the next.
func (c *soakCmd) windowTakes() time.Duration {
	if c.Window > 0 {
		return c.Window
	}
	return min(c.For/20, time.Minute)
}

// leastRest is how much time the rest behind a window is given: one and a half seconds beside other work.
const leastRest = 2 * time.Second

// How many messages a second can be asked for: fewer measure nothing, and more no host can answer.
const leastRate, mostRate = 0.01, 1000.0

// Validate says what cannot be asked for.
func (c *soakCmd) Validate() error {
	err := errors.Join(c.check(), moreThanNone("--mark-rss", c.MarkRSS), atMost("--mark-rss", c.MarkRSS, math.MaxFloat64, "it would be no mark"),
		moreThanNone("--mark-p99", c.MarkP99), moreThanNone("--for", c.For), atLeast("--window", c.Window, 0), atLeast("--rate", c.Rate, leastRate), atLeast("--warm-rate", c.WarmRate, leastRate),
		atMost("--rate", c.Rate, mostRate, "no host takes more"), atMost("--warm-rate", c.WarmRate, mostRate, "no host takes more"))
	if err != nil {
		return err
	}
	if within := c.For - warmUp(c.For); within < leastPoints*(c.windowTakes()+leastRest) {
		return fmt.Errorf("--for %s: the time after the warm-up is too short for %d windows of %s with a rest of %s each: use a longer --for or a shorter --window",
			c.For, leastPoints, c.windowTakes(), leastRest)
	}
	return nil
}

// run does the run with a program. The figures are those of the windows that came to their end; nil = the host was not begun.
func (c *soakCmd) run(ctx context.Context, program, dir string) (_ *soaked, err error) {
	c.Window = c.windowTakes()
	if c.Seed == 0 {
		c.Seed = rand.Uint64N(1_000_000) + 1
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	s := &soak{soakCmd: *c, model: &puppet{}, dice: rand.New(rand.NewPCG(c.Seed, 1)), fig: soaked{Seed: c.Seed, Rate: c.Rate, WarmRate: c.WarmRate, Window: c.Window}}
	// A model that takes no time: what is left is the host's.
	if s.w, err = newWorld(ctx, worldConfig{Program: program, Dir: dir, Model: s.model.atOnce}); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.w.Close()) }()
	if s.machine, err = newMachine(dir); err != nil {
		return nil, err
	}
	defer func() { _ = s.machine.page.Close() }()
	s.w.one.AddFile("photo-1280", photo)
	s.crowd = newCrowd(s.w)
	const always = 1 << 40 // messages, of which one in six asks for a sub-agent
	s.plans = planner{r: rand.New(rand.NewPCG(c.Seed, 2)), places: s.w.places, left: always, spawns: always / 6}
	if s.p, err = s.w.start(ctx, "", 0); err != nil {
		return nil, err
	}
	defer s.p.kill()
	if alive, err := s.w.ready(ctx, s.p); err != nil || !alive {
		return &s.fig, fmt.Errorf("start the host: %w\n%s", err, s.p.log)
	}
	if err := s.w.rest(ctx, restLimit); err != nil { // Discord says nothing to a bot that has never been there
		return &s.fig, err
	}
	for _, at := range s.w.places { // everybody has a session before somebody asks for it
		s.crowd.command(at, "/send on")
	}
	if err := s.w.rest(ctx, restLimit); err != nil {
		return &s.fig, err
	}
	s.began = time.Now()
	for time.Since(s.began) < c.For {
		if err := s.window(ctx); err != nil {
			s.fig.Took = time.Since(s.began)
			s.fig.sum(c.For)
			if ctx.Err() != nil {
				return &s.fig, fmt.Errorf("after %s of %s: %w", s.fig.Took.Round(time.Second), c.For, context.Cause(ctx))
			}
			return &s.fig, fmt.Errorf("%w\nthe end of the host's log:\n%s", err, ending(s.p.log.String()))
		}
	}
	s.fig.Took = time.Since(s.began)
	if err := s.p.stop(); err != nil {
		s.fig.sum(c.For)
		return &s.fig, fmt.Errorf("stop the host: %w\n%s", err, s.p.log)
	}
	s.fig.whole = true
	return &s.fig, s.fig.judge(c.For, c.MarkRSS, c.MarkP99)
}

// ending is the last part of a text.
func ending(text string) string { return text[max(0, len(text)-4096):] }

// photo is a picture of one pixel.
var photo = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d\x00\x00\x00\x00IEND\xaeB`\x82")

// window is some time of work, then a rest, in which all is judged and forgotten.
func (s *soak) window(ctx context.Context) error {
	began := time.Now()
	s.processors = readProcessors()
	s.reset()
	s.newcomer(true)
	s.crowd.say(s.plain(s.newcomers[len(s.newcomers)-1]))
	if err := s.rest(ctx); err != nil { // what is the first in a channel while Discord is away is not read later: the host does not know the channel
		return err
	}
	rate, end := s.rate(), time.Now().Add(s.Window)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var beside sync.WaitGroup
	dice := rand.New(rand.NewPCG(s.Seed, uint64(s.breaches)+3))
	beside.Go(func() {
		if err := s.flip(ctx, dice, end); err != nil {
			stop(err)
		}
	})
	beside.Go(func() {
		if err := s.disturb(ctx); err != nil {
			stop(err)
		}
	})
	probing, probed := context.WithCancel(ctx)
	defer probed()
	beside.Go(func() {
		if err := s.machine.watch(probing); err != nil {
			stop(err)
		}
	})
	var samples []sample
	beside.Go(func() {
		for time.Now().Before(end) && ctx.Err() == nil {
			if m, err := s.w.measure(ctx, s.p.cmd.Process.Pid); err == nil {
				samples = append(samples, m)
			}
			select {
			case <-time.After(min(s.Window/10, 3*time.Second)):
			case <-ctx.Done():
			}
		}
	})
	s.speak(ctx, rate, end)
	probed()
	beside.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if s.p.ended() {
		return fmt.Errorf("the host has ended: %w", s.p.err)
	}
	if err := s.rest(ctx); err != nil {
		return err
	}
	return s.settle(ctx, began, rate > s.Rate, samples)
}

func (s *soak) rest(ctx context.Context) error {
	if err := until(ctx, restLimit, "the model is asked about everything", func() bool { return len(s.model.missed(s.crowd.tokens())) == 0 }); err != nil {
		var left []prooftest.Said
		for _, m := range s.crowd.said {
			if slices.Contains(s.model.missed(s.crowd.tokens()), m.Token) {
				left = append(left, m)
			}
		}
		return fmt.Errorf("%w: it was not asked about %+v", err, left)
	}
	return s.w.rest(ctx, restLimit)
}

// settle judges a window, measures the host at rest, and forgets what has been judged.
func (s *soak) settle(ctx context.Context, began time.Time, fast bool, samples []sample) error {
	h := &prooftest.History{Said: s.crowd.said, Asked: s.model.log(), Flips: s.crowd.flips, Shown: s.w.shown(), Notices: notices, Frames: frames, FramesAt: framesAt, Repeats: map[string]bool{"telegram": true}}
	var err [2]error
	if len(h.Said) > 0 && h.Said[0].At.Before(began) { // the first commands are from before the first window
		began = h.Said[0].At
	}
	if h.Listed, err[0] = s.listedSince(ctx, began); err[0] == nil {
		err[0] = s.crowd.about(ctx, h.Listed)
	}
	h.Unfinished, err[1] = s.w.unfinished(ctx)
	if err := errors.Join(err[:]...); err != nil {
		return err
	}
	v := prooftest.Check(h)
	if !v.OK() {
		return fmt.Errorf("%w: the checker: %v", errMark, v.Faults)
	}
	calm, err2 := s.w.measure(ctx, s.p.cmd.Process.Pid)
	if err2 != nil {
		return err2
	}
	calm.State, calm.Stolen = folderSize(s.w.state()), readProcessors().since(s.processors)
	for _, m := range samples { // a collection in the middle of work finds what is in use for a moment too
		calm.Heap = min(calm.Heap, m.Heap)
	}
	own := s.overhead(h)
	lat := &own.all
	s.fig.add(time.Since(s.began), fast, middle(samples), calm, lat, len(s.disturbed), h)
	s.fig.machine(s.machine, &own.quiet, fast)
	s.fig.own(own, fast)
	fmt.Fprintf(s.Progress, "%8s  %6d messages  rss %.1f MB (anon %.1f, heap %.1f)  goroutines %.0f  files %.0f  p50 %s p99 %s  state %.1f MB  stolen %.1f %%\n", time.Since(s.began).Round(time.Second), s.messages,
		calm.RSS, calm.Anon, calm.Heap, calm.Goroutines, calm.Files, lat.at(0.5).Round(10*time.Microsecond), lat.at(0.99).Round(10*time.Microsecond), calm.State, 100*calm.Stolen)
	s.crowd.said, s.crowd.flips, s.disturbed = nil, nil, nil
	clear(s.crowd.ids)
	s.model.forget()
	s.w.one.Trim(kept)
	s.w.two.Trim(kept)
	s.w.discord.Trim(kept)
	s.w.whatsapp.Trim(kept)
	return nil
}

// kept is how many messages of a chat the stand-ins go on to know.
const kept = 100

// listedAtOnce is how many deliveries are asked for: what the host makes of a longer list would be found in its heap, and grow until there
// are as many.
const listedAtOnce = "100"

// listedSince is the host's ledger from a moment on.
func (s *soak) listedSince(ctx context.Context, since time.Time) (out []prooftest.Listed, err error) {
	for before, old := int64(0), false; !old; {
		q := url.Values{"limit": {listedAtOnce}}
		if before > 0 {
			q.Set("before", fmt.Sprint(before))
		}
		var all []sessions.Delivery
		if err := s.w.ask(ctx, http.MethodGet, "/api/deliveries", q, nil, &all); err != nil {
			return nil, err
		}
		for _, d := range all {
			if old = old || d.Created.Before(since.Add(-time.Second)); !old {
				out = append(out, listedOf(d))
			}
			before = d.Seq
		}
		old = old || len(all) == 0
	}
	slices.Reverse(out)
	return out, nil
}
