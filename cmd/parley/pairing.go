package main

import (
	"fmt"
	"io"
	"net/http"

	"parley/channels"
	"parley/gateway/api"
	"parley/sessions"
)

type pairingCmd struct {
	List    pairingListCmd    `cmd:"" help:"List who asks to be let in, and who was."`
	Approve pairingApproveCmd `cmd:"" help:"Let somebody in."`
	Reject  pairingRejectCmd  `cmd:"" help:"Turn somebody down: no code for a day."`
	Remove  pairingRemoveCmd  `cmd:"" help:"Take back that somebody was let in or turned down."`
}

type pairingListCmd struct {
	JSON bool `help:"Print JSON."`
}

// pairingList is what parley pairing list prints as JSON.
type pairingList struct {
	Asking   []sessions.Pairing  `json:"asking"`
	Admitted []sessions.Admitted `json:"admitted"`
}

func (c pairingListCmd) Run(e *env) (err error) {
	var list pairingList
	if list.Asking, err = ask[[]sessions.Pairing](e, http.MethodGet, "/api/pairing", nil, nil); err != nil {
		return err
	}
	if list.Admitted, err = ask[[]sessions.Admitted](e, http.MethodGet, "/api/pairing/admitted", nil, nil); err != nil {
		return err
	}
	return show(c.JSON, list, printPairing)
}

func printPairing(w io.Writer, list pairingList) {
	if len(list.Asking)+len(list.Admitted) == 0 {
		_, _ = fmt.Fprintln(w, "Nobody asks to be let in, and nobody was let in by a code.")
		return
	}
	table(w, "CHANNEL\tACCOUNT\tID\tNAME\tSTATE", func(t io.Writer) {
		for _, p := range list.Asking {
			state := "waits until " + stamp(p.Expires)
			if p.Rejected {
				state = "turned down, no code until " + stamp(p.Expires)
			}
			_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", p.Channel, p.Account, p.User, firstOf(p.Name, "–"), state)
		}
		for _, p := range list.Admitted {
			_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\tlet in since %s\n", p.Channel, p.Account, p.User, firstOf(p.Name, "–"), stamp(p.Since))
		}
	})
}

type pairingApproveCmd struct {
	Channel string `arg:"" help:"Channel kind."`
	Code    string `arg:"" help:"The code that the person was given."`
}

func (c pairingApproveCmd) Run(e *env) error {
	p, err := ask[sessions.Pairing](e, http.MethodPost, "/api/pairing/approve", nil, map[string]string{"channel": c.Channel, "code": c.Code})
	if err == nil {
		fmt.Printf("%s:%s %s may write now.\n", p.Channel, p.User, p.Name)
	}
	return err
}

type pairingRejectCmd struct {
	Channel string `arg:"" help:"Channel kind."`
	Code    string `arg:"" help:"The code that the person was given."`
}

func (c pairingRejectCmd) Run(e *env) error {
	_, err := ask[struct{}](e, http.MethodPost, "/api/pairing/reject", nil, map[string]string{"channel": c.Channel, "code": c.Code})
	return err
}

type pairingRemoveCmd struct {
	Channel string `arg:"" help:"Channel kind."`
	ID      string `arg:"" help:"The person's id, as parley pairing list shows it."`
	Account string `help:"Account; without it the only one that knows the person." placeholder:"NAME"`
}

func (c pairingRemoveCmd) Run(e *env) error {
	p, err := ask[sessions.Admitted](e, http.MethodPost, "/api/pairing/remove", nil, api.PairedPerson{Channel: channels.Kind(c.Channel), Account: channels.AccountID(c.Account), User: c.ID})
	if err == nil {
		fmt.Printf("%s:%s on account %s is a stranger again.\n", p.Channel, p.User, p.Account)
	}
	return err
}
