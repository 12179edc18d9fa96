package telegram

import (
	"sync"

	"parley/channels"
)

// topics remembers what Telegram says only once about forums: which chats are some, what topics are called now, and in which topic
// a message is, which a reaction to it does not say. It is bounded; what is forgotten is only less exact. A nil one knows nothing.
type topics struct {
	mu     sync.Mutex
	forums map[channels.ChatID]bool
	names  map[channels.Address]string
	recent map[message]channels.ThreadID
	older  map[message]channels.ThreadID
}

type message struct {
	chat channels.ChatID
	id   int64
}

const mostRemembered = 10_000

func newTopics() *topics {
	return &topics{forums: map[channels.ChatID]bool{}, names: map[channels.Address]string{}, recent: map[message]channels.ThreadID{}}
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
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.recent) >= mostRemembered {
		t.older, t.recent = t.recent, map[message]channels.ThreadID{}
	}
	t.recent[message{chat, id}] = thread
}

func (t *topics) thread(chat channels.ChatID, id int64) channels.ThreadID {
	if t == nil {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if thread := t.recent[message{chat, id}]; thread != "" {
		return thread
	}
	return t.older[message{chat, id}]
}
