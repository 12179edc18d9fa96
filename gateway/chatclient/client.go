package chatclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"parley/channels"
	"parley/channels/webchat"
	"parley/gateway/api"
	"parley/gateway/web"
	"parley/sessions"
)

// Options say which host and which chat, and where the person is.
type Options struct {
	BaseURL     string          // http://127.0.0.1:18790
	Token       channels.Secret // the gateway token
	Chat        string          // of the web chat; empty = the owner's, which is the page's too
	Session     string          // instead: the key of any session
	In          io.Reader
	Out         io.Writer
	Interactive bool          // In and Out are a terminal: a screen with live answers; otherwise lines in, answers out
	NoColour    bool          // the screen has no colours (https://no-color.org)
	Patience    time.Duration // line mode: give up after so long without a sign of an answer; 0 = DefaultTimeout
	Client      *http.Client  // nil = a new one

	Ended func(api.Waited) error // line mode: says that a turn ended without an answer in the chat, and gives the error that it is
}

// DefaultTimeout bounds how long line mode waits without typing or an answer: a model that thinks shows that it is typing.
const DefaultTimeout = 5 * time.Minute

// ErrNoHost says that no host answers at the address.
var ErrNoHost = errors.New("no host is running: start it with `parley`, then try again")

// ErrToken says that the host does not take the token.
var ErrToken = errors.New("the host refused the token: use the token of its state folder or its configuration")

// Run chats until the person leaves, In ends and the last answer has come, or ctx ends. The errors of a host that is away or
// closed to us are ErrNoHost and ErrToken; in line mode messages that got no answer are an error too.
func Run(ctx context.Context, o Options) error {
	if o.Patience <= 0 {
		o.Patience = DefaultTimeout
	}
	if o.Client == nil {
		o.Client = &http.Client{}
	}
	err := newClient(o).run(ctx)
	if _, ok := errors.AsType[*interrupted](err); err != nil && ctx.Err() != nil && !ok {
		return &interrupted{cause: ctx.Err()}
	}
	return err
}

func (c *client) run(ctx context.Context) error {
	info, err := c.info(ctx)
	if err != nil {
		return err
	}
	if c.o.Interactive {
		return c.screen(ctx, info)
	}
	return c.lines(ctx)
}

// client is a chat.
type client struct {
	o Options
	backend
}

// backend is where a chat is: the web chat, or a session of any kind.
type backend interface {
	info(ctx context.Context) (web.Info, error)
	history(ctx context.Context) ([]web.Line, error)                // the newest lines, oldest first
	post(ctx context.Context, id, text string) error                // hands over one message; the same id again is the same message
	stream(ctx context.Context, on func(webchat.Event)) (err error) // one connection, to its end
	outcome(ctx context.Context, run sessions.RunID) (api.Waited, error)
}

func newClient(o Options) *client {
	if o.Session != "" {
		return &client{o, newSession(hostAPI{o}, o.Session)}
	}
	return &client{o, webChat{hostAPI{o}}}
}

// interrupted is the end of ctx in words. It unwraps to the context's error.
type interrupted struct {
	while string // what was being done, and what becomes of it; empty = nothing
	cause error
}

func (e *interrupted) Error() string {
	s := "interrupted"
	if errors.Is(e.cause, context.DeadlineExceeded) {
		s = "out of time"
	}
	if e.while != "" {
		s += " " + e.while
	}
	return s
}

func (e *interrupted) Unwrap() error { return e.cause }

// callLimit bounds one request that is no stream.
const callLimit = 30 * time.Second

// statusError is an answer that is no success.
type statusError struct {
	status int
	say    string
}

func (e *statusError) Error() string { return "the host says: " + e.say }

// again reports whether the same request may succeed later.
func again(err error) bool {
	if e, ok := errors.AsType[*statusError](err); ok {
		return e.status >= 500 || e.status == http.StatusTooManyRequests || e.status == http.StatusRequestTimeout
	}
	return !errors.Is(err, ErrToken)
}

// hostAPI is the host's API.
type hostAPI struct{ o Options }

