// Command conformance shows which test proves which line of the contract (docs/contract.md), and proves the tests in turn: it
// breaks the code in the ways that mutations.txt lists and sees whether the tests notice.
//
//	go run ./cmd/conformance                      the report; ends with 1 when a line has no test
//	go run ./cmd/conformance -mutate              break the code, one mutation after the other; ends with 1 when one survives
//	go run ./cmd/conformance -mutate -only S9,N15 only the mutations of these ids
//	go run ./cmd/conformance -mutate -new         only those that were changed since they were seen to fail
//
// The source tree is never touched, except for the `seen:` lines of mutations.txt.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
)

func main() {
	mutate := flag.Bool("mutate", false, "break the code as mutations.txt says and run the tests that must fail")
	only := flag.String("only", "", "with -mutate: ids of the contract, separated by commas; empty = all")
	fresh := flag.Bool("new", false, "with -mutate: only mutations without a recorded failure")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	ok, err := run(ctx, *mutate, *only, *fresh)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func run(ctx context.Context, mutate bool, only string, fresh bool) (bool, error) {
	root, err := findRoot()
	if err != nil {
		return false, err
	}
	if !mutate {
		r, err := newReport(root)
		if err != nil {
			return false, err
		}
		fmt.Print(r.text())
		return len(r.problems) == 0, nil
	}
	table, err := readMutations(filepath.Join(root, tableFile))
	if err != nil {
		return false, err
	}
	ids, err := table.ids(only)
	if err != nil {
		return false, err
	}
	return table.run(ctx, root, table.choose(ids, fresh), os.Stdout)
}

// findRoot gives the folder of the module: the nearest one upwards that has a go.mod.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); !errors.Is(err, fs.ErrNotExist) {
			return dir, err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod here or above: run the command inside the repository")
		}
		dir = parent
	}
}
