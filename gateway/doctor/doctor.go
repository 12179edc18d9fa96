package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpproxy"

	"parley/gateway/accounts"
	"parley/gateway/api"
	"parley/gateway/config"
	"parley/gateway/models"
)

// Level is the severity of a finding.
type Level string

// The levels.
const (
	Fine    Level = "ok"
	Warning Level = "warning" // it works, but may fail later
	Failure Level = "error"   // it does not work
	Skipped Level = "skipped" // the check was not made; the text says why
)

// Finding is one line of the result.
type Finding struct {
	Check string `json:"check"` // what was looked at: config, state, disk, …
	Level Level  `json:"level"`
	Text  string `json:"text"`            // what was found, and what that means
	Fix   string `json:"fix,omitempty"`   // what to do about it
	About string `json:"about,omitempty"` // the key of the configuration that Fix is about; "" = Check says it
	Next  bool   `json:"next,omitempty"`  // of all findings, the one to act on first
}

// Deps holds what the checks look at: the configuration, the folders, the clients.
type Deps struct {
	Config    *config.Config // with Invalid only its Path and State are known; nil: not even those
	Invalid   error          // why it cannot be loaded
	Adapters  []accounts.Adapter
	Providers []models.Provider
	Getenv    func(string) string
	Version   string
	Now       func() time.Time

	// Host asks the running host how it is. ErrNoHost: none runs.
	Host func(ctx context.Context) (api.HostStatus, error)
}

// ErrNoHost is the error of Deps.Host where no host runs.
var ErrNoHost = errors.New("no host is running")

// Limit bounds the whole run, checkTimeout each check.
const (
	Limit        = 15 * time.Second
	checkTimeout = 10 * time.Second
)

// group is a set of checks that run one after another, beside the other groups. Its findings keep their place in the result.
type group struct {
	name string
	run  func(ctx context.Context) []Finding
}

// exam is one run.
type exam struct {
	Deps
	host    *api.HostStatus // nil = none runs
	hostErr error           // one runs and does not answer
	unasked bool            // the configuration does not say where to ask a host

	proxies *httpproxy.Config // nil = those of the environment
}

// Run does all checks side by side.
func Run(ctx context.Context, d Deps) []Finding {
	ctx, cancel := context.WithTimeout(ctx, Limit)
	defer cancel()
	x := &exam{Deps: d}
	out := x.configuration()
	if d.Config == nil {
		if i := first(out); i >= 0 {
			out[i].Next = true
		}
		return out // nothing else is known
	}
	ask, done := context.WithTimeout(ctx, 3*time.Second)
	s, err := d.Host(ask)
	done()
	switch {
	case err == nil:
		x.host = &s
	case d.Invalid != nil && strings.Contains(err.Error(), d.Invalid.Error()):
		x.unasked = true
	case !errors.Is(err, ErrNoHost):
		x.hostErr = err
	}
	groups := []group{{"host", x.running}, {"state", x.state}}
	if x.host != nil || d.Invalid == nil {
		groups = append(groups, group{"store", x.store})
	}
	if d.Invalid == nil {
		groups = append(groups, group{"port", x.port}, group{"time", x.zones})
		groups = append(groups, x.accounts()...)
		groups = append(groups, x.models()...)
	}
	results := make([][]Finding, len(groups))
	var wg sync.WaitGroup
	for i, g := range groups {
		wg.Go(func() { results[i] = within(ctx, g) })
	}
	wg.Wait()
	out = append(out, slices.Concat(results...)...)
	if i := first(out); i >= 0 {
		out[i].Next = true
	}
	return out
}

// within runs a group until its deadline: what hangs is a finding, too.
func within(ctx context.Context, g group) []Finding {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	done := make(chan []Finding, 1)
	go func() { done <- g.run(ctx) }()
	select {
	case fs := <-done:
		return fs
	case <-ctx.Done():
		// The check may come to its end just now.
		select {
		case fs := <-done:
			return fs
		case <-time.After(time.Second):
			return []Finding{wrong(g.name, "check by hand for a disk or a server that hangs", "the check of %s timed out", g.name)}
		}
	}
}

// order lists the checks whose failures cause others, causes first. All other checks come after them.
var order = []string{"config", "disk", "state", "store", "port", "time"}

// first returns the index of the finding to act on first: the worst one with something to do, causes before effects. -1 = nothing needs to be done.
func first(fs []Finding) int {
	best, rank := -1, 0
	for i, f := range fs {
		cause := slices.Index(order, f.Check)
		if cause < 0 {
			cause = len(order)
		}
		if f.Check == "host" { // what the host says follows from something else
			cause++
		}
		r := map[Level]int{Failure: 200, Warning: 100}[f.Level] - cause
		if (f.Level == Fine || f.Level == Skipped) && f.Check != "host" { // only optional advice
			continue
		}
		if f.Fix != "" && (best < 0 || r > rank) {
			best, rank = i, r
		}
	}
	return best
}

// Worst gives the level of a whole result.
func Worst(fs []Finding) Level {
	rank := map[Level]int{Fine: 0, Warning: 1, Failure: 2}
	if len(fs) == 0 {
		return Fine
	}
	return slices.MaxFunc(fs, func(a, b Finding) int { return cmp.Compare(rank[a.Level], rank[b.Level]) }).Level
}

func fine(check, format string, a ...any) Finding {
	return Finding{Check: check, Level: Fine, Text: fmt.Sprintf(format, a...)}
}

func skipped(check, fix, format string, a ...any) Finding {
	return Finding{Check: check, Level: Skipped, Text: fmt.Sprintf(format, a...), Fix: fix}
}

func warn(check, fix, format string, a ...any) Finding {
	return Finding{Check: check, Level: Warning, Text: fmt.Sprintf(format, a...), Fix: fix}
}

func wrong(check, fix, format string, a ...any) Finding {
	return Finding{Check: check, Level: Failure, Text: fmt.Sprintf(format, a...), Fix: fix}
}

// FirstStep says what to do first, and about what, unless that is the host; "" = nothing needs to be done.
func FirstStep(fs []Finding) string {
	i := slices.IndexFunc(fs, func(f Finding) bool { return f.Next })
	if i < 0 {
		return ""
	}
	if fs[i].Check == "host" {
		return fs[i].Fix
	}
	return cmp.Or(fs[i].About, fs[i].Check) + ": " + fs[i].Fix
}