// open does one request and gives its answer when it is a success. key is the idempotency key, if any.
func (w hostAPI) open(ctx context.Context, method, path string, q url.Values, key string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(w.o.BaseURL, "/")+path+"?"+q.Encode(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("the host's address %q: %w", w.o.BaseURL, err)
	}
	if !w.o.Token.IsZero() {
		req.Header.Set("Authorization", "Bearer "+w.o.Token.Reveal())
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if strings.HasSuffix(path, "/events") {
		req.Header.Set("Accept", "text/event-stream")
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	res, err := w.o.Client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrNoHost, err)
	}
	if res.StatusCode/100 == 2 {
		return res, nil
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusUnauthorized {
		return nil, ErrToken
	}
	e := &statusError{status: res.StatusCode, say: fmt.Sprintf("%s (%d)", http.StatusText(res.StatusCode), res.StatusCode)}
	var said struct {
		Error string `json:"error"`
	}
	if json.NewDecoder(io.LimitReader(res.Body, 1<<16)).Decode(&said) == nil && said.Error != "" {
		e.say = said.Error
	}
	return nil, e
}

// do is open for an answer that is read whole.
func (w hostAPI) do(ctx context.Context, method, path string, q url.Values, key string, body []byte, out any) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	res, err := w.open(ctx, method, path, q, key, body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(out); err != nil {
		return fmt.Errorf("%w (%s: %w)", ErrNoHost, path, err)
	}
	return nil
}

// outcome looks how a run stands.
func (w hostAPI) outcome(ctx context.Context, run sessions.RunID) (x api.Waited, err error) {
	return x, w.do(ctx, http.MethodGet, "/api/runs/"+url.PathEscape(string(run))+"/wait", url.Values{"timeoutMs": {"0"}}, "", nil, &x)
}

// deliver posts until the host has the message, for at most the time given; the id makes all tries one message.
func (c *client) deliver(ctx context.Context, id, text string, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	wait := 250 * time.Millisecond
	for {
		err := c.post(ctx, id, text)
		if err == nil || !again(err) {
			return err
		}
		if !channels.Sleep(ctx, wait) {
			return fmt.Errorf("not accepted within %s: %w", limit, err)
		}
		wait = min(2*wait, 5*time.Second)
	}
}

// answers gives the lines that answer the message with a client id: all that follow it up to the next message that a person
// wrote, but for what was said elsewhere and what answers commands. Messages in a row have one answer. found is false when the
// message is not there: commands are not part of the history.
func answers(lines []web.Line, id string) (out []web.Line, found bool) {
	for _, l := range lines {
		switch {
		case id != "" && l.Client == id:
			found = true
		case found && len(out) > 0 && l.Role == web.User && l.From == "":
			return out, true
		case found && l.Role != web.User && l.From == "" && !l.Command:
			out = append(out, l)
		}
	}
	return out, found
}

// answersCommand reports whether the line answers the command that was posted with a client id: by the link between the two, or,
// where the store has none, because old, which is what was there before, does not know it.
func answersCommand(l web.Line, id string, old func(web.Line) bool) bool {
	return l.Command && (l.ReplyTo == id || l.ReplyTo == "" && !old(l))
}

// carries reports whether the line is the one that a live message brought.
func carries(l web.Line, key string) bool {
	for _, d := range l.Deliveries {
		if strings.HasPrefix(key, d) {
			return true
		}
	}
	return false
}

// undelivered says in words why a line did not reach the chat; empty when it did, or still may.
func undelivered(l web.Line) string {
	switch l.State {
	case "withheld":
		return "not delivered: withheld by rule " + l.Rule
	case "failed", "expired", "dropped", "held":
		s := "not delivered: " + string(l.State)
		if l.Reason != "" {
			s += ": " + l.Reason
		}
		return s
	}
	return ""
}

// awayEvent tells that the stream broke and is being opened again; closedEvent that it never will be.
const (
	awayEvent   webchat.EventKind = "away"
	closedEvent webchat.EventKind = "closed"
)
