package backup

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"parley/gateway/configfile"
	"parley/gateway/filesystem"
	"parley/sessions/sqlstore"
)

// Format is the version of the archives that this program writes.
const Format = 1

const (
	manifestName = "manifest.json"
	stateFolder  = "state/"      // in the archive: the files of the state folder
	configName   = "config.yaml" // in the archive: the configuration file
	envName      = ".env"        // in the archive: the file of variables beside the configuration
	maxManifest  = 64 << 20
)

// Manifest says what an archive holds.
type Manifest struct {
	Format  int       `json:"format"`
	Program string    `json:"program"` // version of the parley that wrote it
	Made    time.Time `json:"made"`    // the moment of the copy of the database, not after it
	Store   string    `json:"store"`   // sqlite or postgresql
	Schema  int64     `json:"schema"`  // version of the store's schema
	Media   bool      `json:"media"`   // the files that people sent are in it
	Files   []File    `json:"files"`
	Left    []string  `json:"left,omitempty"` // files that were left out, each with the reason
}

// File is one file of an archive.
type File struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Bytes is the size of all files.
func (m Manifest) Bytes() (n int64) {
	for _, f := range m.Files {
		n += f.Size
	}
	return n
}

// Source is the state that Write puts into an archive.
type Source struct {
	State   string // the folder
	Config  string // the configuration file, with which goes the file of variables beside it; "" = there is none
	Media   bool   // with the files that people sent
	Program string // version

	// Database copies the store's database into a file; nil = the store is on a server.
	Database func(ctx context.Context, to string) error
}

// The names in a state folder that are no part of a backup.
const (
	mediaFolder = "media"
	ownPrefix   = ".backup-" // the working folder of a backup
	oldPrefix   = "before-restore-"
)

// EpochFile is in the state folder since every browser was signed out. It is in no backup and stays at a restore: cookies that are void stay so.
const EpochFile = "browser-epoch"

// passing reports whether a name in the state folder stands for what passes: locks, sockets, what backups and restores leave.
func passing(name string) bool {
	return name == lockName || strings.HasPrefix(name, EpochFile) || name == sqlstore.UnfinishedFile || name == sqlstore.CallsFile || strings.HasSuffix(name, ".sock") || strings.HasPrefix(name, ownPrefix) || strings.HasPrefix(name, oldPrefix) || strings.HasPrefix(name, stagePrefix)
}

// writer is an archive that is being written.
type writer struct {
	Source
	tar  *tar.Writer
	work string // for copies
	m    Manifest
	room int // bytes that the manifest may still take, about
	more int // that were left out and are not named
}

