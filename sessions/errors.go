package sessions

import (
	"errors"
	"fmt"
)

// BadRequest returns an ErrBadRequest that has a text of its own.
func BadRequest(format string, a ...any) error { return WithText(ErrBadRequest, format, a...) }

// WithText returns an error that is kind and has a text of its own.
func WithText(kind error, format string, a ...any) error {
	return &textError{kind, fmt.Sprintf(format, a...)}
}

// textError is an error of a kind whose text is complete.
type textError struct {
	kind  error
	words string
}

func (e *textError) Error() string { return e.words }

func (e *textError) Unwrap() error { return e.kind }

// ErrBadRequest says that a request is wrong; the rest of the text says where.
var ErrBadRequest = errors.New("invalid request")
