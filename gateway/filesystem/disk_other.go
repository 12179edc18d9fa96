//go:build !linux

package filesystem

import "os"

// Of knows nothing of this system: no kind, and no error.
func Of(string) (free uint64, kind string, err error) { return 0, "", nil }

// CanSyncAll says that SyncAll has no effect here.
const CanSyncAll = false

// SyncAll does nothing on this system.
func SyncAll(*os.File) error { return nil }
