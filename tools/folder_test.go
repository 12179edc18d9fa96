package tools

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/sessions"
)

// guestAt gives the world a caller that is no owner, in a session of its own.
func guestAt(w *world, key sessions.Key, with ...func(*sessions.Session)) {
	w.caller = Caller{Session: w.add(key, with...), Run: sessions.Run{ID: "run-2"}}
}

// What an owner keeps, and what another guest keeps, is not there in a guest's turn: for no tool and no action. Owners find all of it.
// source: CWE-668
//
// proves: V4
func TestGuestsHaveAFolderOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.workspace = t.TempDir()
	says := func(tool Tool, args string) string {
		r, err := tool.Call(t.Context(), Call{ID: args, Args: json.RawMessage(args), Caller: w.caller})
		if err != nil {
			t.Fatal(err)
		}
		return r.Text
	}
	owner := w.caller
	says(FilesTool(w.deps()), `{"action":"write","path":"owner/diary.md","content":"secret"}`)
	guestAt(w, "agent:main:telegram:direct:2002")
	for _, args := range []string{`{"action":"list"}`, `{"action":"list","path":"chats"}`, `{"action":"read","path":"owner/diary.md"}`, `{"action":"read","path":"../../owner/diary.md"}`,
		`{"action":"edit","path":"owner/diary.md","old":"secret","new":"x"}`, `{"action":"append","path":"owner/diary.md","content":"x"}`, `{"action":"delete","path":"owner/diary.md"}`} {
		if got := says(FilesTool(w.deps()), args); strings.Contains(got, "secret") || strings.Contains(got, "diary.md\",\"size") || strings.Contains(got, `"modified"`) {
			t.Errorf("%s: %s", args, got)
		}
	}
	w.post.Verdict.Action = "allow"
	if says(Message(w.deps()), `{"to":"current","text":"x","files":["owner/diary.md"]}`); len(w.posted) > 0 {
		if f, err := w.posted[0].Files[0].Open(); err == nil {
			_ = f.Close()
			t.Error("a guest has an owner's file sent")
		}
	}
	if got, err := os.ReadFile(filepath.Join(w.workspace, "owner/diary.md")); err != nil || string(got) != "secret" {
		t.Errorf("the owner's file is %q, %v", got, err)
	}
	says(FilesTool(w.deps()), `{"action":"write","path":"mine.md","content":"of 2002"}`)
	guestAt(w, sessions.SubagentKey("main", "c"), func(s *sessions.Session) { s.Top = "agent:main:telegram:direct:2002" })
	if got := says(FilesTool(w.deps()), `{"action":"read","path":"mine.md"}`); !strings.Contains(got, "of 2002") {
		t.Errorf("its sub-agent: %s", got)
	}
	guestAt(w, "agent:main:cron:j")
	w.caller.Run = sessions.Run{ID: "run-3", Kind: sessions.JobRun, Chain: &sessions.Chain{Requester: "agent:main:telegram:direct:2002"}}
	if got := says(FilesTool(w.deps()), `{"action":"read","path":"mine.md"}`); !strings.Contains(got, "of 2002") {
		t.Errorf("its job: %s", got)
	}
	guestAt(w, "agent:main:telegram:direct:2003")
	if got := says(FilesTool(w.deps()), `{"action":"list"}`); strings.Contains(got, "mine.md") {
		t.Errorf("another guest: %s", got)
	}
	w.caller = owner
	if got := says(FilesTool(w.deps()), `{"action":"list","path":"chats/`+folderName("agent:main:telegram:direct:2002")+`"}`); !strings.Contains(got, "mine.md") {
		t.Errorf("the owner: %s", got)
	}
	w.config.Files.Others = OthersAll
	guestAt(w, "agent:main:telegram:direct:2004")
	if got := says(FilesTool(w.deps()), `{"action":"read","path":"owner/diary.md"}`); !strings.Contains(got, "secret") {
		t.Errorf("tools.files.others is all: %s", got)
	}
}

