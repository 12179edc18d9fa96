package discord

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"parley/channels"
)

const (
	deferLimit = 3 * time.Second  // then the platform gives an interaction up
	tokenLife  = 15 * time.Minute // of an interaction, https://discord.com/developers/docs/interactions/receiving-and-responding
	unanswered = 14 * time.Minute // then "is thinking…" is taken away
)

// Codes that say that an interaction cannot be answered (any more), or is answered already.
const (
	codeUnknownWebhook     = 10015
	codeUnknownInteraction = 10062
	codeAcknowledged       = 40060
	codeInvalidToken       = 50027
)

// acts are the commands that people gave by Discord's own menu and that may be answered in their place. Their tokens are kept in memory
// only: after a restart the answer goes to the chat as a message like others.
//
// Nothing is said to a command before the host wants that (Acknowledge, Send): of one that nobody acknowledges, because it may not be
// answered or could not be taken, Discord tells the person who gave it that the application did not respond, and nobody else sees anything.
// A command waits in its chat's line like a message, also when that takes longer than Discord waits: one that overtook others would be
// the newest on disk, so after a crash they would not be read again; and what was missed may be of the same person. Its answer is a
// message of its own then.
//
// The deferred answer is shown to everybody, in servers too. One that only its sender sees could not be read back after a crash, so it
// would be given twice, and the parts of a long answer would be shown to different people.
type acts struct {
	rest restClient
	log  *slog.Logger

	mu   sync.Mutex
	open map[channels.MessageID]*act
}

// act is one command.
type act struct {
	id         channels.MessageID
	chat       channels.ChatID
	app, token string
	began      time.Time
	begun      bool          // the platform is being told that an answer will come
	ready      chan struct{} // closed when it knows that, or when it cannot be told
	failed     bool          // set before ready is closed
	key        string        // of the message that answers it
	removed    bool
}

func newActs(rest restClient, log *slog.Logger) *acts {
	return &acts{rest: rest, log: log, open: map[channels.MessageID]*act{}}
}

// note keeps what is needed to answer a command in its place: before it is offered, as it may be answered at once. app is this bot's application.
func (s *acts) note(e event, app string) {
	var w wireInteraction
	if json.Unmarshal(e.data, &w) != nil || w.Type != kindCommand || w.ID == "" || w.Token == "" {
		return
	}
	if w.AppID == "" {
		w.AppID = app
	}
	id := channels.MessageID(w.ID)
	s.expire()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[id] == nil {
		s.open[id] = &act{id: id, chat: channels.ChatID(w.ChannelID), app: w.AppID, token: w.Token, began: e.at, ready: make(chan struct{})}
	}
}

// Acknowledge implements channels.Acknowledger: it makes the platform show "is thinking…" below a command of its own menu. Messages that
// people write have no such sign.
func (c *Channel) Acknowledge(ctx context.Context, _ channels.Address, id channels.MessageID) error {
	c.acts.mu.Lock()
	a := c.acts.open[id]
	c.acts.mu.Unlock()
	if a == nil {
		return nil
	}
	if err := c.names.unplaced(a.chat); err != nil {
		return err
	}
	promised, err := c.acts.promise(ctx, a)
	if err == nil && !promised {
		err = &channels.Error{Class: channels.Rejected, Err: errors.New("too late to acknowledge the command; the bot sends the answer as a message")}
	}
	return err
}

// promise tells the platform once that an answer to a command will come, and reports whether it knows.
func (s *acts) promise(ctx context.Context, a *act) (bool, error) {
	s.mu.Lock()
	first := !a.begun
	a.begun = true
	s.mu.Unlock()
	if first {
		if a.failed = !s.defers(ctx, a); a.failed {
			s.close(a.id)
		}
		close(a.ready)
	}
	select {
	case <-a.ready:
		return !a.failed, nil
	case <-ctx.Done():
		return false, &channels.Error{Class: channels.Transient, Err: &apiError{Call: "answer", Text: ctx.Err().Error(), cause: ctx.Err()}}
	}
}

