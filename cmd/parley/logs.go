package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"

	"parley/channels"
	"parley/gateway/api"
)

type logsCmd struct {
	Follow bool `short:"f" help:"Print new lines until Ctrl-C."`
	Lines  int  `short:"n" default:"100" help:"Number of last lines to print."`
}

// Help says where logs go, and shows examples.
func (logsCmd) Help() string {
	return "The host writes its log to standard error. The command reads systemd's journal or the log file; otherwise it says where the log goes.\n\nExamples:\n\n  parley logs -n 50\n  parley logs -f"
}

// serviceFiles are where packages and operators put the unit of a host.
var serviceFiles = []string{"/etc/systemd/system/parley.service", "/usr/lib/systemd/system/parley.service", "/lib/systemd/system/parley.service"}

// Run prints the end of the host's log.
func (c logsCmd) Run(e *env) error {
	s, err := request[api.HostStatus](e, "GET /api/status", api.None{})
	p := s.Process
	if errors.Is(err, errNotRunning) {
		for _, f := range serviceFiles { // the log says why the host is not running
			if _, there := os.Stat(f); there == nil {
				return c.journal(e.ctx, api.Process{Unit: "parley.service"})
			}
		}
	}
	if err != nil {
		return err
	}
	switch p.Log.Kind {
	case api.LogToJournal:
		return c.journal(e.ctx, p)
	case api.LogToFile:
		if p.Log.Path != "" {
			return c.file(e.ctx, p.Log.Path, e.page().out)
		}
	case api.LogToTerminal:
		return failed(exitMissing, "no_log", "the host (process %d) writes its log to the terminal that it was started in; to keep it in a file, start the host with `parley run 2>>parley.log`", p.PID)
	case api.LogNowhere:
		return failed(exitMissing, "no_log", "the log of the host (process %d) is discarded: its standard error is %s; to keep it in a file, start the host with `parley run 2>>parley.log`", p.PID, os.DevNull)
	}
	return failed(exitMissing, "no_log", "the host (process %d) writes its log to another program; in a container, run `docker logs CONTAINER`", p.PID)
}

// journal shows the journal of a unit with journalctl.
func (c logsCmd) journal(ctx context.Context, p api.Process) error {
	args := []string{"--output=cat", "--lines=" + strconv.Itoa(c.Lines)}
	switch {
	case p.Unit == "":
		args = append(args, "_PID="+strconv.Itoa(p.PID))
	case p.User:
		args = append(args, "--user-unit="+p.Unit)
	default:
		args = append(args, "--unit="+p.Unit)
	}
	if c.Follow {
		args = append(args, "--follow")
	} else {
		args = append(args, "--no-pager")
	}
	cmd := exec.CommandContext(ctx, "journalctl", args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil //nolint:nilerr // Ctrl-C ends it
	}
	if errors.Is(err, exec.ErrNotFound) {
		return failed(exitFailed, "failed", "read systemd's journal: journalctl is not installed")
	}
	if err != nil {
		return failed(exitFailed, "failed", "journalctl: %w", err)
	}
	return nil
}

// Bounds of reading a log file.
const (
	maxLogTail     = 16 << 20 // bytes of the file's end in which the last lines are looked for
	followInterval = 250 * time.Millisecond
)

// file prints the last lines of a log file, and with -f those that come until ctx ends. A file that was truncated is read from its beginning, one that
// was replaced is opened again.
func (c logsCmd) file(ctx context.Context, path string, out io.Writer) error {
	f, err := os.Open(path)
	if err != nil {
		return failed(exitFailed, "failed", "read the log of the host: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	if err := skipToTail(f, c.Lines); err != nil {
		return failed(exitFailed, "failed", "read the log of the host: %w", err)
	}
	w, r, line := &page{out: out}, bufio.NewReader(f), ""
	for {
		more, err := r.ReadString('\n')
		line += more
		switch {
		case err == nil:
			w.answer(line)
			line = ""
			continue
		case !errors.Is(err, io.EOF):
			return failed(exitFailed, "failed", "read the log of the host: %w", err)
		case c.Follow && channels.Sleep(ctx, followInterval):
			if next := renewed(f, path); next != nil {
				if next != f {
					_ = f.Close() // only read
					f = next
				}
				r.Reset(f)
				line = ""
			}
			continue
		case line != "":
			w.answer(line)
		}
		return nil
	}
}

// skipToTail sets a file to the beginning of its last lines.
func skipToTail(f *os.File, lines int) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	at := max(0, info.Size()-maxLogTail)
	tail := make([]byte, info.Size()-at)
	n, err := f.ReadAt(tail, at)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	end := n
	if lines <= 0 {
		end = n - 1
	} else if n > 0 && tail[n-1] == '\n' {
		end--
	}
	for ; lines > 0 && end >= 0; lines-- {
		end = bytes.LastIndexByte(tail[:end], '\n')
		if end < 0 {
			break
		}
	}
	_, err = f.Seek(at+int64(end)+1, io.SeekStart)
	return err
}

// renewed returns what to read next where a log file was truncated, set to its beginning, or replaced. nil = go on with the file.
func renewed(f *os.File, path string) *os.File {
	now, err := os.Stat(path)
	if err != nil { // between two files
		return nil
	}
	if open, err := f.Stat(); err == nil && !os.SameFile(open, now) {
		if next, err := os.Open(path); err == nil {
			return next
		}
		return nil
	}
	if at, err := f.Seek(0, io.SeekCurrent); err == nil && now.Size() < at {
		_, _ = f.Seek(0, io.SeekStart) // of a regular file
		return f
	}
	return nil
}
