package channels

import (
	"fmt"
	"runtime/debug"
)

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
