package tools

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// desk is a workspace and a call of files in it.
type desk struct {
	t *testing.T
	w *world
}

func newDesk(t *testing.T) desk {
	t.Helper()
	w := newWorld()
	w.workspace = filepath.Join(t.TempDir(), "outer", "workspace")
	return desk{t, w}
}

func (d desk) do(action, path string, more ...string) (filesResult, *problem) {
	d.t.Helper()
	args := map[string]any{"action": action, "path": path}
	for i := 0; i < len(more); i += 2 {
		args[more[i]] = more[i+1]
		if n, err := strconv.Atoi(more[i+1]); err == nil && (more[i] == "offset" || more[i] == "column") {
			args[more[i]] = n
		}
	}
	raw, err := json.Marshal(args)
	if err != nil {
		d.t.Fatal(err)
	}
	r, err := FilesTool(d.w.deps()).Call(d.t.Context(), Call{ID: "c", Args: raw, Caller: d.w.caller})
	if err != nil {
		d.t.Fatal(err)
	}
	var ok filesResult
	var bad problem
	if r.IsError {
		if err := json.Unmarshal([]byte(r.Text), &bad); err != nil {
			d.t.Fatal(err)
		}
		return ok, &bad
	}
	if err = json.Unmarshal([]byte(r.Text), &ok); err != nil {
		d.t.Fatal(err)
	}
	return ok, nil
}

func (d desk) content(path string) string {
	b, err := os.ReadFile(filepath.Join(d.w.workspace, path))
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return string(b)
}

// TestFiles goes through every action. A text that is not given empties no file.
//
// proves: G1
func TestFiles(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.w.redact = func(s string) string { return strings.ReplaceAll(s, "s3cret", "[secret]") }
	for _, step := range []struct {
		action, path string
		more         []string
		done, fails  string // one of them
	}{
		{"write", "notes/a.txt", []string{"content", "one\ntwo\n"}, "created", ""},
		{"write", "notes/a.txt", []string{"content", "one\ntwo\ntwo\n"}, "replaced", ""},
		{"append", "notes/a.txt", []string{"content", "three s3cret\n"}, "added", ""},
		{"append", "b.txt", []string{"content", "new"}, "added", ""},
		{"append", "b.txt", nil, "", "content is required"},
		{"edit", "notes/a.txt", []string{"old", "one", "new", "1"}, "replaced", ""},
		{"edit", "notes/a.txt", []string{"old", "two", "new", "2"}, "", "is in the file 2 times"},
		{"edit", "notes/a.txt", []string{"old", "four", "new", "4"}, "", "old is not in the file"},
		{"edit", "notes/a.txt", []string{"new", "4"}, "", "old is required"},
		{"edit", "notes/a.txt", []string{"old", "1"}, "", "new is required"},
		{"write", "notes/a.txt", nil, "", "content is required"},
		{"edit", "c.txt", []string{"old", "x", "new", "y"}, "", "does not exist"},
		{"read", "c.txt", nil, "", "does not exist"},
		{"read", "notes", nil, "", "the path is a folder"},
		{"write", "notes", []string{"content", "x"}, "", "the path is a folder"},
		{"delete", "notes", nil, "", "not empty"},
		{"delete", "c.txt", nil, "", "does not exist"},
		{"delete", "b.txt", nil, "deleted", ""},
		{"delete", ".", nil, "", "the workspace itself"},
		{"write", "", []string{"content", "x"}, "", "path is required"},
		{"fly", "a", nil, "", "action"},
	} {
		r, bad := d.do(step.action, step.path, step.more...)
		switch {
		case (bad == nil) != (step.fails == ""), bad != nil && !strings.Contains(bad.Error, step.fails), bad != nil && strings.Contains(bad.Error, d.w.workspace):
			t.Errorf("%s %s: %+v, want %q", step.action, step.path, bad, step.fails)
		case r.Done != step.done:
			t.Errorf("%s %s: %+v", step.action, step.path, r)
		}
	}
	if got := d.content("notes/a.txt"); got != "1\ntwo\ntwo\nthree s3cret\n" {
		t.Errorf("%q", got)
	}
	if r, _ := d.do("read", "notes/a.txt"); r.Text != "1\ntwo\ntwo\nthree [secret]\n" || r.Lines != 4 || r.Cut {
		t.Errorf("%+v", r)
	}
	if r, _ := d.do("list", ""); len(r.Entries) != 1 || r.Entries[0].Name != "notes/" {
		t.Errorf("%+v", r)
	}
	if r, _ := d.do("list", "notes"); len(r.Entries) != 1 || r.Entries[0].Name != "a.txt" || r.Entries[0].Size != 23 { // nothing of the host's is left
		t.Errorf("%+v", r)
	}
}

