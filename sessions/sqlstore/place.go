package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"parley/sessions"
)

// RescuedFile is where what a store had goes when its files were removed or replaced under it. A second one has a number behind its name.
const RescuedFile = DatabaseFile + "-rescued"

// inPlace reports ErrDamaged when somebody has removed or replaced the database, or its log, while it is in use: what is written then is in
// files without a name, and gone when the process ends. What was written before is copied out of them, once. Only the writer calls it.
func (s *Store) inPlace(ctx context.Context) error {
	if s.displaced != nil || s.plain == nil {
		return s.displaced
	}
	for _, x := range []struct {
		path string
		f    *os.File
	}{{s.file, s.plain}, {s.file + "-wal", s.logFile()}} {
		if x.f == nil { // there was none yet
			continue
		}
		now, err := os.Stat(x.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			continue // the disk fails, which is told otherwise
		}
		mine, failed := x.f.Stat()
		if failed != nil || err == nil && os.SameFile(now, mine) {
			continue
		}
		s.displaced = s.rescue(ctx, x.path)
		s.report(s.displaced)
		return s.displaced
	}
	return nil
}

// logFile is the log that the store follows; nil when there was none yet.
func (s *Store) logFile() *os.File {
	if s.sums == nil {
		return nil
	}
	f, _ := s.sums.log.f.(*os.File)
	return f
}

// copyPages writes the database as it was at the last commit, out of the files that are open, page by page. It needs no connection.
func (s *Store) copyPages(ctx context.Context, to string) (err error) {
	if s.sums == nil || !s.sums.settled || s.sums.failing {
		return errors.New("the log was not read up to the last commit")
	}
	_ = os.Remove(to) // what the first try left
	f, err := os.OpenFile(to, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	l, b := &s.sums.log, make([]byte, s.sums.page)
	pages := int64(l.size)
	if info, e := s.plain.Stat(); pages == 0 && e == nil { // the log has no commit
		pages = info.Size() / int64(len(b))
	}
	for at := int64(0); at < pages && err == nil; at++ {
		if p, ok := l.pages[uint32(at+1)]; ok { //nolint:gosec // as the sizes of databases
			err = l.content(b, p)
		} else {
			_, err = s.plain.ReadAt(b, at*int64(len(b)))
		}
		if err == nil {
			_, err = f.Write(b)
		}
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = CheckFile(ctx, to)
	}
	return err
}

// rescue copies what the connection still sees, and says what a person can do.
func (s *Store) rescue(ctx context.Context, path string) error {
	first := filepath.Join(s.conf.Dir, RescuedFile)
	to := first
	for n := 2; !gone(to); n++ { // an earlier one may be all that there is of something
		to = fmt.Sprintf("%s-%d", first, n)
	}
	_, err := s.writer.Exec(ctx, "VACUUM INTO ?", to)
	if err != nil { // who opens what is in its place now may spoil the memory that SQLite's connections share
		if e := s.copyPages(ctx, to); e == nil {
			err = nil
		} else {
			err = errors.Join(err, e)
		}
	}
	what := fmt.Errorf("%w: %s was removed or replaced while the host was at work", sessions.ErrDamaged, path)
	if err != nil {
		return fmt.Errorf("%w. What it had could not be copied (%w). Put a backup in its place with: parley restore FILE", what, err)
	}
	Tighten(to)
	return fmt.Errorf("%w. All that it had is in %s. To go on with that: move %s, and those with -wal, -shm, -commits and -sums behind their names, away, and rename %s to %s", what, to, s.file, to, s.file)
}
