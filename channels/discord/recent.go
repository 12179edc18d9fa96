package discord

import (
	"sync"
	"time"

	"parley/channels"
)

// recent remembers what later events do not say again.
type recent struct {
	people    *boundedMap[seenUser]         // by server and user
	messages  *boundedMap[seenMessage]      // by message
	sent      *boundedMap[channels.Receipt] // by nonce
	ours      *boundedMap[string]           // the nonce, by message
	unread    *boundedMap[time.Time]        // when the bot was not let answer a message in a chat, as it may not read it
	circles   *boundedMap[*circle]          // who writes, by chat
	reactions *boundedMap[string]           // the bot's own, by chat and message
	starters  *boundedMap[starter]          // what threads grew from, by thread
}

// seenUser is somebody as they were seen last.
type seenUser struct {
	sender channels.Sender
	roles  []string
}

// starter is the message that a thread grew from.
type starter struct {
	quote *channels.Quote
	with  channels.MessageID // the message that it was told with; empty = it was not
}

// seenMessage is a message as it was seen last.
type seenMessage struct {
	author string
	text   uint64
}

func newRecent() *recent {
	return &recent{people: newMemory[seenUser](4096), messages: newMemory[seenMessage](4096), sent: newMemory[channels.Receipt](2048), ours: newMemory[string](2048), reactions: newMemory[string](2048),
		unread: newMemory[time.Time](1024), circles: newMemory[*circle](1024), starters: newMemory[starter](1024)}
}

// note remembers a message of the bot's own by its nonce.
func (r *recent) note(nonce string, receipt channels.Receipt) {
	r.sent.put(nonce, receipt)
	r.ours.put(string(receipt.ID), nonce)
}

// boundedMap is a map that forgets what was put in first when it is full.
type boundedMap[V any] struct {
	mu    sync.Mutex
	items map[string]V
	order []string // a ring once it is full
	next  int
	most  int
}

func newMemory[V any](most int) *boundedMap[V] {
	return &boundedMap[V]{items: map[string]V{}, most: most}
}

func (m *boundedMap[V]) get(key string) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, known := m.items[key]
	return v, known
}

func (m *boundedMap[V]) put(key string, v V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.items[key]; !known {
		if len(m.order) < m.most {
			m.order = append(m.order, key)
		} else {
			delete(m.items, m.order[m.next])
			m.order[m.next] = key
			m.next = (m.next + 1) % m.most
		}
	}
	m.items[key] = v
}