// Write writes an archive of a state folder. The host may be at work on it: what is on disk when Write begins is in the archive.
func Write(ctx context.Context, w io.Writer, s Source) (m Manifest, err error) {
	if err := clearWork(s.State, ownPrefix); err != nil {
		return m, err
	}
	// Beside the database: a copy needs as much room as that, and only there is it private for sure.
	work, err := os.MkdirTemp(s.State, ownPrefix)
	if err != nil {
		return m, fmt.Errorf("create a working folder for the backup: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }() // what stays is no part of the next one
	z := gzip.NewWriter(w)
	x := &writer{Source: s, tar: tar.NewWriter(z), work: work, m: Manifest{Format: Format, Program: s.Program, Made: time.Now().UTC().Truncate(time.Second), Store: "postgresql", Media: s.Media}, room: maxManifest / 2}
	if err := x.all(ctx); err != nil {
		return m, err
	}
	return x.m, errors.Join(x.tar.Close(), z.Close())
}

// clearWork removes what a backup or a restore that was killed left. No other one is under way: the host does one at a time, and no
// host is beside the command line.
func clearWork(state, prefix string) error {
	list, err := os.ReadDir(state)
	if err != nil {
		return fmt.Errorf("read the state folder: %w", err)
	}
	for _, e := range list {
		if strings.HasPrefix(e.Name(), prefix) {
			if err := os.RemoveAll(filepath.Join(state, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// all writes the files in the order in which nothing is missing: files that waiting deliveries need, before the database and again
// after it, because they come before their delivery and go after it; transcripts for people before it, as they follow it.
func (x *writer) all(ctx context.Context) error {
	early, err := x.keepOutbox()
	if err != nil {
		return err
	}
	if err := x.walk(ctx, func(name string, open func() (*os.File, error)) error {
		if !transcript(name) {
			return nil
		}
		return x.add(stateFolder+name, open)
	}); err != nil {
		return err
	}
	if x.Database != nil {
		if err := x.store(ctx); err != nil {
			return err
		}
	}
	if err := x.walk(ctx, func(name string, open func() (*os.File, error)) error {
		switch {
		case transcript(name):
			return nil
		case isDatabase(name):
			return x.database(ctx, name, func(ctx context.Context, to string) error {
				return sqlstore.Copy(ctx, filepath.Join(x.State, filepath.FromSlash(name)), to)
			})
		}
		return x.add(stateFolder+name, open)
	}); err != nil {
		return err
	}
	for _, name := range early {
		if !x.has(stateFolder + name) {
			if err := x.add(stateFolder+name, opener(x.work, name)); err != nil {
				return err
			}
		}
	}
	if x.Config != "" {
		if err := x.add(configName, opener(filepath.Dir(x.Config), filepath.Base(x.Config))); err != nil {
			return err
		}
		if err := x.add(envName, opener(filepath.Dir(x.Config), configfile.EnvName)); err != nil {
			return err
		}
	}
	return x.manifest()
}

// transcript reports whether a file is one of those that people read beside the store.
func transcript(name string) bool { return strings.HasPrefix(name, "agents/") }

// store adds the store's own database.
func (x *writer) store(ctx context.Context) error {
	x.m.Store, x.m.Made = "sqlite", time.Now().UTC().Truncate(time.Second)
	return x.database(ctx, sqlstore.DatabaseFile, func(ctx context.Context, to string) error {
		if err := x.Database(ctx, to); err != nil {
			return err
		}
		in, err := sqlstore.Inspect(ctx, to)
		x.m.Schema = in.Schema
		return err
	})
}

func (x *writer) has(name string) bool {
	return slices.ContainsFunc(x.m.Files, func(f File) bool { return f.Path == name })
}

// keepOutbox links the files of the outbox into the working folder, so that they outlive their deliveries. They never change.
func (x *writer) keepOutbox() (names []string, err error) {
	const outbox = "outbox"
	list, err := os.ReadDir(filepath.Join(x.State, outbox))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(filepath.Join(x.work, outbox), 0o700); err != nil {
		return nil, err
	}
	for _, e := range list {
		if !e.Type().IsRegular() || strings.HasSuffix(e.Name(), ".part") {
			continue
		}
		name := path.Join(outbox, e.Name())
		from, to := filepath.Join(x.State, outbox, e.Name()), filepath.Join(x.work, outbox, e.Name())
		if err := os.Link(from, to); err != nil { // a file system without links
			err = copyFile(opener(x.State, name), to)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
		}
		names = append(names, name)
	}
	return names, nil
}

// isDatabase reports whether a file is one that an adapter has open through SQLite: it is copied the same way.
func isDatabase(name string) bool {
	return strings.HasPrefix(name, "channels/") && strings.HasSuffix(name, ".db")
}

// beside reports whether a file belongs to a database of the host or of an adapter, and is no part of a backup.
func beside(name string) bool {
	if strings.HasPrefix(name, "channels/") {
		return companion(name)
	}
	return !strings.Contains(name, "/") && name != sqlstore.DatabaseFile && strings.HasPrefix(name, sqlstore.DatabaseFile)
}

// companion reports whether a file belongs to a SQLite database.
func companion(name string) bool {
	for _, end := range []string{"-wal", "-shm", "-journal"} {
		if strings.HasSuffix(name, ".db"+end) {
			return true
		}
	}
	return false
}

// database adds a copy of a SQLite file.
func (x *writer) database(ctx context.Context, name string, copyTo func(context.Context, string) error) error {
	const temporary = "copy.db"
	to := filepath.Join(x.work, temporary)
	if err := copyTo(ctx, to); err != nil {
		if errors.Is(err, fs.ErrNotExist) && name != sqlstore.DatabaseFile {
			return nil // it went meanwhile
		}
		return err
	}
	if err := x.addFile(stateFolder+name, to); err != nil {
		return err
	}
	return os.Remove(to)
}

// add adds a file that may grow, shrink or go meanwhile: it is copied first, so that its size is known.
func (x *writer) add(name string, open func() (*os.File, error)) error {
	to := filepath.Join(x.work, "copy")
	err := copyFile(open, to)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, fs.ErrPermission):
		x.leave(name, "unreadable")
		return nil
	case errors.Is(err, filesystem.ErrNotRegular):
		x.leave(name, "not a regular file")
		return nil
	case errors.Is(err, ErrTooLarge):
		x.leave(name, fmt.Sprintf("larger than %d MiB, the largest file that a restore accepts", maxFileBytes>>20))
		return nil
	case err != nil:
		return fmt.Errorf("copying %s: %w", name, err)
	}
	if err := x.addFile(name, to); err != nil {
		return err
	}
	return os.Remove(to)
}

// addFile writes one entry from a file that nobody else knows.
func (x *writer) addFile(name, from string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it is only read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := x.tar.WriteHeader(&tar.Header{Name: name, Size: info.Size(), Mode: 0o600, ModTime: x.m.Made}); err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	h := sha256.New()
	if _, err := io.Copy(io.MultiWriter(x.tar, h), f); err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	x.room -= manifestLine + len(name)
	x.m.Files = append(x.m.Files, File{Path: name, Size: info.Size(), SHA256: hex.EncodeToString(h.Sum(nil))})
	return nil
}

func (x *writer) manifest() error {
	if x.more > 0 {
		x.m.Left = append(x.m.Left, fmt.Sprintf("and %d more", x.more))
	}
	slices.SortFunc(x.m.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	b, err := json.MarshalIndent(x.m, "", "  ")
	if err != nil {
		return err
	}
	if err := x.tar.WriteHeader(&tar.Header{Name: manifestName, Size: int64(len(b)), Mode: 0o600, ModTime: x.m.Made}); err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	if _, err := x.tar.Write(b); err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	return nil
}

// copyFile copies a plain file into one that only its owner can read, and that is made again.
func copyFile(open func() (*os.File, error), to string) error {
	r, err := open()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()                                     // it is only read
	if info, err := r.Stat(); err != nil || info.Size() > maxFileBytes { // a sparse file would fill the disk
		return cmp.Or(err, ErrTooLarge)
	}
	w, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(w, io.LimitReader(r, maxFileBytes+1))
	if err == nil && n > maxFileBytes {
		err = ErrTooLarge
	}
	return errors.Join(err, w.Close())
}

// opener opens a plain file of the host's own, or what a link of the user names.
func opener(folder, rel string) func() (*os.File, error) {
	return func() (*os.File, error) { return filesystem.Open(filepath.Join(folder, filepath.FromSlash(rel))) }
}
