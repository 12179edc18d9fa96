package filestore

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// writeWhole writes a file as a whole or not at all.
func writeWhole(path string, data []byte) error {
	f, err := newFile(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone when it was renamed
	if _, err = f.Write(data); err == nil {
		err = f.Sync() // else a name may be on disk before what it names
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// newFile begins a file in a folder of the host, which it makes.
func newFile(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return os.CreateTemp(dir, "new-*")
}

// evict removes the files of a folder that were last touched before a time, and then the oldest until at most so many bytes are left.
func evict(log *slog.Logger, dir string, before time.Time, most int64) {
	if dir == "" {
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("cannot list a folder", keyErr, err)
	}
	var files []fs.FileInfo
	total := int64(0)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files, total = append(files, info), total+info.Size()
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files {
		if !f.ModTime().Before(before) && total <= most {
			return
		}
		if err := os.Remove(filepath.Join(dir, f.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			log.Warn("cannot remove an old file", keyErr, err)
			continue
		}
		total -= f.Size()
	}
}

// syncFolder puts the names in a folder on disk, where the system can.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync() // not every system syncs folders; the file itself is on disk
		_ = d.Close()
	}
}
