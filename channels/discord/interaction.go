package discord

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"parley/channels"
)

const (
	answerDue   = 2 * time.Second
	deferLimit  = 3 * time.Second  // then the platform gives an interaction up
	tokenLife   = 15 * time.Minute // of an interaction, https://discord.com/developers/docs/interactions/receiving-and-responding
	unanswered  = 14 * time.Minute // then "is thinking…" is taken away
	sweepEvery  = 15 * time.Second
	kindCommand = 2 // of an interaction
	kindTyped   = 1 // of a command: typed, not chosen from a menu of a message or user
)

// Codes that say that an interaction cannot be answered (any more), or is answered already.
const (
	codeUnknownWebhook     = 10015
	codeUnknownInteraction = 10062
	codeAcknowledged       = 40060
	codeInvalidToken       = 50027
)

// acts are the commands that people gave by Discord's own menu and that wait for an answer. Their tokens are kept in memory only: after
// a restart the answer goes to the chat as a message like others.
//
// The deferred answer is shown to everybody, in servers too. One that only its sender sees could not be read back after a crash, so it
// would be given twice, and the parts of a long answer would be shown to different people.
type acts struct {
	mu   sync.Mutex
	open map[channels.MessageID]*act
}

// act is one command.
type act struct {
	app, token string
	began      time.Time
	ready      chan struct{} // closed when the platform knows that an answer will come, or that none can
	failed     bool          // set before ready is closed
	key        string        // of the message that answers it
	removed    bool
}

func newActs() *acts { return &acts{open: map[channels.MessageID]*act{}} }

// command is a command as a message: its text is what somebody would have typed.
func (d decoder) command(e event) (channels.Inbound, error) {
	var w wireInteraction
	if err := json.Unmarshal(e.data, &w); err != nil {
		return channels.Inbound{}, errors.New("an interaction that is none")
	}
	if w.Type != kindCommand || w.Data.Type != 0 && w.Data.Type != kindTyped {
		return channels.Inbound{}, errIgnored
	}
	var kind *int
	if w.Channel != nil {
		kind = w.Channel.Type
	}
	in, err := d.at(w.ChannelID, w.GuildID, kind)
	if err != nil {
		return in, err
	}
	if kind != nil && (place{kind: *kind}).thread() && in.Parent == "" {
		in.Parent = channels.ChatID(w.Channel.ParentID)
	}
	u := w.User
	if w.Member != nil && w.Member.User != nil {
		u = w.Member.User
	}
	if u == nil || !isID(u.ID) || !isID(w.ID) || w.Data.Name == "" {
		return in, errors.New("a command without a name or a user")
	}
	d.person(&in, *u, w.Member)
	in.Event, in.ID, in.Time, in.Mentioned = channels.Message, channels.MessageID(w.ID), idTime(w.ID), true
	in.Text = clean(strings.TrimSpace("/" + w.Data.Name + " " + strings.Join(values(w.Data.Options), " ")))
	return in, nil
}

// values are what somebody filled in, in order; names of sub-commands count as words.
func values(options []wireOption) []string {
	var list []string
	for _, o := range options {
		var text string
		switch {
		case len(o.Value) == 0:
			list = append(append(list, o.Name), values(o.Options)...)
		case json.Unmarshal(o.Value, &text) == nil:
			list = append(list, strings.TrimSpace(text))
		default:
			list = append(list, string(o.Value))
		}
	}
	return list
}

// acknowledge tells the platform that an answer to a command will come: when the inbox has taken it, which is when the returned function
// is called, or when the platform would give it up.
func (q *queues) acknowledge(e event) (taken func()) {
	var w wireInteraction
	if json.Unmarshal(e.data, &w) != nil || w.Type != kindCommand || w.ID == "" || w.Token == "" {
		return func() {}
	}
	if w.AppID == "" {
		w.AppID = q.c.self().Application
	}
	a := &act{app: w.AppID, token: w.Token, began: e.at, ready: make(chan struct{})}
	q.c.acts.mu.Lock()
	_, again := q.c.acts.open[channels.MessageID(w.ID)]
	if !again {
		q.c.acts.open[channels.MessageID(w.ID)] = a
	}
	q.c.acts.mu.Unlock()
	if again {
		return func() {}
	}
	inbox := make(chan struct{})
	q.wg.Go(func() {
		due := time.NewTimer(time.Until(e.at.Add(answerDue)))
		defer due.Stop()
		select {
		case <-inbox:
		case <-due.C:
		case <-q.ctx.Done(): // nothing is promised that nobody may keep
			a.failed = true
		}
		a.failed = a.failed || !q.c.defers(q.offering, w.ID, a)
		close(a.ready)
	})
	return sync.OnceFunc(func() { close(inbox) })
}

