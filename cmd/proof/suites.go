package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// testResult is what became of one test, and the figures that it logged.
type testResult struct {
	Package string   `json:"package"`
	Test    string   `json:"test"`
	Outcome string   `json:"outcome"` // pass, fail, skip; "" = it was cut off
	Seconds float64  `json:"seconds"`
	Figures []string `json:"figures,omitempty"` // what it logged, as it stands; of one that was skipped, why
	said    []string // everything, for one that failed

	below, parents map[string]bool // tests below it by name: whether they tried anything; and those that have others below them
}

// also notes the end of a test below it.
func (x *testResult) also(name, outcome string) {
	if x.below == nil {
		x.below, x.parents = map[string]bool{}, map[string]bool{}
	}
	x.below[name] = outcome != "skip"
	x.parents[name[:strings.LastIndexByte(name, '/')]] = true
}

// settle finds one that go test calls passed, and all below it was skipped: it has shown nothing.
func (x *testResult) settle() {
	if x.Outcome != "pass" || len(x.below) == 0 {
		return
	}
	for name, tried := range x.below {
		if tried && !x.parents[name] {
			return
		}
	}
	x.Outcome = "skip"
	for _, line := range x.said {
		if m := logged.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil && !slices.Contains(x.Figures, m[1]) {
			x.Figures = append(x.Figures, m[1])
		}
	}
}

// testEvent is a line of go test -json.
type testEvent struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// logged is a line of t.Log: the file and the line, then the words.
var logged = regexp.MustCompile(`^\s+\w+\.go:\d+: (.+)$`)

// readTests reads what go test -json says, and gives the top-level tests that ran. What belongs to no test (the compiler, a panic)
// goes to rest, each event to seen.
func readTests(r io.Reader, rest io.Writer, seen func(testEvent)) ([]testResult, error) {
	found := map[string]*testResult{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e testEvent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			fmt.Fprintln(rest, lines.Text())
			continue
		}
		seen(e)
		top, _, below := strings.Cut(e.Test, "/")
		x := found[e.Package+" "+top]
		if x == nil && top != "" {
			x = &testResult{Package: e.Package, Test: top}
			found[e.Package+" "+top] = x
		}
		switch {
		case e.Action == "build-output" || e.Action == "output" && x == nil && strings.HasPrefix(e.Output, "panic"):
			fmt.Fprint(rest, e.Output)
		case x == nil:
		case e.Action == "output":
			x.said = append(x.said, e.Output)
			if m := logged.FindStringSubmatch(strings.TrimRight(e.Output, "\n")); m != nil && e.Test == top {
				x.Figures = append(x.Figures, m[1])
			}
		case e.Action != "pass" && e.Action != "fail" && e.Action != "skip":
		case below:
			x.also(e.Test, e.Action)
		default:
			x.Outcome, x.Seconds = e.Action, e.Elapsed
		}
	}
	var out []testResult
	for _, x := range found {
		x.settle()
		out = append(out, *x)
	}
	slices.SortFunc(out, func(a, b testResult) int {
		return cmp.Or(cmp.Compare(a.Package, b.Package), cmp.Compare(a.Test, b.Test))
	})
	return out, lines.Err()
}

// suite is a set of the repository's own tests, run with all that they can do.
type suite struct {
	pattern  string
	packages []string
	limit    time.Duration
	env      []string
}

// errMark says that something does not hold, errUntried that something was not tried. What it is was printed.
var (
	errMark    = errors.New("a mark is missed")
	errUntried = errors.New("not all of it was tried")
)

// withTests are the packages of a suite that have tests.
func (s suite) withTests(ctx context.Context, root string) ([]string, error) {
	list := exec.CommandContext(ctx, "go", append([]string{"list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}"}, s.packages...)...)
	list.Dir, list.Stderr = root, os.Stderr
	defer grouped(list)()
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	return strings.Fields(string(out)), nil
}

