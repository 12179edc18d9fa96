package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"parley/sessions"
	"parley/sessions/sqlstore"
)

const (
	stagePrefix = ".restore-"
	lockName    = "owner.lock" // the lock of a state folder
)

// Options say what is put where.
type Options struct {
	State  string // the folder
	Active string // the configuration file in force; "" = there is none. It and the file of variables beside it stay
	Server bool   // the configured store is a PostgreSQL database
	DryRun bool   // everything is checked, nothing is changed
	Now    time.Time

	MaxBytes int64 // that the archive may unpack to; 0 = DefaultMaxBytes, and no more than a backup could be packed into

	sync func(folder string) error // nil = SyncFolder
}

// Report says what a restore did, or would do.
type Report struct {
	Manifest Manifest         `json:"manifest"`
	Backup   *sqlstore.Inside `json:"backup,omitempty"`   // what the archive's database holds
	Before   *sqlstore.Inside `json:"before,omitempty"`   // what the database held that was there; nil = there was none that can be read
	Aside    string           `json:"aside,omitempty"`    // where the state before is now, and what of the archive is not put in force
	Config   string           `json:"config,omitempty"`   // where the archive's configuration file is now
	Env      string           `json:"env,omitempty"`      // where the archive's file of variables (.env) is now
	Replaced []string         `json:"replaced,omitempty"` // names in the state folder that were moved aside
	Kept     []string         `json:"kept,omitempty"`     // names in the state folder that stay: they are in no backup
	Restored []string         `json:"restored"`           // names in the state folder that come from the archive
	DryRun   bool             `json:"dryRun"`
}

// restore is one restore under way.
type restore struct {
	Options
	stage string
	Report
	beside []string // names of the archive that are not put in force
}

// Restore puts an archive in the place of the state. It refuses while a host runs on it. All of the archive is checked before
// anything is changed; what it replaces is moved aside, never deleted.
func Restore(ctx context.Context, r io.Reader, o Options) (_ Report, err error) {
	made := missingFolders(filepath.Join(o.State, lockName))
	release, err := sqlstore.Hold(o.State)
	if err != nil {
		if errors.Is(err, sessions.ErrInUse) {
			err = fmt.Errorf("stop the host before a restore: %w", err)
		}
		return Report{}, err
	}
	defer func() {
		if o.DryRun || err != nil {
			for _, path := range made { // as long as the lock is held: behind that it may be the lock of a host
				_ = os.Remove(path) // a folder in which there is something stays
			}
		}
		if e := release(); err == nil {
			err = e
		}
	}()
	if err := clearWork(o.State, stagePrefix); err != nil {
		return Report{}, err
	}
	if o.sync == nil {
		o.sync = SyncFolder
	}
	x := &restore{Options: o, Report: Report{DryRun: o.DryRun}}
	if x.stage, err = os.MkdirTemp(o.State, stagePrefix); err != nil {
		return x.Report, fmt.Errorf("create a folder to unpack into: %w", err)
	}
	defer func() { _ = os.RemoveAll(x.stage) }() // empty but for what failed
	if err := readAhead(ctx, r, o); err != nil {
		return x.Report, &RefusedError{err, x.stage}
	}
	if x.Manifest, err = unpack(ctx, r, x.stage, boundsOf(o)); err != nil {
		return x.Report, &RefusedError{err, x.stage}
	}
	if err := x.examine(ctx); err != nil {
		return x.Report, &RefusedError{err, x.stage}
	}
	if o.DryRun {
		return x.Report, nil
	}
	return x.Report, x.move()
}

// missingFolders gives a path and the folders above it that do not exist, the path first.
func missingFolders(path string) (all []string) {
	for ; ; path = filepath.Dir(path) {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return all
		}
		all = append(all, path)
	}
}

// RefusedError says why an archive is not put in the place of the state. Nothing was changed. Files are named as in the archive.
type RefusedError struct {
	err   error
	stage string
}

// Error implements error.
func (e *RefusedError) Error() string {
	return strings.ReplaceAll(e.err.Error(), e.stage+string(filepath.Separator), "")
}

// Unwrap gives the cause.
func (e *RefusedError) Unwrap() error { return e.err }

