package web

import (
	"fmt"
	"net/http"
	"strings"

	"parley/channels"
)

// entry is one line of the menu.
type entry struct {
	Path, Name, Icon string
}

// menu is the navigation, in its order.
var menu = []entry{
	{"/", "Chat", "chat"},
	{"/sessions", "Sessions", "sessions"},
	{"/runs", "Runs", "runs"},
	{"/deliveries", "Deliveries", "deliveries"},
	{"/policy", "Policy", "policy"},
	{"/pairing", "Pairing", "pairing"},
	{"/channels", "Channels", "channels"},
	{"/cron", "Cron", "cron"},
	{"/usage", "Usage", "usage"},
	{"/status", "Status", "status"},
}

// menuEntry gives the entry that a path belongs to; empty = none.
func menuEntry(path string) string {
	for _, e := range menu {
		if path == e.Path || e.Path != "/" && strings.HasPrefix(path, e.Path+"/") {
			return e.Path
		}
	}
	return ""
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