// TestFilesBounds is about what is too large.
func TestFilesBounds(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.w.config.Files = Files{MaxBytes: 2048, MaxTotalBytes: 5000}
	if _, bad := d.do("write", "a", "content", strings.Repeat("x", 2049)); bad == nil || !strings.Contains(bad.Error, "tools.files.maxBytes") {
		t.Errorf("%+v", bad)
	}
	for _, name := range []string{"a", "b"} {
		if _, bad := d.do("write", name, "content", strings.Repeat("x", 2048)); bad != nil {
			t.Fatal(bad)
		}
	}
	if _, bad := d.do("append", "a", "content", "y"); bad == nil || !strings.Contains(bad.Error, "maxBytes") || len(d.content("a")) != 2048 {
		t.Errorf("%+v", bad)
	}
	if _, bad := d.do("write", "c", "content", strings.Repeat("x", 2000)); bad == nil || !strings.Contains(bad.Error, "maxTotalBytes") {
		t.Errorf("%+v", bad)
	}
	if err := os.WriteFile(filepath.Join(d.w.workspace, "large"), make([]byte, 3000), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, bad := d.do("read", "large"); bad == nil || !strings.Contains(bad.Error, "maxBytes") {
		t.Errorf("%+v", bad)
	}
	d.w.config.Files = Files{MaxBytes: 1 << 20, MaxTotalBytes: 1 << 30}
	if r, bad := d.do("read", "large"); bad != nil || !r.Binary || r.Text != "" || r.Size != 3000 {
		t.Errorf("%+v, %+v", r, bad)
	}
	var want strings.Builder
	for i := range 9000 {
		want.WriteString(strings.Repeat("y", i%17) + "\x01\n")
	}
	if _, bad := d.do("write", "long", "content", want.String()); bad != nil {
		t.Fatal(bad)
	}
	got, next, calls := "", 1, 0
	for next > 0 && calls < 200 {
		raw, _ := json.Marshal(map[string]any{"action": "read", "path": "long", "offset": next})
		r, err := FilesTool(d.w.deps()).Call(t.Context(), Call{Args: raw, Caller: d.w.caller})
		if err != nil || len(r.Text) > maxRows {
			t.Fatalf("%d bytes, %v", len(r.Text), err)
		}
		var p filesResult
		if err := json.Unmarshal([]byte(r.Text), &p); err != nil {
			t.Fatal(err)
		}
		got, next, calls = got+p.Text, p.Next, calls+1
	}
	if got != want.String() {
		t.Errorf("the pieces of %d calls are %d bytes, not the %d of the file", calls, len(got), want.Len())
	}
}

// A turn that was interrupted makes its call again: nothing is there twice.
func TestFilesAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	steps := [][]string{{"write", "a", "content", "x\n"}, {"append", "a", "content", "milk\n"}, {"edit", "a", "old", "x", "new", "xx"}, {"write", "gone", "content", "."}, {"delete", "gone"}}
	for _, s := range steps {
		if _, bad := d.do(s[0], s[1], s[2:]...); bad != nil {
			t.Fatalf("%v: %+v", s, bad)
		}
		was := d.content("a")
		d.w.caller.Run.Attempt = 2
		r, bad := d.do(s[0], s[1], s[2:]...)
		if bad != nil || d.content("a") != was || s[0] != "write" && (r.Done != "nothing" || r.Note == "") {
			t.Errorf("%v again: %+v, %+v, %q", s, r, bad, d.content("a"))
		}
		d.w.caller.Run.Attempt = 1
	}
	if r, _ := d.do("append", "a", "content", "milk\n"); r.Done != "added" || d.content("a") != "xx\nmilk\nmilk\n" { // twice on purpose
		t.Errorf("%+v: %q", r, d.content("a"))
	}
}