// A guest takes at most a quarter of what the workspace may hold, all guests half of it, and what refuses them tells of nobody's files.
func TestGuestsLeaveRoom(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.workspace, w.config.Files = t.TempDir(), Files{MaxBytes: 4096, MaxTotalBytes: 4096}
	write := func(key sessions.Key, name string, n int) problem {
		guestAt(w, key)
		return call[problem](t, w, FilesTool(w.deps()), string(encode(map[string]string{"action": "write", "path": name, "content": strings.Repeat("x", n)})))
	}
	if r := write("agent:main:x:direct:1", "a", 1000); r.Error != "" {
		t.Errorf("within a quarter: %+v", r)
	}
	if r := write("agent:main:x:direct:1", "b", 100); !strings.Contains(r.Error, "1100 bytes; at most 1024") {
		t.Errorf("more than a quarter: %+v", r)
	}
	if r := write("agent:main:x:direct:2", "a", 1000); r.Error != "" {
		t.Errorf("another guest: %+v", r)
	}
	if r := write("agent:main:x:direct:3", "a", 100); !strings.HasSuffix(r.Error, "the workspace is full") {
		t.Errorf("more than half in all: %+v", r)
	}
	w.caller.Owner = true
	if r := call[filesResult](t, w, FilesTool(w.deps()), `{"action":"write","path":"o","content":"`+strings.Repeat("x", 1500)+`"}`); r.Done != "created" {
		t.Errorf("the owner: %+v", r)
	}
}

// One person takes a quarter of what the workspace may hold in all their sessions together; a group's folder counts for who first wrote there.
// source: CWE-770
func TestFilesOfOnePerson(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.workspace, w.config.Files = t.TempDir(), Files{MaxBytes: 4096, MaxTotalBytes: 4096}
	write := func(who string, key sessions.Key, n int) string {
		guestAt(w, key)
		w.caller.Asker = who
		return call[problem](t, w, FilesTool(w.deps()), string(encode(map[string]string{"action": "write", "path": "a", "content": strings.Repeat("x", n)}))).Error
	}
	for _, c := range []struct {
		who  string
		key  sessions.Key
		n    int
		fits bool
	}{
		{"anna", "agent:main:x:direct:1", 400, true},
		{"anna", "agent:main:x:group:1", 400, true},
		{"anna", "agent:main:x:group:2", 400, false},
		{"bob", "agent:main:x:group:1", 700, false},
		{"bob", "agent:main:x:group:2", 900, true},
		{"anna", "agent:main:x:direct:1", 100, true},
		{"anna", "agent:main:x:group:3", 300, true},
	} {
		if got := write(c.who, c.key, c.n); (got == "") != c.fits {
			t.Errorf("%s, %d bytes in %s: %q", c.who, c.n, c.key, got)
		}
	}
}

// No two sessions share a folder, and its name is a plain one.
func TestFolderNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, key := range []sessions.Key{"agent:main:a:direct:x", "agent:main:a:direct:X", "agent:main:a:direct-x", "agent:main:a:direct:../../x", "agent:main:a:direct:日本", sessions.Key("agent:main:a:direct:" + strings.Repeat("9", 300)), "global"} {
		name := folderName(key)
		if seen[name] || len(name) > 80 || !filepath.IsLocal(name) || strings.ContainsAny(name, `/\.`) {
			t.Errorf("%s: %q", key, name)
		}
		seen[name] = true
	}
}

// Whoever tries sizes until one is refused learns no size of other people's files: in two worlds that differ by a few bytes, each answer is the same.
// source: CWE-203
func TestRoomTellsNoSizeOfOthers(t *testing.T) {
	t.Parallel()
	answers := func(size int) (out []string) {
		w := newWorld()
		w.workspace, w.config.Files = t.TempDir(), Files{MaxBytes: 4096, MaxTotalBytes: 4096}
		for key, n := range map[sessions.Key]int{"agent:main:x:direct:1": size, "agent:main:x:direct:2": 900} {
			guestAt(w, key)
			if r := call[problem](t, w, FilesTool(w.deps()), string(encode(map[string]string{"action": "write", "path": "a", "content": strings.Repeat("x", n)}))); r.Error != "" {
				t.Fatal(r)
			}
		}
		guestAt(w, "agent:main:x:direct:3")
		for n := 1; n < 500; n++ {
			out = append(out, call[problem](t, w, FilesTool(w.deps()), string(encode(map[string]string{"action": "write", "path": "a", "content": strings.Repeat("x", n)}))).Error)
		}
		return out
	}
	if few, more := answers(900), answers(1000); !slices.Equal(few, more) || few[0] != "" || few[498] == "" {
		t.Error("how much fits tells the size of other people's files")
	}
}
