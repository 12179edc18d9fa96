//go:build unix

package engine

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

var errLocked = errors.New("locked by another process")

// lockFolder has the folder itself locked as well, where that works: a lock file is removed sooner. It does not wait.
func lockFolder(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // what is wrong with it is told otherwise
	}
	if errors.Is(lock(f, true), errLocked) {
		return nil, errors.Join(errLocked, f.Close())
	}
	return f, nil
}

// lock takes a lock that the system gives back when the process ends, however it ends. It does not wait.
func lock(f *os.File, exclusive bool) error {
	how := unix.LOCK_SH
	if exclusive {
		how = unix.LOCK_EX
	}
	err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errLocked
	}
	return err
}
