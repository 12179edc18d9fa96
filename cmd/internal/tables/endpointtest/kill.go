package endpointtest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// toolWithKill has a person ask for the tool. When the model has its result, the files of the host are copied, as a kill would leave them.
func (e *endpoint) toolWithKill() {
	e.t.Helper()
	waits, release := e.server.Hold("tool")
	defer release()
	copied := make(chan error, 1)
	ended, end := context.WithCancel(e.t.Context())
	defer end()
	go func() {
		defer release()
		select {
		case <-waits:
			copied <- copyFiles(e.dir, e.killed)
		case <-ended.Done(): // without a call of a tool
			copied <- fs.ErrNotExist
		}
	}()
	e.turn("tool", "one", "use the tool", e.row.Want.Tool)
	end()
	if err := <-copied; err != nil {
		e.killed = ""
		if !errors.Is(err, fs.ErrNotExist) {
			e.t.Errorf("%s: kill: copy the files: %v", e.row.ID, err)
		}
	}
}

// afterKill is a life on the files that a kill left between the tool's result and the model's answer: the turn continues without a word
// of anybody, and the next one works.
func (e *endpoint) afterKill() {
	e.t.Helper()
	if e.killed == "" || e.t.Failed() {
		return
	}
	w := e.row.Want
	e.dir = e.killed
	e.counts.from = len(e.server.Log())
	e.start()
	defer e.stop()
	if e.host.err != nil {
		e.t.Errorf("%s: kill: the host does not start: %v", e.row.ID, e.host.err)
		return
	}
	if got := e.host.next(endpointChat("one"), 0); !regexp.MustCompile(w.Killed).MatchString(got) {
		e.t.Errorf("%s: kill: the turn ends with\n\t%q, not\n\t%s\nrequests:\n\t%s\nthe log ends with\n%s", e.row.ID, got, w.Killed, e.replies(e.counts.from), e.host.lastLines(4))
		return
	}
	e.turn("follow-up after a kill", "one", "and now?", w.Follow)
	e.count("killed", w.Refused)
}

// copyFiles copies a folder of a host that runs, but for the index of its database's log, which is made again.
func copyFiles(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		case !d.Type().IsRegular() || strings.HasSuffix(path, "-shm"):
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), b, 0o600)
	})
}
