package router

import (
	"sync"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
)

// former knows what chats were before they got a new id. What the configuration says about a chat's old id holds on until it has an
// entry for the new one: nobody edits it in the moment in which a group moves.
type former struct {
	mu  sync.Mutex
	was map[channels.Address]channels.Address // without threads
}

func (f *former) set(was map[channels.Address]channels.Address) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.was = was
}

// add says that a chat has a new id; as the store keeps it, so that the next process knows it, too.
func (f *former) add(from, to channels.Address) {
	from.Thread, to.Thread = "", ""
	if f == nil || from == to {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.was == nil {
		f.was = make(map[channels.Address]channels.Address)
	}
	f.was[to] = from
}

// names gives the addresses that a chat has and had, newest first, each with the thread of the one that is asked for.
func (f *former) names(at channels.Address) []channels.Address {
	out := []channels.Address{at}
	if f == nil || !at.Type.Several() {
		return out
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	next := at
	next.Thread = ""
	for seen := map[channels.Address]bool{}; !seen[next]; {
		seen[next] = true
		was, ok := f.was[next]
		if !ok || seen[was] {
			break
		}
		next = was
		was.Thread = at.Thread
		out = append(out, was)
	}
	return out
}

// ruled gives the address by which an account's section is to be asked about a chat: the newest of its ids that has an entry.
func (s *Settings) ruled(at channels.Address) channels.Address {
	groups := s.Accounts[Ref(at)].Access.Groups
	for _, a := range s.former.names(at) {
		if _, ok := groups[string(a.Chat)]; ok {
			return a
		}
	}
	return at
}

// sending is a delivery of a session to an address as the send policy sees it: by every name that the chat has and had.
func (s *Settings) sending(x sessions.Session, to channels.Address) policy.Subject {
	subject := func(k sessions.Key, to channels.Address) policy.Subject {
		return policy.Subject{Key: string(k), StrippedKey: k.Stripped(), PlainKey: string(k.Plain()), To: to, Override: x.Settings.SendPolicy}
	}
	out := subject(x.Key, to)
	names := s.former.names(to)
	if len(names) == 1 {
		return out
	}
	keys := []sessions.Key{x.Key}
	if p, err := x.Key.Parse(); err == nil && (p.Form == sessions.FormGroup || p.Form == sessions.FormRoom) && p.Channel == to.Channel && p.Account == to.Account {
		for _, n := range names {
			if string(n.Chat) != p.ID {
				continue
			}
			for _, other := range names {
				p.ID = string(other.Chat)
				keys = append(keys, p.Key())
			}
			break
		}
	}
	for _, n := range names {
		for _, k := range keys {
			out.Was = append(out.Was, subject(k, n))
		}
	}
	return out
}
