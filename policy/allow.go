package policy

import (
	"fmt"
	"slices"
	"strings"

	"parley/channels"
)

// Owners are commands.ownerAllowFrom: who may do everything. An entry names its channel: "telegram:1001", "telegram:@ada";
// "webchat:*" makes everybody on that channel an owner.
type Owners []string

// Is reports whether the sender is an owner. A bot never is.
func (o Owners) Is(kind channels.Kind, u channels.Sender) bool {
	if u.Bot {
		return false
	}
	return slices.ContainsFunc(o, func(e string) bool {
		rest, ok := cutKind(e, kind)
		return ok && entryMatches(rest, u)
	})
}

// OwnerEntry returns the entry that names one person; ok is false for an id that an entry would read as something else.
func OwnerEntry(kind channels.Kind, id channels.UserID) (entry string, ok bool) {
	text := string(id)
	return string(kind) + ":" + text, kind != "" && text != "" && text != "*" && text == strings.TrimSpace(text) && !strings.HasPrefix(text, "@") && !IsGroupID(id)
}

// IsGroupID reports whether an id is that of a group, which writes in the name of every anonymous administrator: Telegram's are below zero.
// source: core.telegram.org/bots/api#message, sender_chat
func IsGroupID(id channels.UserID) bool { return strings.HasPrefix(string(id), "-") }

// Check finds entries that match no person, or every person.
func (o Owners) Check(known []channels.Kind) []Problem {
	var out []Problem
	for i, e := range o {
		path := fmt.Sprintf("commands.ownerAllowFrom[%d]", i)
		at := slices.IndexFunc(known, func(k channels.Kind) bool { _, ok := cutKind(e, k); return ok })
		if at < 0 {
			out = append(out, Problem{Path: path, Message: fmt.Sprintf("%q names no channel: write <channel>:<user id>, with one of %s", e, joinKinds(known))})
			continue
		}
		switch rest, _ := cutKind(e, known[at]); {
		case IsGroupID(channels.UserID(rest)):
			out = append(out, Problem{Path: path, Warning: true, Message: fmt.Sprintf("%q is the id of a group; every anonymous administrator of the group is an owner", e)})
		case rest == "" || rest == "@":
			out = append(out, Problem{Path: path, Message: fmt.Sprintf("%q names no person: write %s:<user id>", e, known[at])})
		case rest == "*":
			out = append(out, Problem{Path: path, Warning: true, Message: fmt.Sprintf("everybody on %s is an owner", known[at])})
		}
	}
	return out
}

// cutKind takes "<kind>:" off an entry; the kind's case does not matter.
func cutKind(entry string, kind channels.Kind) (string, bool) {
	k, rest, ok := strings.Cut(strings.TrimSpace(entry), ":")
	if !ok || !strings.EqualFold(k, string(kind)) {
		return "", false
	}
	return rest, true
}

// entryMatches: "*" is everybody, "@name" a user name whatever its case, everything else an exact id, one of those that the person has.
func entryMatches(entry string, u channels.Sender) bool {
	if entry == "*" {
		return true
	}
	if name, ok := strings.CutPrefix(entry, "@"); ok {
		return name != "" && strings.EqualFold(name, strings.TrimPrefix(u.Username, "@"))
	}
	return entry != "" && (entry == string(u.ID) || entry == string(u.Also))
}

// listed reports whether an allow list names the sender. The channel's name in front of an entry is optional.
func listed(list []string, kind channels.Kind, u channels.Sender) bool {
	return slices.ContainsFunc(list, func(e string) bool {
		e = strings.TrimSpace(e)
		if rest, ok := cutKind(e, kind); ok {
			e = rest
		}
		return entryMatches(e, u)
	})
}

// everybody reports whether the list holds "*".
func everybody(list []string) bool {
	return slices.ContainsFunc(list, func(e string) bool {
		e = strings.TrimSpace(e)
		return e == "*" || strings.HasSuffix(e, ":*")
	})
}
