package whatsapp

import (
	"sync"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
)

// arrivals keeps the ids and times of the notifications that this account came into a group, in the order in which they came: the
// library does not give them on.
type arrivals struct {
	mu    sync.Mutex
	known map[types.JID][]arrival
	count int
}

type arrival struct {
	id string
	at time.Time
}

const mostArrivals = 1024

// note is called for each stanza that comes.
func (a *arrivals) note(n *waBinary.Node) {
	if n.Tag != "notification" || n.Attrs["type"] != "w:gp2" {
		return
	}
	parts := n.GetChildren()
	if len(parts) != 1 || parts[0].Tag != "create" {
		return
	}
	group := parts[0].GetChildByTag("group")
	get, in := n.AttrGetter(), group.AttrGetter()
	came := arrival{id: get.OptionalString("id"), at: get.UnixTime("t")}
	jid := types.NewJID(in.OptionalString("id"), types.GroupServer)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == nil || a.count >= mostArrivals {
		a.known, a.count = map[types.JID][]arrival{}, 0
	}
	a.known[jid] = append(a.known[jid], came)
	a.count++
}

// next gives the oldest one of a group; empty when it is not known.
func (a *arrivals) next(group types.JID) arrival {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := a.known[group]
	if len(list) == 0 {
		return arrival{}
	}
	if a.known[group] = list[1:]; len(list) == 1 {
		delete(a.known, group)
	}
	a.count--
	return list[0]
}

// clear forgets all of them: the next connection brings again what was not taken.
func (a *arrivals) clear() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known, a.count = nil, 0
}
