package locate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"parley/gateway/filesystem"
)

// Lease is a claim of a process on a file of the state folder, or on the whole folder: a row of the database, or a lock file.
type Lease struct {
	Path    string // of the file; "" = the whole folder
	Host    string // name of the process's machine; "" = this one
	PID     int
	Start   int64     // start time of the process in clock ticks since boot; 0 = unknown
	Opened  time.Time // when the process made the claim; zero = unknown
	Expires time.Time // end of the claim unless the process renews it; zero = never
}

// Running returns the sign that OpenClaw uses a state folder, "process 12" or "port 18789"; "" = there is none. A lock or a lease counts while its
// process is alive: both outlive crashes, and process ids are used again. A listener on the gateway's port counts, whatever it answers. For a copy
// of the folder only what names the copy counts. port is the gateway's port in the configuration, 0 = the default; read is when the leases were read.
//
// source: openclaw/openclaw src/infra/gateway-lock-payload.ts (gateway.<hash>.lock with pid, configPath, stateDir and startTime in <tmp>/openclaw-<uid>),
// src/agents/session-write-lock.ts (<transcript>.lock with pid), src/state/openclaw-agent-db-lease.ts
func Running(ctx context.Context, dir string, port int, leases []Lease, read time.Time, getenv func(string) string) string {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ""
	}
	if real, err = filepath.Abs(real); err != nil {
		return ""
	}
	own, _ := Folders(getenv)
	isCopy := len(own) > 0 && !slices.ContainsFunc(own, func(f Folder) bool { return sameFolder(f.Path, real) })
	for _, l := range append(locks(real), leases...) {
		if (l.Path == "" && !isCopy || below(real, l.Path)) && l.isLive(read) {
			return fmt.Sprintf("process %d", l.PID)
		}
	}
	if n := gatewayPort(port, getenv); !isCopy && listens(ctx, n) {
		return fmt.Sprintf("port %d", n)
	}
	return ""
}

// isLive reports whether the process of a lease may still hold it. As OpenClaw does, it gives up a lease only where the process ended, or another
// one has its id now. The name of the process says nothing: node, bun and wrappers of people run OpenClaw.
//
// source: openclaw/openclaw src/state/openclaw-agent-db-lease.ts and its test "reclaims a legacy lease when the live PID started after the lease opened"
func (l Lease) isLive(now time.Time) bool {
	if !l.Expires.IsZero() && now.After(l.Expires) {
		return false
	}
	if here, err := os.Hostname(); l.Host != "" && (err != nil || l.Host != here) {
		return !l.Expires.IsZero() // a container's process, which renews its lease
	}
	if !exists(l.PID) {
		return false
	}
	ticks := started(l.PID)
	if ticks == 0 || l.Start != 0 {
		return ticks == 0 || l.Start == ticks
	}
	boot := booted()
	return l.Opened.IsZero() || boot.IsZero() || !boot.Add(time.Duration(ticks)*clockTick).After(l.Opened.Add(time.Second))
}

// clockTick is the unit of start times: the kernel reports 100 to a second on every machine that Go runs on.
const clockTick = 10 * time.Millisecond

// booted returns when the machine was started; zero = unknown.
// source: proc_stat(5), btime
func booted() time.Time {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return time.Time{}
	}
	_, after, _ := strings.Cut(string(text), "\nbtime ")
	line, _, _ := strings.Cut(after, "\n")
	if n, err := strconv.ParseInt(line, 10, 64); err == nil {
		return time.Unix(n, 0)
	}
	return time.Time{}
}

// lock is the text of a lock file.
type lock struct {
	PID        int             `json:"pid"`
	ConfigPath string          `json:"configPath"`
	StateDir   string          `json:"stateDir"`
	StartTime  int64           `json:"startTime"`
	CreatedAt  json.RawMessage `json:"createdAt"`
}

// locks reads the lock files that are of this folder.
func locks(dir string) (out []Lease) {
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
		if err == nil && json.Unmarshal(text, &l) == nil && (below(dir, l.ConfigPath) || sameFolder(dir, l.StateDir) || below(dir, file)) {
			var opened time.Time
			_ = json.Unmarshal(l.CreatedAt, &opened) // otherwise it is unknown
			out = append(out, Lease{Path: filepath.Join(dir, filepath.Base(file)), PID: l.PID, Start: l.StartTime, Opened: opened})
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

// exists reports whether a process runs.
func exists(pid int) bool {
	if pid <= 0 {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || os.IsPermission(err)
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

// defaultPort is that of OpenClaw's gateway.
const defaultPort = 18789

// gatewayPort is where the gateway would listen on this machine.
func gatewayPort(configured int, getenv func(string) string) int {
	if n, err := strconv.Atoi(getenv("OPENCLAW_GATEWAY_PORT")); err == nil && n > 0 {
		return n
	}
	if configured > 0 {
		return configured
	}
	return defaultPort
}

// listens reports whether a program listens on a port of this machine.
func listens(ctx context.Context, port int) bool {
	d := net.Dialer{Timeout: time.Second}
	c, err := d.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	_ = c.Close() // nothing was sent
	return true
}
