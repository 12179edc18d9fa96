package channels

import (
	"errors"
	"fmt"
	"time"
)

// Class says what an error means for the message that met it. Adapters set it; the gate and the supervisor act on it.
type Class string

// The classes.
const (
	Transient    Class = "transient"    // it surely did not arrive; the same call may work later
	Limited      Class = "limited"      // the platform asked to wait; it did not arrive. RetryAfter says how long
	Rejected     Class = "rejected"     // the platform will never take this message to this address
	Unauthorized Class = "unauthorized" // the login is not valid (any more); nothing works until a person acts
	Unsupported  Class = "unsupported"  // this platform or chat cannot do that
	Ambiguous    Class = "ambiguous"    // it may have arrived: the request left and no answer came
)

// Error is what Send, Edit and Run return. Its text never contains a secret.
type Error struct {
	Class      Class
	RetryAfter time.Duration // Limited: do not call before this has passed, see Asked; 0 = unknown
	Moved      ChatID        // the chat has this id now (a group became a supergroup); the message did not arrive
	Err        error
}

func (e *Error) Error() string {
	if e.RetryAfter > 0 {
		return fmt.Sprintf("%s (retry after %s): %v", e.Class, e.RetryAfter, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.Class, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Classify gives the *Error inside err. An error without one is taken as Ambiguous: the careful reading.
func Classify(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Class: Ambiguous, Err: err}
}

// FieldError is what is wrong with one field of an adapter's configuration. Its text never contains a secret. An adapter's
// configuration says what is wrong with it by `Validate() error`: nil, a *FieldError, or several of them joined.
type FieldError struct {
	Field string // as it is written in the file: "token"
	Text  string
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Text }
