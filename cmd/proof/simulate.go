package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// simulateCmd runs the deterministic simulation of the router: each seed is one world of people, agents, platforms and faults on
// virtual time. One process for each processor, each with a part of the seeds. A seed that fails is printed with its history, and the others
// go on.
type simulateCmd struct {
	Seeds int           `default:"100000" help:"Number of seeds."`
	From  uint64        `default:"1" help:"The first seed."`
	Seed  *uint64       `help:"Run only this seed and print its whole history. 0 is a seed, too. --seeds and --from are ignored."`
	Jobs  int           `help:"Number of parallel processes; 0 = one for each processor."`
	Limit time.Duration `default:"12h" help:"Give up after this time."`
	JSON  bool          `name:"json" help:"Print the figures as JSON."`
}

// simulated are the figures of a simulation: how often each thing happened, by name.
type simulated map[string]int

const (
	simulationTest  = "^TestSimulation$"
	simulationLine  = "simulation: "
	simulationEnv   = "PARLEY_SIM_" // what the test takes its orders from: ours alone
	simulationBlock = 2000          // seeds of one process: what it holds is given back after them
	mostHistories   = 10            // of seeds that fail are printed
	mostFailures    = 200           // then there is no use in going on
	progressEvery   = time.Minute   // a line
)

func (c simulateCmd) Run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "simulate")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	worlds, over, err := scratch("/dev/shm") // in memory where that can be
	if err != nil {
		worlds, over = dir, func() {}
	}
	defer over()
	program := filepath.Join(dir, "simtest.test")
	root, err := findRoot()
	if err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "test", "-c", "-o", program, "./router/simtest")
	build.Dir, build.Stdout, build.Stderr = root, os.Stderr, os.Stderr
	defer grouped(build)()
	if err := build.Run(); err != nil {
		return fmt.Errorf("build the simulation: %w", err)
	}
	s := &simulation{simulateCmd: c, program: program, dir: filepath.Join(root, "router", "simtest"), env: []string{"GOMAXPROCS=1", "GOGC=400", "PARLEY_SIM_DIR=" + worlds}, sum: simulated{}, began: time.Now()}
	ctx, cancel := context.WithTimeout(ctx, c.Limit)
	defer cancel()
	if c.Seed != nil {
		return s.one(ctx, *c.Seed)
	}
	s.all(ctx)
	s.print()
	return s.judge(ctx)
}

// Validate says what cannot be asked for. The simulation reads a seed as an int, and would live others instead of a larger one.
func (c simulateCmd) Validate() error {
	if err := errors.Join(atLeast("--seeds", c.Seeds, 1), atLeast("--jobs", c.Jobs, 0), moreThanNone("--limit", c.Limit)); err != nil {
		return err
	}
	switch {
	case c.Seed != nil && c.JSON:
		return fmt.Errorf("use --seed %d or --json, not both: the run of one seed prints its history instead of figures", *c.Seed)
	case c.Seed != nil && *c.Seed > math.MaxInt:
		return fmt.Errorf("--seed %d: the largest is %d", *c.Seed, math.MaxInt)
	case c.From > math.MaxInt-uint64(c.Seeds):
		return fmt.Errorf("--from %d: the largest seed is %d", c.From, math.MaxInt)
	}
	return nil
}

// simulation is one run of the command.
type simulation struct {
	simulateCmd
	program, dir string
	env          []string
	began        time.Time

	mu      sync.Mutex
	sum     simulated
	lived   int // seeds
	counted int // of them in sum: one that takes its process down, or is cut off, tells none
	failed  []uint64
	broken  int // processes that failed, and no seed of theirs
}

// one lives the seed that was asked for and prints what its test prints.
func (s *simulation) one(ctx context.Context, seed uint64) error {
	cmd := s.command(ctx, "PARLEY_SIM_SEED="+strconv.FormatUint(seed, 10))
	cmd.Args = append(cmd.Args, "-test.v")        // for people
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stdout // the history is what was asked for
	if err := runTied(cmd); ctx.Err() != nil {
		return s.stopped(ctx, fmt.Sprintf("seed %d", seed))
	} else if err != nil {
		return fmt.Errorf("%w: seed %d: %w", errMark, seed, err)
	}
	return nil
}

func (s *simulation) command(ctx context.Context, env ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.program, "-test.run", simulationTest, "-test.v=test2json", "-test.timeout", s.Limit.String())
	own := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, simulationEnv) })
	cmd.Dir, cmd.Env = s.dir, slices.Concat(own, s.env, env)
	return cmd
}

// all runs the blocks of seeds until they are done, too many have failed, or ctx ends.
func (s *simulation) all(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	blocks := make(chan int)
	var wg sync.WaitGroup
	for range cmp.Or(max(s.Jobs, 0), runtime.NumCPU()) {
		wg.Go(func() {
			for first := range blocks {
				if !s.block(ctx, s.From+uint64(first), min(simulationBlock, s.Seeds-first)) {
					stop()
				}
			}
		})
	}
	go s.report(ctx)
feed:
	for first := 0; first < s.Seeds; first += simulationBlock {
		select {
		case blocks <- first:
		case <-ctx.Done():
			break feed
		}
	}
	close(blocks)
	wg.Wait()
}