// Others see a file whole, and what a crash leaves is no file of the agent's.
func TestFilesWholeOrNot(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if _, bad := d.do("write", "a", "content", "old"); bad != nil {
		t.Fatal(bad)
	}
	before, err := os.Stat(filepath.Join(d.w.workspace, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(d.w.workspace, "a"), 0o640); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(d.w.workspace, tempName((Call{ID: "c", Caller: d.w.caller}).Source()))
	if err := os.WriteFile(left, []byte("half"), 0o600); err != nil { // of the same call, before the crash
		t.Fatal(err)
	}
	if r, _ := d.do("list", ""); len(r.Entries) != 1 {
		t.Errorf("the agent sees %+v", r.Entries)
	}
	if _, bad := d.do("write", "a", "content", "new"); bad != nil {
		t.Fatal(bad)
	}
	after, err := os.Stat(filepath.Join(d.w.workspace, "a"))
	if err != nil || os.SameFile(before, after) || after.Mode().Perm() != 0o640 {
		t.Errorf("replaced in place, or with other rights: %v, %v", after.Mode(), err)
	}
	all, err := os.ReadDir(d.w.workspace)
	if names := slices.Collect(func(yield func(string) bool) {
		for _, e := range all {
			if !yield(e.Name()) {
				return
			}
		}
	}); err != nil || !slices.Equal(names, []string{"a"}) {
		t.Errorf("left behind: %v, %v", names, err)
	}
}

func TestFilesWithoutWorkspace(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.w.workspace = ""
	if _, bad := d.do("list", ""); bad == nil || !strings.Contains(bad.Error, "no workspace") {
		t.Errorf("%+v", bad)
	}
}

// Calls at the same time: nothing that was told as added is lost, and together they keep to the bound.
func TestFilesAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.w.config.Files = Files{MaxBytes: 2048, MaxTotalBytes: 1024}
	tool := FilesTool(d.w.deps())
	var wg sync.WaitGroup
	var added atomic.Int32
	for i := range 40 {
		wg.Go(func() {
			raw := fmt.Appendf(nil, `{"action":"append","path":"log","content":"line %02d, %s\n"}`, i, strings.Repeat("x", 31))
			r, err := tool.Call(t.Context(), Call{ID: fmt.Sprint(i), Args: raw, Caller: d.w.caller})
			if err != nil {
				t.Error(err)
			} else if !r.IsError {
				added.Add(1)
			}
		})
	}
	wg.Wait()
	if n := strings.Count(d.content("log"), "\n"); n != int(added.Load()) || n != 1024/41 {
		t.Errorf("%d lines of %d that were told as added", n, added.Load())
	}
}

// A line that is longer than a result comes in pieces, which say so; none of them shows a part of a secret.
func TestFilesLongLines(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.w.redact = func(s string) string { return strings.ReplaceAll(s, "s3cret", "[gone]") }
	long := strings.Repeat("é", filesBytes/2-2) + "s3cret" + strings.Repeat("\x01y", filesBytes)
	text := "first\n" + long + "\nmiddle\n" + long // the last has no end of line
	if _, bad := d.do("write", "a", "content", text); bad != nil {
		t.Fatal(bad)
	}
	var got strings.Builder
	calls, parts := 0, 0
	for next, column := 1, 1; next > 0 && calls < 50; calls++ {
		r, bad := d.do("read", "a", "offset", strconv.Itoa(next), "column", strconv.Itoa(column))
		if bad != nil || r.Cut != (r.Next > 0) || (r.Column > 0) != (r.Note != "") || r.Column > 0 && r.Next == 0 || r.Lines != 4 {
			t.Fatalf("offset %d, column %d: %d bytes, next %d, %d, %q, %+v", next, column, len(r.Text), r.Next, r.Column, r.Note, bad)
		}
		if next, column = r.Next, max(r.Column, 1); r.Column > 0 {
			parts++
		}
		got.WriteString(r.Text)
	}
	if want := strings.ReplaceAll(text, "s3cret", "[gone]"); got.String() != want || parts < 4 {
		t.Errorf("%d calls, %d of them parts of a line: %d bytes, want %d", calls, parts, got.Len(), len(want))
	}
	if r, bad := d.do("read", "a", "offset", "2", "column", "2"); bad != nil || !strings.HasPrefix(r.Text, "é") {
		t.Errorf("in the middle of a character: %.10q, %+v", r.Text, bad)
	}
	if r, bad := d.do("read", "a", "offset", "1", "column", "900"); bad != nil || r.Text != "" || r.Next != 2 {
		t.Errorf("behind the end of a line: %.10q, %+v", r.Text, bad)
	}
}
