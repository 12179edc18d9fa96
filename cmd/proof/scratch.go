package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A folder of what a run needs while it lasts, and how it is known for one: whoever holds the lock in it is at work.
const (
	scratchName = "parley-proof-"
	scratchLock = "lock"
)

// keptIn is the folder for temporary files of who called: what outlives the run goes there. "" = the usual one.
var keptIn string

// ownTemp makes a folder of this run the one for temporary files, of all children too. over removes it, whatever they have left there.
func ownTemp() (over func(), err error) {
	usual := os.TempDir()
	dir, over, err := scratch(usual)
	if err != nil {
		return nil, err
	}
	keptIn = usual
	return over, os.Setenv("TMPDIR", dir)
}

// runFolder is where a run has its files.
type runFolder struct {
	path string
	stay string // where they are when they outlive the run
	own  bool   // a temporary one
	made bool   // it was not there
}

// newRunFolder takes an empty folder that somebody named, or a temporary one where dir is "".
func newRunFolder(dir, name string) (f runFolder, err error) {
	if dir == "" {
		if f.path, err = os.MkdirTemp("", name); err != nil {
			return f, err
		}
		f.own, f.stay = true, f.path
		if keptIn != "" {
			f.stay = filepath.Join(keptIn, filepath.Base(f.path))
		}
		if err = shortEnough(filepath.Join(f.path, worldFolder)); err != nil {
			f.leave()
		}
		return f, err
	}
	if err := shortEnough(filepath.Join(dir, worldFolder)); err != nil {
		return f, err
	}
	f.path, f.stay = dir, dir
	_, err = os.Stat(dir)
	f.made = err != nil
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return f, err
	}
	if there, err := os.ReadDir(dir); err != nil || len(there) > 0 {
		return f, errors.Join(err, fmt.Errorf("--dir %s is not empty: name an empty folder", dir))
	}
	return f, nil
}

// keep has the folder outlive the run, and says where it is.
func (f runFolder) keep() error {
	if f.stay != f.path {
		if err := os.Rename(f.path, f.stay); err != nil {
			return fmt.Errorf("keep the files of the run: %w", err)
		}
	}
	fmt.Fprintf(os.Stderr, "kept: %s\n", f.stay)
	return nil
}

// leave removes what the run has made; of a folder that somebody named only what the run alone has use for, and the folder itself where the
// run has made it and has no result in it.
func (f runFolder) leave() {
	if f.own {
		_ = os.RemoveAll(f.path)
		return
	}
	for _, name := range []string{worldFolder, "parley", historyFile} {
		_ = os.RemoveAll(filepath.Join(f.path, name))
	}
	if f.made {
		_ = os.Remove(f.path) // it stays with a result
	}
}

// scratch makes a folder for a run below another one. over removes it. Those of runs that were killed are removed before that.
func scratch(below string) (dir string, over func(), err error) {
	if canLock {
		sweep(below)
	}
	for range 10 { // another run may take a new one for a left one
		if dir, err = os.MkdirTemp(below, scratchName); err != nil {
			return "", nil, err
		}
		if f := locked(dir, os.O_RDWR|os.O_CREATE); f != nil {
			return dir, func() {
				removeAll(dir)
				_ = f.Close() // nobody asks for it any more
			}, nil
		}
		removeAll(dir)
	}
	return "", nil, fmt.Errorf("lock a file in %s: not supported", below)
}

// sweep removes the folders of runs that were killed. Those that never had a lock stay: somebody may be at work in them.
func sweep(below string) {
	left, _ := filepath.Glob(filepath.Join(below, scratchName+"*")) // they stay when below is no good pattern
	for _, old := range left {
		if f := locked(old, os.O_RDWR); f != nil {
			_ = errors.Join(os.RemoveAll(old), f.Close()) // the next one tries again
		}
	}
}

// locked holds the lock of a folder until the file is closed; nil = it has none, or somebody else holds it.
func locked(dir string, how int) *os.File {
	path := filepath.Join(dir, scratchLock)
	f, err := os.OpenFile(path, how, 0o600)
	if err != nil {
		return nil
	}
	ours, err := f.Stat()
	if err == nil && lockFile(f) {
		if there, err := os.Stat(path); err == nil && os.SameFile(ours, there) { // nobody has removed it meanwhile
			return f
		}
	}
	_ = f.Close() // it was only read
	return nil
}

// removePatience is how long what a child has left may go on writing into a folder that is removed.
const removePatience = 2 * time.Second

// removeAll removes a folder, also when a child that was killed is about to end.
func removeAll(dir string) {
	for began := time.Now(); os.RemoveAll(dir) != nil && time.Since(began) < removePatience; {
		<-time.After(20 * time.Millisecond)
	}
}
