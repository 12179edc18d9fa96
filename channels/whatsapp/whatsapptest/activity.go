package whatsapptest

import (
	"slices"
	"time"

	"go.mau.fi/whatsmeow/types"
)

// activity is what the server notes about an account.
type activity struct {
	logins  int
	stanzas []stanza
	typing  map[string]int
	paused  map[string]int
	typed   []stanza
	read    []string
	asked   map[string]bool // users asked about who had never written
	wrote   map[string]bool // users who wrote to the account
}

// stanza is one message as the server sees it, without its text.
type stanza struct {
	chat, id string
	at       time.Time
}

// Stanza is one message of an account as the server sees it, without its text. Chat is the user part of the chat's address.
type Stanza struct {
	Chat, ID string
	At       time.Time
}

func newActivity() activity {
	return activity{typing: map[string]int{}, paused: map[string]int{}, asked: map[string]bool{}, wrote: map[string]bool{}}
}

// chatKey is one name for a chat, however it is addressed. It is called under the lock.
func (s *Server) chatKey(j types.JID) string {
	if p := s.byUser[j.User]; p != nil && j.Server != types.GroupServer {
		return p.pn.User
	}
	return j.User
}

// lookup notes a question about a user. It is called under the lock.
func (c *conn) lookup(user string) {
	self, p := c.dev.phone, c.s.byUser[user]
	if p == nil {
		self.log.asked[user] = true
		return
	}
	if p == self || self.log.wrote[p.pn.User] {
		return
	}
	for _, g := range c.s.groups {
		if slices.Contains(g.members, p) && slices.Contains(g.members, self) {
			return
		}
	}
	self.log.asked[p.pn.User] = true
}

// Lookups gives the numbers that the account's devices asked about although their owners had never written to it and share no group
// with it.
func (p *Phone) Lookups() []string {
	p.settle()
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	var all []string
	for user := range p.log.asked {
		all = append(all, user)
	}
	slices.Sort(all)
	return all
}

// Logins is how often a device of the account tried to log in.
func (p *Phone) Logins() int {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return p.log.logins
}

// Stanzas gives the ids of the messages that linked devices of the account sent anywhere, each as often as it was sent.
func (p *Phone) Stanzas() []string {
	p.settle()
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	var ids []string
	for _, m := range p.log.stanzas {
		ids = append(ids, m.id)
	}
	return ids
}

// Sends gives the messages that linked devices of the account sent anywhere, each as often as it was sent. What people see of one has
// its ID (see Person.Heard).
func (p *Phone) Sends() []Stanza { return p.logged(func(a *activity) []stanza { return a.stanzas }) }

// Typed gives the times at which the account was seen typing. They have no ID.
func (p *Phone) Typed() []Stanza { return p.logged(func(a *activity) []stanza { return a.typed }) }

func (p *Phone) logged(of func(*activity) []stanza) (all []Stanza) {
	p.settle()
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	for _, m := range of(&p.log) {
		all = append(all, Stanza{m.chat, m.id, m.at})
	}
	return all
}

// WaitSent waits until linked devices of the account have sent n messages, in all.
func (p *Phone) WaitSent(n int) bool {
	p.s.t.Helper()
	return p.s.wait("a message of the account", func() bool { return len(p.log.stanzas) >= n })
}

// Typing is how often the account was seen typing in a chat.
func (p *Phone) Typing(chat Chat) int {
	p.settle()
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return p.log.typing[p.s.chatKey(chat.JID())]
}

// Paused is how often the account told a chat that it types no longer.
func (p *Phone) Paused(chat Chat) int {
	p.settle()
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return p.log.paused[p.s.chatKey(chat.JID())]
}

// Read gives the ids of the messages that the account marked as read.
func (p *Phone) Read() []string {
	p.settle()
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return slices.Clone(p.log.read)
}

// Waiting is how many messages and notifications for the account's linked devices are not confirmed.
func (p *Phone) Waiting() int {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return p.waiting()
}

func (p *Phone) waiting() (n int) {
	for id, d := range p.devices {
		if id != 0 {
			n += len(d.queue)
		}
	}
	return n
}

// WaitDelivered waits until the account's linked devices have confirmed everything.
func (p *Phone) WaitDelivered() bool {
	p.s.t.Helper()
	return p.WaitWaiting(0)
}

// WaitWaiting waits until no more than n messages and notifications are not confirmed.
func (p *Phone) WaitWaiting(n int) bool {
	p.s.t.Helper()
	return p.s.wait("messages to be confirmed", func() bool { return p.waiting() <= n })
}
