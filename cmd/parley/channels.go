package main

import (
	"cmp"
	"time"

	"parley/channels"
	"parley/gateway/api"
	"parley/gateway/chatclient"
)

type channelsCmd struct {
	List    channelsListCmd    `cmd:"" default:"withargs" help:"Show every account (the default)."`
	Restart channelsRestartCmd `cmd:"" help:"Restart an account, even one that the host no longer retries."`
}

type channelsListCmd struct {
	asJSON
}

func (c channelsListCmd) Run(e *env) error {
	list, err := request[[]api.Account](e, "GET /api/channels", api.None{})
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, list, printChannels)
}

func printChannels(p *page, list []api.Account) {
	g := p.grid("CHANNEL", "ACCOUNT", "STATE", "~NAME", "LAST SEEN", "RESTARTS")
	for _, s := range list {
		g.row(s.Channel, s.Account, s.Words(), cmp.Or(inQuotes(s.Name), "–"), p.ago(s.LastSeen), s.Restarts)
	}
	g.print("There are no accounts.")
	for _, s := range list {
		if s.Detail == "" && s.Todo == "" && s.Next.IsZero() {
			continue
		}
		p.printf("\n%s\n", chatclient.OneLine(s.Line()))
	}
}

type channelsRestartCmd struct {
	Channel string `arg:"" help:"Kind of the channel, such as whatsapp."`
	Account string `arg:"" optional:"" help:"Account. Default: the only account, or the one named default."`
	asJSON
}

func (c channelsRestartCmd) Run(e *env) error {
	s, err := request[api.Account](e, "POST /api/channels/restart", api.AccountCall{Channel: channels.Kind(c.Channel), Account: channels.AccountID(c.Account)})
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, s, func(p *page, s api.Account) {
		p.note("The host restarts %s (%s); parley channels shows its state.\n", s.Channel, s.Account)
	})
}

type logoutCmd struct {
	Channel string `arg:"" help:"Kind of the channel, such as whatsapp."`
	Account string `help:"Account. Default: the only account, or the one named default." placeholder:"NAME"`
	asJSON
}

// Run ends the link of an account, on its platform too.
func (c logoutCmd) Run(e *env) error {
	s, err := requestOnce[api.Account](e, "POST /api/channels/logout", api.AccountCall{Channel: channels.Kind(c.Channel), Account: channels.AccountID(c.Account)}, "", time.Minute)
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, s, func(p *page, s api.Account) {
		p.note("%s (%s) is unlinked. To link it again, run parley login %s\n", s.Channel, s.Account, s.Channel)
	})
}