// report says now and then how far it is.
func (s *simulation) report(ctx context.Context) {
	every := time.NewTicker(progressEvery)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
		s.mu.Lock()
		lived, failed := s.lived, len(s.failed)
		s.mu.Unlock()
		took := time.Since(s.began)
		left := time.Duration(float64(took) * float64(s.Seeds-lived) / float64(max(lived, 1)))
		fmt.Fprintf(os.Stderr, "%d of %d seeds, %d failed, %s; about %s to go\n", lived, s.Seeds, failed, took.Round(time.Second), left.Round(time.Minute))
	}
}

// block runs some seeds. A process that ends before it has lived all of its seeds, because one took it down or because it has shown enough
// failures, is followed by another one with the rest. It is false when there is no use in going on.
func (s *simulation) block(ctx context.Context, from uint64, n int) bool {
	for n > 0 {
		seen := seeds{say: s.say, passed: s.passed, next: from}
		cmd := s.command(ctx, fmt.Sprintf("PARLEY_SIM_FROM=%d", from), fmt.Sprintf("PARLEY_SIM_SEEDS=%d", n))
		cmd.Stdout, cmd.Stderr = &seen, &seen
		err := runTied(cmd)
		if ctx.Err() != nil {
			seen.at = 0 // cut off by us, not by what it was at
		}
		seen.end()
		s.mu.Lock()
		s.counted += seen.figures["seeds"]
		for name, n := range seen.figures {
			if name != "from" && name != "seeds" && name != "failed" {
				s.sum[name] += n
			}
		}
		untold := err == nil && (seen.lived != n || seen.figures["seeds"] != n)                   // who ends well has lived all, and tells of all
		bad := seen.strange || (err != nil || seen.lived == 0 || untold) && len(seen.failed) == 0 // no seed is to blame
		if bad && ctx.Err() == nil {
			how := "it ended well"
			if err != nil {
				how = err.Error()
			}
			fmt.Fprintf(os.Stderr, "FAILED: the seeds from %d on: %s; %d of %d lived, others than were asked for among them: %t; figures of %d\n%s",
				from, how, seen.lived, n, seen.strange, seen.figures["seeds"], seen.text.String())
			s.broken++
		}
		ok := seen.lived > 0 && !seen.strange && len(s.failed) < mostFailures && ctx.Err() == nil
		s.mu.Unlock()
		if !ok {
			return false
		}
		from, n = from+uint64(seen.lived), n-seen.lived
	}
	return true
}

// passed counts a seed that passed.
func (s *simulation) passed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lived++
}

// say counts a seed that failed and prints what it has said; of many only that they failed.
func (s *simulation) say(seed uint64, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lived, s.failed = s.lived+1, append(s.failed, seed)
	fmt.Fprintf(os.Stderr, "FAILED: seed %d; again with: go run ./cmd/proof simulate --seed %d\n", seed, seed)
	if len(s.failed) <= mostHistories {
		_, _ = io.WriteString(os.Stderr, text) // to whoever still reads
	}
}

// judge says what the run comes to.
func (s *simulation) judge(ctx context.Context) error {
	far := fmt.Sprintf("%d of %d seeds, %d failed", s.lived, s.Seeds, len(s.failed))
	if s.broken > 0 {
		far += fmt.Sprintf(", and %d processes without a seed of theirs", s.broken)
	}
	if len(s.failed) > 0 {
		far += fmt.Sprintf(": %d", s.failed)
	}
	switch {
	case len(s.failed) > 0 || s.broken > 0:
		return fmt.Errorf("%w: %s", errMark, far)
	case s.lived < s.Seeds:
		return s.stopped(ctx, far)
	}
	return nil
}

// stopped says why not all was lived, and how far it came.
func (s *simulation) stopped(ctx context.Context, far string) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("gave up after %s (--limit), %w: %s", s.Limit, errUntried, far)
	}
	return fmt.Errorf("%w: %s", errUntried, far)
}

// inWords says what the figures are whose names alone do not.
var inWords = map[string]string{
	"children":         "sub-agents that were asked for",
	"commits":          "of the store",
	"crashes":          "of the host, before a commit or after it",
	"exchanges":        "of agents with each other",
	"flips":            "changes of the send policy",
	"histories":        "a sum over all that happened: the same seeds give the same one",
	"messages":         "that people wrote",
	"repeats":          "texts that a chat shows again, each marked by the host",
	"seeds-counted":    "those that the other figures are of: the rest took its process down before it could tell",
	"updates-repeated": "that a platform delivered again",
}

func (s *simulation) print() {
	s.sum["seeds"], s.sum["failed"] = s.lived, len(s.failed)
	if s.counted != s.lived {
		s.sum["seeds-counted"] = s.counted
	}
	if s.JSON {
		_ = json.NewEncoder(os.Stdout).Encode(s.sum) // to whoever still reads
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.sum)) {
		fmt.Println(strings.TrimRight(fmt.Sprintf("%-24s %-15d %s", name, s.sum[name], inWords[name]), " "))
	}
	fmt.Printf("%-24s %s\n", "took", time.Since(s.began).Round(time.Second))
}

// findRoot gives the folder of the repository: the nearest one upwards with a go.mod.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("no go.mod here or above: run the command inside the repository")
		}
		dir = up
	}
}
