package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTableIsRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "t.txt")
	text := "# About.\n\nA1: words: and more\nfile: a.go\n-\tx {\n-\n+\ty {\ntest: ./a/b ^TestX$/^y$\nseen: 00000000 a.TestOld\n\n# More.\nB1: gone\nfile: b.go\n-z\ntest: ./c TestZ\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	table, err := readMutations(path)
	if err != nil {
		t.Fatal(err)
	}
	// A comment right above an entry is no part of it; the old sum no longer holds.
	want := mutation{ID: "A1", Words: "words: and more", File: "a.go", Old: "\tx {\n", New: "\ty {", Dir: "a/b", Run: "^TestX$/^y$", line: 3}
	if len(table.list) != 2 || table.list[0] != want || table.list[1].New != "" || table.list[1].line != 12 {
		t.Fatalf("%+v", table.list)
	}
	table.list[0].Seen, table.list[1].Seen = "a/b.TestX/y", "b.TestZ"
	if err := table.write(); err != nil {
		t.Fatal(err)
	}
	again, err := readMutations(path)
	if err != nil || again.list[0].Seen != "a/b.TestX/y" || again.list[1].Seen != "b.TestZ" {
		t.Fatalf("%+v, %v", again, err)
	}
	got, err := os.ReadFile(path)
	if err != nil || strings.Count(string(got), "seen: ") != 2 || !strings.HasPrefix(string(got), text[:strings.Index(text, "seen:")]) {
		t.Errorf("%s, %v", got, err)
	}
	if n := len(again.choose([]string{"B1"}, false)); n != 1 {
		t.Errorf("%d chosen by id", n)
	}
	if ids, err := again.ids("A1, B1"); err != nil || len(again.choose(ids, false)) != 2 {
		t.Errorf("chosen by ids: %v, %v", ids, err)
	}
	for _, list := range []string{"D99", "A1,", " "} {
		if ids, err := again.ids(list); err == nil || !strings.Contains(err.Error(), "has no mutation") {
			t.Errorf("%q gives %v, %v", list, ids, err)
		}
	}
	again.list[0].Seen = ""
	if c := again.choose(nil, true); len(c) != 1 || c[0] != 0 {
		t.Errorf("chosen as new: %v", c)
	}
	for _, bad := range []string{"x", "A1: x\nfile: a\n-x\ntest: ./a", "A1: x\nfile: a\n-x\n+x\ntest: ./a T", "A1: x\nfile: a\ntest: ./a T", "A1: x\nfile: a\n-x\nwhat\ntest: ./a T"} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readMutations(path); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// A small module whose test notices some ways to break it.
func breakable(t *testing.T, table string) string {
	return tree(t, "a/a.go", "package a\n\nfunc Add(x, y int) int { return x + y }\n\nfunc Never() int { return 1 + 1 }\n",
		"a/a_test.go", "package a"+imports+"// proves: A1\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Error(\"no\")\n\t}\n}\n\n"+
			"// proves: B1\nfunc TestWrong(t *testing.T) { t.Error(\"always\") }\n\n// proves: B2\nfunc TestSkips(t *testing.T) {\n\tif Never() > 0 {\n\t\tt.Skip(\"here\")\n\t}\n}\n",
		tableFile, table)
}

func entry(id, was, now, test string) string {
	return id + ": w\nfile: a/a.go\n-" + was + "\n+" + now + "\ntest: ./a " + test + "\n"
}

func TestMutationsAreChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, entry, want string }{
		{"not there", entry("A1", "x * y", "0", "^TestAdd$"), "occurs 0 times"},
		{"twice there", entry("A1", "return", "0", "^TestAdd$"), "occurs 2 times"},
		{"no file", strings.Replace(entry("A1", "x + y", "0", "^TestAdd$"), "a.go", "b.go", 1), "b.go"},
		{"no test", entry("A1", "x + y", "0", "^TestSub$"), "no test of ./a matches"},
		{"no claim", entry("A1", "x + y", "0", "^TestWrong$"), "says that it proves A1"},
		{"not run", entry("A1", "x + y", "0", "^TestAdd$"), "no recorded failure"},
		{"no promise", entry("C1", "x + y", "0", "^TestAdd$"), "C1 is not in"},
	} {
		root := breakable(t, c.entry)
		r := reportOf(t, root)
		if all := strings.Join(r.rot, "\n"); !strings.Contains(all, c.want) || !strings.Contains(all, "B1 has no mutation") {
			t.Errorf("%s: %s, want %q", c.name, all, c.want)
		}
	}
}

// What becomes of a mutation: the whole way through go test.
func TestMutationsAreTried(t *testing.T) {
	t.Parallel()
	root := breakable(t, strings.Join([]string{
		entry("A1", "x + y", "x - y", "^TestAdd$"), entry("A1", "1 + 1", "3", "^TestAdd$"), entry("A1", "x + y", "z", "^TestAdd$"), entry("A1", "x + y", "x / (y - y)", "^TestAdd$"),
		entry("B1", "x + y", "x - y", "^TestWrong$"), entry("B2", "x + y", "x - y", "^TestSkips$"), entry("B2", "x + y", "x - y", "^TestNone$"),
		entry("A1", "x * y", "x", "^TestAdd$"),
	}, "\n"))
	table, err := readMutations(filepath.Join(root, tableFile))
	if err != nil {
		t.Fatal(err)
	}
	table.list[1].Seen = "a.TestAdd" // some time ago
	if err := table.write(); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	ok, err := table.run(t.Context(), root, table.choose(nil, false), &said)
	if ok || err != nil {
		t.Fatalf("%v, %v", ok, err)
	}
	lines := strings.Split(strings.TrimSpace(said.String()), "\n")
	want := []string{string(killed) + " ", string(survived), string(unbuilt), string(killed) + " ", string(broken), string(unrun), string(unrun), string(misfit)}
	for i, w := range want {
		if i >= len(lines) || !strings.Contains(lines[i], w) {
			t.Errorf("%d: want %s in\n%s", i, w, said.String())
		}
	}
	again, err := readMutations(filepath.Join(root, tableFile))
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range again.list {
		if (m.Seen == "a.TestAdd") != (i == 0 || i == 3) {
			t.Errorf("%d: seen %q", i, m.Seen)
		}
	}
	if ok, err := table.run(t.Context(), root, []int{0}, &said); !ok || err != nil {
		t.Errorf("one that is killed: %v, %v\n%s", ok, err, said.String())
	}
}
