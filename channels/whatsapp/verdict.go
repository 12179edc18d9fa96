package whatsapp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mau.fi/whatsmeow/types/events"

	"parley/channels"
)

// verdict is what WhatsApp has to say about the account, with what a person can do about it. false: not of that kind.
func (c *Channel) verdict(evt any) (ending, bool) {
	switch e := evt.(type) {
	case *events.LoggedOut:
		end := unauthorized(channels.LoggedOut, c.loggedOut(e.Reason))
		end.aside = true
		return end, true
	case *events.StreamReplaced:
		return unauthorized(channels.Replaced, "another program uses this link's keys, perhaps a copy of the key file: stop that program, then restart this account"), true
	case *events.ClientOutdated:
		end := unauthorized(channels.Outdated, "WhatsApp no longer accepts this version: install a newer parley")
		end.update = true
		return end, true
	case *events.TemporaryBan:
		return banned(e), true
	case *events.CATRefreshError:
		return unauthorized(channels.Refused, "WhatsApp refused to renew the login: run "+c.command("logout")+", then "+c.command("login")), true
	case *events.ConnectFailure:
		return c.connectFailure(e), true
	}
	return ending{}, false
}

// One refusal is no verdict: it may be an error of the platform. The account ends, and its keys are put aside, when WhatsApp has repeated it
// for so long, so often, on connections of its own.
const (
	verdictAfter = 2 * time.Minute
	verdictTries = 3
)

// suspicion is a refusal that is not believed yet.
type suspicion struct {
	since time.Time
	times int
}

// doubtful reports whether the account is tried again although WhatsApp has ended it, and says so to people. That another program uses the
// keys is believed at once: to connect again would end that one's connection.
func (l *link) doubtful(end *ending) bool {
	if end.err.Class != channels.Unauthorized || end.state == channels.Replaced {
		return false
	}
	if l.doubt.since.IsZero() {
		l.doubt.since = time.Now()
	}
	if l.doubt.times++; l.doubt.times >= verdictTries && time.Since(l.doubt.since) >= l.c.pace.verdict {
		return false
	}
	end.detail += "; parley tries again, in case this is WhatsApp's error"
	return true
}

func (c *Channel) loggedOut(reason events.ConnectFailureReason) string {
	switch reason {
	case events.ConnectFailureMainDeviceGone:
		return "WhatsApp locked the account or moved it to another phone: open WhatsApp on the phone, then " + c.login()
	case events.ConnectFailureUnknownLogout:
		return "WhatsApp has banned the account: open WhatsApp on the phone to ask for a review; after the review, " + c.login()
	default:
		return "the link was removed on the phone: " + c.login()
	}
}

// banned is a ban for a time. The account connects again when its rest is over, which may be before the ban is.
func banned(e *events.TemporaryBan) ending {
	wait, until := restDuration(e.Expire), "for an unknown time"
	if believable(e.Expire) {
		until = "until " + time.Now().Add(e.Expire).Format(time.RFC1123)
	}
	detail := fmt.Sprintf("WhatsApp banned the account %s (%s): do not use it meanwhile; parley sends nothing until %s", until, e.Code, time.Now().Add(wait).Format(time.RFC1123))
	return ending{state: channels.Banned, detail: detail, err: &channels.Error{Class: channels.Limited, RetryAfter: wait, Err: errors.New(detail)}}
}

// connectFailure reads the refusals that the library has no name for. Unknown ones may pass, so the connection is made again.
func (c *Channel) connectFailure(e *events.ConnectFailure) ending {
	switch e.Reason {
	case events.ConnectFailureBadUserAgent:
		end := unauthorized(channels.Outdated, "WhatsApp rejects this version's client information: install a newer parley")
		end.update = true
		return end
	case events.ConnectFailureNotFound, events.ConnectFailureClientUnknown:
		end := unauthorized(channels.LoggedOut, "WhatsApp does not know this link: "+c.login())
		end.aside = true
		return end
	default:
		return ending{detail: fmt.Sprintf("WhatsApp refused the connection with error %d", int(e.Reason))}
	}
}

const (
	shortRest  = time.Hour           // when WhatsApp gives no end, or one that it cannot mean
	longRest   = 24 * time.Hour      // then one connection or message finds out whether it is over
	maxBan     = 90 * 24 * time.Hour // a longer one is no time that WhatsApp means
	heldDetail = "WhatsApp restricts the account for messages to people who did not write first: do not use it meanwhile; parley sends nothing until %s"
)

// believable reports whether WhatsApp can mean that a ban or restriction ends after so long.
func believable(left time.Duration) bool { return left > 0 && left <= maxBan }

// restDuration is how long the account does nothing that WhatsApp has forbidden it for so long.
func restDuration(left time.Duration) time.Duration {
	if !believable(left) {
		return shortRest
	}
	return min(left, longRest)
}

// hold stops sending for a while: going on would get the account banned.
func (c *Channel) hold(ctx context.Context) time.Duration {
	c.mu.Lock()
	until := time.Now().Add(restDuration(time.Until(c.lockedUntil)))
	c.heldUntil = until
	c.mu.Unlock()
	c.setState(ctx, channels.Banned, fmt.Sprintf(heldDetail, until.Format(time.RFC1123)))
	return time.Until(until)
}

// onHold says how long nothing is to be sent.
func (c *Channel) onHold() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Until(c.heldUntil)
}

// released ends the state that hold began, once a message got through.
func (c *Channel) released(ctx context.Context) {
	c.mu.Lock()
	was := !c.heldUntil.IsZero()
	c.heldUntil = time.Time{}
	c.mu.Unlock()
	if was && c.live.Load() != nil {
		c.setState(ctx, channels.Connected, "")
	}
}

// timelock notes until when WhatsApp lets the account write only to people who wrote first, which is all that it does.
func (c *Channel) timelock(ctx context.Context, e *events.NotifyAccountReachoutTimelock) {
	c.mu.Lock()
	c.lockedUntil = time.Time{}
	if e.IsActive {
		c.lockedUntil = e.TimeEnforcementEnds.Time
	}
	c.mu.Unlock()
	if e.IsActive {
		c.log.WarnContext(ctx, "WhatsApp restricted the account to replies", "until", e.TimeEnforcementEnds.Time)
	}
}
