package telegram

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"

	"parley/channels"
)

const (
	secretHeader = "X-Telegram-Bot-Api-Secret-Token"
	maxBody      = 1 << 20
)

// hook takes updates that Telegram delivers while Run is under way.
type hook struct {
	c *Channel

	mu    sync.Mutex
	ctx   context.Context // of Run; nil = it is not under way
	inbox channels.Inbox
	under sync.WaitGroup // events under way
	turns map[channels.ChatID]*turn
}

// turn makes the events of one chat wait for each other, in the order in which they came.
type turn struct {
	free    chan struct{}
	waiting int
}

// Hook implements channels.Hooked: nil without webhook in the configuration. An update is answered with 200 only after the inbox
// took it; Telegram sends again what was answered otherwise, and keeps the order of a chat while it does.
func (c *Channel) Hook() http.Handler {
	if c.hook == nil {
		return nil
	}
	return c.hook
}

// ServeHTTP takes one update.
func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.Error(w, "POST only", http.StatusMethodNotAllowed)
		return
	}
	if subtle.ConstantTimeCompare([]byte(r.Header.Get(secretHeader)), []byte(h.c.cfg.Webhook.Secret.Reveal())) != 1 {
		http.Error(w, "the webhook secret does not match", http.StatusUnauthorized)
		return
	}
	body, err := readUpdate(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "cannot read the request body", http.StatusBadRequest)
		return
	}
	running, inbox, done := h.begin()
	if running == nil {
		http.Error(w, "the account is not running: deliver the update again", http.StatusServiceUnavailable)
		return
	}
	defer done()
	if err := h.take(running, inbox, body); err != nil { //nolint:contextcheck // what has begun is finished though the caller goes away
		h.c.log.WarnContext(r.Context(), "Telegram event not accepted; Telegram delivers it again", "err", err)
		http.Error(w, "the update is not stored: deliver it again", http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusOK)
}

// readUpdate reads a body. One that is too long is cut: it cannot be decoded any more, is listed as unreadable and holds up nobody.
func readUpdate(body io.Reader) (json.RawMessage, error) {
	raw, err := io.ReadAll(body)
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return append(raw, '\x00'), nil
	}
	return raw, err
}

// begin notes that an event is under way. It gives nil when Run is not, or does not know yet who the bot is.
func (h *hook) begin() (context.Context, channels.Inbox, func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx == nil || h.ctx.Err() != nil || h.c.self() == nil {
		return nil, nil, nil
	}
	h.under.Add(1)
	return h.ctx, h.inbox, h.under.Done
}

// take decodes an update and offers it. The caller's connection may end meanwhile: what has begun is finished.
func (h *hook) take(running context.Context, inbox channels.Inbox, raw json.RawMessage) error {
	offering, cancel := context.WithCancel(context.WithoutCancel(running))
	defer cancel()
	defer context.AfterFunc(running, func() {
		if channels.Sleep(offering, stopGrace) {
			cancel()
		}
	})()
	d := h.c.decoder(offering)
	items := withCursor([]item{d.single(raw)})
	h.c.countIgnored(offering, items)
	// Telegram sends the next part of an album only after this one is accepted.
	if in := &items[0].in; in.Event == channels.Message {
		in.Album, in.More = items[0].album, items[0].album != ""
	}
	if items[0].skip == "" {
		defer h.enter(items[0].in.Address.Chat)()
		if err := inbox(offering, items[0].in); err != nil {
			return err
		}
	}
	h.c.health.Seen()
	return nil
}

// enter waits for the chat's turn.
func (h *hook) enter(chat channels.ChatID) (leave func()) {
	h.mu.Lock()
	t := h.turns[chat]
	if t == nil {
		t = &turn{free: make(chan struct{}, 1)}
		t.free <- struct{}{}
		h.turns[chat] = t
	}
	t.waiting++
	h.mu.Unlock()
	<-t.free
	return func() {
		t.free <- struct{}{}
		h.mu.Lock()
		defer h.mu.Unlock()
		if t.waiting--; t.waiting == 0 {
			delete(h.turns, chat)
		}
	}
}

// run lets events in until ctx ends, and waits for those under way.
func (h *hook) run(ctx context.Context, inbox channels.Inbox) (stop func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ctx, h.inbox = ctx, inbox
	return func() {
		h.mu.Lock()
		h.ctx, h.inbox = nil, nil
		h.mu.Unlock()
		h.under.Wait()
	}
}
