package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"parley/channels"
)

const (
	parallelChats = 64  // offered at the same time
	parallelReads = 4   // chats that are read again at the same time
	maxWaiting    = 256 // events of one chat in memory
	maxAll        = 8192
	gestureAhead  = 8 // events in which the rest of what one person sent at once is looked for
)

// event is one dispatch of the gateway.
type event struct {
	kind string // "MESSAGE_CREATE"
	data json.RawMessage
	late bool
	id   string    // of a message
	mark string    // unique to this event, the same when it is replayed
	at   time.Time // when it came
	was  string    // the name before, for renamed chats
}

// chat is the line of one chat's events.
type chat struct {
	id     channels.ChatID
	events []event
	busy   bool   // somebody works on it
	gap    *gap   // to be read before the next event
	filled string // the newest message that was read again
	from   string // everything up to this message was taken; empty = no message is waited for
}

// gap is what has to be read again in a chat.
type gap struct {
	after string // message id
	shed  bool   // events were dropped because too many waited: what comes before the reading is found by it
}

// queues hold the events of each chat until the inbox has taken them: in order inside of a chat, chats beside each other. They
// outlive connections, and never make the reader of a connection wait.
type queues struct {
	c        *Channel
	inbox    channels.Inbox
	ctx      context.Context // of the Run
	offering context.Context // of events under way: ends a little later
	offers   chan struct{}
	reads    chan struct{}

	mu    sync.Mutex
	chats map[channels.ChatID]*chat
	total int
	fills int    // counts sessions of the gateway
	held  bool   // until the first session is open, and while a later one is opened
	since string // from where chats are read of which nothing is known; empty = they are not

	collects bool // a session begins
	found    []missed
	stored   map[channels.ChatID]bool // of which something was on disk when the session began
	direct   *boundedMap[greeted]
	reread   *boundedMap[struct{}] // messages that were read again and taken: the gateway may bring them later

	wg   sync.WaitGroup
	stop func()
}

func newQueues(ctx context.Context, c *Channel, inbox channels.Inbox) *queues {
	q := &queues{
		c: c, inbox: inbox, ctx: ctx, chats: map[channels.ChatID]*chat{}, held: true,
		direct: newMemory[greeted](4096), reread: newMemory[struct{}](8192),
		offers: make(chan struct{}, parallelChats), reads: make(chan struct{}, parallelReads),
	}
	var cancel context.CancelFunc
	q.offering, cancel = context.WithCancel(context.WithoutCancel(ctx))
	late := time.AfterFunc(time.Hour, cancel)
	late.Stop()
	stop := context.AfterFunc(ctx, func() { late.Reset(stopGrace) })
	q.stop = func() { stop(); late.Stop(); cancel() }
	return q
}

// finish waits for the events under way after the Run's context has ended.
func (q *queues) finish() {
	q.wg.Wait()
	q.stop()
}

// push adds an event to its chat's line. It never blocks.
func (q *queues) push(id channels.ChatID, e event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.chat(id)
	if e.kind == "MESSAGE_CREATE" {
		if e.id = e.peek().ID; c.from == "" && isID(e.id) {
			c.from = before(e.id)
		}
	}
	switch {
	case c.gap != nil && c.gap.shed && e.kind == "MESSAGE_CREATE":
	case len(c.events) >= maxWaiting, q.total >= maxAll:
		q.shed(c, e)
	default:
		c.events = append(c.events, e)
		q.total++
	}
	q.work(c)
}

// chat finds or makes a line; q.mu is held.
func (q *queues) chat(id channels.ChatID) *chat {
	c := q.chats[id]
	if c == nil {
		c = &chat{id: id}
		q.chats[id] = c
	}
	return c
}

// shed drops what waits in a chat, to be read again later; q.mu is held. A command that is lost with it was acknowledged by nobody, so
// Discord tells the person who gave it that it failed.
func (q *queues) shed(c *chat, e event) {
	lost := append(c.events, e)
	q.total -= len(c.events)
	c.events = nil
	commands := 0
	for _, e := range lost {
		if e.kind == "INTERACTION_CREATE" {
			commands++
		}
	}
	for _, e := range lost {
		if e.kind != "MESSAGE_CREATE" {
			continue
		}
		c.miss(before(e.id))
		c.gap.shed = true
		break
	}
	q.c.log.Warn("Discord event queue full; dropped events", "hint", "dropped messages are fetched again, other events are lost", "chat", c.id, "events", len(lost), "commands", commands)
}

