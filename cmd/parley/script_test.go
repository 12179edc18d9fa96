//go:build !race

// Without the race detector: the tour starts the program a hundred times, and each start of a program that is watched costs a second.

package main

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs the program as people do, by the scripts in testdata: a host in the background with the offline model, and commands
// against it, those that fail included.
func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the program as a child process: not in -short")
	}
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmds, walks := hour(), &walks{began: map[string]time.Time{}}
	t.Cleanup(func() { walks.log(t) })
	maps.Copy(cmds, map[string]func(*testscript.TestScript, bool, []string){"code": code, "up": up, "meanwhile": meanwhile, "untrusted": untrusted, "sqlite": sqliteScript, "lease": sqliteLease, "walk": walks.begin, "walked": walks.end})
	testscript.Run(t, testscript.Params{
		Dir:             filepath.Join("testdata", "script"),
		ContinueOnError: true,
		Setup: func(e *testscript.Env) error {
			bin := filepath.Join(e.WorkDir, "bin")
			if err := os.MkdirAll(bin, 0o700); err != nil {
				return err
			}
			if err := os.Symlink(self, filepath.Join(bin, "parley")); err != nil {
				return err
			}
			e.Setenv("PATH", bin+string(filepath.ListSeparator)+e.Getenv("PATH"))
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("PARLEY_TEST_MAIN", "1")
			e.Setenv("TZ", "UTC")
			e.Setenv("GORACE", "atexit_sleep_ms=0") // a second for each command otherwise
			return nil
		},
		Cmds: cmds,
	})
}

// code runs a command and holds it to its exit code: code 3 parley status.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program args…")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = exitCode(err)
	}
	if got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

// untrusted runs a command that refuses the config.yaml of its folder, in one line that names the file, why and what to do.
func untrusted(ts *testscript.TestScript, neg bool, args []string) {
	code(ts, neg, append([]string{"2"}, args...))
	said, folder := ts.ReadFile("stderr"), ts.MkAbs(".")
	if strings.Count(said, "\n") > 1 && !slices.Contains(args, "--json") || ts.ReadFile("stdout") != "" ||
		!strings.Contains(said, filepath.Join(folder, "config.yaml")+": the folder is not trusted; if the file is yours, run parley trust "+folder) || !strings.Contains(said, "--config FILE") {
		ts.Fatalf("standard output %q, standard error %q", ts.ReadFile("stdout"), said)
	}
}

// The script for a folder that is not trusted has every command that there is.
func TestUntrustedEvery(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile(filepath.Join("testdata", "script", "untrusted.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range grammar(&cli{}).Model.Leaves(false) {
		said := regexp.MustCompile(`(?m)^(untrusted|exec) .*\b` + regexp.QuoteMeta(strings.TrimSpace(leaf.Path())) + `\b`)
		if !said.Match(script) {
			t.Errorf("%q is not in the script", leaf.Path())
		}
	}
}

// up waits until the host of the script answers: the commands find it by its state folder.
func up(ts *testscript.TestScript, _ bool, _ []string) {
	for range 1000 {
		if ts.Exec("parley", "status") == nil {
			return
		}
	}
	ts.Fatalf("the host does not come up")
}

// meanwhile runs a command again and again until the newest command in the background has ended.
func meanwhile(ts *testscript.TestScript, _ bool, args []string) {
	all := ts.BackgroundCmds()
	newest := all[len(all)-1].Process
	for range 1000 {
		if err := ts.Exec(args[0], args[1:]...); err != nil {
			ts.Fatalf("%v: %v", args, err)
		}
		if errors.Is(newest.Signal(syscall.Signal(0)), os.ErrProcessDone) {
			return
		}
	}
	ts.Fatalf("what runs in the background does not end")
}

// sqliteScript makes a database of a file of statements: sqlite FILE SCRIPT.
func sqliteScript(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(args[0])), 0o700))
	sqliteExec(ts, args[0], ts.ReadFile(args[1]))
}

// sqliteLease lets this process hold a database of OpenClaw: lease FILE DATABASE.
func sqliteLease(ts *testscript.TestScript, _ bool, args []string) {
	stat, err := os.ReadFile("/proc/self/stat")
	ts.Check(err)
	start := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))[19] // proc_pid_stat(5), field 22
	sqliteExec(ts, args[0], fmt.Sprintf("INSERT INTO agent_database_leases VALUES ('l', 'main', '%s', %d, %s, 0)", ts.MkAbs(args[1]), os.Getpid(), start))
}

func sqliteExec(ts *testscript.TestScript, file, statements string) {
	db, err := sql.Open("sqlite", ts.MkAbs(file))
	ts.Check(err)
	_, err = db.Exec(statements)
	ts.Check(errors.Join(err, db.Close()))
}

func exitCode(err error) string {
	if x, ok := errors.AsType[*exec.ExitError](err); ok {
		return strconv.Itoa(x.ExitCode())
	}
	return err.Error()
}
