package webchat

import (
	"slices"
	"strings"
	"time"

	"parley/channels"
)

// EventKind says what happened in a chat.
type EventKind string

// The events. HelloEvent and ReloadEvent exist only on the wire: the first opens a stream, the second ends it and asks the
// reader to read the history again.
const (
	MessageEvent EventKind = "message" // a message of the agent or the host; it replaces the draft
	DraftEvent   EventKind = "draft"   // the answer so far; empty Text takes it away
	TypingEvent  EventKind = "typing"
	PostedEvent  EventKind = "posted" // somebody wrote, perhaps in another window
	HelloEvent   EventKind = "hello"
	ReloadEvent  EventKind = "reload"
)

// Event is what a reader of a chat sees.
type Event struct {
	Kind    EventKind          `json:"-"`                 // the SSE event's name
	ID      string             `json:"id,omitempty"`      // message: its Outbound.Key, which is its receipt too; draft: the draft's; posted: the client's
	Text    string             `json:"text,omitempty"`    // Markdown; posted: as typed
	HTML    string             `json:"html,omitempty"`    // instead of Text, where the reader asked for it
	Name    string             `json:"name,omitempty"`    // posted: who
	ReplyTo channels.MessageID `json:"replyTo,omitempty"` // message
	Time    time.Time          `json:"time,omitzero"`
}

// chat is what the hub knows about one chat. Channel.mu guards all but turn.
type chat struct {
	turn    chan struct{} // held by the post under way
	posts   int           // posts under way or waiting
	readers map[*reader]struct{}
	draft   *Event   // for readers that come while an answer is being written
	ended   []string // newest ids of drafts whose message has come
}

// reader is one subscription.
type reader struct{ out chan Event }

const (
	readerBuffer = 64 // events
	keepEnded    = 8
)

// chat gives the chat, made when it is new. Callers hold mu.
func (c *Channel) chat(id channels.ChatID) *chat {
	ch := c.chats[id]
	if ch == nil {
		if len(c.chats) >= maxIdle {
			for k, old := range c.chats {
				if old.unused() {
					delete(c.chats, k)
				}
			}
		}
		ch = &chat{turn: make(chan struct{}, 1), readers: map[*reader]struct{}{}}
		c.chats[id] = ch
	}
	return ch
}

func (ch *chat) unused() bool { return ch.posts == 0 && len(ch.readers) == 0 }

// forget drops a chat that nobody needs. Callers hold mu.
func (c *Channel) forget(id channels.ChatID) {
	if ch := c.chats[id]; ch != nil && ch.unused() && ch.draft == nil {
		delete(c.chats, id)
	}
}

// takes reports whether Run is there and not about to end. Callers hold mu.
func (c *Channel) takes() bool {
	if c.run == nil {
		return false
	}
	select {
	case <-c.run.ended:
		return false
	default:
		return true
	}
}

func (c *Channel) beginPost(id channels.ChatID) (*run, *chat, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.takes() {
		return nil, nil, ErrNotRunning
	}
	c.run.posts.Add(1)
	ch := c.chat(id)
	ch.posts++
	return c.run, ch, nil
}

func (c *Channel) endPost(r *run, id channels.ChatID) {
	c.mu.Lock()
	c.chats[id].posts--
	c.forget(id)
	c.mu.Unlock()
	r.posts.Done()
}

// Subscribe gives the events of a chat from now on, starting with the draft that is being written. The channel is closed when
// cancel is called, when Run ends, and when the reader is too slow to keep up: then it has to read the history and subscribe
// again. It may be called before Run. Nothing ever waits for a reader.
func (c *Channel) Subscribe(id channels.ChatID) (<-chan Event, func()) {
	if id == "" {
		id = DefaultChat
	}
	r := &reader{out: make(chan Event, readerBuffer)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run != nil && !c.takes() {
		close(r.out)
		return r.out, func() {}
	}
	ch := c.chat(id)
	ch.readers[r] = struct{}{}
	if ch.draft != nil {
		r.out <- *ch.draft
	}
	return r.out, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.cut(id, r)
		c.forget(id)
	}
}

// cut ends a subscription, once. Callers hold mu.
func (c *Channel) cut(id channels.ChatID, r *reader) {
	ch := c.chats[id]
	if ch == nil {
		return
	}
	if _, ok := ch.readers[r]; ok {
		delete(ch.readers, r)
		close(r.out)
	}
}

// cutAll ends all subscriptions.
func (c *Channel) cutAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, ch := range c.chats {
		for r := range ch.readers {
			c.cut(id, r)
		}
		c.forget(id)
	}
}

// show hands an event to all readers of a chat.
func (c *Channel) show(id channels.ChatID, e Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.showLocked(id, e)
}

// showLocked is show for callers that hold mu. A reader without room loses drafts and typing, which are repeated anyway; when
// there is no room for anything else it is cut off.
func (c *Channel) showLocked(id channels.ChatID, e Event) {
	ch := c.chats[id]
	if ch == nil {
		return
	}
	fleeting := e.Kind == DraftEvent || e.Kind == TypingEvent
	for r := range ch.readers {
		if fleeting && len(r.out) >= readerBuffer/2 {
			continue
		}
		select {
		case r.out <- e:
		default:
			c.log.Info("slow web chat reader must reload", "chat", string(id))
			c.cut(id, r)
		}
	}
}

// deliver shows a message once for each key.
func (c *Channel) deliver(out channels.Outbound, now time.Time) channels.Receipt {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.sent.at(out.Key); ok {
		return channels.Receipt{ID: channels.MessageID(out.Key), At: at}
	}
	c.sent.put(out.Key, now)
	id := out.To.Chat
	if ch := c.chats[id]; ch != nil && ch.draft != nil {
		// A draft call that was overtaken by its own message must not bring the draft back. A message that is not the draft's
		// (an announce while an answer is being written) leaves it open: its next call shows it again.
		if strings.HasPrefix(strings.TrimSpace(out.Text), strings.TrimSpace(ch.draft.Text)) {
			ch.ended = append(ch.ended, ch.draft.ID)
			if len(ch.ended) > keepEnded {
				ch.ended = slices.Delete(ch.ended, 0, 1)
			}
		}
		ch.draft = nil
	}
	c.showLocked(id, Event{Kind: MessageEvent, ID: out.Key, Text: clean(out.Text), ReplyTo: out.ReplyTo, Time: now})
	return channels.Receipt{ID: channels.MessageID(out.Key), At: now}
}

// draft keeps and shows the newest draft of a chat.
func (c *Channel) draft(id channels.ChatID, e Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch := c.chat(id)
	if slices.Contains(ch.ended, e.ID) {
		return
	}
	if e.Text == "" {
		if ch.draft != nil && ch.draft.ID != e.ID { // that of another answer
			return
		}
		ch.draft = nil
	} else {
		ch.draft = &e
	}
	c.showLocked(id, e)
	c.forget(id)
}

// recent remembers the newest keepSent keys and when they were sent.
type recent struct {
	times map[string]time.Time
	order []string // ring
	next  int
}

func (r *recent) at(key string) (time.Time, bool) {
	t, ok := r.times[key]
	return t, ok
}

func (r *recent) put(key string, at time.Time) {
	if r.times == nil {
		r.times = map[string]time.Time{}
	}
	if len(r.order) < keepSent {
		r.order = append(r.order, key)
	} else {
		delete(r.times, r.order[r.next])
		r.order[r.next] = key
		r.next = (r.next + 1) % keepSent
	}
	r.times[key] = at
}
