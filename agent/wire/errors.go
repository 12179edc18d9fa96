package wire

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"parley/agent"
	"parley/channels/pattern"
)

// maxErrorText bounds what is kept of a provider's words, in bytes.
const maxErrorText = 600

// atOnce is a Retry-After of zero: agent.Retry reads 0 as "nothing was asked for".
const atOnce = -1

// Error makes a *agent.ModelError of what ended the try. err is what went wrong; nil = the status says it.
func (t *Try) Error(err error) error { return t.modelError(err) }

func (t *Try) modelError(err error) *agent.ModelError {
	e := &agent.ModelError{Provider: t.c.name, Tries: 1}
	if t.res != nil {
		e.Status = t.res.StatusCode
	}
	cause := context.Cause(t.ctx)
	switch {
	case t.parent.Err() != nil:
		e.Class, e.Err = agent.Timeout, t.parent.Err()
	case e.Status >= 300:
		head := t.head
		if len(bytes.TrimSpace(head)) == 0 {
			head = challenge(t.res.Header)
		}
		t.refused(e, e.Status, head, err)
		if d := retryAfter(t.res.Header, time.Now()); d != 0 { // what the header says is surer than the words
			e.RetryAfter = d
		} else if e.Class == agent.RateLimited && e.RetryAfter == 0 {
			e.RetryAfter = resetAfter(t.res.Header, time.Now())
		}
		if e.Status == http.StatusPaymentRequired && e.Class == agent.NoCredit && e.RetryAfter != 0 && e.RetryAfter <= agent.MaxRetryAfter {
			e.Class = agent.RateLimited // money that comes back in a moment is a limit
		}
	case cause != nil && !errors.Is(cause, errStopped):
		e.Class, e.Err = agent.Timeout, cause
	case t.res == nil:
		e.Class, e.Err = t.network(err)
	default:
		e.Class, e.Err = agent.Broken, t.broken(err)
	}
	return e
}

// errorDescription matches the reason in a challenge.
var errorDescription = pattern.New(`\berror_description="([^"]{1,500})"`)

// challenge gives the reason for a refused key that stands in a header; nil = there is none. source: RFC 6750, section 3
func challenge(h http.Header) []byte {
	m := errorDescription.FindStringSubmatch(h.Get("Www-Authenticate"))
	if m == nil {
		return nil
	}
	return []byte(m[1])
}

// Spoke notes that a part of the answer was handed over.
func (t *Try) Spoke() { t.spoke = true }

// HasSpoken reports whether a part of the answer was handed over.
func (t *Try) HasSpoken() bool { return t.spoke }

// Broken makes the error of an answer that made no sense.
func (t *Try) Broken(format string, args ...any) error { return t.Error(fmt.Errorf(format, args...)) }

// TooLarge makes the error of an answer of which a part, named by what, is larger than what is kept, in bytes. It is not tried again.
func (t *Try) TooLarge(what string, most int) error {
	return t.Error(fmt.Errorf("%w: %s is larger than %d bytes", agent.ErrTooLarge, what, most))
}

// refused fills in what a provider said: its class, its words for people, and all of them for whoever learns from it.
func (t *Try) refused(e *agent.ModelError, status int, raw []byte, err error) {
	f := ReadFault(raw)
	if f.Text == "" {
		f.Text = plain(err)
	}
	if n, conv := strconv.Atoi(f.Code); status == 0 && conv == nil && n >= 400 && n < 600 {
		status, e.Status = n, n // OpenRouter and others put the HTTP status there
	}
	f.Status = status
	if e.Class = classify(f); e.Class == agent.BadAddress {
		f.Text = "no model API at " + t.address + ": " + f.Text + " (check baseUrl)"
	} else if e.Class == agent.TooLong {
		e.Window = f.window()
	}
	if t.spoke && slices.Contains([]agent.ErrorClass{agent.BadRequest, agent.BadAddress}, e.Class) {
		e.Class, e.Status = agent.Broken, 0 // what has begun to answer did not refuse the request
	}
	e.Hint = f.cure()
	if e.Class == agent.RateLimited || e.Class == agent.Overloaded {
		now := time.Now()
		e.RetryAfter = cmp.Or(waitIn(string(raw), now), waitIn(f.All, now)) // where the body has signs as escapes
	}
	f.Text = t.text(f.Text)
	e.Said, e.Err = f.Text, f
}

