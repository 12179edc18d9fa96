package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"parley/sessions"
)

// Owner is the process that holds a state folder.
type Owner struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Started time.Time `json:"started"`
	Address string    `json:"address,omitempty"` // where its API listens; empty until it does
	Socket  string    `json:"socket,omitempty"`  // name of the socket in the folder where it listens too; empty = none
}

// ownerFile is in the state folder. It is never deleted: who deletes a lock file may delete the lock of the next one.
const ownerFile = "owner.lock"

// lockTimeout is how long a second process waits before it gives up: a process that only looks holds the lock for a moment.
const lockTimeout = 400 * time.Millisecond

// Folder is a state folder that this process owns.
type Folder struct {
	f     *os.File
	dir   *os.File // the folder itself, locked; may be nil
	owner Owner
}

// Own takes a state folder, or says who has it.
func Own(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the state folder: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, ownerFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the owner lock: %w", err)
	}
	deadline := time.Now().Add(lockTimeout)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := lock(f, true)
		if err == nil {
			break
		}
		if !errors.Is(err, errLocked) {
			_ = f.Close()
			return nil, fmt.Errorf("locking %s: %w", f.Name(), err)
		}
		if time.Now().After(deadline) {
			o, err := readOwner(f)
			_ = f.Close()
			return nil, owned(dir, o, err)
		}
		<-tick.C
	}
	Tighten(f.Name())
	whole, err := lockFolder(dir)
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%w: %s is in use by a process whose %s was removed: find it (lsof %s), stop it, and start again", sessions.ErrInUse, dir, ownerFile, dir)
	}
	d := &Folder{f: f, dir: whole, owner: Owner{PID: os.Getpid(), Started: time.Now().Truncate(time.Second)}}
	if d.owner.Host, err = os.Hostname(); err != nil {
		d.owner.Host = "unknown"
	}
	if err := d.Describe("", ""); err != nil {
		return nil, errors.Join(err, d.Release())
	}
	return d, nil
}

func owned(dir string, o Owner, err error) error {
	if err != nil {
		return fmt.Errorf("%w: %s is in use (its %s cannot be read: %w); stop that process or use another state folder", sessions.ErrInUse, dir, ownerFile, err)
	}
	at := ""
	if o.Address != "" {
		at = ", listening on " + o.Address
	}
	return fmt.Errorf("%w: %s is in use by process %d on %s since %s%s; stop it or use another state folder", sessions.ErrInUse, dir, o.PID, o.Host, o.Started.Format(time.DateTime), at)
}

// Describe writes who owns the folder. The file keeps its identity: it carries the lock.
func (d *Folder) Describe(address, socket string) error {
	d.owner.Address, d.owner.Socket = address, socket
	b, err := json.Marshal(d.owner)
	if err != nil {
		return err
	}
	b = append(b, '\n')
	if _, err := d.f.WriteAt(b, 0); err != nil {
		return fmt.Errorf("writing %s: %w", d.f.Name(), err)
	}
	if err := d.f.Truncate(int64(len(b))); err != nil {
		return fmt.Errorf("writing %s: %w", d.f.Name(), err)
	}
	return nil
}

// Private makes sure that no other user can read the database: people's messages are in it. SQLite gives the files beside a database
// the mode of the database.
func Private(path string) {
	if f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err == nil { // otherwise it is there, or opening it says why
		_ = f.Close()
	}
	for _, end := range []string{"", "-wal", "-shm", "-journal"} {
		Tighten(path + end)
	}
}

// Tighten takes the rights of group and others away. A system without modes has none to take.
func Tighten(path string) {
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		_ = os.Chmod(path, info.Mode().Perm()&^0o077) // a file system without modes refuses
	}
}

// Release gives the folder back.
func (d *Folder) Release() error {
	if d.dir != nil {
		_ = d.dir.Close() // it was only locked
	}
	return d.f.Close()
}

func readOwner(f *os.File) (o Owner, err error) {
	if _, err = f.Seek(0, io.SeekStart); err != nil {
		return o, err
	}
	err = json.NewDecoder(io.LimitReader(f, 4096)).Decode(&o)
	return o, err
}

// ReadOwner says which process holds a state folder now. The error wraps ErrNotFound when none does.
func ReadOwner(dir string) (Owner, error) {
	f, err := os.OpenFile(filepath.Join(dir, ownerFile), os.O_RDWR, 0o600)
	if errors.Is(err, os.ErrNotExist) {
		return Owner{}, fmt.Errorf("owner of %s: %w: no process has used it yet", dir, sessions.ErrNotFound)
	}
	if err != nil {
		return Owner{}, fmt.Errorf("owner of %s: %w", dir, err)
	}
	defer func() { _ = f.Close() }()
	switch err := lock(f, false); {
	case err == nil: // the lock goes when the file is closed
		return Owner{}, fmt.Errorf("owner of %s: %w: no process is running on it", dir, sessions.ErrNotFound)
	case !errors.Is(err, errLocked):
		return Owner{}, fmt.Errorf("owner of %s: %w", dir, err)
	}
	o, err := readOwner(f)
	if err != nil {
		return o, fmt.Errorf("owner of %s: reading %s: %w", dir, ownerFile, err)
	}
	return o, nil
}
