package api

import (
	"context"
	"fmt"
)

// Scope is a set of operations that a token may call. Each scope includes those before it.
type Scope string

// The scopes.
const (
	Read  Scope = "read"  // look at everything, secrets left out
	Write Scope = "write" // talk to agents, send, retry, stop
	Admin Scope = "admin" // settings, policy, people, accounts, jobs: whatever an owner may
)

var ranks = map[Scope]int{Read: 1, Write: 2, Admin: 3}

// Allows reports whether a scope is enough where need is asked for. An unknown scope allows nothing.
func (s Scope) Allows(need Scope) bool { return ranks[s] > 0 && ranks[s] >= ranks[need] }

// RefuseScope says that a principal lacks a scope, and where it gets one.
func RefuseScope(what string, need Scope, p Principal) string {
	return fmt.Sprintf("%s needs the scope %s; the token %q has %s (set its scope in gateway.tokens, or use another token)", what, need, p.Name, p.Scope)
}

// Owner is the name of the principal that the gateway's own token, the page of the person who holds it and the socket stand for.
const Owner = "owner"

// Principal is the authenticated sender of a request. The zero Principal may do nothing.
type Principal struct {
	Name  string // of the token, as in the configuration; Owner
	Scope Scope
}

type principalKey struct{}

// With puts the principal into a request's context: the guard does.
func With(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// Caller gives who sent the request.
func Caller(ctx context.Context) Principal {
	p, _ := ctx.Value(principalKey{}).(Principal)
	return p
}