// defers makes the platform show "is thinking…". When it is not known whether the platform did, it is taken to have done so: the answer
// finds out.
func (s *acts) defers(ctx context.Context, a *act) bool {
	path := "/interactions/" + url.PathEscape(string(a.id)) + "/" + url.PathEscape(a.token) + "/callback"
	for {
		left := deferLimit - time.Since(a.began)
		if left <= 0 {
			return false
		}
		_, err := s.rest.call(ctx, request{
			method: http.MethodPost, path: path, route: route{path: "interactions/callback", verb: http.MethodPost, major: string(a.id)}, body: map[string]any{"type": 5}, limit: left,
		})
		if err == nil || codeOf(err) == codeAcknowledged {
			return true
		}
		failed := channels.Classify(err)
		wait := max(100*time.Millisecond, failed.RetryAfter)
		if permanent(err) || failed.Class == channels.Unauthorized || time.Since(a.began)+wait > deferLimit || !channels.Sleep(ctx, wait) {
			s.log.WarnContext(ctx, "Discord command not acknowledged", "err", err)
			return failed.Class == channels.Ambiguous
		}
	}
}

// claim gives the command that a message answers: the one that it names or, as nothing is named in direct chats, the oldest open one there.
func (s *acts) claim(out channels.Outbound) *act {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found *act
	if out.ReplyTo != "" {
		found = s.open[out.ReplyTo]
	} else if out.To.Type == channels.Direct {
		for _, a := range s.open {
			switch {
			case a.chat != out.To.Chat:
			case a.key != "" && a.key == out.Key:
				found = a
			case a.key != "" && stem(a.key) == stem(out.Key):
				return nil // another part of the same answer
			case a.key == "" && a.may() && (found == nil || found.key == "" && newer(string(found.id), string(a.id))):
				found = a
			}
		}
	}
	if found == nil || !found.may() || found.key != "" && found.key != out.Key {
		return nil
	}
	found.key = out.Key
	return found
}

// may reports whether a command can be answered in its place as far as is known; the lock of its acts is held.
func (a *act) may() bool {
	age := time.Since(a.began)
	return !a.removed && (a.begun && age < tokenLife-callTimeout || age < deferLimit)
}

// stem is what the keys of the parts of one answer have in common.
func stem(key string) string {
	if i := strings.LastIndexByte(key, '.'); i > 0 {
		return key[:i]
	}
	return key
}

// close forgets a command that cannot be answered.
func (s *acts) close(id channels.MessageID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, id)
}

// answer puts a message in the place of "is thinking…". It reports false when that is not possible any more.
func (c *Channel) answer(ctx context.Context, out channels.Outbound) (channels.Receipt, bool, error) {
	for a := c.acts.claim(out); a != nil; a = c.acts.claim(out) {
		promised, err := c.acts.promise(ctx, a)
		if err != nil {
			return channels.Receipt{}, true, err
		}
		if !promised {
			continue
		}
		r, err := c.try(ctx, c.draft(out, false), func(q *request) {
			q.method, q.path, q.route = http.MethodPatch, a.path(), a.route(http.MethodPatch)
		})
		switch codeOf(err) {
		case codeUnknownWebhook, codeUnknownInteraction, codeInvalidToken, codeUnknownMessage:
			c.acts.close(a.id)
			continue
		}
		return r, true, err
	}
	return channels.Receipt{}, false, nil
}

func (a *act) path() string {
	return "/webhooks/" + url.PathEscape(a.app) + "/" + url.PathEscape(a.token) + "/messages/@original"
}

func (a *act) route(verb string) route {
	return route{path: "webhooks/messages/original", verb: verb, major: string(a.id)} // not its token: what is held is on disk
}

// FadeAfter implements channels.Fader.
func (c *Channel) FadeAfter(_ channels.Address, id channels.MessageID) time.Duration {
	c.acts.mu.Lock()
	defer c.acts.mu.Unlock()
	a := c.acts.open[id]
	if a == nil {
		return 0
	}
	return max(unanswered-time.Since(a.began), time.Millisecond)
}

// Fade implements channels.Fader: it takes "is thinking…" away when nobody has answered the command.
func (c *Channel) Fade(ctx context.Context, _ channels.Address, id channels.MessageID) error {
	a := c.acts.silent(id)
	if a == nil {
		return nil
	}
	_, err := c.rest.call(ctx, request{method: http.MethodDelete, path: a.path(), route: a.route(http.MethodDelete)})
	return err
}

// silent gives a command that nobody will answer any more although the platform says so.
func (s *acts) silent(id channels.MessageID) *act {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.open[id]
	if a == nil || !a.begun || a.key != "" || a.removed || time.Since(a.began) >= tokenLife {
		return nil
	}
	a.removed = true
	return a
}

// expire forgets tokens that are not valid any more, and commands that nobody acknowledged in time.
func (s *acts) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.open, func(_ channels.MessageID, a *act) bool {
		age := time.Since(a.began)
		return age > tokenLife || !a.begun && age > deferLimit
	})
}
