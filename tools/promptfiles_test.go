package tools

import (
	"os"
	"path/filepath"
	"testing"
)

// changes tries every way to change a file, and says which were not refused as a change of the instructions.
func (d desk) changes(path string) (done []string) {
	d.t.Helper()
	for _, action := range []string{fileWrite, fileAppend, fileEdit, fileDelete} {
		if _, bad := d.do(action, path, "content", "x", "old", "told", "new", "x"); bad == nil || bad.Status != "forbidden" {
			done = append(done, action)
		}
	}
	return done
}

// TestAgentsDoNotChangeTheirInstructions lets an agent read what it is told, and change none of it, nor put a folder in its place.
func TestAgentsDoNotChangeTheirInstructions(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if _, bad := d.do(fileWrite, "notes/INSTRUCTIONS.md", "content", "x"); bad != nil {
		t.Errorf("a file of that name in a folder: %+v", bad)
	}
	for _, name := range []string{"INSTRUCTIONS.md", "./instructions.MD", "a/../PERSONA.md", "AGENTS.md", "SOUL.md", "INSTRUCTIONS.md/x", "agents.MD/a/b", "PERſONA.md"} {
		if done := d.changes(name); done != nil {
			t.Errorf("%s: %v", name, done)
		}
	}
	if all, err := os.ReadDir(d.w.workspace); err != nil || len(all) != 1 {
		t.Errorf("there are %v (%v)", all, err)
	}
	if err := os.WriteFile(filepath.Join(d.w.workspace, "INSTRUCTIONS.md"), []byte("told"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, bad := d.do(fileRead, "INSTRUCTIONS.md"); bad != nil || r.Text != "told" {
		t.Errorf("read: %+v, %+v", r, bad)
	}
}

// TestInstructionsByAnotherName follows links that people made to files of the prompt, and from them.
func TestInstructionsByAnotherName(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if _, bad := d.do(fileWrite, "kept/CLAUDE.md", "content", "told"); bad != nil {
		t.Fatal(bad)
	}
	if _, bad := d.do(fileWrite, "free.md", "content", "told"); bad != nil {
		t.Fatal(bad)
	}
	at := func(name string) string { return filepath.Join(d.w.workspace, name) }
	for _, l := range [][2]string{
		{"AGENTS.md", "middle"}, {"middle", "way/CLAUDE.md"}, {"way", "./kept"}, // over two more links
		{"x", "."}, {"y", "x/kept/../kept"}, // other ways to the same folders
		{"SOUL.md", "later/../soon/soul.md"}, // what is not there yet
		{"PERSONA.md", "PERSONA.md"}, {"loop", "loop"},
		{"out", "../.."}, {"root", "/"},
	} {
		if err := os.Symlink(l[1], at(l[0])); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(at("INSTRUCTIONS.md"), []byte("told"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(at("INSTRUCTIONS.md"), at("same")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"kept/CLAUDE.md", "kept/claude.md", "way/CLAUDE.md", "y/CLAUDE.md", "x/y/CLAUDE.md", "middle", "way", "x/AGENTS.md", "x/x/PERSONA.md", "soon/soul.md", "soon/soul.md/x", "same", "x/same"} {
		if done := d.changes(name); done != nil {
			t.Errorf("%s: %v", name, done)
		}
	}
	if got := d.content("AGENTS.md") + d.content("INSTRUCTIONS.md"); got != "toldtold" {
		t.Errorf("the agent is told %q", got)
	}
	for _, name := range []string{"free.md", "x/free.md", "kept/other.md", "soon/other.md"} {
		if _, bad := d.do(fileAppend, name, "content", "x"); bad != nil {
			t.Errorf("%s: %+v", name, bad)
		}
	}
	for _, name := range []string{"loop", "out", "root", "y", "x"} {
		if _, bad := d.do(fileDelete, name); bad != nil {
			t.Errorf("the link %s: %+v", name, bad)
		}
	}
}
