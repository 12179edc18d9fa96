package telegram

import (
	"cmp"
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
	recent map[message]int64 // the topic's number; below zero: of a channel's direct messages
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

// sawChat remembers whether a chat has topics, which typing in its General topic needs to know. They can be switched off.
func (t *topics) sawChat(id channels.ChatID, forum bool) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !forum {
		delete(t.forums, id)
	} else if len(t.forums) < mostRemembered {
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
	topic, direct, _ := split(thread)
	number, err := strconv.ParseInt(cmp.Or(topic, "-"+direct), 10, 64)
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
	switch {
	case number == 0:
		return ""
	case number < 0:
		return channels.ThreadID(directThread + strconv.FormatInt(-number, 10))
	}
	return channels.ThreadID(strconv.FormatInt(number, 10))
}

// placed is a message by numbers, which take a third of the room.
func placed(chat channels.ChatID, id int64) (message, bool) {
	number, err := strconv.ParseInt(string(chat), 10, 64)
	return message{number, id}, err == nil
}
