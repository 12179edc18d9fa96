package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree writes a module: a contract of three lines, a table, and the files given as name, text, name, text ….
func tree(t *testing.T, files ...string) string {
	t.Helper()
	root := t.TempDir()
	files = append([]string{"go.mod", "module m\n\ngo 1.24\n", contractFile, "# T\n- **A1** one\n  more\n\n## Late\n- **B1** two\n- **B2** three\n", tableFile, ""}, files...)
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(root, filepath.FromSlash(files[i]))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func reportOf(t *testing.T, root string) *report {
	t.Helper()
	r, err := newReport(root)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const imports = "\n\nimport \"testing\"\n\n"

func TestProofsAreFound(t *testing.T) {
	t.Parallel()
	r := reportOf(t, tree(t,
		"a/a_test.go", "package a"+imports+
			"// Words.\n// proves: A1, B1\nfunc TestDoc(t *testing.T) {}\n\n"+
			"func TestInside(t *testing.T) {\n\tfor range []int{\n\t\t// proves: A1\n\t\t1,\n\t\t2, // proves: A1\n\t} {\n\t}\n}\n\n"+
			"// proves: B2\nfunc FuzzIt(f *testing.F) {}\n\n// proves: B1\nfunc BenchmarkIt(b *testing.B) {}\n",
		"s/s.go", "package s"+imports+
			"func Run(t *testing.T) {\n\tfor _, c := range []struct {\n\t\tn string\n\t\tf func()\n\t}{{\"It is\", check}} {\n\t\t_ = c\n\t}\n}\n\n// proves: B1\nfunc check() {}\n",
		"s/s_test.go", "package s_test\n\nimport (\n\t\"testing\"\n\n\t\"m/s\"\n)\n\nfunc TestOfTheSuite(t *testing.T) { s.Run(t) }\n",
		"u/u_test.go", "package u\n\nimport (\n\t\"testing\"\n\n\tsuite \"m/s\"\n)\n\nfunc TestAll(t *testing.T) { suite.Run(t) }\n",
		"w/w.go", "package w\n\nimport (\n\t\"testing\"\n\n\t\"m/s\"\n)\n\nfunc Run(t *testing.T) { s.Run(t) }\n",
		"v/v_test.go", "package v\n\nimport (\n\t\"testing\"\n\n\t\"m/w\"\n)\n\nfunc TestWhole(t *testing.T) { w.Run(t) }\n",
		"a/none_test.go", "//go:build never\n\npackage a"+imports+"// proves: C9\nfunc TestNotBuilt(t *testing.T) {}\n",
		"a/testdata/x_test.go", "not go",
	))
	if len(r.problems) != 0 {
		t.Errorf("problems: %q", r.problems)
	}
	for id, want := range map[string][]string{"A1": {"a.TestDoc", "a.TestInside"}, "B1": {"a.BenchmarkIt", "a.TestDoc", "u.TestAll/It_is", "v.TestWhole/It_is"}, "B2": {"a.FuzzIt"}} {
		var got []string
		for _, p := range r.proofs[id] {
			got = append(got, p.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
	if p := r.contract; len(p) != 3 || p[0] != (promise{"A1", "one more", ""}) || p[2] != (promise{"B2", "three", "Late"}) {
		t.Errorf("contract %+v", p)
	}
}

func TestProblemsAreFound(t *testing.T) {
	t.Parallel()
	const good = "// proves: A1, B1, B2\nfunc TestGood(t *testing.T) {}\n\n"
	for _, c := range []struct{ name, test, want string }{
		{"unknown id", good + "// proves: C1\nfunc TestX(t *testing.T) {}\n", `a.TestX claims to prove "C1"`},
		{"no list", good + "// proves: A1 and B1\nfunc TestX(t *testing.T) {}\n", `"A1 and B1"`},
		{"no test", "// proves: A1, B1\nfunc TestX(t *testing.T) {}\n", "B2 has no test"},
		{"only a benchmark", "// proves: A1, B1\nfunc TestX(t *testing.T) {}\n\n// proves: B2\nfunc BenchmarkX(b *testing.B) {}\n", "B2 has no test"},
		{"skipped", "// proves: A1, B1\nfunc TestX(t *testing.T) {}\n\n// proves: B2\nfunc TestY(t *testing.T) {\n\tt.Helper()\n\tt.Skip(\"later\")\n}\n", "B2 has no test"},
		{"not a test", good + "// proves: A1\nfunc helper() {}\n", "helper has a proves-line"},
		{"a method", good + "type x int\n\n// proves: A1\nfunc (x) TestX(t *testing.T) {}\n", "TestX has a proves-line"},
		{"no function", good + "// proves: A1\n\nvar x = 1\n", "a_test.go:8: this proves-line belongs to no function"},
	} {
		r := reportOf(t, tree(t, "a/a_test.go", "package a"+imports+c.test))
		if len(r.problems) != 1 || !strings.Contains(r.problems[0], c.want) {
			t.Errorf("%s: %q, want %q", c.name, r.problems, c.want)
		}
	}
	r := reportOf(t, tree(t, "a/a_test.go", "package a"+imports+good, "s/s.go", "package s\n\nfunc Run() { _ = []any{\"x\", check} }\n\n// proves: A1\nfunc check() {}\n"))
	if len(r.problems) != 1 || !strings.Contains(r.problems[0], "no suite runs it") {
		t.Errorf("a suite that nobody runs: %q", r.problems)
	}
}

func TestContractIsRead(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"# Nothing\n", "- **A1** x\n- **A1** y\n", "- **A1** x\n- B1 x\n"} {
		path := filepath.Join(t.TempDir(), "c.md")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if list, err := readContract(path); err == nil {
			t.Errorf("%q: %+v, want an error", text, list)
		}
	}
}

func TestReportIsShown(t *testing.T) {
	t.Parallel()
	m := "B1: it | breaks\nfile: a/a.go\n-1\n+2\ntest: ./a ^TestX$\n"
	root := tree(t, "a/a.go", "package a\n\nvar x = 1\n", "a/a_test.go", "package a"+imports+"// proves: A1, B1\nfunc TestX(t *testing.T) {}\n", tableFile, m)
	table, err := readMutations(filepath.Join(root, tableFile))
	if err != nil {
		t.Fatal(err)
	}
	table.list[0].Seen = "a.TestX"
	if err := table.write(); err != nil {
		t.Fatal(err)
	}
	r := reportOf(t, root)
	if text := r.text(); !strings.Contains(text, "\nLate\nB1   two\n       a.TestX\n") || !strings.Contains(text, "PROBLEM B2 has no test") || !strings.Contains(text, "PROBLEM A1 has no mutation") {
		t.Error(text)
	}
	if page := r.markdown(); !strings.Contains(page, "\n| B1 | two | `a.TestX` | it \\| breaks: `a.TestX` |\n") || !strings.Contains(page, "3 promises, 2 with a test (1 tests); 1 mutations, 1 detected") {
		t.Error(page)
	}
}
