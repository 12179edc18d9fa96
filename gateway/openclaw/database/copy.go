package database

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"parley/gateway/filesystem"
)

// ErrInUse reports that a program changed a database while it was copied.
var ErrInUse = errors.New("the database changes while it is read; stop OpenClaw first: openclaw gateway stop")

// maxDatabase bounds a database and its log, in bytes each.
const maxDatabase = 64 << 30

// copyAttempts is how often a database that changes is copied again.
const copyAttempts = 3

// suffixes are the files of a database: the log has the newest commits.
// source: https://www.sqlite.org/walformat.html (1.1 Files On Disk)
var suffixes = []string{"", "-wal"}

// copyTo copies a database below root to a path.
func copyTo(root *os.Root, name, path string) error {
	if err := unfinished(root, name); err != nil {
		return err
	}
	for range copyAttempts {
		before, err := state(root, name)
		if err != nil {
			return err
		}
		for i, suffix := range suffixes {
			if err := copyFile(root, name+suffix, path+suffix, before[i]); err != nil {
				return err
			}
		}
		after, err := state(root, name)
		if err != nil {
			return err
		}
		if same(before, after) {
			return nil
		}
	}
	return fmt.Errorf("%s: %w", name, ErrInUse)
}

// state returns what is known of the files of a database; nil for an absent log.
func state(root *os.Root, name string) ([]fs.FileInfo, error) {
	out := make([]fs.FileInfo, len(suffixes))
	for i, suffix := range suffixes {
		info, err := root.Lstat(name + suffix)
		switch {
		case errors.Is(err, fs.ErrNotExist) && suffix != "":
			continue
		case err != nil:
			return nil, err
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("%s: %w: the import follows no link; put the database itself and its -wal in its place, and import again", name+suffix, filesystem.ErrNotRegular)
		case info.Size() > maxDatabase:
			return nil, fmt.Errorf("%s is larger than %d GB", name+suffix, maxDatabase>>30)
		}
		out[i] = info
	}
	return out, nil
}

func same(a, b []fs.FileInfo) bool {
	for i := range a {
		if (a[i] == nil) != (b[i] == nil) {
			return false
		}
		if a[i] != nil && (!os.SameFile(a[i], b[i]) || a[i].Size() != b[i].Size() || !a[i].ModTime().Equal(b[i].ModTime())) {
			return false
		}
	}
	return true
}

// copyFile copies a file as info describes it; nil = the file is absent, and so is the copy.
func copyFile(root *os.Root, name, path string, info fs.FileInfo) (err error) {
	if info == nil {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	in, err := filesystem.OpenIn(root, name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it is only read
	if opened, err := in.Stat(); err != nil || !os.SameFile(opened, info) {
		return errors.Join(err, fmt.Errorf("%s: %w", filepath.Base(name), ErrInUse))
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err == nil {
		_, err = io.Copy(out, io.LimitReader(in, maxDatabase))
		err = errors.Join(err, out.Close())
	}
	if err != nil {
		return fmt.Errorf("copy %s to a temporary folder (TMPDIR names another place for it): %w", name, err)
	}
	return nil
}

// unfinished reports a rollback journal. SQLite would have to undo a transaction first, and the journal may name files elsewhere.
// source: https://www.sqlite.org/fileformat2.html#the_rollback_journal
func unfinished(root *os.Root, name string) error {
	f, err := filesystem.OpenIn(root, name+"-journal")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it is only read
	head := make([]byte, 1)
	if n, _ := f.Read(head); n == 1 && head[0] != 0 { // an empty journal and one with a zeroed header are finished
		return fmt.Errorf("%s-journal has an unfinished transaction; start OpenClaw once and stop it: openclaw gateway stop", name)
	}
	return nil
}
