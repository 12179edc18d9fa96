package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"parley/gateway/prooftest"
)

// killCmd are the kill runs: the real program is killed again and again, half of the times at the calls of its store (before and after
// each commit, every kind of them), half at random moments, also while it starts. Meanwhile people write on all platforms, agents ask
// each other, sub-agents are spawned and the send policy changes, also while the host is down, where the kill left a text unsent; and the
// configuration is read again, with an account off or on, with nothing new, or with an error in it. In the end
// the checker judges what people saw.
type killCmd struct {
	program
	Kills    int    `default:"1000" help:"Number of kills: half at fail-points, half at random times. From ${judged} kills on, the run fails and names each fail-point without a kill; with fewer kills the run only lists them."`
	Messages int    `default:"10000" help:"Number of messages that people write."`
	Spawns   *int   `placeholder:"N" help:"Number of sub-agents that people ask for, at most ${mostSpawns} a message. Default: a fifth of the messages."`
	At       string `placeholder:"PATTERN" help:"Kill only at the fail-points that match, and never at random. A host that does not reach its fail-point within ${patience} is stopped without a kill, and the result says so; the run tries others instead, up to as many stops as kills. The run fails and names each fail-point that it waited for and never reached. 'Answer before-commit' is the time when a platform has accepted a message and the host has stored nothing about it; 'Answer+whatsapp before-commit' is the same on WhatsApp alone (also +telegram, +discord). A pattern that matches none lists all. The result counts the kills by fail-point, and by platform those that interrupted a send."`
	Platform string `enum:"telegram,discord,whatsapp," default:"" placeholder:"NAME" help:"People write on this platform only. The send policy changes in all chats, and its answers go there."`
	Seed     uint64 `help:"Seed of the random numbers; 0 = a new one."`
	Dir      string `type:"path" placeholder:"DIR" help:"An empty folder for the run, with a short path. It keeps result.json, and everything else if the run fails. Default: a temporary folder."`
	Keep     bool   `help:"Keep the folder even if the run succeeds."`
	JSON     bool   `name:"json" help:"Print the figures as JSON."`
	Quiet    bool   `short:"q" help:"Print no progress."`
}

// Run implements the command.
func (c *killCmd) Run(ctx context.Context) error {
	if c.Seed == 0 {
		c.Seed = rand.Uint64N(1_000_000) + 1
	}
	dir, err := newRunFolder(c.Dir, "kill")
	if err != nil {
		return err
	}
	f, err := c.in(ctx, dir)
	if c.Keep || f.worthKeeping(ctx, err) {
		return errors.Join(err, dir.keep())
	}
	dir.leave()
	return err
}

// worthKeeping reports whether somebody has to look at what a run has left: it found something, or broke off. One that did not begin, or was
// interrupted, left nothing.
func (f *killed) worthKeeping(ctx context.Context, err error) bool {
	switch {
	case f == nil:
		return false
	case f.Verdict == nil:
		return ctx.Err() == nil
	}
	return err != nil || len(f.faults()) > 0
}

// Validate says what cannot be asked for.
func (c *killCmd) Validate() error {
	_, err := c.only()
	return errors.Join(c.check(), err, atLeast("--kills", c.Kills, 1), atLeast("--messages", c.Messages, 1), atLeast("--spawns", c.spawns(), 0),
		atMost("--spawns", c.spawns(), mostSpawns*max(c.Messages, 0), fmt.Sprintf("a message asks for %d at most", mostSpawns)))
}

// only matches the fail-points to kill at; nil = at all of them, and at random.
func (c *killCmd) only() (*regexp.Regexp, error) {
	if c.At == "" {
		return nil, nil
	}
	at, err := matching(c.At)
	if err == nil && len(newPoints(at, max(c.Kills, 1)).all) == 0 {
		err = unknown(c.At)
	}
	return at, err
}

// spawns is how many sub-agents are asked for.
func (c *killCmd) spawns() int {
	if c.Spawns != nil {
		return *c.Spawns
	}
	return max(c.Messages, 0) / 5
}

// What a run leaves in its folder.
const (
	worldFolder = "w" // when it failed, or is kept: configuration, state, what each life printed
	resultFile  = "result.json"
	historyFile = "history.json"
)

