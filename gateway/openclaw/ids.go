package openclaw

import (
	"strings"

	"parley/channels"
	"parley/gateway/config"
)

// ids writes ids of people and chats as this program's adapters do.
type ids struct{ table config.Table }

// person gives a person's id; one that the adapter does not know stays as it is.
func (x ids) person(k channels.Kind, id string) string {
	id = bare(k, id)
	for _, a := range x.table {
		if a.Kind == k && a.Person != nil {
			if p, err := a.Person(id); err == nil {
				return string(p)
			}
		}
	}
	return id
}

func (x ids) chat(k channels.Kind, id string) string {
	id = bare(k, id)
	for _, a := range x.table {
		if a.Kind == k && a.Chat != nil {
			if c, err := a.Chat(id); err == nil {
				return string(c)
			}
		}
	}
	return id
}

// has reports whether this program has such a channel.
func (x ids) has(k channels.Kind) bool {
	for _, a := range x.table {
		if a.Kind == k {
			return true
		}
	}
	return false
}

// bare takes the words off that OpenClaw puts in front of ids: telegram:123, tg:123, user:77, telegram:group:-100.
func bare(k channels.Kind, id string) string {
	for more := true; more; {
		more = false
		for _, word := range []string{string(k), "tg", "user", "group", "channel", "dm"} {
			if rest, ok := strings.CutPrefix(id, word+":"); ok {
				id, more = rest, true
			}
		}
	}
	return id
}
