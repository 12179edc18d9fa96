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

// Panic is what an adapter panicked with.
type Panic struct {
	Value any
	Stack string
}

func (p *Panic) Error() string { return fmt.Sprintf("the adapter panicked: %v", p.Value) }

// CatchPanic calls an adapter and returns its error. A panic becomes an Error of the class with a Panic in it.
func CatchPanic(class Class, call func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &Error{Class: class, Err: &Panic{Value: v, Stack: string(debug.Stack())}}
		}
	}()
	return call()
}
