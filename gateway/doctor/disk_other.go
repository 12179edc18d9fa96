//go:build !linux

package doctor

// filesystem knows nothing of this system.
func filesystem(string) (free uint64, kind string, err error) { return 0, "", nil }
