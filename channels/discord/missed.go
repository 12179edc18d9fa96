package discord

import (
	"context"
	"encoding/json"
	"time"

	"parley/channels"
)

// introduction is how long a new session's servers may take to be described before reading goes on without them.
const introduction = 5 * time.Second

// overlap is how much before the cursor is read: events of different servers overtake each other.
const overlap = time.Minute

// missed is a chat in which something newer was written than what is known of.
type missed struct {
	chat   string
	after  string // the newest message that is known of; empty = nothing is known of the chat
	newest string
	joined string // when the bot came into the server, as an id
}

// restart forgets how far the chats are known: what waited in memory when a Run ended has to be read again.
func (n *names) restart() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for id, p := range n.places {
		p.last = ""
		n.places[id] = p
	}
}

// begin notes that a new session was asked for, which describes every server again.
func (n *names) begin() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.opening = true
	clear(n.told)
}

// expect notes which servers a new session will describe.
func (n *names) expect(guilds []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.opening = false
	clear(n.missing)
	for _, id := range guilds {
		if !n.told[id] {
			n.missing[id] = true
		}
	}
	select {
	case <-n.whole:
		n.whole = make(chan struct{})
	default:
	}
	n.wake()
}

// wake tells those who wait when nothing is missing; n.mu is held.
func (n *names) wake() {
	if len(n.missing) > 0 {
		return
	}
	select {
	case <-n.whole:
	default:
		close(n.whole)
	}
}

// described reports whether every server of the session was described: nothing is missed that is not known of.
func (n *names) described() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.opening && len(n.missing) == 0
}

// complete waits until the servers of a session are described, or long enough.
func (n *names) complete(ctx context.Context) error {
	n.mu.Lock()
	whole := n.whole
	n.mu.Unlock()
	bound := time.NewTimer(introduction)
	defer bound.Stop()
	select {
	case <-whole:
	case <-bound.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// heard notes a message of the gateway. A server that is still to be described tells what came before it.
func (n *names) heard(m peeked) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p, known := n.places[m.ChannelID]
	if !known || n.opening || n.missing[p.guild] || !isID(m.ID) {
		return
	}
	if p.closed = false; newer(m.ID, p.last) {
		p.last = m.ID
	}
	n.put(m.ChannelID, p)
}

// shut notes that a chat cannot be read, so that it is not tried again until something comes from there.
func (n *names) shut(id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p, known := n.places[id]; known {
		p.closed = true
		n.put(id, p)
	}
}

// compare adds a channel of a server to a list if its newest message is not known. The channels of a server that the bot was only now
// let into are not among them.
func (n *names) compare(list []missed, of wireGuild, raw json.RawMessage) []missed {
	var w wireChannel
	if json.Unmarshal(raw, &w) != nil {
		return list
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	p, known := n.places[w.ID]
	if !known || !p.text() {
		return list
	}
	was, announced := p.last, n.opening || n.missing[of.ID]
	if was == "" {
		p.last = w.ID // older than each of its messages
	}
	if isID(w.Last) && newer(w.Last, p.last) {
		p.last = w.Last
	}
	n.put(w.ID, p)
	if p.closed || p.last == was || was == "" && !announced {
		return list
	}
	return append(list, missed{w.ID, was, p.last, idAt(of.Joined)})
}

// text reports whether messages are written in a place; in the others the newest message is a thread's or nothing.
func (p chatInfo) text() bool {
	switch p.kind {
	case typeText, typeVoice, typeNews, typeStage:
		return true
	}
	return p.thread()
}

// miss has a chat read again from an id on; q.mu is held.
func (c *chat) miss(after string) {
	if c.gap == nil || newer(c.gap.after, after) {
		c.gap = &gap{after: after, shed: c.gap != nil && c.gap.shed}
	}
	if c.from == "" || newer(c.from, after) {
		c.from = after
	}
}

// begin keeps what is found to be missed until the session has begun and it is known what is on disk.
func (q *queues) begin() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.collects, q.found = q.c.seen != nil, nil
	q.c.names.begin()
}

// note takes what a server's description tells to be missed.
func (q *queues) note(list []missed) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.c.seen == nil {
		return
	}
	if q.collects {
		q.found = append(q.found, list...)
		return
	}
	q.find(list)
}

// find has chats read again of which nothing is on disk; q.mu is held.
func (q *queues) find(list []missed) {
	for _, m := range list {
		id := channels.ChatID(m.chat)
		if m.after == "" {
			m.after = q.since
		}
		if m.after != "" && newer(m.joined, m.after) { // what was written before that is not for the bot
			m.after = m.joined
		}
		if m.after == "" || q.stored[id] || !newer(m.newest, m.after) {
			continue
		}
		c := q.chat(id)
		c.miss(m.after)
		q.work(c)
	}
}

// greeted is a direct chat in which somebody wrote.
type greeted struct {
	session int // of the gateway
	last    string
}

// strange reports whether a message is the first that a session tells of a direct chat of which nothing is on disk. No session
// describes those, so what was missed there is read when somebody writes there again; q.mu is held.
func (q *queues) strange(c *chat, e event) bool {
	if e.kind != "MESSAGE_CREATE" || q.c.seen == nil || e.peek().GuildID != "" {
		return false
	}
	was, _ := q.direct.get(string(c.id))
	q.direct.put(string(c.id), greeted{q.fills, e.id})
	after := was.last
	if after == "" {
		after = q.since
	}
	if was.session == q.fills || q.stored[c.id] || after == "" || !newer(before(e.id), after) {
		return false
	}
	c.miss(after)
	return true
}

// taken gives the id up to which every message of the account is taken once this one is; empty while that is not known.
func (q *queues) taken(in channels.Inbound) string {
	if in.Event != channels.Message || !isID(string(in.ID)) || !q.c.names.described() {
		return ""
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.collects || q.held || q.ctx.Err() != nil {
		return ""
	}
	low := string(in.ID)
	for id, c := range q.chats {
		if id != in.Address.Chat && c.from != "" && newer(low, c.from) {
			low = c.from
		}
	}
	return low
}
