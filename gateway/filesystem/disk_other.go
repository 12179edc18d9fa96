//go:build !linux

package filesystem

// Of knows nothing of this system: no kind, and no error.
func Of(string) (free uint64, kind string, err error) { return 0, "", nil }
