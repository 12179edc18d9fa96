package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// memory is what a process has in RAM, in MB. Own is what it has written itself; File are pages of files, mostly of the program, which
// the system can take back at any time and shares with other processes that run it.
type memory struct {
	RSS  float64 `json:"rss"`
	Own  float64 `json:"own"`
	File float64 `json:"file"`
}

func (m memory) String() string {
	return fmt.Sprintf("%.1f MB: %.1f MB private, %.1f MB file pages", m.RSS, m.Own, m.File)
}

// errNoProc is why a figure is missing on systems without /proc.
var errNoProc = errors.New("no /proc")

// rss gives a process's resident memory, 0 where the system does not tell.
func rss(pid int) memory {
	text, err := proc(pid, "status")
	if err != nil {
		return memory{}
	}
	of := func(name string) float64 {
		_, rest, _ := strings.Cut(text, name+":")
		kb, _ := strconv.ParseFloat(strings.Fields(rest + " 0")[0], 64)
		return kb / 1024
	}
	return memory{RSS: of("VmRSS"), Own: of("RssAnon"), File: of("RssFile")}
}

// cpuTime gives the processor time that a process has used.
func cpuTime(pid int) time.Duration {
	text, err := proc(pid, "stat")
	if err != nil {
		return 0
	}
	f := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	const ticks = 100 // USER_HZ, which Linux fixes for user space
	return time.Duration(user+system) * time.Second / ticks
}

func proc(pid int, name string) (string, error) {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), name))
	if err != nil {
		return "", fmt.Errorf("%w: %w", errNoProc, err)
	}
	return string(b), nil
}
