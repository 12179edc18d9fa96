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
	Outcome string   `json:"outcome"` // pass, fail, skip
	Seconds float64  `json:"seconds"`
	Figures []string `json:"figures,omitempty"` // what it logged, as it stands
	said    []string // everything, for one that failed
}

// testEvent is a line of go test -json.
type testEvent struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// logged is a line of t.Log: the file and the line, then the words.
var logged = regexp.MustCompile(`^\s+\w+\.go:\d+: (.+)$`)

// readTests reads what go test -json says, and gives the top-level tests that ran. What belongs to no test (the compiler, a panic)
// goes to rest.
func readTests(r io.Reader, rest io.Writer) ([]testResult, error) {
	found := map[string]*testResult{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e testEvent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			fmt.Fprintln(rest, lines.Text())
			continue
		}
		top, _, _ := strings.Cut(e.Test, "/")
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
		case e.Test == top && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip"):
			x.Outcome, x.Seconds = e.Action, e.Elapsed
		}
	}
	var out []testResult
	for _, x := range found {
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

// errMark says that something does not hold. What it is was printed.
var errMark = errors.New("a mark is missed")

// run runs the tests from the root of the repository and prints what each of them says. It fails when one did, or was skipped, or
// when none ran.
func (s suite) run(ctx context.Context, asJSON bool) error {
	args := append([]string{"test", "-json", "-count=1", "-timeout", s.limit.String(), "-run", s.pattern}, s.packages...)
	cmd := exec.CommandContext(ctx, "go", args...)
	root, err := findRoot()
	if err != nil {
		return err
	}
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
	results, err := readTests(out, os.Stderr)
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
	return errors.Join(err, judgeTests(results))
}

func printTests(w io.Writer, results []testResult) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, x := range results {
		fmt.Fprintf(t, "%s\t%s\t%s\t%.1f s\n", x.Outcome, strings.TrimPrefix(x.Package, "parley/"), x.Test, x.Seconds)
	}
	_ = t.Flush() // to whoever still reads
	for _, x := range results {
		switch {
		case x.Outcome == "fail" || x.Outcome == "":
			fmt.Fprintf(w, "\n%s %s\n%s", x.Package, x.Test, strings.Join(x.said, ""))
		case len(x.Figures) > 0:
			fmt.Fprintf(w, "\n%s %s\n  %s\n", x.Package, x.Test, strings.Join(x.Figures, "\n  "))
		}
	}
}

func judgeTests(results []testResult) error {
	if len(results) == 0 {
		return fmt.Errorf("%w: no test ran", errMark)
	}
	bad := map[string]int{}
	for _, x := range results {
		if x.Outcome != "pass" {
			bad[cmp.Or(x.Outcome, "cut off")]++
		}
	}
	if len(bad) > 0 {
		return fmt.Errorf("%w: of %d tests: %v", errMark, len(results), bad)
	}
	return nil
}
