package engine

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

var errLocked = errors.New("locked by another process")

// lockFolder does nothing: a lock file that is in use cannot be removed.
func lockFolder(string) (*os.File, error) { return nil, nil } //nolint:nilnil // there is none

// lock takes a lock that the system gives back when the process ends, however it ends. It does not wait. It covers one byte far
// behind the text, which so stays readable for others.
func lock(f *os.File, exclusive bool) error {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errLocked
	}
	return err
}