// told tells on w which package's tests begin, how many of how many, and each test that does.
func told(w io.Writer, all int) func(testEvent) {
	n := 0
	return func(e testEvent) {
		name := strings.TrimPrefix(e.Package, "parley/")
		switch {
		case e.Action == "start":
			n++
			fmt.Fprintf(w, "%d of %d: %s\n", n, all, name)
		case e.Action == "run" && !strings.Contains(e.Test, "/"):
			fmt.Fprintf(w, "  %s %s\n", name, e.Test)
		}
	}
}

// run runs the tests from the root of the repository and prints what each of them says. It fails when one did, or was skipped, or
// when none ran.
func (s suite) run(ctx context.Context, asJSON bool) error {
	root, err := findRoot()
	if err != nil {
		return err
	}
	packages, err := s.withTests(ctx, root)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json", "-count=1", "-timeout", s.limit.String(), "-run", s.pattern}, packages...)...)
	out, said := io.Pipe()
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = root, append(os.Environ(), s.env...), said, os.Stderr
	defer grouped(cmd)()
	wait, err := tied(cmd)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		ended <- wait()
		_ = said.Close() // it does not fail
	}()
	results, err := readTests(out, os.Stderr, told(os.Stderr, len(packages)))
	_ = out.Close() // when it could not be read to its end, nobody waits for that
	if end := <-ended; err == nil {
		err = end
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("go test: %w", err)
	}
	if asJSON {
		_ = json.NewEncoder(os.Stdout).Encode(results) // to whoever still reads
	} else {
		printTests(os.Stdout, results)
	}
	if ctx.Err() != nil {
		return cmp.Or(judgeTests(results, errUntried), fmt.Errorf("%w: %d tests came to their end", errUntried, len(results)))
	}
	return errors.Join(err, judgeTests(results, errMark))
}

func printTests(w io.Writer, results []testResult) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, x := range results {
		fmt.Fprintf(t, "%s\t%s\t%s\t%.1f s\n", cmp.Or(x.Outcome, cutOff), strings.TrimPrefix(x.Package, "parley/"), x.Test, x.Seconds)
	}
	_ = t.Flush() // to whoever still reads
	for _, x := range results {
		switch {
		case x.Outcome == "fail" || x.Outcome == "":
			fmt.Fprintf(w, "\n%s %s\n%s", x.Package, x.Test, strings.Join(shortenStacks(x.said), ""))
		case len(x.Figures) > 0:
			fmt.Fprintf(w, "\n%s %s\n  %s\n", x.Package, x.Test, strings.Join(x.Figures, "\n  "))
		}
	}
}

// cutOff is what became of a test that neither passed nor failed: its process ended before, by the limit or a panic.
const cutOff = "cut off"

// maxStacks is how many goroutines are printed of a panic: that of a limit lists all there are.
const maxStacks = 3

// shortenStacks leaves out the stacks beyond the first ones.
func shortenStacks(said []string) []string {
	n := 0
	for i, line := range said {
		if !strings.HasPrefix(line, "goroutine ") {
			continue
		}
		if n++; n > maxStacks {
			return append(slices.Clone(said[:i]), fmt.Sprintf("(%d more lines of stacks)\n", len(said)-i))
		}
	}
	return said
}

// judgeTests says which tests did not pass. Those that were skipped show nothing, so they are no success either. cut is what it is called
// when tests did not come to their end.
func judgeTests(results []testResult, cut error) error {
	if len(results) == 0 {
		return fmt.Errorf("%w: no test ran", cut)
	}
	names := map[string][]string{}
	for _, x := range results {
		o := cmp.Or(x.Outcome, cutOff)
		names[o] = append(names[o], x.Test)
	}
	var bad []string
	err := errUntried
	for _, o := range []struct{ outcome, words string }{{"fail", "failed"}, {cutOff, "cut off before the end"}, {"skip", "skipped, which shows nothing"}} {
		if n := len(names[o.outcome]); n > 0 {
			bad = append(bad, fmt.Sprintf("%d %s (%s)", n, o.words, strings.Join(names[o.outcome], ", ")))
			if o.outcome == "fail" {
				err = errMark
			} else if o.outcome == cutOff && !errors.Is(err, errMark) {
				err = cut
			}
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return fmt.Errorf("%w: of %d tests %s", err, len(results), strings.Join(bad, "; "))
}
