package main

import (
	"cmp"
	"fmt"
	"strings"

	"parley/gateway/api"
	"parley/gateway/chatclient"
	"parley/sessions"
)

type policyCmd struct {
	Explain explainCmd     `cmd:"" help:"Show which rule of the send policy decides, and why."`
	Rules   policyRulesCmd `cmd:"" help:"List the rules of the send policy in force."`
}

type explainCmd struct {
	Session string `arg:"" optional:"" help:"Key, id, main, or a part of the title or label that only one has."`
	To      string `help:"Address: channel/account/direct|group|channel/chat[/thread]. Without it, the session's own chat." placeholder:"ADDRESS"`
	asJSON
}

// Help shows examples.
func (explainCmd) Help() string {
	return "Examples:\n\n  parley policy explain main\n  parley policy explain garden --to telegram/default/group/-100500\n  parley policy explain --to telegram/default/direct/1001"
}

func (c explainCmd) Run(e *env) error {
	key, err := optionalSession(e, c.Session)
	if err != nil {
		return err
	}
	if key == "" && c.To == "" {
		return misuse("name a session, an address with --to, or both")
	}
	x, err := request[api.Explanation](e, "GET /api/policy/explain", api.ExplainQuery{Session: key, To: c.To})
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, x, printExplanation)
}

func printExplanation(p *page, x api.Explanation) {
	word := strings.ToUpper(string(x.Verdict.Action))
	_, _ = fmt.Fprintf(p.out, "%s → %s: %s\n", chatclient.OneLine(cmp.Or(string(x.Session), "(no session)")), chatclient.OneLine(cmp.Or(x.To, "(no chat yet)")), p.paint(moods[word], chatclient.OneLine(word))) // cleaned word by word
	p.printf("%s\n%s\n\n", x.Verdict.Rule, x.Verdict.Reason)
	if x.Verdict.Rule == "session override" && x.Session != "" {
		p.note("%s\n\n", lift(x.Session))
	}
	for _, s := range x.Steps {
		if s.Verdict {
			continue // it stands above
		}
		mark := " "
		if s.Rule == x.Verdict.Rule {
			mark = "*"
		}
		p.printf("%s %s: %s\n", mark, chatclient.OneLine(s.Rule), chatclient.OneLine(s.Why))
	}
}

// lift says how a session's own setting is taken back.
func lift(key sessions.Key) string {
	return fmt.Sprintf("To let the rules decide again, an owner writes /send inherit in that chat, or runs: parley sessions patch %s --send-policy inherit", key)
}

type policyRulesCmd struct {
	asJSON
}

func (c policyRulesCmd) Run(e *env) error {
	r, err := request[api.SendRules](e, "GET /api/policy/rules", api.None{})
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, r, func(p *page, r api.SendRules) {
		g := p.grid("RULE", "ACTION", "~APPLIES TO")
		for _, x := range r.Rules {
			g.row(x.Rule, x.Action, x.Applies)
		}
		why := "as configured"
		if !r.Set {
			why = "the default; session.sendPolicy.default is not set"
		}
		g.row("otherwise", r.Default, why)
		g.print("")
		p.note("\nA matching deny wins over a matching allow. A session's own setting wins over all rules: parley policy explain SESSION.\n")
	})
}