// Failed makes the error of an answer that ended with a provider's word for a failure, with nothing in it.
func (t *Try) Failed(class agent.ErrorClass, word string) error {
	text := "the provider reported a failed answer: " + t.text(word)
	e := t.modelError(errors.New(text))
	e.Class, e.Said = class, text
	e.Err = &Fault{Text: text} // no refusal: it teaches nothing
	return e
}

// StreamError makes the error of an error event inside a stream: raw is its JSON.
func (t *Try) StreamError(raw []byte) error {
	e := t.modelError(errors.New("an error inside the answer"))
	if e.Class != agent.Broken {
		return e
	}
	t.refused(e, 0, raw, nil)
	t.misdirected(e, raw)
	return e
}

// NoStream makes the error of an answer that is no event stream and no JSON: text is its beginning. It may be a refusal in plain words.
func (t *Try) NoStream(text string) error {
	e := t.modelError(errors.New("no event stream"))
	if e.Class != agent.Broken {
		return e
	}
	t.refused(e, 0, []byte(text), nil)
	t.misdirected(e, []byte(text))
	if f, ok := errors.AsType[*Fault](e.Err); ok && e.Class == agent.Broken {
		e.Err = fmt.Errorf("%s did not answer with an event stream (check baseUrl): %w", t.text(t.address), f)
	}
	return e
}

func (t *Try) broken(err error) error {
	if t.read.Load() == 0 {
		return errors.New("the answer was empty")
	}
	if errors.Is(err, agent.ErrTooLarge) {
		return err // the host's own words
	}
	return errors.New(t.text(plain(err)))
}

// network says why there is no answer at all.
func (t *Try) network(err error) (agent.ErrorClass, error) {
	text := t.text(plain(err))
	op, dialled := errors.AsType[*net.OpError](err)
	if n, ok := errors.AsType[net.Error](err); ok && n.Timeout() && !(dialled && op.Op == "dial") && !strings.Contains(text, "TLS handshake") {
		return agent.Timeout, fmt.Errorf("%s: %w", text, agent.ErrNoByte)
	}
	return agent.Unreachable, errors.New(text)
}

// text makes words fit for the log like Client.Text, without the secrets that only this try has.
func (t *Try) text(s string) string {
	if t.hide != nil {
		s = t.hide.Replace(s)
	}
	t.look.Do(func() { t.sealed = sealedIn(t.req) })
	return t.c.Text(hideRuns(t.c.hide.Replace(s), slices.Concat(t.c.secrets, t.secrets, t.sealed)))
}

// plain is an error's text without the URL, which may carry a key in its query.
func plain(err error) string {
	if err == nil {
		return "no reason given"
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err.Error()
	}
	return err.Error()
}

// Text makes a provider's words fit for the log: without the key, of valid UTF-8, on one line and short.
func (c *Client) Text(s string) string {
	if !isText([]byte(s)) {
		return noText(len(s))
	}
	s = c.hide.Replace(s)
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if len(s) <= maxErrorText {
		return s
	}
	cut := maxErrorText
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// retryAfter reads what a provider asks for: retry-after-ms, or Retry-After in seconds or as an HTTP date. 0 = nothing that can
// be read; negative = at once.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if d, ok := number(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	value := h.Get("Retry-After")
	if d, ok := number(value, time.Second); ok {
		return d
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if d := at.Sub(now); d > 0 {
		return d
	}
	return atOnce
}

func number(s string, unit time.Duration) (time.Duration, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	switch {
	case err != nil, f < 0, f != f: // f != f: NaN
		return 0, false
	case f == 0:
		return atOnce, true
	}
	return time.Duration(min(f*float64(unit), float64(365*24*time.Hour))), true
}

// Text makes words fit for the log: without secrets, of valid UTF-8, on one line and short.
func (t *Try) Text(s string) string { return t.text(s) }
