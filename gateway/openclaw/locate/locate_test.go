package locate

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"
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
		"no start, it began later":   {text(me, own, 0), false},
		"neither start nor time":     {fmt.Sprintf(`{"pid": %d, "createdAt": 1, "configPath": %q}`, me, own), true},
		"a configuration elsewhere":  {fmt.Sprintf(`{"pid": %d, "configPath": "/etc/openclaw.json", "stateDir": %q, "startTime": %d}`, me, dir, start), true},
		"state and all elsewhere":    {fmt.Sprintf(`{"pid": %d, "configPath": "/etc/openclaw.json", "stateDir": %q, "startTime": %d}`, me, tmp, start), false},
		"another folder":             {text(me, filepath.Join(tmp, "openclaw.json"), start), false},
		"no process":                 {text(1<<30, own, start), false},
		"broken":                     {"{", false},
	} {
		write(t, file, tt.text)
		if got := Running(t.Context(), dir, 1, nil, time.Now(), getenv); (got == fmt.Sprintf("process %d", me)) != tt.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	write(t, file, "")
	write(t, filepath.Join(dir, "agents", "main", "sessions", "a.jsonl.lock"), text(me, "", start))
	if got := Running(t.Context(), dir, 1, nil, time.Now(), getenv); got == "" {
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
	if got := Running(t.Context(), dir, 1, lease(dir, start), time.Now(), getenv); got == "" {
		t.Error("a lease of this folder is not noticed")
	}
	if got := Running(t.Context(), dir, 1, lease(t.TempDir(), start), time.Now(), getenv); got != "" {
		t.Errorf("a lease of another folder counts: %s", got)
	}
	if got := Running(t.Context(), dir, 1, lease(dir, start+1), time.Now(), getenv); got != "" {
		t.Errorf("a stale lease counts: %s", got)
	}
}

// A lease without a start time counts while its process runs, whatever the name of the process, unless the process began later. The gateway's lease
// counts until it expires, in a container as well.
// source: openclaw/openclaw src/state/openclaw-agent-db-lease.test.ts, src/commands/doctor-maintenance tests (state_leases, gateway-owner)
func TestRunningByLeaseWithoutStart(t *testing.T) {
	t.Parallel()
	me := os.Getpid()
	if started(me) == 0 {
		t.Skip("start times are read from /proc")
	}
	home := t.TempDir()
	dir := filepath.Join(home, ".openclaw")
	write(t, filepath.Join(dir, "openclaw.json"), "{}")
	file := filepath.Join(dir, "agents", "main", "agent", "openclaw-agent.sqlite")
	now := time.Now()
	for name, tt := range map[string]struct {
		lease Lease
		want  bool
	}{
		"no time at all":            {Lease{Path: file, PID: me}, true},
		"opened by this process":    {Lease{Path: file, PID: me, Opened: now}, true},
		"opened before it began":    {Lease{Path: file, PID: me, Opened: now.Add(-100 * 365 * 24 * time.Hour)}, false},
		"no process":                {Lease{Path: file, PID: 1 << 30, Opened: now}, false},
		"the gateway's":             {Lease{PID: me, Start: started(me), Expires: now.Add(time.Minute)}, true},
		"the gateway's, expired":    {Lease{PID: me, Start: started(me), Expires: now.Add(-time.Minute)}, false},
		"the gateway's, it ended":   {Lease{PID: 1 << 30, Expires: now.Add(time.Minute)}, false},
		"in a container":            {Lease{PID: 7, Start: 1, Host: "0badcafe0bad", Expires: now.Add(time.Minute)}, true},
		"in a container, expired":   {Lease{PID: 7, Start: 1, Host: "0badcafe0bad", Expires: now.Add(-time.Minute)}, false},
		"another machine's, no end": {Lease{PID: me, Host: "0badcafe0bad"}, false},
	} {
		if got := Running(t.Context(), dir, 1, []Lease{tt.lease}, now, vars("HOME", home)); (got != "") != tt.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	backup := t.TempDir()
	if got := Running(t.Context(), backup, 1, []Lease{{PID: me, Expires: now.Add(time.Minute)}}, now, vars("HOME", home)); got != "" {
		t.Errorf("a copy: %q", got)
	}
}

// A listener on the gateway's port counts, whatever it answers: OpenClaw may speak TLS there, or serve no page. For a copy it does not: the listener
// uses the machine's own folder.
func TestRunningByPort(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	port := l.Addr().(*net.TCPAddr).Port
	want := fmt.Sprintf("port %d", port)
	home, backup := t.TempDir(), t.TempDir()
	dir := filepath.Join(home, ".openclaw")
	write(t, filepath.Join(dir, "openclaw.json"), "{}")
	write(t, filepath.Join(backup, "openclaw.json"), "{}")
	for name, tt := range map[string]struct {
		dir    string
		port   int
		getenv func(string) string
		want   string
	}{
		"the port of the configuration": {dir, port, vars("HOME", home), want},
		"the port of the variable":      {dir, 1, vars("HOME", home, "OPENCLAW_GATEWAY_PORT", strconv.Itoa(port)), want},
		"the only folder there is":      {backup, port, vars("HOME", t.TempDir()), want},
		"a copy":                        {backup, port, vars("HOME", home), ""},
		"no listener":                   {dir, 1, vars("HOME", home), ""},
	} {
		if got := Running(t.Context(), tt.dir, tt.port, nil, time.Now(), tt.getenv); got != tt.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
