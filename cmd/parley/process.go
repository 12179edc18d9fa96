package main

import (
	"cmp"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/term"

	"parley/gateway/api"
)

// thisProcess describes this process: its systemd unit, and where log leads.
func thisProcess(log *os.File) api.Process {
	p := api.Process{PID: os.Getpid(), Log: whereTo(log)}
	if os.Getenv("SYSTEMD_EXEC_PID") == strconv.Itoa(p.PID) { // source: systemd.exec(5); children inherit it with another number
		groups, _ := os.ReadFile("/proc/self/cgroup") // without it the unit is unknown
		p.Unit, p.User = unitOf(string(groups))
		p.Unit = cmp.Or(p.Unit, "parley.service")
	}
	return p
}

// unitOf finds the unit in the text of /proc/self/cgroup, and whether it is one of a user's own service manager. "" = there is none.
func unitOf(groups string) (unit string, user bool) {
	for line := range strings.Lines(groups) {
		_, group, _ := strings.Cut(strings.TrimSpace(line), "::") // the hierarchy of version 2; systemd 256 uses no other
		if name := path.Base(group); strings.HasSuffix(name, ".service") {
			return name, strings.Contains(group, "/user@")
		}
	}
	return "", false
}

// whereTo finds out where a file that a log is written to leads.
func whereTo(f *os.File) api.LogTo {
	if term.IsTerminal(int(f.Fd())) {
		return api.LogTo{Kind: api.LogToTerminal}
	}
	info, err := f.Stat()
	if err != nil {
		return api.LogTo{}
	}
	target, _ := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(f.Fd()))) // "" where there is no /proc
	switch mode := info.Mode(); {
	case os.Getenv("JOURNAL_STREAM") != "" && os.Getenv("JOURNAL_STREAM") == deviceAndInode(info): // source: systemd.exec(5)
		return api.LogTo{Kind: api.LogToJournal}
	case mode.IsRegular():
		return api.LogTo{Kind: api.LogToFile, Path: target}
	case mode&(os.ModeNamedPipe|os.ModeSocket) != 0:
		return api.LogTo{Kind: api.LogToPipe}
	case target == os.DevNull:
		return api.LogTo{Kind: api.LogNowhere}
	}
	return api.LogTo{}
}
