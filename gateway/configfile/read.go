package configfile

import (
	"errors"
	"io"

	"parley/gateway/filesystem"
)

// MaxSize is the size of the largest file that is read, in bytes.
const MaxSize = 1 << 20

// ErrTooLarge is the error of a file above MaxSize.
var ErrTooLarge = errors.New("too large")

// Read reads a configuration file, the variables beside it or the list of trusted folders. It opens regular files only, so it never waits.
func Read(path string) ([]byte, error) {
	f, err := filesystem.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err == nil && len(data) > MaxSize {
		err = ErrTooLarge
	}
	return data, err
}
