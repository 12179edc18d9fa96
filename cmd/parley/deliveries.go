package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"parley/gateway/api"
	"parley/gateway/chatclient"
	"parley/sessions"
)

type deliveriesCmd struct {
	List  deliveriesListCmd `cmd:"" default:"withargs" help:"List deliveries, newest first (the default)."`
	Show  deliveryShowCmd   `cmd:"" help:"Show one delivery."`
	Retry deliveryRetryCmd  `cmd:"" help:"Send a failed, expired, held or dropped delivery again."`
	Drop  deliveryDropCmd   `cmd:"" help:"Drop a delivery: the host does not send it."`
}

type deliveriesListCmd struct {
	State   string `enum:"pending,sending,sent,withheld,failed,expired,stopped,dropped,held," default:"" help:"List only deliveries in this state: pending, sending, sent, withheld, failed, expired, stopped, dropped or held." placeholder:"STATE"`
	Session string `help:"List only deliveries of this session." placeholder:"SESSION"`
	Run_    string `name:"run" help:"List only deliveries of this run." placeholder:"RUN"` //nolint:revive // Run is the command's method
	Before  int64  `help:"List only deliveries before this sequence number (the next page)." placeholder:"SEQ"`
	Limit   int    `default:"50" help:"Maximum number of rows."`
	asJSON
}

// Help shows examples.
func (deliveriesListCmd) Help() string {
	return "Examples:\n\n  parley deliveries list --state withheld\n  parley deliveries list --session garden --limit 5\n  parley deliveries list --state failed --json | jq -r '.[].id' | xargs -n1 parley deliveries retry"
}

func (c deliveriesListCmd) Run(e *env) error {
	key, err := optionalSession(e, c.Session)
	if err != nil {
		return err
	}
	q := api.DeliveriesQuery{State: sessions.DeliveryState(c.State), Session: key, Run: sessions.RunID(c.Run_), Before: c.Before, Limit: c.Limit}
	list, err := request[[]sessions.Delivery](e, "GET /api/deliveries", q)
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, list, func(p *page, list []sessions.Delivery) {
		g := p.grid("ID", "STATE", "KIND", "TO", "CREATED", "~WHY")
		for _, d := range list {
			g.row(d.ID, d.State, d.Kind, d.To, p.ago(d.Created), strings.TrimSuffix(nextTry(p, d)+why(d), "; "))
		}
		g.print(nothing("deliveries", q != api.DeliveriesQuery{Limit: q.Limit}))
		if n := len(list); n > 0 && n == c.Limit {
			p.note("for older deliveries, use --before %d\n", list[n-1].Seq)
		}
	})
}

// why says in a few words what decided a delivery.
func why(d sessions.Delivery) string {
	s := d.Error
	if d.Verdict != nil && d.State == sessions.Withheld {
		s = d.Verdict.Rule
	}
	if d.Repeat {
		s = strings.TrimSuffix("may show twice; "+s, "; ")
	}
	if out := leftOut(d); out != "" {
		s = strings.TrimSuffix("sent without "+out+"; "+s, "; ")
	}
	return s
}

// nextTry says when a delivery that waits is tried again; empty when it is under way or has ended.
func nextTry(p *page, d sessions.Delivery) string {
	if d.State != sessions.Pending || !d.NotBefore.After(p.now) {
		return ""
	}
	return "next try " + p.ago(d.NotBefore) + "; "
}

// leftOut names what the parts of a delivery were sent without.
func leftOut(d sessions.Delivery) string {
	var all []string
	for _, r := range d.Receipts {
		if r.LeftOut != "" && !slices.Contains(all, r.LeftOut) {
			all = append(all, r.LeftOut)
		}
	}
	return strings.Join(all, ", ")
}

type deliveryArg struct {
	ID string `arg:"" help:"Delivery id."`
	asJSON
}

// do does one operation on the delivery and shows what it is then.
func (a deliveryArg) do(e *env, route string) error {
	d, err := request[sessions.Delivery](e, route, api.DeliveryCall{ID: sessions.DeliveryID(a.ID)})
	if err != nil {
		return err
	}
	return tell(e, a.asJSON, d, func(p *page, d sessions.Delivery) { printDelivery(p, d) })
}

type deliveryShowCmd struct {
	deliveryArg
}

func (c deliveryShowCmd) Run(e *env) error { return c.do(e, "GET /api/deliveries/{delivery}") }

type deliveryRetryCmd struct {
	deliveryArg
}

// withheldFor says what is left to do about a withheld delivery.
func withheldFor(d sessions.Delivery) string {
	if d.Ambiguous {
		return "The host was sending the message when the policy denied it, so the message may have arrived. Look into the chat before you send the text again."
	}
	if len(d.Receipts) > 0 {
		return "The first part of the message arrived before the policy denied the rest. Look into the chat before you send the text again."
	}
	return "The host does not send a withheld delivery later. If the policy allows the chat now, send the text again with parley send ADDRESS TEXT, or ask the agent with parley say."
}

func (c deliveryRetryCmd) Run(e *env) error {
	err := c.do(e, "POST /api/deliveries/{delivery}/retry")
	if f, ok := errors.AsType[*failure](err); ok && f.code == "conflict" {
		d, e2 := request[sessions.Delivery](e, "GET /api/deliveries/{delivery}", api.DeliveryCall{ID: sessions.DeliveryID(c.ID)})
		if e2 == nil && d.State == sessions.Withheld {
			f.text += "\n" + withheldFor(d)
		}
	}
	return err
}

type deliveryDropCmd struct {
	deliveryArg
}

func (c deliveryDropCmd) Run(e *env) error { return c.do(e, "POST /api/deliveries/{delivery}/drop") }

func printDelivery(p *page, d sessions.Delivery) {
	_, _ = fmt.Fprintf(p.out, "delivery %s: %s %s to %s\n", chatclient.OneLine(string(d.ID)), chatclient.OneLine(string(d.Kind)), p.paint(moods[string(d.State)], chatclient.OneLine(string(d.State))), chatclient.OneLine(d.To.String())) // cleaned word by word
	p.detail(plain, fmt.Sprintf("created %s, expires %s, session %s, run %s", p.stamp(d.Created), p.stamp(d.Expires), d.Session, d.Run))
	if next := nextTry(p, d); next != "" {
		p.detail(plain, "next try at "+p.stamp(d.NotBefore))
	}
	if d.Verdict != nil {
		p.detail(plain, fmt.Sprintf("policy: %s by %s: %s", d.Verdict.Action, d.Verdict.Rule, d.Verdict.Reason))
	}
	if d.State == sessions.Withheld {
		if d.Verdict != nil && d.Verdict.Rule == "session override" {
			p.note("  %s\n", lift(d.Session))
		}
		p.note("  %s\n", withheldFor(d))
	}
	if d.Error != "" {
		p.detail(plain, d.Error)
	}
	if d.Repeat {
		p.printf("  may show twice: an earlier try ended without an answer from the platform\n")
	}
	for _, f := range d.Files {
		p.detail(plain, fmt.Sprint("file ", f))
	}
	for _, t := range d.Tries {
		p.detail(plain, fmt.Sprintf("try to send part %d failed at %s: %s", t.Part+1, p.stamp(t.At), t.Error))
	}
	for i, r := range d.Receipts {
		p.printf("  part %d arrived as %s at %s\n", i+1, r.ID, p.stamp(r.At))
		if r.LeftOut != "" {
			p.detail(plain, fmt.Sprintf("part %d was sent without %s", i+1, r.LeftOut))
		}
	}
}
