package discord

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"parley/channels"
)

// apiError is what the platform said, or what kept it from saying anything.
type apiError struct {
	Call   string // method and route; ids of chats, never a token
	Status int    // 0 = no answer
	Code   int    // Discord's own, https://discord.com/developers/docs/topics/opcodes-and-status-codes#json
	Text   string
	Fields string // what is wrong with which field, as JSON; empty = it is not said
	cause  error
}

func (e *apiError) Error() string {
	switch {
	case e.Status == 0:
		return e.Call + ": " + e.Text
	case e.Code == 0:
		return fmt.Sprintf("%s: %d %s", e.Call, e.Status, e.Text)
	default:
		return fmt.Sprintf("%s: %d %s (code %d)", e.Call, e.Status, e.Text, e.Code)
	}
}

func (e *apiError) Unwrap() error { return e.cause }

// Discord's own error codes that mean something special here.
const (
	codeUnknownMessage = 10008
	codeUnknownEmoji   = 10014
	codeBlocked        = 40333 // said by Cloudflare in place of its page
)

// codeOf gives Discord's own code of an error, 0 when it has none.
func codeOf(err error) int {
	if said, ok := errors.AsType[*apiError](err); ok {
		return said.Code
	}
	return 0
}

// classify turns whatever went wrong into the error that the contract asks for, without the token.
func (r restClient) classify(q request, x *exchange, err error) *channels.Error {
	if x.status == 0 || x.body == nil && x.status < http.StatusMultipleChoices {
		class := channels.Transient
		if x.written.Load() {
			class = channels.Ambiguous
		}
		return &channels.Error{Class: class, Err: &apiError{Call: q.name(), Text: r.redact(err), cause: channels.Cause(err, errTooLarge)}}
	}
	said, own := spoken(x.body)
	text := http.StatusText(x.status)
	if said.Message != "" {
		text = cut(r.hide.Replace(channels.CleanText(said.Message)), 300)
		if len(said.Errors) > 0 {
			text += ": " + cut(r.hide.Replace(channels.CleanText(string(said.Errors))), 300)
		}
	}
	out := &channels.Error{Class: classOf(x.status, said.Code), Err: &apiError{Call: q.name(), Status: x.status, Code: said.Code, Text: text, Fields: string(said.Errors)}}
	if !own && x.status >= http.StatusBadRequest && x.status < http.StatusInternalServerError && x.status != http.StatusTooManyRequests && !q.isTooLarge(x.status) {
		out.Class = channels.Transient
	}
	if out.Class == channels.Limited || out.Class == channels.Transient {
		out.RetryAfter = r.holds.wait(q.route)
	}
	return out
}

// failure is an error in Discord's own words.
type failure struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Errors  json.RawMessage `json:"errors"`
}

// spoken reads an error and reports whether it is in Discord's own words. Anything else, with any status, comes from what stands before
// Discord, such as Cloudflare or a proxy of the network: nobody who knows about the bot or the message has refused anything.
//
// source: discord/discord-api-docs#6473 (Cloudflare's block is JSON with a code of its own)
func spoken(body []byte) (said failure, own bool) {
	own = json.Unmarshal(body, &said) == nil && (said.Message != "" || said.Code != 0) && said.Code != codeBlocked
	return said, own
}

// lacks reports whether a server does not have a call: Discord says so in its own words, others only by the status.
func lacks(err error) bool {
	said, ok := errors.AsType[*apiError](err)
	return ok && said.Code == 0 && (said.Status == http.StatusNotFound || said.Status == http.StatusMethodNotAllowed || said.Status == http.StatusNotImplemented)
}

// classOf says what an answer means. 5xx is ambiguous: the message may have been made before the answer was lost inside.
func classOf(status, code int) channels.Class {
	switch code {
	case 40001: // Unauthorized. Provide a valid token and try again
		return channels.Unauthorized
	case 20016, 20022, 20028, 20029, 31001, 31002: // slow mode and limits of an account's or channel's writing
		return channels.Limited
	case 40062: // Service resource is being rate limited
		return channels.Limited
	case codeUnknownEmoji, 50024, 50068, 90001: // unknown emoji; this channel type, message type or blocked reaction
		return channels.Unsupported
	case 130000: // API resource is currently overloaded. Try again a little later
		return channels.Transient
	}
	switch {
	case status == http.StatusUnauthorized:
		return channels.Unauthorized
	case status == http.StatusTooManyRequests:
		return channels.Limited
	case status >= http.StatusInternalServerError, status < http.StatusMultipleChoices:
		return channels.Ambiguous
	case status < http.StatusBadRequest: // a redirect: nobody acted on the request
		return channels.Transient
	case status == http.StatusMethodNotAllowed, status == http.StatusNotFound && code == 0:
		return channels.Unsupported // a server that lacks the call
	default: // 10xxx unknown, 30xxx maxima reached, 50001, 50007, 50013 not allowed, 50035 invalid, …
		return channels.Rejected
	}
}

// redact words an error without its URL.
func (r restClient) redact(err error) string {
	return channels.Redact(err, r.hide)
}
