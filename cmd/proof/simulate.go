package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// simulateCmd runs the deterministic simulation of the router: each seed is one world of people, agents, platforms and faults on
// virtual time. One process for each processor, each with a part of the seeds.
type simulateCmd struct {
	Seeds int           `default:"100000" help:"How many seeds."`
	From  uint64        `default:"1" help:"The first one."`
	Seed  uint64        `help:"Only this one, with its whole history."`
	Jobs  int           `help:"Processes at a time; 0 = one for each processor."`
	Limit time.Duration `default:"12h" help:"Give up after this time."`
	JSON  bool          `name:"json" help:"Print the figures as JSON."`
}

// simulated are the figures of a simulation: how often each thing happened, by name.
type simulated map[string]int

const (
	simulationTest  = "^TestSimulation$"
	simulationLine  = "simulation: "
	simulationBlock = 2000 // seeds of one process: what it holds is given back after them
)

func (c simulateCmd) Run(ctx context.Context) error {
	if c.Seeds < 1 {
		return errors.New("--seeds: at least one")
	}
	dir, err := os.MkdirTemp("", "parley-proof-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program := filepath.Join(dir, "router.test")
	root, err := findRoot()
	if err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "test", "-c", "-o", program, "./router")
	build.Dir, build.Stdout, build.Stderr = root, os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("building the tests of router: %w", err)
	}
	s := &simulation{simulateCmd: c, program: program, dir: filepath.Join(root, "router"), sum: simulated{}}
	if c.Seed != 0 {
		return s.process(ctx, os.Stdout, "PARLEY_SIM_SEED="+strconv.FormatUint(c.Seed, 10))
	}
	began := time.Now()
	err = s.all(ctx)
	s.print(time.Since(began))
	return err
}

// passed are the lines that say only that a seed ran and that it passed.
var passed = regexp.MustCompile(`^\s*(=== RUN|--- PASS)`)

// simulation is one run of the command.
type simulation struct {
	simulateCmd
	program, dir string

	mu  sync.Mutex
	sum simulated
}

// all runs the blocks of seeds. The first failure ends it: what failed has been printed with its seed.
func (s *simulation) all(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	blocks := make(chan int)
	var wg sync.WaitGroup
	jobs := s.Jobs
	if jobs <= 0 {
		jobs = runtime.NumCPU()
	}
	for range jobs {
		wg.Go(func() {
			for first := range blocks {
				n := min(simulationBlock, s.Seeds-first)
				err := s.process(ctx, os.Stderr, fmt.Sprintf("PARLEY_SIM_FROM=%d", s.From+uint64(first)), fmt.Sprintf("PARLEY_SIM_SEEDS=%d", n))
				if err != nil {
					stop(err)
				}
			}
		})
	}
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
	return context.Cause(ctx)
}

// process runs some seeds. What the tests print goes to w when they fail, or when only one seed was asked for.
func (s *simulation) process(ctx context.Context, w io.Writer, env ...string) error {
	cmd := exec.CommandContext(ctx, s.program, "-test.run", simulationTest, "-test.v", "-test.timeout", s.Limit.String())
	cmd.Dir = s.dir
	cmd.Env = append(append(os.Environ(), "GOMAXPROCS=1"), env...)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	figures := figuresOf(strings.NewReader(said.String()))
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(figures, "from")
	for name, n := range figures {
		s.sum[name] += n
	}
	if err != nil || s.Seed != 0 {
		for line := range strings.Lines(said.String()) {
			if !passed.MatchString(line) {
				_, _ = io.WriteString(w, line) // to whoever still reads
			}
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %v: %w", errMark, env, err)
	}
	if s.Seed == 0 && len(figures) == 0 {
		return fmt.Errorf("%w: %v: no simulation ran", errMark, env)
	}
	if s.Seed == 0 && !s.JSON {
		fmt.Fprintf(os.Stderr, "%d seeds\n", s.sum["seeds"])
	}
	return nil
}

// figuresOf finds the line of figures: "simulation: seeds=500 messages=12000 …".
func figuresOf(r io.Reader) simulated {
	out := simulated{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		_, line, ok := strings.Cut(lines.Text(), simulationLine)
		if !ok {
			continue
		}
		for _, f := range strings.Fields(line) {
			name, value, _ := strings.Cut(f, "=")
			if n, err := strconv.Atoi(value); err == nil {
				out[name] += n
			}
		}
	}
	return out
}

func (s *simulation) print(took time.Duration) {
	if s.JSON {
		_ = json.NewEncoder(os.Stdout).Encode(s.sum) // to whoever still reads
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.sum)) {
		fmt.Printf("%-24s %d\n", name, s.sum[name])
	}
	fmt.Printf("%-24s %s\n", "took", took.Round(time.Second))
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
			return "", errors.New("no go.mod here or above: run it inside the repository")
		}
		dir = up
	}
}
