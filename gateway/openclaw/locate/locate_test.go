package locate

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
)

func vars(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Every name of every era, profiles and variables are found; a folder without anything of OpenClaw is not, and a link is no second folder.
func TestFolders(t *testing.T) {
	t.Parallel()
	home, other := t.TempDir(), t.TempDir()
	write(t, filepath.Join(home, ".openclaw", "openclaw.json"), "{}")
	write(t, filepath.Join(home, ".openclaw-work", "openclaw.json"), "{}")
	write(t, filepath.Join(home, ".openclaw-empty", "notes.txt"), "")
	write(t, filepath.Join(home, ".moltbot", "agents", "main", "sessions", "sessions.json"), "{}")
	write(t, filepath.Join(other, ".clawdbot", "sessions", "sessions.json"), "{}")
	if err := os.Symlink(filepath.Join(home, ".openclaw"), filepath.Join(home, ".clawdbot")); err != nil { // as OpenClaw's own migration leaves it
		t.Fatal(err)
	}
	tests := map[string]struct {
		getenv func(string) string
		want   []string
	}{
		"home":            {vars("HOME", home), []string{home + "/.openclaw", home + "/.moltbot", home + "/.openclaw-work"}},
		"OPENCLAW_HOME":   {vars("HOME", home, "OPENCLAW_HOME", other), []string{other + "/.clawdbot"}},
		"a state folder":  {vars("HOME", home, "OPENCLAW_STATE_DIR", "~/.moltbot"), []string{home + "/.moltbot"}},
		"an old variable": {vars("HOME", home, "CLAWDBOT_STATE_DIR", other+"/.clawdbot"), []string{other + "/.clawdbot"}},
		"a profile":       {vars("HOME", home, "OPENCLAW_PROFILE", "work"), []string{home + "/.openclaw-work"}},
		"the default one": {vars("HOME", other, "OPENCLAW_PROFILE", "default"), []string{other + "/.clawdbot"}},
		"none":            {vars("HOME", t.TempDir()), nil},
	}
	for name, tt := range tests {
		found, looked := Folders(tt.getenv)
		var got []string
		for _, f := range found {
			got = append(got, f.Path)
		}
		if !slices.Equal(got, tt.want) || len(looked) == 0 {
			t.Errorf("%s: %q, want %q; looked at %q", name, got, tt.want, looked)
		}
	}
}

// A lock counts while its own process runs, and only for the folder that it names.
// source: openclaw/openclaw src/infra/gateway-lock.ts
func TestRunningByLock(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("start times are read from /proc")
	}
	dir, tmp := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", tmp)
	getenv := vars("HOME", t.TempDir())
	me, start := os.Getpid(), started(os.Getpid())
	file := filepath.Join(tmp, fmt.Sprintf("openclaw-%d", os.Getuid()), "gateway.0badcafe.lock")
	text := func(pid int, config string, start int64) string {
		return fmt.Sprintf(`{"pid": %d, "createdAt": "2026-11-01T00:00:00Z", "configPath": %q, "startTime": %d}`, pid, config, start)
	}
	own := filepath.Join(dir, "openclaw.json")
	for name, tt := range map[string]struct {
		text string
		want bool
	}{
		"its process runs":           {text(me, own, start), true},
		"another process has its id": {text(me, own, start+1), false},
		"no start, another program":  {text(me, own, 0), false},
		"another folder":             {text(me, filepath.Join(tmp, "openclaw.json"), start), false},
		"no process":                 {text(1<<30, own, start), false},
		"broken":                     {"{", false},
	} {
		write(t, file, tt.text)
		if got := Running(t.Context(), dir, 1, nil, getenv); (got == fmt.Sprintf("process %d", me)) != tt.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	write(t, file, "")
	write(t, filepath.Join(dir, "agents", "main", "sessions", "a.jsonl.lock"), text(me, "", start))
	if got := Running(t.Context(), dir, 1, nil, getenv); got == "" {
		t.Error("a transcript that is being written is not noticed")
	}
}

// A lease counts while its process runs and its database is in the folder: a copy of the folder has the rows of the original.
// source: openclaw/openclaw src/state, agent_database_leases (owner_pid, owner_start_time)
func TestRunningByLease(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lease := func(folder string, start int64) []Lease {
		return []Lease{{Path: filepath.Join(folder, "agents", "main", "agent", "openclaw-agent.sqlite"), PID: os.Getpid(), Start: start}}
	}
	start := started(os.Getpid())
	if start == 0 {
		t.Skip("start times are read from /proc")
	}
	getenv := vars("HOME", t.TempDir())
	if got := Running(t.Context(), dir, 1, lease(dir, start), getenv); got == "" {
		t.Error("a lease of this folder is not noticed")
	}
	if got := Running(t.Context(), dir, 1, lease(t.TempDir(), start), getenv); got != "" {
		t.Errorf("a lease of another folder counts: %s", got)
	}
	if got := Running(t.Context(), dir, 1, lease(dir, start+1), getenv); got != "" {
		t.Errorf("a stale lease counts: %s", got)
	}
}

// The gateway's port counts where OpenClaw itself answers there, and for the folder that it uses: not for a copy, not for another server.
func TestRunningByPort(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir := filepath.Join(home, ".openclaw")
	write(t, filepath.Join(dir, "openclaw.json"), "{}")
	serve := func(page string) int {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(page)) }))
		t.Cleanup(s.Close)
		u, err := url.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		port, err := strconv.Atoi(u.Port())
		if err != nil {
			t.Fatal(err)
		}
		return port
	}
	ours, others := serve("<title>OpenClaw Control</title>"), serve("<title>Welcome to nginx!</title>")
	getenv := vars("HOME", home)
	if got := Running(t.Context(), dir, ours, nil, getenv); got != fmt.Sprintf("http://127.0.0.1:%d", ours) {
		t.Errorf("OpenClaw's page: %q", got)
	}
	if got := Running(t.Context(), dir, others, nil, getenv); got != "" {
		t.Errorf("another server: %q", got)
	}
	backup := t.TempDir()
	write(t, filepath.Join(backup, "openclaw.json"), "{}")
	if got := Running(t.Context(), backup, ours, nil, getenv); got != "" {
		t.Errorf("a copy: %q", got)
	}
	if got := Running(t.Context(), dir, 1, nil, vars("HOME", home, "OPENCLAW_GATEWAY_PORT", strconv.Itoa(ours))); got == "" {
		t.Error("the variable of the port is not used")
	}
}
