package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

// module makes a small module with a test file.
func module(t *testing.T, tests string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module small\n\ngo 1.26\n", "a_test.go": "package small\n\nimport \"testing\"\n\n" + tests} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
}

// What go test says becomes one row a test; a suite holds only when tests ran and every one of them passed.
func TestSuite(t *testing.T) {
	good := "func TestFaultA(t *testing.T) { t.Log(\"7 kills\"); t.Run(\"x\", func(t *testing.T) { t.Log(\"no figure\") }) }\n"
	below := "t.Run(\"x\", func(t *testing.T) { t.Run(\"y\", func(t *testing.T) { t.Skip(\"no server\") }) })"
	for _, c := range []struct {
		name, tests, want string
		err               error
	}{
		{"all pass", good, "", nil},
		{"one fails", good + "func TestFaultB(t *testing.T) { t.Error(\"lost\") }\n", "of 2 tests 1 failed (TestFaultB)", errMark},
		{"one is skipped", good + "func TestFaultB(t *testing.T) { t.Skip(\"no\") }\n", "of 2 tests 1 skipped, which shows nothing (TestFaultB)", errUntried},
		{"all below one is skipped", good + "func TestFaultB(t *testing.T) { " + below + " }\n", "of 2 tests 1 skipped, which shows nothing (TestFaultB)", errUntried},
		{"some below one is skipped", "func TestFaultB(t *testing.T) { " + below + "; t.Run(\"z\", func(t *testing.T) {}) }\n", "", nil},
		{"one below fails", "func TestFaultB(t *testing.T) { t.Run(\"x\", func(t *testing.T) { t.Error(\"lost\") }) }\n", "1 failed", errMark},
		{"the process ends", good + "func TestFaultB(t *testing.T) { panic(\"no\") }\n", "1 failed", errMark},
		{"none", "func TestOther(t *testing.T) {}\n", "no test ran", errMark},
		{"it does not build", "func TestFaultB(t *testing.T) { nothing() }\n", "no test ran", errMark},
	} {
		t.Run(c.name, func(t *testing.T) {
			module(t, c.tests)
			err := suite{pattern: "^TestFault", packages: []string{"."}, limit: time.Minute}.run(t.Context(), true)
			if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, c.err) || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestTestsAreRead(t *testing.T) {
	t.Parallel()
	said := `{"Action":"start","Package":"p/a"}
{"Action":"run","Package":"p/a","Test":"TestB"}
{"Action":"run","Package":"p/a","Test":"TestB/x"}
{"Action":"output","Package":"p/a","Test":"TestB","Output":"    b_test.go:7: 12 kills, 0 lost\n"}
{"Action":"output","Package":"p/a","Test":"TestB/x","Output":"        b_test.go:9: below\n"}
{"Action":"pass","Package":"p/a","Test":"TestB/x","Elapsed":1}
{"Action":"pass","Package":"p/a","Test":"TestB","Elapsed":2.5}
{"Action":"run","Package":"p/a","Test":"TestA"}
{"Action":"fail","Package":"p/a","Elapsed":3}
{"Action":"start","Package":"parley/b"}
{"Action":"run","Package":"parley/b","Test":"TestC"}
{"Action":"run","Package":"parley/b","Test":"TestC/x"}
{"Action":"output","Package":"parley/b","Test":"TestC/x","Output":"        c_test.go:9: no server\n"}
{"Action":"skip","Package":"parley/b","Test":"TestC/x"}
{"Action":"pass","Package":"parley/b","Test":"TestC"}
FAIL
`
	var rest, progress bytes.Buffer
	got, err := readTests(strings.NewReader(said), &rest, told(&progress, 2))
	if want := "1 of 2: p/a\n  p/a TestB\n  p/a TestA\n2 of 2: b\n  b TestC\n"; progress.String() != want {
		t.Errorf("progress: %q", progress.String())
	}
	if err != nil || len(got) != 3 || got[0].Test != "TestA" || got[0].Outcome != "" || got[1].Outcome != "pass" || got[1].Seconds != 2.5 {
		t.Fatalf("%+v, %v", got, err)
	}
	if f := got[1].Figures; len(f) != 1 || f[0] != "12 kills, 0 lost" {
		t.Errorf("figures: %q", f)
	}
	if rest.String() != "FAIL\n" {
		t.Errorf("the rest: %q", rest.String())
	}
	var table bytes.Buffer
	printTests(&table, got)
	for _, want := range []string{"TestB", "12 kills, 0 lost", "2.5 s", "cut off  p/a  TestA", "skip     b    TestC", "no server"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table does not say %q:\n%s", want, table.String())
		}
	}
	if err := judgeTests(got, errMark); !errors.Is(err, errMark) || !strings.Contains(err.Error(), "1 cut off before the end (TestA); 1 skipped, which shows nothing (TestC)") {
		t.Errorf("a test without an end: %v", err)
	}
}

// Of a panic that lists every goroutine the first few are printed.
func TestStacksAreCut(t *testing.T) {
	t.Parallel()
	said := []string{"panic: test timed out\n", "goroutine 1 [running]:\n", "a()\n", "goroutine 2 [chan receive]:\n", "goroutine 3 [select]:\n", "b()\n"}
	if got := shortenStacks(said); !slices.Equal(got, said) {
		t.Errorf("%q", got)
	}
	got := shortenStacks(append(said, "goroutine 4 [select]:\n", "c()\n"))
	if !slices.Equal(got, append(said, "(2 more lines of stacks)\n")) {
		t.Errorf("%q", got)
	}
}

func TestFiguresOfASimulation(t *testing.T) {
	t.Parallel()
	got := figuresOf(strings.NewReader("=== RUN\n    s_test.go:3: simulation: seeds=500 crashes=12 x=y\nsimulation: seeds=2\nPASS\n"))
	if len(got) != 2 || got["seeds"] != 502 || got["crashes"] != 12 {
		t.Errorf("%v", got)
	}
}

// Seed 0 is a seed; without --seed many are lived. One that the simulation cannot read is refused.
func TestSeedToLive(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"":                            "many",
		"--seed 0":                    "0",
		"--seed 7 --seeds 2":          "7",
		"--seeds 0":                   "--seeds",
		"--seed 18446744073709551615": "--seed 18446744073709551615: the largest",
		"--from 9223372036854775807":  "--from",
	} {
		var c cli
		parser, err := kong.New(&c, inHelp())
		if err == nil {
			_, err = parser.Parse(append([]string{"simulate"}, strings.Fields(args)...))
		}
		got := "many"
		if err != nil {
			got = strings.TrimPrefix(err.Error(), "simulate: ")
		} else if c.Simulate.Seed != nil {
			got = fmt.Sprint(*c.Simulate.Seed)
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("simulate %s: %s, want %s", args, got, want)
		}
	}
}

// TestSeedsOfASimulation reads what a process prints as it comes: which seeds lived, which failed and what they said, and which one took
// the process down.
func TestSeedsOfASimulation(t *testing.T) {
	t.Parallel()
	said := map[uint64]string{}
	passed := 0
	s := seeds{say: func(seed uint64, text string) { said[seed] = text }, passed: func() { passed++ }, next: 7}
	out := "\x16=== RUN   TestSimulation\n\x16=== RUN   TestSimulation/7\nnot of interest\n    --- PASS: TestSimulation/7 (0.05s)\n" +
		"=== RUN   TestSimulation/8\nseed 8:\nits history\n    x_test.go:1: [N15] a child\n    --- FAIL: TestSimulation/8 (0.05s)\n" +
		"=== NAME  TestSimulation\n    x_test.go:2: simulation: seeds=1 crashes=5\n    x_test.go:2: simulation: seeds=2 crashes=12\n=== RUN   TestSimulation/9\npanic: deadlock"
	for b := range slices.Chunk([]byte(out), 7) {
		if n, err := s.Write(b); n != len(b) || err != nil {
			t.Fatal(n, err)
		}
	}
	s.end()
	if passed != 1 || s.lived != 3 || !slices.Equal(s.failed, []uint64{8, 9}) || s.figures["crashes"] != 12 || s.strange {
		t.Errorf("%d lived, %d failed, figures %v", s.lived, s.failed, s.figures)
	}
	cut := seeds{}
	for _, line := range []string{"    x_test.go:2: simulation: seeds=1 crashes=5\n", "    x_test.go:2: simulation: seeds=2 crashes=1"} {
		_, _ = cut.Write([]byte(line))
	}
	if cut.end(); cut.figures["seeds"] != 1 || cut.figures["crashes"] != 5 {
		t.Errorf("cut off in the middle of a line, and the figures are %v", cut.figures)
	}
	if said[8] != "seed 8:\nits history\n    x_test.go:1: [N15] a child\n" || said[9] != "panic: deadlock\n" || len(said) != 2 {
		t.Errorf("said: %v", said)
	}
}

// A process that lives other seeds than those that it is asked for, or tells nothing of some, proves nothing; and what somebody has in the
// environment changes no order.
func TestSimulationLivesWhatItIsAskedFor(t *testing.T) {
	t.Setenv("PARLEY_SIM_SEED", "5")
	const orders = "test \"$PARLEY_SIM_SEED/$PARLEY_SIM_FROM/$PARLEY_SIM_SEEDS\" = /4/2 || exit 3\n"
	tells := func(told int, lived ...int) string {
		out := "cat <<END\n"
		for _, seed := range lived {
			out += fmt.Sprintf("=== RUN   TestSimulation/%d\n    --- PASS: TestSimulation/%d (0.00s)\n", seed, seed)
		}
		return out + fmt.Sprintf("simulation: seeds=%d\nEND\n", told)
	}
	for name, c := range map[string]struct {
		script        string
		lived, broken int
		goesOn        bool
	}{
		"both":                    {tells(2, 4, 5), 2, 0, true},
		"one of them twice":       {tells(2, 4, 4), 2, 1, false},
		"one is not told of":      {tells(1, 4, 5), 2, 1, true},
		"one of them":             {tells(1, 4), 1, 2, false}, // the rest is refused by the orders
		"none of them":            {"echo PASS", 0, 1, false},
		"an event never happened": {tells(2, 4, 5) + "exit 1", 2, 1, true}, // other blocks are lived all the same
	} {
		program := script(t, filepath.Join(t.TempDir(), "program"), orders+c.script)
		s := &simulation{simulateCmd: simulateCmd{Seeds: 2, Limit: time.Minute}, program: program, dir: t.TempDir(), sum: simulated{}}
		if ok := s.block(t.Context(), 4, 2); ok != c.goesOn || s.lived != c.lived || s.broken != c.broken {
			t.Errorf("%s: %t, %d lived, %d broken", name, ok, s.lived, s.broken)
		}
	}
}

// script makes a program. Another process writes it: while this one had it open for writing, a child that another test starts could keep it open,
// and it could not be run.
func script(t *testing.T, path, text string) string {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", `cat >"$0" && chmod 700 "$0"`, path)
	cmd.Stdin = strings.NewReader("#!/bin/sh\n" + text + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}