// defers makes the platform show "is thinking…".
func (c *Channel) defers(ctx context.Context, id string, a *act) bool {
	path := "/interactions/" + url.PathEscape(id) + "/" + url.PathEscape(a.token) + "/callback"
	for {
		_, err := c.rest.call(ctx, request{
			method: http.MethodPost, path: path, route: route{path: "interactions/callback", verb: http.MethodPost, major: id}, body: map[string]any{"type": 5}, limit: deferLimit,
		})
		if err == nil || codeOf(err) == codeAcknowledged {
			return true
		}
		failed := channels.Classify(err)
		wait := max(100*time.Millisecond, failed.RetryAfter)
		if permanent(err) || failed.Class == channels.Unauthorized || time.Since(a.began)+wait > deferLimit {
			c.log.WarnContext(ctx, "a discord command could not be acknowledged; its answer will be a message", "err", err)
			return false
		}
		if !sleep(ctx, wait) {
			return false
		}
	}
}

// claim gives the command that a message answers, unless another message has answered it or it is too late.
func (s *acts) claim(id channels.MessageID, key string) *act {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.open[id]
	if a == nil || a.removed || a.key != "" && a.key != key || time.Since(a.began) > tokenLife-callTimeout {
		return nil
	}
	a.key = key
	return a
}

// close forgets a command that cannot be answered.
func (s *acts) close(id channels.MessageID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, id)
}

// answer puts a message in the place of "is thinking…". It reports false when that is not possible any more.
func (c *Channel) answer(ctx context.Context, out channels.Outbound) (channels.Receipt, bool, error) {
	a := c.acts.claim(out.ReplyTo, out.Key)
	if a == nil {
		return channels.Receipt{}, false, nil
	}
	select {
	case <-a.ready:
	case <-ctx.Done():
		return channels.Receipt{}, true, &channels.Error{Class: channels.Transient, Err: &apiError{Call: "answer", Text: ctx.Err().Error(), cause: ctx.Err()}}
	}
	if a.failed {
		c.acts.close(out.ReplyTo)
		return channels.Receipt{}, false, nil
	}
	q, err := outgoing(out, body{Content: out.Text, Mentions: nobody, Flags: suppressEmbeds})
	if err != nil {
		return channels.Receipt{}, true, err
	}
	q.method, q.path, q.route = http.MethodPatch, a.path(), a.route(http.MethodPatch)
	said, err := c.rest.call(ctx, q)
	switch codeOf(err) {
	case codeUnknownWebhook, codeUnknownInteraction, codeInvalidToken, codeUnknownMessage:
		c.acts.close(out.ReplyTo)
		return channels.Receipt{}, false, nil
	}
	if err != nil {
		return channels.Receipt{}, true, err
	}
	return receipt(said), true, nil
}

func (a *act) path() string {
	return "/webhooks/" + url.PathEscape(a.app) + "/" + url.PathEscape(a.token) + "/messages/@original"
}

func (a *act) route(verb string) route {
	return route{path: "webhooks/messages/original", verb: verb, major: a.app + "/" + a.token}
}

// sweep takes away what nobody answered, and forgets tokens that are no longer valid.
func (c *Channel) sweep(ctx context.Context) {
	every := time.NewTicker(sweepEvery)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
		for _, a := range c.acts.silent() {
			q := request{method: http.MethodDelete, path: a.path(), route: a.route(http.MethodDelete)}
			if _, err := c.rest.call(ctx, q); err != nil && ctx.Err() == nil {
				c.log.InfoContext(ctx, "a discord command without an answer still looks as if one would come", "err", err)
			}
		}
	}
}

// silent gives the commands that nobody will answer any more.
func (s *acts) silent() []*act {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*act
	for id, a := range s.open {
		age := time.Since(a.began)
		if age > tokenLife {
			delete(s.open, id)
		}
		if age >= unanswered && age < tokenLife && a.key == "" && !a.removed {
			a.removed = true
			list = append(list, a)
		}
	}
	return list
}
