package channels

import (
	"fmt"
	"io"
)

// ReadAtMost reads all of a file for a Fetcher: one that is larger than limit is Rejected, one that breaks off Transient.
func ReadAtMost(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	switch {
	case err != nil:
		return nil, &Error{Class: Transient, Err: err}
	case int64(len(data)) > limit:
		return nil, &Error{Class: Rejected, Err: fmt.Errorf("the file is larger than the limit of %d bytes", limit)}
	}
	return data, nil
}

// TooLarge is the error for a file of which it is known before that it is larger than the limit.
func TooLarge(size, limit int64) error {
	return &Error{Class: Rejected, Err: fmt.Errorf("the file has %d bytes, more than the limit of %d", size, limit)}
}
