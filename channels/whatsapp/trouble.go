package whatsapp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.mau.fi/whatsmeow"

	"parley/channels"
)

// What the server answers to a message instead of taking it.
const (
	ackRateLimit   = 429
	ackRestricted  = 463 // messages to people who did not write first: https://github.com/tulir/whatsmeow/issues/1157
	ackServerFirst = 500
)

// ackChat are the codes that are about a chat or the account rather than about a message: not allowed, no such chat, left, gone, not in
// this group, no such device.
var ackChat = []int{401, 403, 404, 405, 410, 420, 421, 475}

// errContent marks a refusal of what a message has in it: the same text may be taken without its options.
var errContent = errors.New("WhatsApp rejected the message")

const rateWait = time.Minute

func failure(class channels.Class, format string, a ...any) *channels.Error {
	return &channels.Error{Class: class, Err: fmt.Errorf(format, a...)}
}

// unavailable is why nothing can be sent now.
func (c *Channel) unavailable() *channels.Error {
	h := c.Health()
	switch {
	case h.State.Permanent():
		return failure(channels.Unauthorized, "%s", h.Detail)
	case h.Detail != "":
		return failure(channels.Transient, "not connected to WhatsApp: %s", h.Detail)
	}
	return failure(channels.Transient, "not connected to WhatsApp")
}

// sendFailure gives the class of what went wrong with a message. left: it was written to the connection.
func (o *outbox) sendFailure(ctx context.Context, err error, left bool) *channels.Error {
	if code, ok := ackCode(err); ok {
		return o.refusedBy(ctx, code)
	}
	switch {
	case errors.Is(err, whatsmeow.ErrGroupNotFound), errors.Is(err, whatsmeow.ErrNotInGroup):
		return failure(channels.Rejected, "the account is not a member of that group")
	case errors.Is(err, whatsmeow.ErrUnknownServer), errors.Is(err, whatsmeow.ErrRecipientADJID), errors.Is(err, whatsmeow.ErrBroadcastListUnsupported):
		return failure(channels.Rejected, "WhatsApp accepts no messages for that kind of chat")
	case !left && strings.Contains(err.Error(), "no LID found for"):
		return failure(channels.Rejected, "that number is not on WhatsApp")
	case errors.Is(err, whatsmeow.ErrNotLoggedIn):
		return failure(channels.Unauthorized, "%s", o.c.login())
	case left:
		return failure(channels.Ambiguous, "WhatsApp did not confirm the message: %w", reason(err))
	}
	if query, ok := errors.AsType[*whatsmeow.IQError](err); ok {
		return queryFailure(query)
	}
	return failure(channels.Transient, "send message: %w", reason(err))
}

// ackCode reads the number out of the library's error, which has it in its text only.
func ackCode(err error) (int, bool) {
	if !errors.Is(err, whatsmeow.ErrServerReturnedError) {
		return 0, false
	}
	_, number, _ := strings.Cut(err.Error(), whatsmeow.ErrServerReturnedError.Error()+" ")
	code, parseErr := strconv.Atoi(number)
	return code, parseErr == nil
}

func (o *outbox) refusedBy(ctx context.Context, code int) *channels.Error {
	switch {
	case code == ackRestricted:
		wait := o.c.hold(ctx)
		return &channels.Error{Class: channels.Limited, RetryAfter: wait, Err: fmt.Errorf("error %d: WhatsApp restricts the account", code)}
	case code == ackRateLimit:
		return &channels.Error{Class: channels.Limited, RetryAfter: rateWait, Err: fmt.Errorf("error %d: too many messages", code)}
	case code >= ackServerFirst:
		return failure(channels.Transient, "error %d: WhatsApp has an internal error", code)
	case slices.Contains(ackChat, code):
		return failure(channels.Rejected, "error %d: WhatsApp does not allow this account to write in that chat", code)
	}
	return failure(channels.Rejected, "error %d: %w", code, errContent) // such as 400, 413, 479 "smax-invalid", and codes of tomorrow
}

// queryFailure is about what is asked of the server before a message can be written, such as who is in a group.
func queryFailure(e *whatsmeow.IQError) *channels.Error {
	switch {
	case e.Code == ackRateLimit:
		return &channels.Error{Class: channels.Limited, RetryAfter: rateWait, Err: fmt.Errorf("error %d: too many requests", e.Code)}
	case e.Code == 403 || e.Code == 404 || e.Code == 406 || e.Code == 410:
		return failure(channels.Rejected, "error %d (%s): the chat does not exist for this account", e.Code, e.Text)
	}
	return failure(channels.Transient, "error %d (%s) before the message could be sent", e.Code, e.Text)
}

// reason leaves the library's words out where they would show a stanza.
func reason(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if _, ok := errors.AsType[*whatsmeow.IQError](err); ok {
		return errors.New("an unexpected answer")
	}
	return err
}
