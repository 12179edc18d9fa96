package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"parley/channels"
	"parley/gateway/api"
	"parley/sessions"
)

// entry is one line of the menu.
type entry struct {
	Path, Name, Icon string
	Waiting          int // for a person to decide
}

// menuView is the menu on a page.
type menuView struct {
	Here    string // path of the current entry
	Entries []entry
}

// entries is the navigation, in its order.
var entries = []entry{
	{Path: "/", Name: "Chat", Icon: "chat"},
	{Path: "/sessions", Name: "Sessions", Icon: "sessions"},
	{Path: "/runs", Name: "Runs", Icon: "runs"},
	{Path: "/deliveries", Name: "Deliveries", Icon: "deliveries"},
	{Path: "/policy", Name: "Policy", Icon: "policy"},
	{Path: "/pairing", Name: "Pairing", Icon: "pairing"},
	{Path: "/channels", Name: "Channels", Icon: "channels"},
	{Path: "/cron", Name: "Cron", Icon: "cron"},
	{Path: "/usage", Name: "Usage", Icon: "usage"},
	{Path: "/status", Name: "Status", Icon: "status"},
}

// menuEntry gives the entry that a path belongs to; empty = none.
func menuEntry(path string) string {
	for _, e := range entries {
		if path == e.Path || e.Path != "/" && strings.HasPrefix(path, e.Path+"/") {
			return e.Path
		}
	}
	return ""
}

// menu makes the menu for one who looks at a path. What they may not read counts as nothing.
func (s site) menu(r *http.Request, here string) menuView {
	v := menuView{menuEntry(here), slices.Clone(entries)}
	waiting := map[string]int{}
	if asking, _, err := s.strangers(r); err == nil {
		waiting["/pairing"] = len(asking)
	}
	if n, err := call[map[sessions.DeliveryState]int](s, r, "deliveries.count", &api.DeliveryCountQuery{}); err == nil {
		waiting["/deliveries"] = n[sessions.Held] + n[sessions.DeliveryFail]
	}
	for i, e := range v.Entries {
		v.Entries[i].Waiting = waiting[e.Path]
	}
	return v
}

func (s site) menuPart(r *http.Request) (any, error) {
	return s.menu(r, r.URL.Query().Get("at")), nil
}

// health is how the accounts are, in a colour and some words.
type health struct {
	Tone, Words string
}

func healthOf(i Info) health {
	on, all, bad := 0, 0, 0
	for _, c := range i.Channels {
		switch c.State {
		case channels.Stopped:
			continue
		case channels.Connected:
			on++
		case channels.Connecting, channels.Disconnected:
		default:
			bad++
		}
		all++
	}
	switch {
	case all == 0:
		return health{"off", "no accounts"}
	case bad > 0:
		return health{"bad", fmt.Sprintf("%d of %d connected", on, all)}
	case on < all:
		return health{"warn", fmt.Sprintf("%d of %d connected", on, all)}
	case all == 1:
		return health{"good", "connected"}
	}
	return health{"good", fmt.Sprintf("all %d connected", all)}
}

func (s site) healthPart(r *http.Request) (any, error) {
	return healthOf(s.Info(r.Context())), nil
}