// work gives a line to a goroutine of its own unless it has one; q.mu is held.
func (q *queues) work(c *chat) {
	if c.busy || q.held || q.ctx.Err() != nil {
		return
	}
	c.busy = true
	q.wg.Go(func() { q.drain(c) })
}

// drain works a line off. It ends when the line is empty, when everything has to wait, or with the Run.
func (q *queues) drain(c *chat) {
	for {
		q.mu.Lock()
		if q.ctx.Err() != nil || q.held {
			c.busy = false
			q.mu.Unlock()
			return
		}
		if g := c.gap; g != nil {
			c.gap = nil
			q.mu.Unlock()
			q.fill(c, *g)
			continue
		}
		if len(c.events) == 0 {
			delete(q.chats, c.id)
			q.mu.Unlock()
			return
		}
		e := c.events[0]
		if q.strange(c, e) {
			q.mu.Unlock()
			continue
		}
		c.events[0] = event{}
		c.events = c.events[1:]
		q.total--
		q.mu.Unlock()
		q.take(c, e)
		q.mu.Lock()
		if newer(e.id, c.from) {
			c.from = e.id
		}
		q.mu.Unlock()
	}
}

// take decodes an event and offers what it says, until that is taken or the Run ends.
func (q *queues) take(c *chat, e event) {
	q.prepare(c, e)
	q.findStarter(c, e)
	e = q.findAnswered(c, e)
	if e.kind == "INTERACTION_CREATE" {
		q.c.acts.note(e, q.c.self().Application)
	}
	for _, in := range q.c.decode(e) {
		if in.Event == channels.Message && e.kind == "MESSAGE_CREATE" {
			if _, was := q.reread.get(string(in.ID)); was {
				continue
			}
			in.More = q.c.goesWithNext(&in, q.waiting(c))
		}
		if !q.offer(in) {
			return
		}
	}
}

// waiting gives the events that come next in a chat's line.
func (q *queues) waiting(c *chat) []event {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(c.events[:min(len(c.events), gestureAhead)])
}

// goesWithNext reports whether the sender's next message of the same chat was sent with this one.
func (c *Channel) goesWithNext(in *channels.Inbound, next []event) bool {
	for _, e := range next {
		if e.kind != "MESSAGE_CREATE" {
			continue
		}
		for _, other := range c.decode(e) {
			if other.Event == channels.Message && other.Sender.ID == in.Sender.ID {
				return channels.InGesture(in, &other)
			}
		}
	}
	return false
}

// prepare asks what kind of chat an event is from, unless that is known. It is not guessed while the platform cannot be asked: a
// group is no direct chat.
func (q *queues) prepare(c *chat, e event) {
	if !isID(string(c.id)) || !e.needsPlace() || !q.c.names.asks(string(c.id)) {
		return
	}
	if err := q.patiently(forever, func() error { return q.c.lookup(q.ctx, string(c.id)) }); err != nil && permanent(err) {
		q.c.names.unknown(string(c.id))
	}
}

// findStarter reads the message that a thread grew from, for the first message from a thread that the bot has not seen begin. The message
// has the id of the thread. While Discord does not give it, messages go on without it and the next one asks again.
//
// source: https://docs.discord.com/developers/topics/threads
func (q *queues) findStarter(c *chat, e event) {
	thread := string(c.id)
	p, _ := q.c.names.find(thread)
	_, asked := q.c.recent.starters.get(thread)
	if asked || e.kind != "MESSAGE_CREATE" || p.kind != typePublicThread && p.kind != typeNewsThread || q.isStored(c.id) || e.id == thread || e.peek().Type == messageStarter {
		return
	}
	from := channels.ChatID(p.parent)
	if parent, _ := q.c.names.find(p.parent); parent.kind == typeForum || parent.kind == typeMediaForum {
		from = c.id
	}
	var m wireMessage
	err := q.patiently(starterPatience, func() error {
		return q.c.rest.get(q.ctx, messagePath(from, channels.MessageID(thread)), messageRoute(http.MethodGet, from), &m)
	})
	if err != nil && !permanent(err) {
		return
	}
	var found starter
	d := q.c.decoder()
	if in, wrong := d.at(thread, p.guild, nil); err == nil && wrong == nil {
		found.quote = d.quote(in, &m)
	}
	q.c.recent.starters.put(thread, found)
}

