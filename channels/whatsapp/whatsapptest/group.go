package whatsapptest

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"go.mau.fi/whatsmeow/types"
)

// Group is a group chat. WhatsApp names the people in it by their LIDs.
type Group struct {
	s       *Server
	jid     types.JID
	owner   *Phone
	created time.Time

	// Below: under the server's lock.
	subject string
	members []*Phone
	timer   int // seconds after which messages disappear; 0 = they stay

	hiddenFrom *Phone
	hiddenBy   int // the error that hiddenFrom's questions about the group are answered with; 200 = without the group
}

// NewGroup makes a group; the first member owns it. Nobody is told: clients learn of it from its first message.
func (s *Server) NewGroup(subject string, members ...*Phone) *Group {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := &Group{
		s: s, jid: types.NewJID(fmt.Sprintf("12036300000%07d", len(s.groups)+1), types.GroupServer), owner: members[0], created: time.Now(),
		subject: subject, members: slices.Clone(members),
	}
	s.groups[g.jid.User] = g
	return g
}

// JID is the group's id.
func (g *Group) JID() types.JID { return g.jid }

// Age makes the group older.
func (g *Group) Age(by time.Duration) { g.s.set(func() { g.created = g.created.Add(-by) }) }

// Hide has a member's questions about the group refused with a code (403, 404, 500), or answered without the group (200). With nil they are answered again.
func (g *Group) Hide(from *Phone, code int) {
	g.s.set(func() { g.hiddenFrom, g.hiddenBy = from, code })
}

// Add puts somebody into the group and tells everybody.
func (g *Group) Add(by, who *Phone) {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	others := slices.Clone(g.members)
	g.members = append(g.members, who)
	g.tell(by, others, node{Tag: "add", Content: []node{who.participant("")}})
	g.tell(by, []*Phone{who}, node{Tag: "create", Attrs: attrs{"reason": "invite"}, Content: []node{g.node()}})
}

// Remove takes somebody out of the group and tells everybody; by is the same when they leave of their own.
func (g *Group) Remove(by, who *Phone) {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	g.tell(by, g.members, node{Tag: "remove", Content: []node{who.participant("")}})
	g.members = slices.DeleteFunc(g.members, func(p *Phone) bool { return p == who })
}

// Rename gives the group another subject and tells everybody.
func (g *Group) Rename(by *Phone, subject string) {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	g.subject = subject
	g.tell(by, g.members, g.subjectNode(by))
}

// SetTimer has messages disappear after so many seconds, 0 = not any more, and tells everybody.
func (g *Group) SetTimer(by *Phone, seconds int) {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	g.timer = seconds
	change := node{Tag: "not_ephemeral"}
	if seconds > 0 {
		change = g.ephemeral()
	}
	g.tell(by, g.members, change)
}

func (g *Group) ephemeral() node { return node{Tag: "ephemeral", Attrs: attrs{"expiration": g.timer}} }

// AddAndRename does both in one notification.
func (g *Group) AddAndRename(by, who *Phone, subject string) {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	others := slices.Clone(g.members)
	g.members, g.subject = append(g.members, who), subject
	g.tell(by, others, node{Tag: "add", Content: []node{who.participant("")}}, g.subjectNode(by))
}

func (g *Group) subjectNode(by *Phone) node {
	return node{Tag: "subject", Attrs: attrs{"subject": g.subject, "s_t": unixNow(), "s_o": by.lid, "s_o_pn": by.pn}}
}

// tell sends changes of the group to members. It is called under the lock.
func (g *Group) tell(by *Phone, members []*Phone, changes ...node) {
	for _, p := range members {
		for _, d := range p.devices {
			a := attrs{"from": g.jid, "type": "w:gp2", "id": g.s.id(), "t": unixNow(), "participant": by.lid, "addressing_mode": "lid", "notify": by.name}
			if by.named != Hidden {
				a["participant_pn"] = by.pn
			}
			g.s.deliver(d, node{Tag: "notification", Attrs: a, Content: changes})
		}
	}
	g.s.notify()
}

// participant is an account in a list of members.
func (p *Phone) participant(typ string) node {
	a := attrs{"jid": p.lid}
	if p.named != Hidden {
		a["phone_number"] = p.pn
	}
	if typ != "" {
		a["type"] = typ
	}
	return node{Tag: "participant", Attrs: a}
}

// node is what members are told about the group. It is called under the lock.
func (g *Group) node() node {
	var all []node
	for _, p := range g.members {
		typ := ""
		if p == g.owner {
			typ = "superadmin"
		}
		all = append(all, p.participant(typ))
	}
	if g.timer > 0 {
		all = append(all, g.ephemeral())
	}
	created := strconv.FormatInt(g.created.Unix(), 10)
	return node{Tag: "group", Content: all, Attrs: attrs{
		"id": g.jid.User, "creator": g.owner.lid, "creator_pn": g.owner.pn, "creation": created, "subject": g.subject,
		"s_t": created, "s_o": g.owner.lid, "addressing_mode": "lid", "size": len(g.members),
	}}
}
