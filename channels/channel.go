package channels

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// Inbox takes one event from an adapter. Adapters call it, from any goroutine; it may block until the event is durable.
//
// A nil error means that the event is on disk: only now may the adapter acknowledge it to the platform. Any error means that it
// is not: the adapter must leave the event unacknowledged and let the platform deliver it again, after a short wait. Offering
// the same event again is harmless. Events of one chat must be offered in order, one after the other; events of different
// chats may be offered at the same time, which lets the store commit them together.
type Inbox func(ctx context.Context, in Inbound) error

// ErrLeave from an Inbox says that the event is not for this process: the adapter neither acknowledges it nor waits for it, and goes on with the
// next event of the chat. A later Run gets the event where the platform keeps what was not acknowledged. Telegram and Discord know it, to
// others it is an error like any other.
var ErrLeave = errors.New("the event is left for a later connection")

// Channel is one account on one platform. Everything else that a platform may be able to do is in Caps.
type Channel interface {
	// Run connects and feeds the inbox until ctx ends, when it returns nil after the events under way have been offered. The
	// supervisor calls it again when it returns an error: with backoff (Transient, Limited, Ambiguous), or after half an hour while the
	// state is Revoked or Refused (Unauthorized, Rejected); in another permanent state not before a person has acted. One Run at a time.
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
	// the draft. Empty text ends one that no message follows. Best effort, under the send policy.
	Drafter interface {
		Draft(ctx context.Context, to Address, id, text string) error
	}
	// Editor replaces the text of a message that was sent before. Errors as for Send.
	Editor interface {
		Edit(ctx context.Context, id MessageID, out Outbound) error
	}
	// Remover takes a message back that was sent before; one that is gone already is no error. Errors as for Send.
	Remover interface {
		Remove(ctx context.Context, to Address, id MessageID) error
	}
	// Reactor puts a reaction of the bot below a message; an empty emoji takes it away. Best effort, under the send policy.
	Reactor interface {
		React(ctx context.Context, to Address, id MessageID, emoji string) error
	}
	// Acknowledger shows whoever wrote a message that it was taken and is worked on, where the platform has a sign for that: a read
	// receipt, the first answer to a slash command. Best effort, under the send policy, called right after the message was accepted.
	Acknowledger interface {
		Acknowledge(ctx context.Context, to Address, id MessageID) error
	}
	// Fader takes away a sign that Typing or Acknowledge has put into a chat, which the platform would show for too long. An adapter makes
	// no such call by a timer of its own: the gate calls Fade, under the send policy as it is then, once FadeAfter has passed since the
	// last Typing or Acknowledge that showed the sign. Best effort.
	Fader interface {
		// FadeAfter is how long a sign stays; 0 = it ends by itself. id is empty for Typing. No I/O, never blocks.
		FadeAfter(to Address, id MessageID) time.Duration
		// Fade does nothing when something has taken the sign's place meanwhile. May be repeated.
		Fade(ctx context.Context, to Address, id MessageID) error
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
	// Pairer links an account that has no token: a person confirms it on their own device. Run of one that is not linked ends with
	// Unauthorized and the state LoggedOut; after Pair it is to be run again. Run, Pair and Unpair are never called at the same time.
	Pairer interface {
		// Pair blocks until the account is linked, ctx ends or the platform gives up. Each step is shown to a person; a new one
		// replaces the one before. phone is empty for a QR code, else the account's number, for a code to type in.
		Pair(ctx context.Context, phone string, show func(PairStep)) error
		// Unpair ends the link, on the platform too when it can be reached.
		Unpair(ctx context.Context) error
	}
	// Hooked takes updates by HTTP instead of asking for them. The gateway serves it below /channels/<kind>/<account>; the adapter
	// checks who calls. nil = it is not configured for that.
	Hooked interface {
		Hook() http.Handler
	}
	// Identifier asks the platform whose account this is, without connecting: whether a token is right. Errors as for Send. It may be
	// called while another process runs the account.
	Identifier interface {
		Identify(ctx context.Context) (name string, err error)
	}
	// Reporter tells how the connection is.
	Reporter interface {
		Health() Health
	}
)

// PairStep is what a person needs to link an account. One of QR and Code is set.
type PairStep struct {
	QR      string    // what the QR code says
	Code    string    // to type in on the device
	Expires time.Time // when the next step comes, or it is over
}

// Command is a chat command as a platform's menu shows it.
type Command struct{ Name, Description string }

// State is where a connection stands.
type State string

// The states. From LoggedOut on they are permanent until a person does something, which Health.Detail says, or the platform changes its mind.
const (
	Connecting   State = "connecting"
	Connected    State = "connected"
	Disconnected State = "disconnected" // trying again
	Conflict     State = "conflict"     // another process uses the same login; trying again
	Banned       State = "banned"       // for a time that Health.Detail names; then trying again
	LoggedOut    State = "logged_out"   // not linked, or not any more
	Revoked      State = "revoked"      // the platform refuses the token
	Replaced     State = "replaced"     // another client took this login over
	Outdated     State = "outdated"     // the platform does not speak with this version any more
	Refused      State = "refused"      // the platform refuses this account or what it asks for
	Stopped      State = "stopped"
)

// Permanent reports whether only a person can change the state.
func (s State) Permanent() bool {
	switch s {
	case LoggedOut, Revoked, Replaced, Outdated, Refused:
		return true
	case Connecting, Connected, Disconnected, Conflict, Banned, Stopped:
	}
	return false
}

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
	Typer        Typer
	Drafter      Drafter
	Editor       Editor
	Remover      Remover
	Reactor      Reactor
	Acknowledger Acknowledger
	Fader        Fader
	Fetcher      Fetcher
	Commander    Commander
	Reconciler   Reconciler
	Pairer       Pairer
	Hooked       Hooked
	Identifier   Identifier
	Reporter     Reporter
}

// Probe finds the abilities of ch.
func Probe(ch Channel) Caps {
	var c Caps
	c.Typer, _ = ch.(Typer)
	c.Drafter, _ = ch.(Drafter)
	c.Editor, _ = ch.(Editor)
	c.Remover, _ = ch.(Remover)
	c.Reactor, _ = ch.(Reactor)
	c.Acknowledger, _ = ch.(Acknowledger)
	c.Fader, _ = ch.(Fader)
	c.Fetcher, _ = ch.(Fetcher)
	c.Commander, _ = ch.(Commander)
	c.Reconciler, _ = ch.(Reconciler)
	c.Pairer, _ = ch.(Pairer)
	c.Hooked, _ = ch.(Hooked)
	c.Identifier, _ = ch.(Identifier)
	c.Reporter, _ = ch.(Reporter)
	return c
}
