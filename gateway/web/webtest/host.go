package webtest

import (
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/webchat"
	"parley/gateway/access"
	"parley/gateway/api"
	"parley/gateway/web"
	"parley/sessions"
)

// Host is the smallest host that a chat can be held with: the hub, the page behind its door, and a history in memory.
type Host struct {
	URL   string // http://127.0.0.1:port
	Token channels.Secret
	Hub   *webchat.Channel
	Cut   func() // breaks every connection to the host

	door  *access.Door // set once
	mu    sync.Mutex
	lines []web.Line
	given map[channels.MessageID]bool // messages that were taken
	info  web.Info
	lost  int // answers to posts that are still to be lost
	posts int
}

// Answer is an agent: it gets each new message once and answers through the host.
type Answer func(ctx context.Context, h *Host, in channels.Inbound)

const pageSize = 20

// NewHost starts a host on loopback that ends with the test.
func NewHost(t testing.TB, answer Answer) *Host {
	t.Helper()
	h := &Host{
		Token: channels.NewSecret("test-token"), given: map[channels.MessageID]bool{}, Hub: webchat.New(webchat.Deps{}),
		info: web.Info{
			Agent: "Parley", Model: "offline/offline", Offline: true, Suggestions: []string{"What can you do?", "List my sessions"},
			Channels: []web.ChannelInfo{{Name: "webchat", State: channels.Connected}, {Name: "telegram", State: channels.Revoked, Detail: "The token is not valid. Put a new one into the configuration."}},
		},
	}
	ctx, cancel := context.WithCancel(context.Background())
	var agents, hub sync.WaitGroup
	hub.Go(func() {
		err := h.Hub.Run(ctx, func(_ context.Context, in channels.Inbound) error {
			if h.keep(in) {
				agents.Go(func() { answer(ctx, h, in) })
			}
			return nil
		})
		if err != nil {
			t.Errorf("webchat: %v", err)
		}
	})
	h.door = access.New(access.Config{Page: web.Door, Settings: access.Settings{Tokens: []access.Token{{Name: api.Owner, Token: h.Token, Scope: api.Admin}}}})
	srv := httptest.NewServer(h.door.Guard(web.New(web.Deps{
		History: h.History, Info: func(context.Context) web.Info { return h.info },
		Chat: h.lossy(h.Hub.Handler(webchat.HandlerOptions{Render: web.RenderMarkdown})),
	})))
	h.URL, h.Cut = srv.URL, srv.CloseClientConnections
	t.Cleanup(func() {
		cancel()
		hub.Wait()
		agents.Wait()
		srv.Close()
	})
	return h
}

// Login is a new link that lets a browser in, once.
func (h *Host) Login() string {
	inv, _ := h.door.Invite(api.Principal{Name: api.Owner, Scope: api.Admin})
	return h.URL + inv.Path
}

// keep stores a message; false when it was there before. Commands, which start with a slash, are no lines.
func (h *Host) keep(in channels.Inbound) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.given[in.ID] {
		return false
	}
	h.given[in.ID] = true
	if !strings.HasPrefix(in.Text, "/") {
		h.lines = append(h.lines, web.Line{ID: "u-" + string(in.ID), Role: web.User, Text: in.Text, Time: in.Time, Client: string(in.ID)})
	}
	return true
}

// Put adds lines to the history without telling anybody.
func (h *Host) Put(lines ...web.Line) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, lines...)
}

// Lines gives the whole history.
func (h *Host) Lines() []web.Line {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.lines)
}

// History is web.Deps.History: the same for every chat.
func (h *Host) History(_ context.Context, _ channels.ChatID, before string) ([]web.Line, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	end := len(h.lines)
	if before != "" {
		end = max(0, slices.IndexFunc(h.lines, func(l web.Line) bool { return l.ID == before }))
	}
	return slices.Clone(h.lines[max(0, end-pageSize):end]), nil
}

// Say commits an answer and sends it, in the order of a real host. state is what became of it; only Sent is shown live.
func (h *Host) Say(ctx context.Context, to channels.Address, text string, state sessions.DeliveryState) error {
	return h.deliver(ctx, to, web.Line{Role: web.Assistant, Text: text, State: state})
}

// Answer is Say for the answer to a command.
func (h *Host) Answer(ctx context.Context, to channels.Address, text string, state sessions.DeliveryState) error {
	return h.deliver(ctx, to, web.Line{Role: web.Notice, Command: true, Text: text, State: state})
}

func (h *Host) deliver(ctx context.Context, to channels.Address, l web.Line) error {
	h.mu.Lock()
	id := fmt.Sprintf("d%d-", len(h.lines)) // no id is the start of another, as with UUIDs
	l.ID, l.Time, l.Deliveries = "a-"+id, time.Now(), []string{id}
	if l.State == sessions.Withheld {
		l.Rule = "session.sendPolicy.rules[0]"
	}
	h.lines = append(h.lines, l)
	h.mu.Unlock()
	if l.State != sessions.Sent {
		return nil
	}
	_, err := h.Hub.Send(ctx, channels.Outbound{Key: id + ".0", To: to, Text: l.Text})
	return err
}

// Echo answers with the text that it gets.
func Echo(ctx context.Context, h *Host, in channels.Inbound) {
	_ = h.Say(ctx, in.Address, "You said: "+in.Text, sessions.Sent) // the test sees that nothing comes
}
