package webchat_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/channels/webchat"
)

// The acknowledgement of this channel is the answer to a post: the page keeps a message until it has one.
func TestConformance(t *testing.T) {
	t.Parallel()
	channeltest.Run(t, channeltest.Harness{
		Virtual: true,
		Without: []string{"Amender", "Reacting", "Quoter", "Typist", "Sharer", "Membership", "Loser", "Staller", "Menu"},
		New: func(t *testing.T, log *slog.Logger) (channels.Channel, channeltest.Platform) {
			p := &people{log: log, change: make(chan struct{}), pages: map[channels.ChatID]*page{}}
			t.Cleanup(p.ended.Wait)
			ctx, cancel := context.WithCancel(context.Background())
			t.Cleanup(cancel)
			p.ctx = ctx
			return p.open(), p
		},
	})
}

// people are those who have the page open.
type people struct {
	log   *slog.Logger
	ctx   context.Context
	ended sync.WaitGroup

	mu     sync.Mutex
	hub    *webchat.Channel
	change chan struct{} // closed when hub is another one
	pages  map[channels.ChatID]*page
}

// page is one open page: its outbox and what it shows.
type page struct {
	chat   channels.ChatID
	out    chan webchat.Posted
	events <-chan webchat.Event
	leave  func()
	shown  []string
	sent   int
}

func (p *people) open() *webchat.Channel {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hub = webchat.New(webchat.Deps{Logger: p.log})
	close(p.change)
	p.change = make(chan struct{})
	for _, g := range p.pages {
		p.read(g)
		g.events, g.leave = p.hub.Subscribe(g.chat)
	}
	return p.hub
}

func (p *people) Reopen(*testing.T, string) channels.Channel { return p.open() }

var chats = map[channeltest.Place]channels.ChatID{channeltest.OneToOne: webchat.DefaultChat, channeltest.Another: "visitor"}

func (p *people) Say(at channeltest.Place, text string) bool {
	chat, ok := chats[at]
	if !ok {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.pages[chat]
	if g == nil {
		g = &page{chat: chat, out: make(chan webchat.Posted, 1000)}
		g.events, g.leave = p.hub.Subscribe(chat)
		p.pages[chat] = g
		p.ended.Go(func() { p.post(g) })
	}
	p.read(g)
	g.sent++
	g.out <- webchat.Posted{Chat: chat, ID: fmt.Sprint("m", g.sent), Text: text}
	return true
}

// post sends what is in the outbox, in order, each again with its id until it is durable.
func (p *people) post(g *page) {
	for {
		select {
		case <-p.ctx.Done():
			return
		case m := <-g.out:
			for p.current().Post(p.ctx, m) != nil {
				select {
				case <-p.ctx.Done():
					return
				case <-time.After(time.Second):
				}
			}
		}
	}
}

func (p *people) current() *webchat.Channel {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hub
}

// read takes what has come, and comes back when it was cut off.
func (p *people) read(g *page) {
	for {
		select {
		case e, ok := <-g.events:
			if !ok {
				g.events, g.leave = p.hub.Subscribe(g.chat)
				return
			}
			if e.Kind == webchat.MessageEvent {
				g.shown = append(g.shown, e.Text)
			}
		default:
			return
		}
	}
}

func (p *people) Shown(to channels.Address) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.pages[to.Chat]
	if g == nil {
		return nil
	}
	p.read(g)
	return append([]string(nil), g.shown...)
}

// Fail: there is no platform that could fail; a Send is a hand-over inside the process.
func (p *people) Fail(channels.Address, channels.Class) bool { return false }

func (p *people) Disconnect() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, g := range p.pages {
		p.read(g)
		g.leave()
		g.events, g.leave = p.hub.Subscribe(g.chat)
	}
}