// starterPatience is how long the message that a thread grew from is asked for again.
const starterPatience = 5 * time.Second

// findAnswered reads the message that a reply answers where Discord did not: then the reply has no such field, and with a message that is gone it
// is null. While Discord does not give it, the reply is delivered without it.
//
// source: Discord documentation, Message object, referenced_message ("the backend did not attempt to fetch the message")
func (q *queues) findAnswered(c *chat, e event) event {
	has := func(field string) bool { return bytes.Contains(e.data, []byte(`"`+field+`"`)) }
	if e.kind != "MESSAGE_CREATE" || !has("message_reference") || has("referenced_message") {
		return e
	}
	var m struct {
		Type      int            `json:"type"`
		Reference *wireReference `json:"message_reference"`
	}
	if json.Unmarshal(e.data, &m) != nil || !isReply(m.Type) || m.Reference == nil || m.Reference.ChannelID != string(c.id) || !isID(m.Reference.MessageID) {
		return e
	}
	var answered json.RawMessage
	err := q.patiently(starterPatience, func() error {
		return q.c.rest.get(q.ctx, messagePath(c.id, channels.MessageID(m.Reference.MessageID)), messageRoute(http.MethodGet, c.id), &answered)
	})
	fields := map[string]json.RawMessage{}
	if err != nil || json.Unmarshal(e.data, &fields) != nil {
		return e
	}
	fields["referenced_message"] = answered
	if whole, err := json.Marshal(fields); err == nil {
		e.data = whole
	}
	return e
}

// isStored reports whether something of a chat was on disk when the session began.
func (q *queues) isStored(id channels.ChatID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.stored[id]
}

// offer hands one event to the inbox until it is taken. It reports false when the Run ended before.
func (q *queues) offer(in channels.Inbound) bool {
	in.Cursor = q.taken(in)
	wait := 200 * time.Millisecond
	for tries := 1; ; tries++ {
		if q.ctx.Err() != nil { // what an event needs may not have been asked any more
			return false
		}
		select {
		case q.offers <- struct{}{}:
		case <-q.ctx.Done():
			return false
		}
		err := q.inbox(q.offering, in)
		<-q.offers
		if err == nil || errors.Is(err, channels.ErrLeave) { // Discord keeps its messages, and acknowledges none
			return true
		}
		if tries == 1 {
			q.c.log.WarnContext(q.ctx, "Discord event not accepted; retrying", "address", in.Address.String(), "err", err)
		}
		if !channels.Sleep(q.ctx, wait/2+rand.N(wait)) {
			return false
		}
		wait = min(2*wait, 5*time.Second)
	}
}

// forever is the patience for what has to be known.
const forever time.Duration = math.MaxInt64

// patiently repeats a call that reads until it works, the platform refuses it for good, or the Run ends: what is not known meanwhile
// is not passed over, and the chat's later events wait, as far as their line goes. It is not repeated after limit.
func (q *queues) patiently(limit time.Duration, call func() error) error {
	const patience = 10
	wait, began := 500*time.Millisecond, time.Now()
	for tries := 1; ; tries++ {
		err := call()
		if err == nil || q.ctx.Err() != nil || permanent(err) {
			return err
		}
		if tries == patience {
			q.c.log.WarnContext(q.ctx, "cannot read Discord chat; retrying", "hint", "events of the chat wait until Discord answers", "err", err)
		}
		pause := max(channels.Classify(err).RetryAfter, wait/2+rand.N(wait))
		if time.Since(began) > limit-pause || !channels.Sleep(q.ctx, pause) {
			return err
		}
		wait = min(2*wait, 40*time.Second) // with what chance adds, at most a minute
	}
}
