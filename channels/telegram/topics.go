package telegram

import (
	"strconv"
	"sync"

	"parley/channels"
)

// topics remembers what Telegram says only once about forums: which chats are some, what topics are called now, and in which topic
// a message is, which a reaction to it does not say. It is bounded; what is forgotten is only less exact. A nil one knows nothing.
type topics struct {
	mu     sync.Mutex
	forums map[channels.ChatID]bool
	names  map[channels.Address]string
	recent map[message]int64 // the topic's number
	older  map[message]int64
}

type message struct{ chat, id int64 }

const (
	mostRemembered = 10_000
	mostPlaced     = 4096 // messages, at least: people react to new ones
)

func newTopics() *topics {
	return &topics{forums: map[channels.ChatID]bool{}, names: map[channels.Address]string{}, recent: map[message]int64{}}
}

// sawForum remembers that a chat has topics, which typing in its General topic needs to know.
func (t *topics) sawForum(id channels.ChatID) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.forums) < mostRemembered {
		t.forums[id] = true
	}
}

func (t *topics) isForum(id channels.ChatID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.forums[id]
}

func (t *topics) rename(a channels.Address, name string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known := t.names[a]; known || len(t.names) < mostRemembered {
		t.names[a] = name
	}
}

func (t *topics) name(a channels.Address) string {
	if t == nil {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.names[a]
}

// saw remembers in which topic a message is.
func (t *topics) saw(chat channels.ChatID, id int64, thread channels.ThreadID) {
	if t == nil || thread == "" {
		return
	}
	at, ok := placed(chat, id)
	number, err := strconv.ParseInt(string(thread), 10, 64)
	if !ok || err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.recent) >= mostPlaced {
		t.older, t.recent = t.recent, map[message]int64{}
	}
	t.recent[at] = number
}

func (t *topics) thread(chat channels.ChatID, id int64) channels.ThreadID {
	at, ok := placed(chat, id)
	if t == nil || !ok {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	number := t.recent[at]
	if number == 0 {
		number = t.older[at]
	}
	if number == 0 {
		return ""
	}
	return channels.ThreadID(strconv.FormatInt(number, 10))
}

// placed is a message by numbers, which take a third of the room.
func placed(chat channels.ChatID, id int64) (message, bool) {
	number, err := strconv.ParseInt(string(chat), 10, 64)
	return message{number, id}, err == nil
}
