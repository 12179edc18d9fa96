package main

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"parley/gateway"
	"parley/gateway/api"
	"parley/gateway/chatclient"
	"parley/sessions"
)

type chatCmd struct {
	Chat string `help:"Name of the conversation." default:"main"`
}

// Run chats with an agent of the running host.
func (c chatCmd) Run(e *env) error {
	h, err := running(e)
	if err != nil {
		return err
	}
	return chatclient.Run(e.ctx, chatclient.Options{BaseURL: h.base, Token: h.token, Client: h.client, Chat: c.Chat, In: os.Stdin, Out: os.Stdout,
		Interactive: term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))})
}

type openCmd struct{}

// Run prints the link with the token: standard output only, for people.
func (openCmd) Run(e *env) error {
	h, err := running(e)
	if err != nil {
		return err
	}
	fmt.Println(gateway.LinkTo(h.base, h.token.Reveal()))
	return nil
}

type statusCmd struct {
	JSON bool `help:"Print JSON."`
}

func (c statusCmd) Run(e *env) error {
	s, err := ask[api.HostStatus](e, http.MethodGet, "/api/status", nil, nil)
	if err != nil {
		return err
	}
	return show(c.JSON, s, func(w io.Writer, s api.HostStatus) {
		ready := "ready"
		if !s.Ready {
			ready = "not ready: " + s.Why
		}
		_, _ = fmt.Fprintf(w, "parley %s, up %s, %s\nmodel %s (%s)\nstore %s, %s\n", s.Version, time.Since(s.Started).Round(time.Second), ready, s.Model, s.ModelWhy, s.Store, s.State)
		for _, a := range s.Accounts {
			_, _ = fmt.Fprintln(w, a.Line())
		}
		for _, m := range s.Servers {
			_, _ = fmt.Fprintf(w, "%s, %d tools\n", m, m.Tools)
		}
		for _, m := range s.Sandbox {
			_, _ = fmt.Fprintf(w, "MCP servers of sandboxed sessions run %s\n", m)
		}
		for _, state := range slices.Sorted(maps.Keys(s.Deliveries)) {
			_, _ = fmt.Fprintf(w, "deliveries %s: %d\n", state, s.Deliveries[state])
		}
		if len(s.Working) > 0 {
			_, _ = fmt.Fprintf(w, "at work: %d sessions\n", len(s.Working))
		}
	})
}

type sessionsCmd struct {
	List  sessionsListCmd  `cmd:"" help:"List sessions, newest first."`
	Patch sessionsPatchCmd `cmd:"" help:"Change a session's settings."`
}

type sessionsListCmd struct {
	Search string `help:"Part of key, title or label."`
	Limit  int    `default:"50" help:"At most this many."`
	JSON   bool   `help:"Print JSON."`
}

func (c sessionsListCmd) Run(e *env) error {
	rows, err := ask[[]api.Session](e, http.MethodGet, "/api/sessions", url.Values{"limit": {strconv.Itoa(c.Limit)}, "search": {c.Search}}, nil)
	if err != nil {
		return err
	}
	return show(c.JSON, rows, func(w io.Writer, rows []api.Session) {
		table(w, "KEY\tKIND\tCHAT\tPOLICY\tUPDATED", func(t io.Writer) {
			for _, r := range rows {
				_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", r.Key, r.Kind, firstOf(r.Title, r.Last), firstOf(string(r.SendPolicy), "inherit"), stamp(r.Updated))
			}
		})
	})
}

type sessionsPatchCmd struct {
	Session    string `arg:"" help:"Key, session id, or main."`
	SendPolicy string `enum:"allow,deny,inherit," default:"" help:"allow, deny or inherit."`
	Model      string `help:"provider/model; none clears."`
	Label      string `help:"Label; none clears."`
	JSON       bool   `help:"Print JSON."`
}

func (c sessionsPatchCmd) Run(e *env) error {
	body := map[string]*string{}
	set := func(name, v, clear string) {
		switch v {
		case "":
		case clear:
			body[name] = nil
		default:
			body[name] = &v
		}
	}
	set("sendPolicy", c.SendPolicy, "inherit")
	set("model", c.Model, "none")
	set("label", c.Label, "none")
	if len(body) == 0 {
		return usageError{fmt.Errorf("nothing to change: name --send-policy, --model or --label")}
	}
	row, err := ask[api.Session](e, http.MethodPatch, "/api/sessions/"+url.PathEscape(c.Session), nil, body)
	if err != nil {
		return err
	}
	return show(c.JSON, row, func(w io.Writer, r api.Session) {
		_, _ = fmt.Fprintf(w, "%s: send policy %s, model %s, label %s\n", r.Key, firstOf(string(r.SendPolicy), "inherit"), firstOf(r.Model, "the agent's"), firstOf(r.Label, "none"))
	})
}

type policyCmd struct {
	Explain explainCmd `cmd:"" help:"Say which rule decides about sending, and why."`
}

type explainCmd struct {
	Session string `arg:"" optional:"" help:"Key, session id, or main."`
	To      string `help:"Address: channel/account/direct|group|channel/chat[/thread]. Without it, the session's own chat."`
	JSON    bool   `help:"Print JSON."`
}

