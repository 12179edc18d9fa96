package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const reportFile = "docs/conformance.md"

// report joins the contract, the tests and the mutations.
type report struct {
	contract  []promise
	proofs    map[string][]proof // by id; sorted
	mutations map[string][]mutation
	problems  []string // what must not be: promises without a test, claims of unknown ids
	rot       []string // mutations that mean nothing any more, promises without one
}

func newReport(root string) (*report, error) {
	contract, err := readContract(filepath.Join(root, contractFile))
	if err != nil {
		return nil, err
	}
	module, err := readModule(root)
	if err != nil {
		return nil, err
	}
	src, err := readSources(root)
	if err != nil {
		return nil, err
	}
	table, err := readMutations(filepath.Join(root, tableFile))
	if err != nil {
		return nil, err
	}
	r := &report{contract: contract, proofs: map[string][]proof{}, mutations: map[string][]mutation{}}
	proofs, problems := src.proofs(module)
	r.problems = problems
	r.match(proofs)
	for _, m := range table.list {
		if why := m.check(root, proofs); why != "" {
			r.rot = append(r.rot, fmt.Sprintf("%s:%d: %s: %s", tableFile, m.line, m, why))
		}
		if !r.known(m.ID) {
			r.rot = append(r.rot, fmt.Sprintf("%s:%d: %s is not in %s", tableFile, m.line, m.ID, contractFile))
		}
		r.mutations[m.ID] = append(r.mutations[m.ID], m)
	}
	for _, p := range contract {
		if len(r.mutations[p.ID]) == 0 {
			r.rot = append(r.rot, p.ID+" has no mutation in "+tableFile)
		}
	}
	return r, nil
}

func (r *report) known(id string) bool {
	return slices.ContainsFunc(r.contract, func(p promise) bool { return p.ID == id })
}

// match sorts the proofs by what they prove.
func (r *report) match(proofs []proof) {
	for _, p := range proofs {
		for _, id := range p.Claims {
			switch {
			case !r.known(id):
				r.problems = append(r.problems, fmt.Sprintf("%s claims to prove %q, which is not in %s", p, id, contractFile))
			case !p.Skipped && !slices.ContainsFunc(r.proofs[id], func(q proof) bool { return q.String() == p.String() }):
				r.proofs[id] = append(r.proofs[id], p)
			}
		}
	}
	for _, p := range r.contract {
		list := r.proofs[p.ID]
		slices.SortFunc(list, func(a, b proof) int { return strings.Compare(a.String(), b.String()) })
		if !slices.ContainsFunc(list, func(p proof) bool { return !p.benchmark() }) {
			r.problems = append(r.problems, p.ID+" has no test")
		}
	}
}

var modulePattern = regexp.MustCompile(`(?m)^module (\S+)$`)

func readModule(root string) (string, error) {
	data, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return "", err
	}
	m := modulePattern.FindSubmatch(data)
	if m == nil {
		return "", fmt.Errorf("%s/go.mod names no module", root)
	}
	return string(m[1]), nil
}

// summary is one line that counts.
func (r *report) summary() string {
	proved, seen, all := 0, 0, 0
	tests := map[string]bool{}
	for _, p := range r.contract {
		if len(r.proofs[p.ID]) > 0 {
			proved++
		}
		for _, q := range r.proofs[p.ID] {
			tests[q.String()] = true
		}
		for _, m := range r.mutations[p.ID] {
			all++
			if m.Seen != "" {
				seen++
			}
		}
	}
	return fmt.Sprintf("%d promises, %d with a test (%d tests); %d mutations, %d detected by a test", len(r.contract), proved, len(tests), all, seen)
}

// text is the report for a terminal.
func (r *report) text() string {
	var b strings.Builder
	for i, p := range r.contract {
		if i == 0 || r.contract[i-1].Heading != p.Heading {
			fmt.Fprintf(&b, "\n%s\n", p.Heading)
		}
		fmt.Fprintf(&b, "%-4s %s\n", p.ID, p.Text)
		for _, q := range r.proofs[p.ID] {
			fmt.Fprintf(&b, "       %s\n", q)
		}
	}
	fmt.Fprintf(&b, "\n%s\n", r.summary())
	for _, p := range slices.Concat(r.problems, r.rot) {
		fmt.Fprintf(&b, "PROBLEM %s\n", p)
	}
	return b.String()
}

const reportHead = `# Conformance

The tables have every promise of the [contract](contract.md), the tests that prove it, and the mutations that these tests detect. A mutation breaks
the code as its text says, and the test behind the text then fails.

` + "`go test ./cmd/conformance -update`" + ` writes this page. [cmd/conformance/mutations.txt](../cmd/conformance/mutations.txt) has the mutations;
` + "`go run ./cmd/conformance -mutate`" + ` applies each one and runs its test.

`

// markdown is the report as a page.
func (r *report) markdown() string {
	var b strings.Builder
	b.WriteString(reportHead + r.summary() + ".\n")
	for i, p := range r.contract {
		if i == 0 || r.contract[i-1].Heading != p.Heading {
			fmt.Fprintf(&b, "\n## %s\n| id | promise | tests | mutations and the test that fails |\n|---|---|---|---|\n", p.Heading)
		}
		var tests, broken []string
		for _, q := range r.proofs[p.ID] {
			tests = append(tests, "`"+q.String()+"`")
		}
		for _, m := range r.mutations[p.ID] {
			if m.Seen != "" {
				broken = append(broken, m.Words+": `"+m.Seen+"`")
			}
		}
		cell := func(s []string) string { return strings.ReplaceAll(strings.Join(s, "<br>"), "|", `\|`) }
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", p.ID, cell([]string{p.Text}), cell(tests), cell(broken))
	}
	return b.String()
}
