package server

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strings"

	"parley/channels"
	"parley/channels/webchat"
	"parley/gateway/accounts"
	"parley/gateway/api"
	"parley/gateway/config"
	"parley/gateway/models"
	"parley/gateway/web"
	"parley/policy"
	"parley/router"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// PageUser is the sender of texts from the page and the terminal chat: the person who holds the token, which makes them an owner.
const PageUser = "owner"

// Page serves the page, which stands on the host's API, and the API of its chat when the web chat is switched on.
type Page struct {
	Config   func() *config.Config
	Store    *sqlstore.Store
	Router   *router.Router
	Accounts *accounts.Supervisor
	Models   *models.Set
	Chat     *webchat.Channel // nil = it is switched off
	Now      func() string    // the position in the host's events
	Log      *slog.Logger

	site http.Handler // set by Open
}

// Open makes the pages, which call the operations of the table. It is called once, before the first request.
func (p *Page) Open(table api.Table) {
	d := web.Deps{
		Call: func(ctx context.Context, name string, in any) (any, error) {
			return api.Call[any](ctx, table, name, in)
		},
		Info:   p.info,
		InfoOf: p.infoOf,
		Now: func() string {
			p.Accounts.TellChanges()
			return p.Now()
		},
		Logger: p.Log,
	}
	if p.Chat != nil {
		d.History = web.StoreHistory(p.Store, p.Chat.Address, p.key)
		d.Chat = p.Chat.Handler(webchat.HandlerOptions{
			User:   func(*http.Request) (channels.UserID, string) { return PageUser, "" },
			Render: web.RenderMarkdown,
		})
	}
	p.site = web.New(d)
}

func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.site.ServeHTTP(w, r) }

// key is the session behind a chat of the page.
func (p *Page) key(chat channels.ChatID) sessions.Key {
	return p.Router.Key(channels.Inbound{Event: channels.Message, Address: p.Chat.Address(chat), Sender: channels.Sender{ID: PageUser}})
}

// session is the session behind a chat of the page; before its first message it has only its agent.
func (p *Page) session(ctx context.Context, chat channels.ChatID) sessions.Session {
	_, def := p.Config().Agents.IDs()
	s := sessions.Session{Agent: def}
	if p.Chat == nil {
		return s
	}
	s.Key = p.key(chat)
	s.Agent = cmp.Or(s.Key.Agent(), def)
	if own, err := p.Store.Get(ctx, s.Key); err == nil {
		s = own
	}
	return s
}

// settingsText says what a session has set for itself, besides its model.
func settingsText(s sessions.Session) string {
	var words []string
	if t := s.Settings.Thinking; t != "" {
		words = append(words, "thinking "+t)
	}
	switch s.Settings.SendPolicy {
	case policy.Deny:
		words = append(words, "answers withheld")
	case policy.Allow:
		words = append(words, "answers allowed")
	case policy.Inherit:
	}
	return strings.Join(words, ", ")
}

// info is about the main chat of the page.
func (p *Page) info(ctx context.Context) web.Info { return p.infoOf(ctx, webchat.DefaultChat) }

// infoOf says what the page shows beside a chat.
func (p *Page) infoOf(ctx context.Context, chat channels.ChatID) web.Info {
	c := p.Config()
	s := p.session(ctx, chat)
	model := cmp.Or(p.Router.Settings().ModelOf(s), p.Models.Chosen().Model)
	info := web.Info{Agent: string(s.Agent), Model: model, Offline: models.IsOffline(model), Session: s.Key.Shown(), Settings: settingsText(s)}
	for _, e := range c.Agents.List {
		if e.ID == s.Agent && e.Name != "" {
			info.Agent = e.Name
		}
	}
	for _, s := range p.Accounts.Statuses() {
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