// readAhead reads an archive that is a file once before anything is written: what is refused then took no time of the disk.
func readAhead(ctx context.Context, r io.Reader, o Options) error {
	file, ok := r.(io.Seeker)
	if !ok {
		return nil
	}
	at, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil //nolint:nilerr // a pipe: it is read once
	}
	if _, err := read(ctx, r, nil, boundsOf(o)); err != nil {
		return err
	}
	_, err = file.Seek(at, io.SeekStart)
	return err
}

// examine looks into the databases, and decides what goes and what stays.
func (x *restore) examine(ctx context.Context) error {
	staged := filepath.Join(x.stage, stateFolder, sqlstore.DatabaseFile)
	if exists(staged) { // before anything else is asked of it
		if err := sqlstore.CheckSchema(ctx, staged); err != nil {
			return fmt.Errorf("the database of the backup: %w", err)
		}
	}
	in, err := sqlstore.Inspect(ctx, staged)
	switch {
	case err == nil:
		if err := sqlstore.CheckFile(ctx, staged); err != nil {
			return fmt.Errorf("the database of the backup is damaged: %w", err)
		}
		x.Backup = &in
		if x.Manifest.Store != "sqlite" || x.Manifest.Schema != in.Schema {
			return bad("its manifest names a store of the kind %.40q with schema %d, but its database is SQLite with schema %d", x.Manifest.Store, x.Manifest.Schema, in.Schema)
		}
		if x.Server {
			return errors.New("this backup holds a SQLite database, and the configuration names a PostgreSQL database (store.dsn): restore it with a configuration without store.dsn")
		}
	case errors.Is(err, fs.ErrNotExist) && x.Manifest.Store == "postgresql":
		if !x.Server {
			return errors.New("this backup is of a host with a PostgreSQL database, which is not in the backup: restore the database with pg_restore, and name it in store.dsn")
		}
	case errors.Is(err, fs.ErrNotExist):
		return bad("its manifest names a store of the kind %.40q, and the database %s is not in it: make a new backup with `parley backup`", x.Manifest.Store, stateFolder+sqlstore.DatabaseFile)
	default:
		return fmt.Errorf("the database of the backup: %w", err)
	}
	for _, f := range x.Manifest.Files {
		if rest, ok := strings.CutPrefix(f.Path, stateFolder); ok && isDatabase(rest) {
			if err := sqlstore.CheckPlain(ctx, filepath.Join(x.stage, filepath.FromSlash(f.Path))); err != nil {
				return fmt.Errorf("%s of the backup: %w", f.Path, err)
			}
			if err := sqlstore.CheckFile(ctx, filepath.Join(x.stage, filepath.FromSlash(f.Path))); err != nil {
				return fmt.Errorf("a database of the backup is damaged: %w", err)
			}
		}
	}
	if before, err := sqlstore.Inspect(ctx, filepath.Join(x.State, sqlstore.DatabaseFile)); err == nil {
		x.Before = &before
	}
	return x.plan()
}

