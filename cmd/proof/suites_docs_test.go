package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// testsOf are the names of the tests of each package of the repository that has any, by its folder.
func testsOf(t *testing.T) map[string][]string {
	t.Helper()
	const root = "../.."
	begins := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	found := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		dir, _ := filepath.Rel(root, filepath.Dir(path))
		for _, m := range begins.FindAllStringSubmatch(string(text), -1) {
			found[filepath.ToSlash(dir)] = append(found[filepath.ToSlash(dir)], m[1])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// inDocs is a name in the table: a package may stand before it. Dots before it stand for a beginning of the name before, dots behind it
// for any end.
var inDocs = regexp.MustCompile("(?:([a-z/]+) )?`(…?)([A-Z][A-Za-z]*)(…?)`")

// namedTests are the tests that the table of a document names. bad are names that no test has.
func namedTests(docs string, tests map[string][]string) (named []string, bad []string) {
	for line := range strings.Lines(docs) {
		cells := strings.Split(line, "|")
		if len(cells) != 6 {
			continue
		}
		var here []string // tests of the package
		whole := ""       // the newest name that stands there in full
		for _, m := range inDocs.FindAllStringSubmatch(cells[3], -1) {
			if m[1] != "" {
				here = nil
				for dir, list := range tests {
					if strings.HasSuffix("/"+dir, "/"+m[1]) {
						here = append(here, list...)
					}
				}
			}
			found := meant(here, whole, m[3], m[2] != "", m[4] != "")
			if named = append(named, found...); len(found) == 0 {
				bad = append(bad, m[0])
			}
			if m[2] == "" {
				whole = m[3]
			}
		}
	}
	return named, bad
}

// meant finds the tests that a name stands for.
func meant(tests []string, whole, name string, end, beginning bool) (found []string) {
	switch {
	case beginning:
		for _, x := range tests {
			if strings.HasPrefix(x, name) {
				found = append(found, x)
			}
		}
		return found
	case end:
		for i := len(whole); i > 0; i-- {
			if x := whole[:i] + name; slices.Contains(tests, x) {
				return []string{x}
			}
		}
		return nil
	case slices.Contains(tests, name):
		return []string{name}
	}
	return nil
}

// Every test that docs/faults.md names is there and run by a command, and it names every fault test.
func TestSuitesRunWhatTheDocsName(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile("../../docs/faults.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := testsOf(t)
	named, bad := namedTests(string(docs), tests)
	if len(named) < 150 {
		t.Errorf("only %d names of tests", len(named))
	}
	for _, name := range bad {
		t.Errorf("%s: there is no such test", name)
	}
	runs := regexp.MustCompile(faultTestsAt("a server") + "|" + upgradeTests)
	for _, name := range named {
		if !runs.MatchString(name) {
			t.Errorf("%s is run by neither suite", name)
		}
	}
	fault := regexp.MustCompile("^TestFault[A-Z]")
	delete(tests, "cmd/proof") // they are about the suites
	for dir, list := range tests {
		for _, name := range list {
			if fault.MatchString(name) && !slices.Contains(named, name) {
				t.Errorf("%s of %s stands nowhere in docs/faults.md", name, dir)
			}
		}
	}
}

func TestNamesInTheDocs(t *testing.T) {
	t.Parallel()
	tests := map[string][]string{"router": {"TestFaultClockA", "TestFaultClockB", "TestFaultPaced"}, "channels/telegram": {"TestFaultPoison", "TestFaultPoisonTwice"}, "x/notrouter": {"TestFaultOther"}}
	for cell, want := range map[string]struct{ named, bad string }{
		"router `TestFaultPaced`":                                       {"TestFaultPaced", ""},
		"router `TestFaultClock…`":                                      {"TestFaultClockA TestFaultClockB", ""},
		"router `TestFaultClockA`, `…B`, `…Paced`":                      {"TestFaultClockA TestFaultClockB TestFaultPaced", ""},
		"telegram `TestFaultPoison`, `…Twice`; router `TestFaultPaced`": {"TestFaultPoison TestFaultPoisonTwice TestFaultPaced", ""},
		"router `TestFaultPoison`, `TestFaultOther`":                    {"", "router `TestFaultPoison` `TestFaultOther`"},
		"router `TestFaultClockA`, `…C`":                                {"TestFaultClockA", "`…C`"},
		"`TestFaultPaced`":                                              {"", "`TestFaultPaced`"},
		"channeltest \"leaks nothing\", all adapters":                   {"", ""},
	} {
		named, bad := namedTests("| a | b | "+cell+" | 1 |\n", tests)
		if got := strings.Join(named, " "); got != want.named || strings.Join(bad, " ") != want.bad {
			t.Errorf("%s: %q, and no tests %q", cell, got, bad)
		}
	}
}
