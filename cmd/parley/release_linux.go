package main

import (
	"bufio"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// releaseStartPages gives back the pages of the program file that only the start needed: tables of functions, initialisers of
// libraries, code that runs once. Nothing is lost: it touches only mappings of the program itself of which every page still is
// the file's, and a page that is needed again comes back from there. Whatever goes wrong, it is just not done.
func releaseStartPages() {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	var from, to uint64
	clean := false
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		head, rest, _ := strings.Cut(lines.Text(), " ")
		if lo, hi, ok := strings.Cut(head, "-"); ok && !strings.HasSuffix(head, ":") {
			from, err = strconv.ParseUint(lo, 16, 64)
			to, _ = strconv.ParseUint(hi, 16, 64)
			clean = err == nil && to > from && strings.HasSuffix(rest, " "+exe) && (strings.HasPrefix(rest, "r-xp") || strings.HasPrefix(rest, "r--p"))
			continue
		}
		switch head {
		case "Anonymous:", "Swap:": // pages that are no longer the file's
			clean = clean && strings.HasPrefix(strings.TrimSpace(rest), "0 ")
		case "VmFlags:": // the last line of a mapping
			if clean {
				_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(from), uintptr(to-from), unix.MADV_DONTNEED)
			}
		}
	}
}
