package sessions

import (
	"errors"
	"fmt"
)

// BadRequest returns an ErrBadRequest that has a text of its own.
func BadRequest(format string, a ...any) error { return &badRequest{fmt.Sprintf(format, a...)} }

// badRequest is an ErrBadRequest whose text is complete.
type badRequest struct{ words string }

func (e *badRequest) Error() string { return e.words }

func (e *badRequest) Unwrap() error { return ErrBadRequest }

// ErrBadRequest says that a request is wrong; the rest of the text says where.
var ErrBadRequest = errors.New("invalid request")