func (x *restore) plan() error {
	own, err := keptNames(x.State, x.Active)
	if err != nil {
		return err
	}
	list, err := os.ReadDir(x.State)
	if err != nil {
		return err
	}
	for _, e := range list {
		switch name := e.Name(); {
		case passing(name):
		case slices.Contains(own, name):
			x.Kept = append(x.Kept, name)
		case name == mediaFolder && !x.Manifest.Media:
			x.Kept = append(x.Kept, name)
		default:
			x.Replaced = append(x.Replaced, name)
		}
	}
	list, err = os.ReadDir(filepath.Join(x.stage, stateFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range list {
		if slices.Contains(own, e.Name()) {
			x.beside = append(x.beside, e.Name())
			continue
		}
		x.Restored = append(x.Restored, e.Name())
	}
	return nil
}

// move changes the folders. A crash or a power cut at any point leaves a folder that no host starts on, and in which a restore can be
// begun again: what a step relies on is on disk before it.
func (x *restore) move() (err error) {
	if err := x.makeAside(); err != nil {
		return err
	}
	if err := x.syncBelow(filepath.Join(x.stage, stateFolder)); err != nil {
		return err
	}
	mark := filepath.Join(x.State, sqlstore.UnfinishedFile)
	if err := writeSynced(mark, x.Aside+"\n"); err != nil {
		return fmt.Errorf("mark the state folder: %w", err)
	}
	if err := errors.Join(x.sync(filepath.Dir(x.Aside)), x.sync(x.State)); err != nil {
		return err
	}
	for _, name := range x.Replaced {
		if err := os.Rename(filepath.Join(x.State, name), filepath.Join(x.Aside, name)); err != nil {
			return fmt.Errorf("move the old state aside: %w (moved files are in %s)", err, x.Aside)
		}
	}
	for _, name := range x.Restored {
		if err := os.Rename(filepath.Join(x.stage, stateFolder, name), filepath.Join(x.State, name)); err != nil {
			return fmt.Errorf("move the backup into place: %w (the old state is in %s)", err, x.Aside)
		}
	}
	if err := x.putBeside(); err != nil {
		return err
	}
	if err := errors.Join(x.sync(x.Aside), x.sync(x.State)); err != nil {
		return err
	}
	if len(x.Replaced) == 0 && os.Remove(x.Aside) == nil { // nothing was there: the folder is empty
		x.Aside = ""
	}
	if err := os.Remove(mark); err != nil {
		return err
	}
	return x.sync(x.State)
}

// putBeside puts what is not put in force beside the old state.
func (x *restore) putBeside() error {
	for staged, p := range map[string]*string{configName: &x.Config, envName: &x.Env} {
		if from := filepath.Join(x.stage, staged); exists(from) {
			*p = filepath.Join(x.Aside, asideNames[staged])
			if err := os.Rename(from, *p); err != nil {
				return fmt.Errorf("move %s of the backup aside: %w", staged, err)
			}
		}
	}
	for _, name := range x.beside {
		if name == envName && x.Env != "" || name == filepath.Base(x.Active) && x.Config != "" {
			continue // it is in the archive twice
		}
		if err := os.Rename(filepath.Join(x.stage, stateFolder, name), filepath.Join(x.Aside, name+"-of-the-backup")); err != nil {
			return fmt.Errorf("move %s of the backup aside: %w", name, err)
		}
	}
	return nil
}

// syncBelow makes the names in a folder and in those below it durable.
func (x *restore) syncBelow(folder string) error {
	return filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return x.sync(path)
	})
}

// asideNames are the names beside the old state of what is not put in force.
var asideNames = map[string]string{configName: "config-of-the-backup.yaml", envName: "env-of-the-backup"}

// Waiting gives the files in a folder that a restore left which hold the backup's configuration and its variables: they are not in
// force.
func Waiting(aside string) (files []string) {
	for _, name := range []string{configName, envName} {
		if path := filepath.Join(aside, asideNames[name]); exists(path) {
			files = append(files, path)
		}
	}
	return files
}

// Asides gives the folders that restores left beside or in the state folder.
func Asides(state string) []string {
	beside, _ := filepath.Glob(state + "." + oldPrefix + "*") // the pattern is valid but for folders with odd names
	inner, _ := filepath.Glob(filepath.Join(state, oldPrefix+"*"))
	return append(beside, inner...)
}

// makeAside makes the folder for the old state: beside the state folder, or in it where that is not possible (a mount point, a parent
// that belongs to somebody else).
func (x *restore) makeAside() error {
	stamp := x.Now.UTC().Format("20060102T150405Z")
	beside := x.State + "." + oldPrefix + stamp
	err := os.Mkdir(beside, 0o700)
	if err == nil {
		probe := filepath.Join(x.stage, "probe")
		if err = writeSynced(probe, ""); err == nil {
			err = os.Rename(probe, filepath.Join(beside, "probe"))
		}
		if err == nil {
			x.Aside = beside
			return os.Remove(filepath.Join(beside, "probe"))
		}
		_ = os.Remove(beside) // another file system
	}
	x.Aside = filepath.Join(x.State, oldPrefix+stamp)
	if err := os.Mkdir(x.Aside, 0o700); err != nil {
		return fmt.Errorf("create a folder for the old state: %w", err)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func writeSynced(path, text string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// SyncFolder makes the names in a folder durable. Windows has no such call for folders.
func SyncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	if err := f.Sync(); err != nil && !errors.Is(err, fs.ErrInvalid) && !errors.Is(err, fs.ErrPermission) {
		_ = f.Close() // the first error counts
		return err
	}
	return f.Close()
}
