package channels

import (
	"context"
	"time"
)

// Inbox takes one event from an adapter. Adapters call it, from any goroutine; it may block until the event is durable.
//
// A nil error means that the event is on disk: only now may the adapter acknowledge it to the platform. Any error means that it
// is not: the adapter must leave the event unacknowledged and let the platform deliver it again, after a short wait. Offering
// the same event again is harmless. Events of one chat must be offered in order, one after the other; events of different
// chats may be offered at the same time, which lets the store commit them together.
type Inbox func(ctx context.Context, in Inbound) error

// Channel is one account on one platform. Everything else that a platform may be able to do is in Caps.
type Channel interface {
	// Run connects and feeds the inbox until ctx ends, when it returns nil after the events under way have been offered. The
	// supervisor calls it again when it returns an error, with backoff (Transient, Limited, Ambiguous) or not at all until the
	// configuration changes (Unauthorized, Rejected). One Run at a time.
	Run(ctx context.Context, in Inbox) error

	// Send hands one message to the platform. Only the gate calls it; calls for one chat never overlap, calls for several chats
	// do, and calls may come before Run has connected. Every error is an *Error. Send does not retry.
	Send(ctx context.Context, out Outbound) (Receipt, error)

	// Limits says what the address allows. No I/O, never blocks.
	Limits(to Address) Limits
}

// The optional abilities. Probe finds them once; nobody else asserts types.
type (
	// Typer shows "typing…" in a chat for a few seconds. Best effort: the gate calls it under the send policy and ignores errors.
	Typer interface {
		Typing(ctx context.Context, to Address) error
	}
	// Drafter shows the text of an answer while it is being written. id is stable for one answer; the final message replaces
	// the draft. Best effort, under the send policy.
	Drafter interface {
		Draft(ctx context.Context, to Address, id, text string) error
	}
	// Editor replaces the text of a message that was sent before. Errors as for Send.
	Editor interface {
		Edit(ctx context.Context, id MessageID, out Outbound) error
	}
	// Reactor puts a reaction of the bot below a message; an empty emoji takes it away. Best effort, under the send policy.
	Reactor interface {
		React(ctx context.Context, to Address, id MessageID, emoji string) error
	}
	// Fetcher reads a file that came with a message, by its Ref. It reads at most limit bytes, more is an error that says so.
	// Errors as for Send.
	Fetcher interface {
		Fetch(ctx context.Context, m Media, limit int64) ([]byte, error)
	}
	// Commander publishes the chat commands to the platform's own menu. Called once after start; must skip an unchanged list.
	Commander interface {
		Publish(ctx context.Context, cmds []Command) error
	}
	// Reconciler finds out whether an ambiguous send arrived, by the key of the Outbound.
	Reconciler interface {
		Arrived(ctx context.Context, out Outbound) (Receipt, bool, error)
	}
	// Reporter tells how the connection is.
	Reporter interface {
		Health() Health
	}
)

// Command is a chat command as a platform's menu shows it.
type Command struct{ Name, Description string }

// State is where a connection stands.
type State string

// The states. The last four are permanent until a person does something; Health.Detail says what.
const (
	Connecting   State = "connecting"
	Connected    State = "connected"
	Disconnected State = "disconnected" // trying again
	Conflict     State = "conflict"     // another process uses the same login
	LoggedOut    State = "logged_out"
	Revoked      State = "revoked" // the platform refuses the token
	Stopped      State = "stopped"
)

// Health is what an adapter knows about its connection. LastSeen is the last time that the platform proved to be there by
// answering a poll or acknowledging a heartbeat, not the last time that something was sent (a bot that can send may be deaf).
type Health struct {
	State    State
	LastSeen time.Time
	Stale    time.Duration // LastSeen older than this means deaf
	Detail   string        // what is wrong and what to do; never a secret
	Name     string        // the account's own name on the platform, once known
}

// Live reports whether the platform answered recently enough.
func (h Health) Live(now time.Time) bool {
	return h.State == Connected && now.Sub(h.LastSeen) <= h.Stale
}

// Caps are the abilities of one channel; nil means that it has not got it.
type Caps struct {
	Typer      Typer
	Drafter    Drafter
	Editor     Editor
	Reactor    Reactor
	Fetcher    Fetcher
	Commander  Commander
	Reconciler Reconciler
	Reporter   Reporter
}

// Probe finds the abilities of ch.
func Probe(ch Channel) Caps {
	var c Caps
	c.Typer, _ = ch.(Typer)
	c.Drafter, _ = ch.(Drafter)
	c.Editor, _ = ch.(Editor)
	c.Reactor, _ = ch.(Reactor)
	c.Fetcher, _ = ch.(Fetcher)
	c.Commander, _ = ch.(Commander)
	c.Reconciler, _ = ch.(Reconciler)
	c.Reporter, _ = ch.(Reporter)
	return c
}
