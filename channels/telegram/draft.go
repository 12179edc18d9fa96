package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"hash/fnv"
	"strconv"
	"sync"
	"time"

	"parley/channels"
)

const (
	draftEvery    = 300 * time.Millisecond // between drafts in a chat
	draftPatience = 2 * time.Second        // a message waits so long for a draft under way
	draftsKept    = time.Hour
	draftsOf      = "drafts " // before a chat: the hold on its drafts alone
)

// Draft implements channels.Drafter with sendMessageDraft, which private chats have. text is Markdown as the agent writes it; of a
// long one the end is shown. It blocks until the chat may get one; when a newer one of the chat comes meanwhile, it is left out. After
// a message to the chat the drafts of that answer are left out. When Telegram asks to wait, drafts wait and messages do not.
func (c *Channel) Draft(ctx context.Context, to channels.Address, id, text string) error {
	const method = "sendMessageDraft"
	if to.Type != channels.Direct {
		return &channels.Error{Class: channels.Unsupported, Err: &apiError{Method: method, Description: "drafts are for private chats"}}
	}
	if text == "" { // Telegram removes a draft after 30 seconds, and shows "Thinking…" for an empty one
		c.drafts.endOf(to, id)
		return nil
	}
	for _, key := range []string{string(to.Chat), draftsOf + string(to.Chat)} {
		if err := c.calls.held(method, key); err != nil {
			return err
		}
	}
	ctx, done, ok := c.drafts.begin(ctx, to, id)
	if !ok {
		return nil
	}
	defer done()
	limits := c.Limits(to)
	out := channels.Outbound{To: to}
	if parts := channels.Split(text, limits); len(parts) > 0 {
		last := parts[len(parts)-1]
		out.Text, out.Plain = last.Text, last.Plain
	}
	params := destination(to)
	params["draft_id"], params["can_stop"] = draftID(id), "true"
	_, _, err := forgiving(params, out, func(text, mode string) (json.RawMessage, error) {
		params["text"] = text
		delete(params, "parse_mode")
		params.AddNonEmpty("parse_mode", mode)
		return c.calls.api.call(ctx, c.calls.sends, callTimeout, method, params)
	})
	c.calls.hold(draftsOf+string(to.Chat), err)
	if said, ok := errors.AsType[*apiError](err); ok && said.says("textdraft_peer_invalid") {
		return &channels.Error{Class: channels.Unsupported, Err: said}
	}
	return err
}

// draftID is the number that Telegram knows a draft by: never zero.
func draftID(id string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	return strconv.FormatUint(uint64(h.Sum32()>>1|1), 10)
}

// drafts are the answers that are being shown, by chat and topic.
type drafts struct {
	mu    sync.Mutex
	chats map[channels.Address]*drafting
}

type drafting struct {
	id     string // of the newest
	ended  string // what came after its message is left out
	turn   int    // counts drafts and messages
	last   time.Time
	flight chan struct{} // closed when the call under way is over; nil = none
	cancel context.CancelFunc
}

func newDrafts() drafts {
	return drafts{chats: map[channels.Address]*drafting{}}
}

// begin waits for a chat's turn. Not ok: there is a newer draft, the message was sent, or ctx ended.
func (d *drafts) begin(ctx context.Context, to channels.Address, id string) (_ context.Context, done func(), ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	to = draftPlace(to)
	s := d.chats[to]
	if s == nil {
		d.forget()
		s = &drafting{}
		d.chats[to] = s
	}
	if s.ended == id {
		return nil, nil, false
	}
	s.id = id
	s.turn++
	mine := s.turn
	for {
		wait, flight := time.Until(s.last.Add(draftEvery)), s.flight
		if wait <= 0 && flight == nil {
			break
		}
		d.mu.Unlock()
		if flight != nil {
			select {
			case <-flight:
			case <-ctx.Done():
			}
		} else {
			channels.Sleep(ctx, wait)
		}
		d.mu.Lock()
		if s.turn != mine || ctx.Err() != nil {
			return nil, nil, false
		}
	}
	flight := make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	s.flight, s.cancel, s.last = flight, cancel, time.Now()
	return ctx, func() {
		cancel()
		d.mu.Lock()
		defer d.mu.Unlock()
		s.flight = nil
		close(flight)
	}, true
}

// end lets no draft of the answer under way come after a message. A call under way gets some time: one that is cut off could still
// be carried out by Telegram after the message.
func (d *drafts) end(to channels.Address) {
	d.mu.Lock()
	s := d.chats[draftPlace(to)]
	if s == nil {
		d.mu.Unlock()
		return
	}
	s.ended = s.id
	s.turn++
	flight, cancel := s.flight, s.cancel
	d.mu.Unlock()
	if flight == nil {
		return
	}
	patience := time.AfterFunc(draftPatience, cancel)
	defer patience.Stop()
	<-flight
}

// endOf is end for the draft of one answer, unless another one has taken its place.
func (d *drafts) endOf(to channels.Address, id string) {
	d.mu.Lock()
	s := d.chats[draftPlace(to)]
	same := s != nil && s.id == id
	d.mu.Unlock()
	if same {
		d.end(to)
	}
}

// draftPlace is what of an address tells drafts apart.
func draftPlace(to channels.Address) channels.Address {
	return channels.Address{Chat: to.Chat, Thread: to.Thread}
}

// shows reports whether a draft is the one that is being shown.
func (d *drafts) shows(to channels.Address, draft int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.chats[draftPlace(to)]
	return s != nil && s.id != s.ended && draftID(s.id) == strconv.FormatInt(draft, 10)
}

// forget drops chats that had no draft for long. The caller holds d.mu.
func (d *drafts) forget() {
	for chat, s := range d.chats {
		if s.flight == nil && time.Since(s.last) > draftsKept {
			delete(d.chats, chat)
		}
	}
}
