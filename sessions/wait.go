package sessions

import "context"

type waitsForStore struct{}

// WaitForStore returns a context under which a read waits for a store that is away until the context ends, in place of some seconds. It is for
// work that is not repeated when it fails, such as a turn.
func WaitForStore(ctx context.Context) context.Context {
	return context.WithValue(ctx, waitsForStore{}, true)
}

// WaitsForStore reports whether the context is one of WaitForStore's.
func WaitsForStore(ctx context.Context) bool { return ctx.Value(waitsForStore{}) != nil }
