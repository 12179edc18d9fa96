package move

import (
	"maps"
	"slices"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/sqlstore/column"
	"parley/sessions/sqlstore/engine"
)

// relocation is one move of a chat, or of all chats of an account.
type relocation struct {
	from, to channels.Address // without threads
	account  bool             // from and to have neither chat nor type: it is every chat of the account
	was, now string           // what session keys call a chat, or the person of a direct chat
	route    sessions.Key     // that its messages have by the configuration now; "" = not known
}

// keepsIDs reports whether messages have the ids that they had: those of an account or a person do, a group's new place numbers its
// messages from 1 again.
func (x relocation) keepsIDs() bool { return x.account || x.to.Type == channels.Direct }

// move gives an address its new place; false when it has not moved.
func (x relocation) move(a channels.Address) (channels.Address, bool) {
	if x.account {
		moved := a.Channel == x.from.Channel && a.Account == x.from.Account
		if moved {
			a.Account = x.to.Account
		}
		return a, moved
	}
	if column.Chat(a) != x.from {
		return a, false
	}
	to := x.to
	to.Thread = a.Thread
	return to, true
}

// moveColumn gives the addresses in a column of a table their new place. Its rows are found by number.
func (x relocation) moveColumn(t *engine.Tx, table, number, address, where string, args ...any) error {
	moved := map[int64]string{}
	err := t.Each("SELECT "+number+", "+address+" FROM "+table+" WHERE "+where, args, func(r engine.Row) error {
		if a, ok := x.move(column.Address(r.Str(1))); ok {
			moved[r.Int(0)] = a.String()
		}
		return nil
	})
	if err != nil {
		return err
	}
	for n, at := range moved {
		if _, err := t.Exec("UPDATE "+table+" SET "+address+" = ? WHERE "+number+" = ?", at, n); err != nil {
			return err
		}
	}
	return nil
}

// prefix is how the addresses of a place begin.
func (x relocation) prefix(a channels.Address) string {
	if x.account {
		return column.AccountPrefix(a.Channel, a.Account)
	}
	return a.String()
}

// below gives the bounds between which the addresses of the old place are: the place itself, and what is in it.
func (x relocation) below() []any {
	p := x.prefix(x.from)
	return []any{p, p + "/", p + "0"}
}

// named reports whether a key is one of the old place's own.
func (x relocation) named(p sessions.Parts) bool {
	if x.account {
		several := p.Form == sessions.FormGroup || p.Form == sessions.FormRoom
		return (several || p.Form == sessions.FormAccountPeer) && p.Channel == x.from.Channel && p.Account == x.from.Account
	}
	switch p.Form {
	case sessions.FormGroup, sessions.FormRoom:
		return x.from.Type.Several() && p.ID == x.was
	case sessions.FormPeer, sessions.FormChannelPeer, sessions.FormAccountPeer:
		return x.from.Type == channels.Direct && p.ID == x.was
	}
	return false
}

// renamed gives the same key by the new address.
func (x relocation) renamed(p sessions.Parts) sessions.Key {
	p.Channel, p.Account = x.to.Channel, x.to.Account
	if x.account {
		return p.Key()
	}
	p.ID = x.now
	switch {
	case x.to.Type == channels.Direct:
	case x.to.Type == channels.Room:
		p.Form = sessions.FormRoom
	default:
		p.Form = sessions.FormGroup
	}
	return p.Key()
}

// sessionNames has sessions by any key that they have.
type sessionNames map[sessions.Key]sessions.Key

const allNames = "SELECT key, key FROM sessions UNION SELECT key, target FROM aliases"

func readNames(t *engine.Tx, query string, args ...any) (sessionNames, error) {
	names := sessionNames{}
	err := t.Each(query, args, func(r engine.Row) error {
		name, key := sessions.Key(r.Str(0)), sessions.Key(r.Str(1))
		if _, known := names[name]; !known || name == key { // a session that is still there goes by its own key
			names[name] = key
		}
		return nil
	})
	return names, err
}

// each calls do, in the order of the names, for each name of what moves with its session.
func (n sessionNames) each(x relocation, do func(parts sessions.Parts, key sessions.Key) error) error {
	for _, name := range slices.Sorted(maps.Keys(n)) {
		parts, err := name.Parse()
		if err != nil || !x.named(parts) {
			continue
		}
		if err := do(parts, n[name]); err != nil {
			return err
		}
	}
	return nil
}