func (c explainCmd) Run(e *env) error {
	x, err := ask[api.Explanation](e, http.MethodGet, "/api/policy/explain", url.Values{"session": {c.Session}, "to": {c.To}}, nil)
	if err != nil {
		return err
	}
	return show(c.JSON, x, func(w io.Writer, x api.Explanation) {
		_, _ = fmt.Fprintf(w, "%s → %s: %s\n%s\n%s\n\n", firstOf(string(x.Session), "(no session)"), firstOf(x.To, "(no chat yet)"), strings.ToUpper(string(x.Verdict.Action)), x.Verdict.Rule, x.Verdict.Reason)
		for _, s := range x.Steps {
			if s.Verdict {
				continue // it stands above
			}
			mark := " "
			if s.Matched {
				mark = "*"
			}
			_, _ = fmt.Fprintf(w, "%s %s: %s\n", mark, s.Rule, s.Why)
		}
	})
}

type deliveriesCmd struct {
	List  deliveriesListCmd `cmd:"" help:"List deliveries, newest first."`
	Show  deliveryShowCmd   `cmd:"" help:"Show one delivery."`
	Retry deliveryRetryCmd  `cmd:"" help:"Send a failed, expired, held or dropped delivery again."`
	Drop  deliveryDropCmd   `cmd:"" help:"Give up on a delivery."`
}

type deliveriesListCmd struct {
	State   string `enum:"pending,sending,sent,withheld,failed,expired,dropped,held," default:"" help:"Only in this state."`
	Session string `help:"Only of this session."`
	Limit   int    `default:"50" help:"At most this many."`
	JSON    bool   `help:"Print JSON."`
}

func (c deliveriesListCmd) Run(e *env) error {
	list, err := ask[[]sessions.Delivery](e, http.MethodGet, "/api/deliveries", url.Values{"state": {c.State}, "session": {c.Session}, "limit": {strconv.Itoa(c.Limit)}}, nil)
	if err != nil {
		return err
	}
	return show(c.JSON, list, func(w io.Writer, list []sessions.Delivery) {
		table(w, "ID\tSTATE\tKIND\tTO\tCREATED\tWHY", func(t io.Writer) {
			for _, d := range list {
				_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", d.ID, d.State, d.Kind, d.To, stamp(d.Created), why(d))
			}
		})
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
	return s
}

type deliveryShowCmd struct {
	ID   string `arg:"" help:"Delivery id."`
	JSON bool   `help:"Print JSON."`
}

func (c deliveryShowCmd) Run(e *env) error {
	return delivery(e, http.MethodGet, c.ID, "", c.JSON)
}

type deliveryRetryCmd struct {
	ID   string `arg:"" help:"Delivery id."`
	JSON bool   `help:"Print JSON."`
}

func (c deliveryRetryCmd) Run(e *env) error {
	return delivery(e, http.MethodPost, c.ID, "/retry", c.JSON)
}

type deliveryDropCmd struct {
	ID   string `arg:"" help:"Delivery id."`
	JSON bool   `help:"Print JSON."`
}

func (c deliveryDropCmd) Run(e *env) error {
	return delivery(e, http.MethodPost, c.ID, "/drop", c.JSON)
}

func delivery(e *env, method, id, verb string, asJSON bool) error {
	d, err := ask[sessions.Delivery](e, method, "/api/deliveries/"+url.PathEscape(id)+verb, nil, nil)
	if err != nil {
		return err
	}
	return show(asJSON, d, printDelivery)
}

func printDelivery(w io.Writer, d sessions.Delivery) {
	_, _ = fmt.Fprintf(w, "delivery %s: %s %s to %s\n  created %s, expires %s, session %s, run %s\n", d.ID, d.Kind, d.State, d.To, stamp(d.Created), stamp(d.Expires), d.Session, d.Run)
	if d.Verdict != nil {
		_, _ = fmt.Fprintf(w, "  policy: %s by %s: %s\n", d.Verdict.Action, d.Verdict.Rule, d.Verdict.Reason)
	}
	if d.Error != "" {
		_, _ = fmt.Fprintf(w, "  %s\n", d.Error)
	}
	if d.Repeat {
		_, _ = fmt.Fprintln(w, "  may show twice: an earlier try ended without an answer of the platform")
	}
	for _, f := range d.Files {
		_, _ = fmt.Fprintf(w, "  file %s\n", f)
	}
	for i, r := range d.Receipts {
		_, _ = fmt.Fprintf(w, "  part %d arrived as %s at %s\n", i+1, r.ID, stamp(r.At))
	}
}

type skippedCmd struct {
	Limit int  `default:"50" help:"At most this many."`
	JSON  bool `help:"Print JSON."`
}

func (c skippedCmd) Run(e *env) error {
	list, err := ask[[]sessions.SkippedEvent](e, http.MethodGet, "/api/skipped", url.Values{"limit": {strconv.Itoa(c.Limit)}}, nil)
	if err != nil {
		return err
	}
	return show(c.JSON, list, func(w io.Writer, list []sessions.SkippedEvent) {
		for _, s := range list {
			_, _ = fmt.Fprintf(w, "%s  %s %s: %s\n", stamp(s.Time), s.Address, s.ID, s.Reason)
		}
	})
}