// in does the run in a folder and prints what came of it.
func (c *killCmd) in(ctx context.Context, folder runFolder) (*killed, error) {
	at, err := c.only()
	if err != nil {
		return nil, err
	}
	dir := folder.path
	path, err := c.build(ctx, dir)
	if err != nil {
		return nil, err
	}
	progress := io.Writer(os.Stderr)
	if c.Quiet {
		progress = io.Discard
	}
	conf := killConfig{Program: path, Dir: filepath.Join(dir, worldFolder), Kills: c.Kills, Messages: c.Messages, Spawns: c.spawns(), Seed: c.Seed, At: at, Platform: c.Platform, Progress: progress}
	f, err := killRun(ctx, conf)
	if f == nil {
		return nil, err
	} else if f.Verdict == nil { // it broke off
		return f, errors.Join(err, keepHistory(dir, f.history, nil))
	}
	if kept := errors.Join(keepHistory(dir, f.history, f.Verdict), f.keep(filepath.Join(dir, resultFile))); kept != nil {
		return f, kept
	}
	if c.JSON {
		_ = json.NewEncoder(os.Stdout).Encode(f) // to whoever still reads
	} else {
		where := ""
		if c.Dir != "" || c.Keep || len(f.faults()) > 0 {
			where = filepath.Join(folder.stay, resultFile)
		}
		f.print(os.Stdout, where)
	}
	if bad := f.faults(); err == nil && len(bad) > 0 {
		err = fmt.Errorf("%w: %s", errMark, strings.Join(bad, "; "))
	}
	return f, err
}

// killed are the figures of a kill run.
type killed struct {
	Seed      uint64
	Asked     goals
	AtPoints  int            // kills at fail-points
	Random    int            // kills at random moments
	Stopped   int            // lives that were ended softly: others took their place
	Late      map[string]int // lives that did not come to their fail-point in time, by fail-point
	Rest      int            // more kills, of hosts that had been left alone: the first, and those that caught up; with At they are stopped softly
	Points    int            // fail-points that occur
	Reached   int            // those at which it was killed
	At        map[string]int // kills by fail-point, where the run was told at which
	Unreached []string       // those at which it was not
	Few       bool           // kills, so that the run does not fail by what is in Unreached
	Missed    []string       // what is wrong with the places of the kills
	Broken    int            // turns that the end of a process broke off
	Refused   int            // chats in which a platform was made to refuse what is sent
	Aside     int            // messages of errands that have no answer of their own to be judged by
	Stops     int            // of turns and exchanges, behind whose answer nothing may come
	Windows   map[string]int // kills while something was being sent, by platform
	Sends     []window       // every send that a kill hid the end of
	Ambiguous []ambiguous    // the deliveries that they were of, and what became of each
	Lives     int
	Messages  int
	Spawns    int
	Jobs      int
	Exchanges int
	Flips     int
	Silenced  int // denies written into the configuration while the host was down, where the kill had left something unsent
	Kept      int // the texts of these that were withheld by them
	Reloads   reloaded
	Took      time.Duration
	Verdict   *prooftest.Verdict

	history *prooftest.History
}

// goals are what a run was asked for, at least.
type goals struct{ Kills, Messages, Spawns int }

// faults are what a run fails by.
func (f *killed) faults() (out []string) {
	if n := len(f.Verdict.Faults); n > 0 {
		out = append(out, fmt.Sprintf("%d faults", n))
	}
	// What has no answer is accounted for by what was done: ten turns broken off for each that was given up, a chat that refuses for each that
	// failed, three kills within its sends for each that is held. All messages can be read.
	other, skipped := 0, 0
	for _, t := range []prooftest.Tally{f.Verdict.Answers, f.Verdict.Announces, f.Verdict.Reports, f.Verdict.Replies} {
		other, skipped = other+t.Noticed+t.Listed, skipped+t.Skipped
	}
	if most := f.Broken/givesUpAfter + f.Refused + f.Verdict.Windows/leastHeld; other > most {
		out = append(out, fmt.Sprintf("%d texts ended as noticed or listed, and what was done explains %d", other, most))
	}
	if skipped > 0 {
		out = append(out, fmt.Sprintf("%d messages are listed as not read", skipped))
	}
	for _, n := range []struct {
		what         string
		count, asked int
	}{{"kills", f.AtPoints + f.Random, f.Asked.Kills}, {"messages", f.Messages, f.Asked.Messages}, {"sub-agents", f.Spawns, f.Asked.Spawns}} {
		if n.count < n.asked {
			out = append(out, fmt.Sprintf("%d of the %d %s that were asked for", n.count, n.asked, n.what))
		}
	}
	// At the fail-points around a call itself each kill leaves that send unclear, and those that are under way beside it.
	for _, platform := range []string{"telegram", "discord", whatsappServer} {
		if n := f.marked(platform); f.At == nil && n > f.Windows[platform] {
			out = append(out, fmt.Sprintf("%d deliveries of %s are marked, and %d kills were within a send there", n, platform, f.Windows[platform]))
		}
	}
	return append(out, f.Missed...)
}

