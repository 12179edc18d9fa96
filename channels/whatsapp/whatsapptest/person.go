package whatsapptest

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	waLog "go.mau.fi/whatsmeow/util/log"
)

// Person is somebody with a phone: writes to others, and sees what they write. Their client connects when it is needed first.
type Person struct {
	*Phone
	dev   *store.Device
	once  sync.Once
	cli   *whatsmeow.Client
	ready chan struct{}

	// Below: under the server's lock.
	seen      []*Message // in the order of their first arrival
	reactions map[string]map[string]string
	repeats   int
}

// NewPerson makes somebody with a new number.
func (s *Server) NewPerson(name string) *Person { return s.NewPhone(name).Owner() }

// Owner is who holds the phone, and writes with the account from there.
func (p *Phone) Owner() *Person {
	p.s.mu.Lock()
	owner := p.owner
	if owner != nil {
		p.s.mu.Unlock()
		return owner
	}
	owner = &Person{Phone: p, dev: newDevice(), ready: make(chan struct{}), reactions: map[string]map[string]string{}}
	p.owner = owner
	p.s.people = append(p.s.people, owner)
	p.s.mu.Unlock()
	owner.dev.PushName = p.name
	if err := p.enrol(context.Background(), owner.dev, 0); err != nil {
		p.s.t.Errorf("whatsapptest: %s: %v", p.name, err)
	}
	return owner
}

// client connects at the first call.
func (p *Person) client() *whatsmeow.Client {
	p.once.Do(func() {
		cli := whatsmeow.NewClient(p.dev, waLog.Noop)
		cli.SetWebsocketHTTPClient(p.s.client)
		cli.SetPreLoginHTTPClient(p.s.client)
		cli.SetMediaHTTPClient(p.s.client)
		cli.SynchronousAck = true // a test that waits for receipts then knows that the person has seen the message
		var connected sync.Once
		cli.AddEventHandlerWithSuccessStatus(func(evt any) bool {
			switch e := evt.(type) {
			case *events.Connected:
				connected.Do(func() { close(p.ready) })
			case *events.Message:
				p.hear(cli, e)
			}
			return true
		})
		p.cli = cli
		if err := cli.Connect(); err != nil {
			p.s.t.Errorf("whatsapptest: %s: %v", p.name, err)
		}
	})
	if p.cli == nil {
		return nil
	}
	select {
	case <-p.ready:
		return p.cli
	case <-time.After(bound):
		p.s.t.Errorf("whatsapptest: %s does not get a connection", p.name)
		return nil
	}
}

// leave ends the person's connection for good.
func (p *Person) leave() {
	p.once.Do(func() {})
	if p.cli != nil {
		p.cli.Disconnect()
	}
}

// with gives the people who are in a chat with an account, besides itself.
func (p *Phone) with(chat types.JID) []*Person {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	if g := p.s.groups[chat.User]; g != nil && chat.Server == types.GroupServer {
		var all []*Person
		for _, m := range p.s.people {
			if m.Phone != p && slices.Contains(g.members, m.Phone) {
				all = append(all, m)
			}
		}
		return all
	}
	if other := p.s.byUser[chat.User]; other != nil && other.owner != nil {
		return []*Person{other.owner}
	}
	return nil
}
