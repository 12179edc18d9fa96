package chatclient

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"parley/channels/webchat"
	"parley/gateway/web"
)

// webChat is a conversation of the web chat, the page's own.
type webChat struct{ hostAPI }

func (c webChat) query() url.Values {
	q := url.Values{}
	if c.o.Chat != "" {
		q.Set("chat", c.o.Chat)
	}
	return q
}

func (c webChat) info(ctx context.Context) (info web.Info, err error) {
	return info, c.do(ctx, http.MethodGet, "/api/chat/info", c.query(), "", nil, &info)
}

func (c webChat) history(ctx context.Context) ([]web.Line, error) {
	var page struct {
		Lines []web.Line `json:"lines"`
	}
	err := c.do(ctx, http.MethodGet, "/api/chat/history", c.query(), "", nil, &page)
	return page.Lines, err
}

func (c webChat) post(ctx context.Context, id, text string) error {
	body, err := json.Marshal(map[string]string{"id": id, "text": text})
	if err != nil {
		return err
	}
	var ok struct{}
	return c.do(ctx, http.MethodPost, "/api/chat/messages", c.query(), "", body, &ok)
}

func (c webChat) stream(ctx context.Context, on func(webchat.Event)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dead := time.AfterFunc(silence, cancel)
	defer dead.Stop()
	res, err := c.open(ctx, http.MethodGet, "/api/chat/events", c.query(), "", nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	return events(res.Body, func() { dead.Reset(silence) }, func(name string, data []byte) error {
		if webchat.EventKind(name) == webchat.ReloadEvent {
			return errReload
		}
		e := webchat.Event{}
		if len(data) > 0 {
			if err := json.Unmarshal(data, &e); err != nil {
				return err
			}
		}
		e.Kind = webchat.EventKind(name)
		on(e)
		return nil
	})
}
