package channels

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
)

// ErrPanic is the error of a call that panicked.
var ErrPanic = errors.New("panic")

// RecoverPanic turns a panic into an error, with the stack in the log. It is deferred.
func RecoverPanic(log *slog.Logger, what string, err *error) {
	const keyStep, keyErr, keyStack = "step", "err", "stack"
	if p := recover(); p != nil {
		log.Error("panic", keyStep, what, keyErr, p, keyStack, string(debug.Stack()))
		*err = fmt.Errorf("%s: %w: %v", what, ErrPanic, p)
	}
}

// CatchPanic calls an adapter and turns its panic into an error.
func CatchPanic(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &Error{Class: Ambiguous, Err: fmt.Errorf("the adapter panicked: %v", p)}
		}
	}()
	return call()
}
