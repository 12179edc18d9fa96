package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

var update = flag.Bool("update", false, "write docs/conformance.md instead of comparing it")

func theReport(t *testing.T) (*report, string) {
	t.Helper()
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	r, err := newReport(root)
	if err != nil {
		t.Fatal(err)
	}
	return r, root
}

// Every line of the contract has a test; with -v the report is shown.
func TestConformance(t *testing.T) {
	t.Parallel()
	r, root := theReport(t)
	t.Log(r.text())
	for _, p := range r.problems {
		t.Error(p)
	}
	path := filepath.Join(root, filepath.FromSlash(reportFile))
	if *update {
		if err := os.WriteFile(path, []byte(r.markdown()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != r.markdown() {
		t.Errorf("%s has drifted; write it again with: go test ./cmd/conformance -update", reportFile)
	}
}

// Every line of the contract has a mutation, every mutation still applies, and was seen to make its test fail.
func TestMutationsApply(t *testing.T) {
	t.Parallel()
	r, _ := theReport(t)
	for _, p := range r.rot {
		t.Error(p)
	}
}

// The contract here is the one that was agreed: the same ids, no more and no fewer, and those of durability, which are our own. (What was agreed lies
// outside the repository.)
func TestContractIsComplete(t *testing.T) {
	t.Parallel()
	r, root := theReport(t)
	dir := os.Getenv("PARLEY_SHARED")
	if dir == "" {
		dir = filepath.Join(filepath.Dir(root), "shared")
	}
	if _, err := os.Stat(filepath.Join(dir, "spec", "session-tools.md")); err != nil {
		if os.Getenv("PARLEY_SHARED") != "" {
			t.Fatal(err)
		}
		t.Skip("no agreed contract to compare with: set PARLEY_SHARED to the folder that holds spec/session-tools.md")
	}
	ids := func(file string) (out []string) {
		b, err := os.ReadFile(filepath.Join(dir, "spec", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^- ([A-Z]\d+) `).FindAllStringSubmatch(string(b), -1) {
			out = append(out, m[1])
		}
		return out
	}
	first, second := ids("session-tools.md"), ids("session-tools-2.md")
	var got []string
	for _, p := range r.contract {
		if p.Heading != "Durability" {
			got = append(got, p.ID)
		}
	}
	for _, id := range first {
		if !slices.Contains(got, id) {
			t.Errorf("%s lacks %s", contractFile, id)
		}
	}
	for _, id := range got { // of the second version those that are in force
		if !slices.Contains(second, id) {
			t.Errorf("%s has %s, which was not agreed", contractFile, id)
		}
	}
	if len(first) < 60 {
		t.Errorf("only %d lines were agreed", len(first))
	}
}