// marked counts the deliveries of a platform that may show twice, as the host lists them.
func (f *killed) marked(platform string) (n int) {
	for _, a := range f.Ambiguous {
		if a.Platform == platform && a.Marked {
			n++
		}
	}
	return n
}

// keep writes the figures into a file.
func (f *killed) keep(path string) error {
	b, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o600)
}

// mostSaid is how many deliveries with an unclear end are named on a terminal.
const mostSaid = 5

// unclear tells the deliveries that a kill hid the end of, on one platform: how many, and the first few.
func (f *killed) unclear(w io.Writer, platform, where string) {
	var all []ambiguous
	again := 0
	for _, a := range f.Ambiguous {
		if a.Platform != platform {
			continue
		}
		all = append(all, a)
		again += max(0, a.Shown-1)
	}
	if len(all) == 0 {
		return
	}
	sends := 0
	for _, s := range f.Sends {
		if s.Place.Platform == platform {
			sends++
		}
	}
	fmt.Fprintf(w, "%s: %d kills within a send, which cut off %d sends of %d deliveries: %d marked in the host's list, %d texts shown again\n", platform, f.Windows[platform], sends, len(all), f.marked(platform), again)
	kills, over := byChat(all)
	fmt.Fprintf(w, "  %d kills inside a send, counted for each chat by itself; chats with more that is marked: %d\n", kills, len(over))
	for i, a := range all {
		if i == mostSaid {
			if where == "" {
				where = "--dir, --keep and --json have all of them"
			}
			fmt.Fprintf(w, "  and %d more: %s\n", len(all)-i, where)
			break
		}
		fmt.Fprintf(w, "  %s\n", a)
	}
}

// counts puts how often each was into words.
func counts(n map[string]int) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(n)) {
		out = append(out, fmt.Sprintf("%s %d×", name, n[name]))
	}
	return cmp.Or(strings.Join(out, ", "), "none")
}

// print tells the figures; where is the file that has all of them, "" when none is kept.
func (f *killed) print(w io.Writer, where string) {
	v := f.Verdict
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, a ...any) { fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(format, a...)) }
	row("seed", "%d", f.Seed)
	rest := ""
	if f.Rest > 0 {
		rest = fmt.Sprintf("; and %d of hosts that were left alone, to learn the fail-points and to catch up", f.Rest)
	}
	row("kills", "%d: %d at fail-points, %d at random%s", f.AtPoints+f.Random, f.AtPoints, f.Random, rest)
	if len(f.Late) > 0 {
		row("not in time", "%s: %s", map[bool]string{true: "stopped softly, no kill", false: "killed at random"}[f.At != nil], counts(f.Late))
	}
	row("fail-points", "%d of %d were the place of a kill", f.Reached, f.Points)
	if f.At != nil {
		row("kills by fail-point", "%s", counts(f.At))
	}
	row("kills in a send window", "%d: %s", v.InSend, counts(f.Windows))
	row("turns broken off", "%d", f.Broken)
	row("lives", "%d", f.Lives)
	row("messages", "%d, and %d that are steered, collected or dropped", f.Messages, f.Aside)
	row("sub-agents asked for", "%d", f.Spawns)
	row("jobs", "%d", f.Jobs)
	row("exchanges", "%d", f.Exchanges)
	row("stops", "%d of turns and exchanges, after which nothing more is asked or shown", f.Stops)
	row("policy changes", "%d", f.Flips)
	row("denied while down", "%d times a chat in which a kill had left something unsent, by the configuration: %d of these texts withheld", f.Silenced, f.Kept)
	row("reloads", "%s", f.Reloads)
	row("model calls", "%d", v.Asked)
	row("took", "%s", f.Took.Round(time.Second))
	_ = t.Flush() // to whoever still reads
	for _, platform := range []string{"telegram", "discord", whatsappServer} {
		f.unclear(w, platform, where)
	}
	switch {
	case f.Few && len(f.Unreached) > 0:
		fmt.Fprintf(w, "never the place of a kill: %d of %d fail-points, as there were few kills (it takes %d for each one before a run fails by that)\n", len(f.Unreached), f.Points, triesEach)
	case len(f.Unreached) > 0:
		fmt.Fprintf(w, "never the place of a kill, %d of %d fail-points: %s\n", len(f.Unreached), f.Points, strings.Join(f.Unreached, ", "))
	}
	fmt.Fprintln(w, v)
}
