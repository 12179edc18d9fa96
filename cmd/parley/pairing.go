package main

import (
	"cmp"

	"parley/channels"
	"parley/gateway/api"
	"parley/sessions"
)

type pairingCmd struct {
	List    pairingListCmd    `cmd:"" default:"withargs" help:"List the people who wait for approval and those who were let in (the default)."`
	Approve pairingApproveCmd `cmd:"" help:"Let a person in, or make a person an owner."`
	Reject  pairingRejectCmd  `cmd:"" help:"Turn a person down: the person gets no code for a day."`
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
		state := "waits; the code is valid until " + p.stamp(x.Expires)
		if x.Rejected {
			state = "turned down, gets no code until " + p.stamp(x.Expires)
		}
		g.row(x.Channel, x.Account, x.User, cmp.Or(inQuotes(x.Name), "–"), state)
	}
	for _, x := range list.Admitted {
		g.row(x.Channel, x.Account, x.User, cmp.Or(inQuotes(x.Name), "–"), letIn(x.Owner)+" since "+p.stamp(x.Since))
	}
	g.print("No person waits for approval, and no person was let in by a code.")
}

func letIn(owner bool) string {
	if owner {
		return "owner, let in"
	}
	return "let in"
}

type pairingApproveCmd struct {
	Channel string `arg:"" help:"Kind of the channel, such as telegram."`
	Code    string `arg:"" help:"Code that the bot gave the person; with --owner also the id of a person who was let in before."`
	Owner   bool   `xor:"owner" help:"Make this person an owner. Default: the first person ever let in becomes the owner, unless the configuration names one."`
	NoOwner bool   `name:"no-owner" xor:"owner" help:"Let this person in without making them an owner."`
	asJSON
}

func (c pairingApproveCmd) Run(e *env) error {
	call := api.PairingCall{Channel: channels.Kind(c.Channel), Code: c.Code}
	if c.Owner || c.NoOwner {
		call.Owner = &c.Owner
	}
	who, err := request[sessions.Approval](e, "POST /api/pairing/approve", call)
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, who, func(p *page, who sessions.Approval) {
		p.note("%s:%s %s may write now.%s\n", who.Channel, who.User, inQuotes(who.Name), who.AboutOwner())
	})
}

type pairingRejectCmd struct {
	Channel string `arg:"" help:"Kind of the channel, such as telegram."`
	Code    string `arg:"" help:"Code that the bot gave the person."`
	asJSON
}

func (c pairingRejectCmd) Run(e *env) error {
	done, err := request[api.None](e, "POST /api/pairing/reject", api.PairingCall{Channel: channels.Kind(c.Channel), Code: c.Code})
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, done, func(p *page, _ api.None) { p.note("The person was turned down and gets no code for a day.\n") })
}

type pairingRemoveCmd struct {
	Channel string `arg:"" help:"Kind of the channel, such as telegram."`
	ID      string `arg:"" help:"Id of the person, as parley pairing list shows it."`
	Account string `help:"Account. Default: the only account that knows the person." placeholder:"NAME"`
	asJSON
}

func (c pairingRemoveCmd) Run(e *env) error {
	who, err := request[sessions.Admitted](e, "POST /api/pairing/remove", api.PairedPerson{Channel: channels.Kind(c.Channel), Account: channels.AccountID(c.Account), User: c.ID})
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, who, func(p *page, who sessions.Admitted) {
		if who.Owner {
			p.note("The approval of %s:%s on account %s is undone.%s\n", who.Channel, who.User, who.Account, sessions.StillOwner)
			return
		}
		p.note("%s:%s on account %s may no longer write.\n", who.Channel, who.User, who.Account)
	})
}
