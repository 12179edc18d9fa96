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
	"parley/sessions"
)

// pageHandler serves the page, which stands on the host's API, and the API of its chat when the web chat is switched on.
func (h *Host) pageHandler(table api.Table) http.Handler {
	d := web.Deps{
		Call: func(ctx context.Context, name string, in any) (any, error) {
			return api.Call[any](ctx, table, name, in)
		},
		Info:   h.pageInfo,
		Now:    func() string { return h.placeName(h.router.Position()) },
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

// pageModel is the model that answers in the main chat of the page: the session's own, else its agent's.
func (h *Host) pageModel(ctx context.Context) string {
	_, def := h.deps.Config.Config().Agents.IDs()
	s := sessions.Session{Agent: def}
	if h.page != nil {
		if own, err := h.store.Get(ctx, h.pageKey(webchat.DefaultChat)); err == nil { // before the first message there is none
			s = own
		}
	}
	return cmp.Or(h.router.Settings().ModelOf(s), h.choice.Load().name)
}

func (h *Host) pageInfo(ctx context.Context) web.Info {
	c := h.deps.Config.Config()
	_, def := c.Agents.IDs()
	model := h.pageModel(ctx)
	info := web.Info{Agent: string(def), Model: model, Offline: choice{name: model}.offline()}
	for _, e := range c.Agents.List {
		if e.ID == def && e.Name != "" {
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
