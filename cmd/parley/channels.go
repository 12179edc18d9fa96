package main

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"parley/channels"
	"parley/gateway/api"
)

type channelsCmd struct {
	List    channelsListCmd    `cmd:"" default:"withargs" help:"Show every account (the default)."`
	Restart channelsRestartCmd `cmd:"" help:"Start an account again, also one that has given up."`
}

type channelsListCmd struct {
	JSON bool `help:"Print JSON."`
}

func (c channelsListCmd) Run(e *env) error {
	list, err := ask[[]api.Account](e, http.MethodGet, "/api/channels", nil, nil)
	if err != nil {
		return err
	}
	return show(c.JSON, list, printChannels)
}

func printChannels(w io.Writer, list []api.Account) {
	table(w, "CHANNEL\tACCOUNT\tSTATE\tNAME\tLAST SEEN\tRESTARTS", func(t io.Writer) {
		for _, s := range list {
			_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d\n", s.Channel, s.Account, s.Words(), firstOf(s.Name, "–"), stamp(s.LastSeen), s.Restarts)
		}
	})
	for _, s := range list {
		if s.Detail == "" && s.Todo == "" && s.Next.IsZero() {
			continue
		}
		_, _ = fmt.Fprintf(w, "\n%s\n", s.Line())
	}
}

type channelsRestartCmd struct {
	Channel string `arg:"" help:"Channel kind."`
	Account string `arg:"" optional:"" help:"Account; without it the only one, or default."`
}

func (c channelsRestartCmd) Run(e *env) error {
	s, err := ask[api.Account](e, http.MethodPost, "/api/channels/restart", nil, api.AccountCall{Channel: channels.Kind(c.Channel), Account: channels.AccountID(c.Account)})
	if err == nil {
		fmt.Printf("%s (%s) is started again (parley channels shows how it goes).\n", s.Channel, s.Account)
	}
	return err
}

type logoutCmd struct {
	Channel string `arg:"" help:"Channel kind."`
	Account string `help:"Account; without it the only one, or default." placeholder:"NAME"`
}

// Run ends the link of an account, on its platform too.
func (c logoutCmd) Run(e *env) error {
	h, err := running(e)
	if err != nil {
		return err
	}
	var s api.Account
	body := api.AccountCall{Channel: channels.Kind(c.Channel), Account: channels.AccountID(c.Account)}
	if err := h.callWithin(e.ctx, time.Minute, http.MethodPost, "/api/channels/logout", nil, body, &s); err != nil {
		return err
	}
	fmt.Printf("%s (%s) is not linked any more. To link it again: parley login %s\n", s.Channel, s.Account, s.Channel)
	return nil
}
