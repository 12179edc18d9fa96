package openclaw

import (
	"parley/channels"
	"parley/gateway/config"
	"parley/gateway/openclaw/convert"
)

// ids writes ids of people and chats in keys as this program's adapters do; one that the adapter does not know stays as it is.
type ids struct{ table config.Table }

func (x ids) person(k channels.Kind, id string) string {
	id, _ = convert.IDs{Table: x.table}.Person(k, id)
	return id
}

func (x ids) chat(k channels.Kind, id string) string {
	id, _ = convert.IDs{Table: x.table}.Chat(k, id)
	return id
}

// has reports whether this program has such a channel.
func (x ids) has(k channels.Kind) bool { return convert.IDs{Table: x.table}.Has(k) }
