package gateway

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"parley/channels"
	"parley/channels/webchat"
	"parley/gateway/api"
	"parley/gateway/web"
	"parley/policy"
	"parley/sessions"
)

// pageHandler serves the page, which stands on the host's API, and the API of its chat when the web chat is switched on.
func (h *Host) pageHandler(table api.Table) http.Handler {
	d := web.Deps{
		Call: func(ctx context.Context, name string, in any) (any, error) {
			return api.Call[any](ctx, table, name, in)
		},
		Info:   h.pageInfo,
		InfoOf: h.chatInfo,
		Now: func() string {
			h.lookAtAccounts()
			return h.placeName(h.router.Position())
		},
		Logger: h.log,
	}
	if h.page != nil {
		d.History = web.StoreHistory(h.store, h.page.Address, h.pageKey)
		d.Chat = h.page.Handler(webchat.HandlerOptions{
			User:   func(*http.Request) (channels.UserID, string) { return pageUser, "" },
			Render: web.RenderMarkdown,
		})
	}
	h.site = web.New(d)
	return h.site
}

// pageKey is the session behind a chat of the page.
func (h *Host) pageKey(chat channels.ChatID) sessions.Key {
	return h.router.Key(channels.Inbound{Event: channels.Message, Address: h.page.Address(chat), Sender: channels.Sender{ID: pageUser}})
}

// pageSession is the session behind a chat of the page; before its first message it has only its agent.
func (h *Host) pageSession(ctx context.Context, chat channels.ChatID) sessions.Session {
	_, def := h.deps.Config.Config().Agents.IDs()
	s := sessions.Session{Agent: def}
	if h.page == nil {
		return s
	}
	s.Key = h.pageKey(chat)
	s.Agent = cmp.Or(s.Key.Agent(), def)
	if own, err := h.store.Get(ctx, s.Key); err == nil {
		s = own
	}
	return s
}

// ownSettings says what a session has set for itself, besides its model.
func ownSettings(s sessions.Session) string {
	var words []string
	if t := s.Settings.Thinking; t != "" {
		words = append(words, "thinking "+t)
	}
	switch s.Settings.SendPolicy {
	case policy.Deny:
		words = append(words, "answers are withheld")
	case policy.Allow:
		words = append(words, "answers are let out")
	case policy.Inherit:
	}
	return strings.Join(words, ", ")
}

// pageInfo is about the main chat of the page.
func (h *Host) pageInfo(ctx context.Context) web.Info { return h.chatInfo(ctx, webchat.DefaultChat) }

func (h *Host) chatInfo(ctx context.Context, chat channels.ChatID) web.Info {
	c := h.deps.Config.Config()
	s := h.pageSession(ctx, chat)
	model := cmp.Or(h.router.Settings().ModelOf(s), h.choice.Load().name)
	info := web.Info{Agent: string(s.Agent), Model: model, Offline: choice{name: model}.offline(), Session: s.Key, Settings: ownSettings(s)}
	for _, e := range c.Agents.List {
		if e.ID == s.Agent && e.Name != "" {
			info.Agent = e.Name
		}
	}
	for _, s := range h.statuses() {
		name := string(s.Channel)
		if s.Account != channels.DefaultAccount {
			name += "/" + string(s.Account)
		}
		info.Channels = append(info.Channels, web.ChannelInfo{Name: name, State: s.State, Detail: strings.Trim(s.Detail+"; "+s.Todo, "; ")})
	}
	if info.Offline {
		info.Suggestions = []string{"What can you do?", "List my sessions", "Remember that the bins go out on Tuesday", "In the background, what time is it?"}
	}
	return info
}
