package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const tableFile = "cmd/conformance/mutations.txt"

// mutation is one way to break one promise: a place in the code, what stands there instead, and the test that must notice.
//
//	S12: a session may send to itself       the id, and what is broken, in words
//	file: tools/sessions_send.go
//	-	if target.Key == d.Caller.Key {      the text there: it occurs exactly once
//	+	if false {                           what stands there instead; no such line = nothing
//	test: ./tools ^TestSessionsSendRefuses$ package and -run expression
//	seen: 1f9a60c2 tools.TestSessionsSendRefuses    written by -mutate: a sum over all that, and what failed
//
// Entries are separated by blank lines; a line that starts with # is a comment.
type mutation struct {
	ID, Words string
	File      string
	Old, New  string
	Dir, Run  string
	Seen      string // what failed; empty = not seen to fail as it stands
	line      int    // of its first line, from 1
}

func (m mutation) String() string { return m.ID + ": " + m.Words }

// sum changes with whatever decides about the outcome.
func (m mutation) sum() string {
	h := sha256.Sum256(fmt.Appendf(nil, "%q", []string{m.ID, m.File, m.Old, m.New, m.Dir, m.Run}))
	return fmt.Sprintf("%x", h[:4])
}

// mutations is the table, with its text.
type mutations struct {
	path  string
	lines []string
	list  []mutation
}

func readMutations(path string) (*mutations, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t := &mutations{path: path, lines: strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")}
	for i := 0; i < len(t.lines); i++ {
		if t.lines[i] == "" || strings.HasPrefix(t.lines[i], "#") {
			continue
		}
		end := i
		for end < len(t.lines) && t.lines[end] != "" {
			end++
		}
		m, err := parseMutation(t.lines[i:end])
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
		m.line = i + 1
		t.list = append(t.list, m)
		i = end
	}
	return t, nil
}

var titlePattern = regexp.MustCompile(`^([A-Z]\d+): (.+)$`)

func parseMutation(lines []string) (m mutation, err error) {
	title := titlePattern.FindStringSubmatch(lines[0])
	if title == nil {
		return m, fmt.Errorf("want \"ID: what is broken\", got %q", lines[0])
	}
	m.ID, m.Words = title[1], title[2]
	var was, now []string
	var seen string
	for _, line := range lines[1:] {
		word, rest, _ := strings.Cut(line, ": ")
		switch {
		case strings.HasPrefix(line, "-"):
			was = append(was, line[1:])
		case strings.HasPrefix(line, "+"):
			now = append(now, line[1:])
		case word == "file":
			m.File = rest
		case word == "test":
			dir, run, _ := strings.Cut(strings.TrimPrefix(rest, "./"), " ")
			m.Dir, m.Run = dir, run
		case word == "seen":
			seen = rest
		default:
			return m, fmt.Errorf("%s: unknown line %q", m, line)
		}
	}
	m.Old, m.New = strings.Join(was, "\n"), strings.Join(now, "\n")
	if m.File == "" || m.Old == "" || m.Dir == "" || m.Run == "" || m.Old == m.New {
		return m, fmt.Errorf("%s: name a file, an old text, a different new text, and a test with its package", m)
	}
	if sum, what, ok := strings.Cut(seen, " "); ok && sum == m.sum() {
		m.Seen = what
	}
	return m, nil
}

// apply gives the broken file.
func (m mutation) apply(root string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.File)))
	if err != nil {
		return nil, err
	}
	if n := strings.Count(string(data), m.Old); n != 1 {
		return nil, fmt.Errorf("the old text occurs %d times in %s, want once", n, m.File)
	}
	return []byte(strings.Replace(string(data), m.Old, m.New, 1)), nil
}

// check says what keeps a mutation from meaning anything: "" = nothing.
func (m mutation) check(root string, proofs []proof) string {
	if _, err := m.apply(root); err != nil {
		return err.Error()
	}
	var found, claims bool
	for _, p := range proofs {
		if p.Dir != m.Dir || p.Skipped || p.benchmark() || !m.runs(p.Name) {
			continue
		}
		found = true
		claims = claims || slices.Contains(p.Claims, m.ID)
	}
	switch {
	case !found:
		return fmt.Sprintf("no test of ./%s matches %s", m.Dir, m.Run)
	case !claims:
		return fmt.Sprintf("no test of ./%s that matches %s says that it proves %s", m.Dir, m.Run, m.ID)
	case m.Seen == "":
		return "no recorded failure: go run ./cmd/conformance -mutate -new"
	}
	return ""
}

// runs reports whether -run chooses the test of this name; subtests below it are chosen when the test is.
func (m mutation) runs(name string) bool {
	have := strings.Split(name, "/")
	for i, pattern := range strings.Split(m.Run, "/") {
		if i >= len(have) {
			break
		}
		if ok, err := regexp.MatchString(pattern, have[i]); err != nil || !ok {
			return false
		}
	}
	return true
}

// ids reads a list of ids, separated by commas; nil = all. One that nothing is broken for is an error: whoever asks for it would think that it was tried.
func (t *mutations) ids(list string) (ids []string, err error) {
	if list == "" {
		return nil, nil
	}
	for id := range strings.SplitSeq(list, ",") {
		if id = strings.TrimSpace(id); !slices.ContainsFunc(t.list, func(m mutation) bool { return m.ID == id }) {
			return nil, fmt.Errorf("-only %q has no mutation: %s has the ids", id, tableFile)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// choose gives the places in the list of those with one of the ids (none = all), with fresh only those not seen to fail.
func (t *mutations) choose(ids []string, fresh bool) (out []int) {
	for i, m := range t.list {
		if (len(ids) == 0 || slices.Contains(ids, m.ID)) && !(fresh && m.Seen != "") {
			out = append(out, i)
		}
	}
	return out
}

// write writes the table back with the `seen:` lines that the list has now.
func (t *mutations) write() error {
	seen := map[int]mutation{}
	for _, m := range t.list {
		seen[m.line-1] = m
	}
	var out []string
	var open *mutation
	shut := func() {
		if open != nil && open.Seen != "" {
			out = append(out, "seen: "+open.sum()+" "+open.Seen)
		}
		open = nil
	}
	for i, line := range t.lines {
		if m, ok := seen[i]; ok {
			open = &m
		}
		if line == "" {
			shut()
		}
		if open == nil || !strings.HasPrefix(line, "seen: ") {
			out = append(out, line)
		}
	}
	shut()
	return os.WriteFile(t.path, []byte(strings.Join(out, "\n")+"\n"), 0o644)
}
