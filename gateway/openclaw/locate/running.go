package locate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"parley/gateway/filesystem"
)

// Lease is a claim of a process on a database of the state folder: a row of agent_database_leases.
type Lease struct {
	Path  string // of the database
	PID   int
	Start int64 // start time of the process in clock ticks since boot; 0 = unknown
}

// Running says how OpenClaw is known to use a state folder; "" = there is no sure sign of it. A sign is sure only if it names this folder and
// its process is alive: lock files outlive crashes, and process ids are used again. port is the gateway's port in the configuration, 0 = the
// default.
//
// source: openclaw/openclaw src/infra/gateway-lock.ts (gateway.<hash>.lock with pid, configPath and startTime in <tmp>/openclaw-<uid>),
// src/agents/session-write-lock.ts (<transcript>.lock with pid), src/state/openclaw-agent-db-lease.ts
func Running(ctx context.Context, dir string, port int, leases []Lease, getenv func(string) string) string {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ""
	}
	if real, err = filepath.Abs(real); err != nil {
		return ""
	}
	for _, l := range locks(real) {
		if alive(l.PID, l.StartTime) {
			return fmt.Sprintf("process %d", l.PID)
		}
	}
	for _, l := range leases {
		if below(real, l.Path) && alive(l.PID, l.Start) {
			return fmt.Sprintf("process %d", l.PID)
		}
	}
	if own, _ := Folders(getenv); !slices.ContainsFunc(own, func(f Folder) bool { return sameFolder(f.Path, real) }) {
		return "" // a copy: what answers at the port uses another folder
	}
	if at := address(port, getenv); answers(ctx, at) {
		return "http://" + at
	}
	return ""
}

// lock is the text of a lock file.
type lock struct {
	PID        int    `json:"pid"`
	ConfigPath string `json:"configPath"`
	StartTime  int64  `json:"startTime"`
}

// locks reads the lock files that are of this folder.
func locks(dir string) (out []lock) {
	gateways, _ := filepath.Glob(filepath.Join(os.TempDir(), "*-"+strconv.Itoa(os.Getuid()), "gateway.*.lock"))
	transcripts, _ := filepath.Glob(filepath.Join(escape(dir), "agents", "*", "sessions", "*.jsonl.lock"))
	for _, file := range slices.Concat(gateways, transcripts) {
		var l lock
		f, err := filesystem.Open(file)
		if err != nil {
			continue
		}
		text, err := io.ReadAll(io.LimitReader(f, 1<<16))
		_ = f.Close() // it was only read
		if err == nil && json.Unmarshal(text, &l) == nil && (below(dir, l.ConfigPath) || below(dir, file)) {
			out = append(out, l)
		}
	}
	return out
}

// escape makes a pattern that matches one path.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// below reports whether a file is in a folder or below it, whatever links lead there.
func below(dir, file string) bool {
	if file == "" {
		return false
	}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(file)); err == nil {
		file = filepath.Join(folder, filepath.Base(file))
	}
	rel, err := filepath.Rel(dir, file)
	return err == nil && filepath.IsLocal(rel)
}

func sameFolder(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// alive reports whether a process runs and is the one that wrote its id: it began at that time, or its command line names the program.
func alive(pid int, start int64) bool {
	if pid <= 0 {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	if err := p.Signal(syscall.Signal(0)); err != nil && !os.IsPermission(err) {
		return false
	}
	if runtime.GOOS != "linux" {
		return start != 0 // the time cannot be compared, but it was written by the program
	}
	if start != 0 {
		return started(pid) == start
	}
	line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	return err == nil && names(line)
}

// started gives the start time of a process in clock ticks since boot; 0 = unknown.
// source: proc_pid_stat(5), field 22; the second field, in parentheses, may have anything in it
func started(pid int) int64 {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 {
		return 0
	}
	n, _ := strconv.ParseInt(fields[19], 10, 64) // 0 = unknown
	return n
}

// names reports whether a text names the program.
func names(text []byte) bool {
	text = bytes.ToLower(text)
	return slices.ContainsFunc(programs, func(p string) bool { return bytes.Contains(text, []byte(p)) })
}

// defaultPort is that of OpenClaw's gateway.
const defaultPort = 18789

// address is where the gateway would listen on this machine.
func address(port int, getenv func(string) string) string {
	if n, err := strconv.Atoi(getenv("OPENCLAW_GATEWAY_PORT")); err == nil && n > 0 {
		port = n
	} else if port <= 0 {
		port = defaultPort
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// answers reports whether a page of the program is served at an address. Another server there proves nothing.
func answers(ctx context.Context, at string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at+"/", nil)
	if err != nil {
		return false
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // no proxy: the address is of this machine
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	page, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<16)) // a part of the page is enough
	return names(page)
}
