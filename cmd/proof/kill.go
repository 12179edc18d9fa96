package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"text/tabwriter"
	"time"

	"parley/gateway/prooftest"
)

// killCmd are the kill runs: the real program is killed again and again, half of the times at the calls of its store (before and after
// each commit, every kind of them), half at random moments, also while it starts. Meanwhile people write on all platforms, agents ask
// each other, sub-agents are spawned and the send policy changes. In the end the checker judges what people saw.
type killCmd struct {
	program
	Kills    int    `default:"1000" help:"How often it is killed."`
	Messages int    `default:"10000" help:"Messages that people write."`
	Spawns   int    `default:"2000" help:"Sub-agents that they ask for."`
	At       string `placeholder:"PATTERN" help:"Only at the fail-points that match, never at random: 'PartSent before-commit' is when a platform has accepted a message and the receipt is not written."`
	Platform string `enum:"telegram,discord,whatsapp," default:"" placeholder:"NAME" help:"People write on this platform only."`
	Seed     uint64 `help:"Of the dice; 0 = a new one."`
	Dir      string `type:"path" placeholder:"DIR" help:"An empty folder for the run, which is removed when all is well; without it a temporary one. The path has to be short."`
	Keep     bool   `help:"Keep the folder when all is well too."`
	JSON     bool   `name:"json" help:"Print the figures as JSON."`
	Quiet    bool   `short:"q" help:"No words about the progress."`
}

// Run implements the command.
func (c *killCmd) Run(ctx context.Context) error {
	if c.Kills < 1 || c.Messages < 1 {
		return errors.New("--kills and --messages: at least one of each")
	}
	if c.Seed == 0 {
		c.Seed = rand.Uint64N(1_000_000) + 1
	}
	dir := c.Dir
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "kill"); err != nil {
			return err
		}
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	} else if there, err := os.ReadDir(dir); err != nil || len(there) > 0 {
		return errors.Join(err, fmt.Errorf("--dir %s: there is something in it; the run wants an empty folder, which it removes at the end", dir))
	}
	f, err := c.in(ctx, dir)
	if err == nil && f.Verdict.OK() && !c.Keep {
		_ = os.RemoveAll(dir)
	} else {
		fmt.Fprintf(os.Stderr, "kept: %s\n", dir)
	}
	return err
}

// in does the run in a folder and prints what came of it.
func (c *killCmd) in(ctx context.Context, dir string) (*killed, error) {
	path, err := c.build(ctx, dir)
	if err != nil {
		return nil, err
	}
	progress := io.Writer(os.Stderr)
	if c.Quiet {
		progress = io.Discard
	}
	conf := killConfig{Program: path, Dir: filepath.Join(dir, "w"), Kills: c.Kills, Messages: c.Messages, Spawns: c.Spawns, Seed: c.Seed, Platform: c.Platform, Progress: progress}
	if c.At != "" {
		if conf.At, err = regexp.Compile(c.At); err != nil {
			return nil, err
		}
	}
	f, err := killRun(ctx, conf)
	if f != nil && f.Verdict != nil {
		if c.JSON {
			_ = json.NewEncoder(os.Stdout).Encode(f) // to whoever still reads
		} else {
			f.print(os.Stdout)
		}
		if keep := keepHistory(dir, f.history, f.Verdict); keep != nil {
			return f, keep
		}
	}
	if err != nil {
		return f, err
	}
	if !f.Verdict.OK() {
		return f, fmt.Errorf("%w: %d faults", errMark, len(f.Verdict.Faults))
	}
	return f, nil
}

// killed are the figures of a kill run.
type killed struct {
	Seed      uint64
	AtPoints  int            // kills at fail-points
	Random    int            // kills at random moments
	Points    int            // fail-points that occur
	Reached   int            // those at which it was killed
	Unreached []string       // those at which it was not
	Windows   map[string]int // kills while something was being sent, by platform
	Lives     int
	Messages  int
	Spawns    int
	Exchanges int
	Flips     int
	Took      time.Duration
	Verdict   *prooftest.Verdict

	history *prooftest.History
}

func (f *killed) print(w io.Writer) {
	v := f.Verdict
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, a ...any) { fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(format, a...)) }
	row("seed", "%d", f.Seed)
	row("kills", "%d: %d at fail-points, %d at random", f.AtPoints+f.Random, f.AtPoints, f.Random)
	row("fail-points", "%d of the %d that occurred; not reached: %v", f.Reached, f.Points, f.Unreached)
	row("kills in a send window", "%d %v", v.InSend, f.Windows)
	row("lives", "%d", f.Lives)
	row("messages", "%d", f.Messages)
	row("sub-agents asked for", "%d", f.Spawns)
	row("exchanges", "%d", f.Exchanges)
	row("policy changes", "%d", f.Flips)
	row("model calls", "%d", v.Asked)
	row("took", "%s", f.Took.Round(time.Second))
	_ = t.Flush() // to whoever still reads
	fmt.Fprintln(w, v)
}
