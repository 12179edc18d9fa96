package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// sum is what is known of the content of a database file. SQLite notices when a file's structure makes no sense; a flipped bit in a text
// or a number it takes as it is. A store that is closed in order leaves the size and the CRC-32C of its file in the second line of
// CommitsFile, and the next start compares before the file is changed. A host that was killed leaves none.
type sum struct {
	size  int64
	crc   uint32
	known bool

	commits int64 // the number of the last commit in it: another's sum says nothing
	schema  int64 // and its version
}

// sumBudget is how long a stop may take to read the file.
const sumBudget = time.Second

var errTooLarge = errors.New("it takes too long to read")

// unlike stands in the place of a sum when the host was at work already as the file was found not to be as it was closed.
const unlike = "damaged\n"

// readSum finds the sum in what CommitsFile holds. Where there is a log, the file may have changed since.
func readSum(b []byte, path string) (x sum, err error) {
	_, line, _ := strings.Cut(string(b), "\n")
	if line == unlike {
		return x, broken(path, "an earlier start found that it is not as it was closed. "+howToGoOn(path))
	}
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		return x, nil
	}
	if _, err := fmt.Sscanf(line, "%d %x %d %d\n", &x.size, &x.crc, &x.commits, &x.schema); err == nil && strings.HasSuffix(line, "\n") {
		x.known = true
	}
	return x, nil
}

func howToGoOn(path string) string {
	return "A disk or a copy damaged it, or something else wrote to it, such as an older parley. To go on with what is there, remove " + path + "-commits"
}

// sumOf reads a file, as long as enough gives no error.
func sumOf(f *os.File, enough func() error) (x sum, err error) {
	table := crc32.MakeTable(crc32.Castagnoli)
	buf := make([]byte, 1<<20)
	for {
		n, err := f.ReadAt(buf, x.size)
		x.crc = crc32.Update(x.crc, table, buf[:n])
		x.size += int64(n)
		if errors.Is(err, io.EOF) {
			x.known = true
			return x, nil
		}
		if err == nil {
			err = enough()
		}
		if err != nil {
			return x, err
		}
	}
}

// checkClosed says whether a database that nobody uses is what a start would take.
func checkClosed(ctx context.Context, path string) error {
	left, err := checkCommits(ctx, filepath.Dir(path), path)
	if err != nil || !left.known {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	now, err := sumOf(f, ctx.Err)
	if err == nil && (now.size != left.size || now.crc != left.crc) {
		return notAsClosed(path, now, left)
	}
	return err
}

func notAsClosed(path string, now, left sum) error {
	return broken(path, fmt.Sprintf("it is not as it was closed: its %d bytes have the sum %08x, there were %d with %08x. %s", now.size, now.crc, left.size, left.crc, howToGoOn(path)))
}

// compare reads the file as it was closed, and says what is wrong with it. A snapshot that is older than all there is in the log keeps
// the log from being moved into the file meanwhile.
func (s *Store) compare(ctx context.Context, left sum) (result chan error, err error) {
	result = make(chan error, 1)
	if !left.known {
		s.sound.Store(true)
		result <- nil
		return result, nil
	}
	c, err := s.d.connect(ctx, s.readDSN)
	if err != nil {
		return nil, err
	}
	if _, err = c.exec(ctx, "BEGIN"); err == nil {
		_, err = c.number(ctx, "SELECT count(*) FROM sqlite_schema")
	}
	if err == nil {
		// It is closed after SQLite's own files: closing any other file of the database would end its locks.
		s.plain, err = os.Open(s.file)
	}
	if err != nil {
		_ = c.Close() // the first error counts
		return nil, err
	}
	s.background.Go(func() {
		defer func() { _ = c.Close() }() // it only reads
		now, err := sumOf(s.plain, ctx.Err)
		switch {
		case err != nil: // stopped meanwhile, or the disk fails: nothing is known
			s.conf.Logger.Debug("the database was not compared with what was closed", "err", err)
			err = nil
			s.forgetSum()
		case now.size == left.size && now.crc == left.crc:
			s.sound.Store(true)
			s.forgetSum()
		default:
			s.changed.Store(true) // the sum stays: the next start finds the same
			err = notAsClosed(s.file, now, left)
		}
		result <- err
	})
	return result, nil
}

// forgetSum removes the sum of a file that is going to change. One that stays speaks of another commit.
func (s *Store) forgetSum() {
	if err := s.secondLine(""); err != nil {
		s.conf.Logger.Warn("cannot remove the sum of the database as it was closed", "err", err)
	}
}

// secondLine replaces the second line of CommitsFile; "" removes it. Others write the first.
func (s *Store) secondLine(line string) error {
	f, err := os.OpenFile(filepath.Join(s.conf.Dir, CommitsFile), os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(line), commitsLine)
	if err == nil {
		err = f.Truncate(commitsLine + int64(len(line)))
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// leaveSum notes the sum of a file that nobody has open any more, if it can be read in time and was sound at the start. What goes wrong
// here has the next start check the structure only.
func (s *Store) leaveSum() error {
	if _, err := os.Stat(s.file + "-wal"); !errors.Is(err, fs.ErrNotExist) || !s.sound.Load() {
		return nil // the log could not be moved into it
	}
	f, err := os.Open(s.file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	began := time.Now()
	x, err := sumOf(f, func() error {
		if time.Since(began) > sumBudget {
			return errTooLarge
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.secondLine(fmt.Sprintf("%d %08x %d %d\n", x.size, x.crc, s.tx.commits, s.schema))
}
