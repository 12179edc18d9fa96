package main

import (
	"cmp"

	"parley/channels"
	"parley/gateway/api"
	"parley/sessions"
)

type pairingCmd struct {
	List    pairingListCmd    `cmd:"" default:"withargs" help:"List who asks to be let in, and who was (the default)."`
	Approve pairingApproveCmd `cmd:"" help:"Let somebody in."`
	Reject  pairingRejectCmd  `cmd:"" help:"Turn somebody down: no code for a day."`
	Remove  pairingRemoveCmd  `cmd:"" help:"Undo an approval or a rejection."`
}

type pairingListCmd struct {
	asJSON
}

// pairingList is what parley pairing list prints as JSON.
type pairingList struct {
	Asking   []sessions.Pairing  `json:"asking"`
	Admitted []sessions.Admitted `json:"admitted"`
}

func (c pairingListCmd) Run(e *env) (err error) {
	var list pairingList
	if list.Asking, err = request[[]sessions.Pairing](e, "GET /api/pairing", api.None{}); err != nil {
		return err
	}
	if list.Admitted, err = request[[]sessions.Admitted](e, "GET /api/pairing/admitted", api.None{}); err != nil {
		return err
	}
	return tell(e, c.asJSON, list, printPairing)
}

func printPairing(p *page, list pairingList) {
	g := p.grid("CHANNEL", "ACCOUNT", "ID", "~NAME", "STATE")
	for _, x := range list.Asking {
		state := "waits until " + p.stamp(x.Expires)
		if x.Rejected {
			state = "turned down, no code until " + p.stamp(x.Expires)
		}
		g.row(x.Channel, x.Account, x.User, cmp.Or(inQuotes(x.Name), "–"), state)
	}
	for _, x := range list.Admitted {
		g.row(x.Channel, x.Account, x.User, cmp.Or(inQuotes(x.Name), "–"), letIn(x.Owner)+" since "+p.stamp(x.Since))
	}
	g.print("Nobody asks to be let in, and nobody was let in by a code.")
}

func letIn(owner bool) string {
	if owner {
		return "owner, let in"
	}
	return "let in"
}

type pairingApproveCmd struct {
	Channel string `arg:"" help:"Channel kind."`
	Code    string `arg:"" help:"The code that the person was given. With --owner also the id of a person who was let in before."`
	Owner   *bool  `negatable:"" help:"Make this person an owner, or not. Without it the first person who is ever let in becomes the owner, where the configuration names none."`
	asJSON
}

func (c pairingApproveCmd) Run(e *env) error {
	who, err := request[sessions.Approval](e, "POST /api/pairing/approve", api.PairingCall{Channel: channels.Kind(c.Channel), Code: c.Code, Owner: c.Owner})
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, who, func(p *page, who sessions.Approval) {
		p.note("%s:%s %s may write now.%s\n", who.Channel, who.User, inQuotes(who.Name), who.AboutOwner())
	})
}

type pairingRejectCmd struct {
	Channel string `arg:"" help:"Channel kind."`
	Code    string `arg:"" help:"The code that the person was given."`
	asJSON
}

func (c pairingRejectCmd) Run(e *env) error {
	done, err := request[api.None](e, "POST /api/pairing/reject", api.PairingCall{Channel: channels.Kind(c.Channel), Code: c.Code})
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, done, func(p *page, _ api.None) { p.note("Turned down: no code for a day.\n") })
}

type pairingRemoveCmd struct {
	Channel string `arg:"" help:"Channel kind."`
	ID      string `arg:"" help:"The person's id, as parley pairing list shows it."`
	Account string `help:"Account; without it the only one that knows the person." placeholder:"NAME"`
	asJSON
}

func (c pairingRemoveCmd) Run(e *env) error {
	who, err := request[sessions.Admitted](e, "POST /api/pairing/remove", api.PairedPerson{Channel: channels.Kind(c.Channel), Account: channels.AccountID(c.Account), User: c.ID})
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, who, func(p *page, who sessions.Admitted) {
		if who.Owner {
			p.note("The approval of %s:%s on account %s is taken back.%s\n", who.Channel, who.User, who.Account, sessions.StillOwner)
			return
		}
		p.note("%s:%s on account %s is a stranger again.\n", who.Channel, who.User, who.Account)
	})
}
