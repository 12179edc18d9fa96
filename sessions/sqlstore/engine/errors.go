package engine

import (
	"fmt"

	"parley/sessions"
)

// Conflict says that an operation does not fit the state that it found.
func Conflict(format string, args ...any) error {
	return fmt.Errorf("%w: %s", sessions.ErrConflict, fmt.Sprintf(format, args...))
}

// UserError is an error for people: its words stand by themselves, whatever it wraps.
type UserError struct {
	Words string
	Is    error
}

func (e *UserError) Error() string { return e.Words }
func (e *UserError) Unwrap() error { return e.Is }

// NotFound says that something is not there.
func NotFound(what string, id any) error {
	return fmt.Errorf("%s %q: %w", what, fmt.Sprint(id), sessions.ErrNotFound)
}
