package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"parley/gateway/api"
	"parley/gateway/chatclient"
	"parley/policy"
	"parley/router/rights"
)

type toolsCmd struct {
	List    toolsListCmd    `cmd:"" default:"withargs" help:"List the tools (the default)."`
	Explain toolsExplainCmd `cmd:"" help:"Explain layer by layer whether a turn may use a tool."`
}

type toolsListCmd struct {
	asJSON
}

// Run lists the tools of the running host, those of MCP servers included.
func (c toolsListCmd) Run(e *env) error {
	t, err := request[rights.ToolTable](e, "GET /api/tools/explain", api.ToolsQuery{})
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, t.Tools, func(p *page, list []rights.ToolVerdict) {
		g := p.grid("TOOL", "FROM", "~WHAT IT DOES")
		for _, x := range list {
			from := "parley"
			if !policy.BuiltInTool(x.Name) {
				from = "MCP"
			}
			g.row(x.Name, from, cut(chatclient.OneLine(x.About), 100))
		}
		g.print("There are no tools.")
	})
}

type toolsExplainCmd struct {
	Tool      string `arg:"" optional:"" help:"The tool. Default: a table of all tools."`
	Agent     string `help:"Agent. Default: the session's agent, or the default agent." placeholder:"AGENT"`
	Session   string `help:"Key, id, main, or a unique part of the title or label." placeholder:"SESSION"`
	ChatType  string `enum:"direct,group,channel," default:"" help:"Chat type: direct, group or channel. Default: the session's, or direct." placeholder:"TYPE"`
	Sender    string `help:"Person who asks: owner, other, or an id or @username of the session's channel. Default: owner." placeholder:"PERSON"`
	Subagent  bool   `help:"Explain for a sub-agent that the turn starts."`
	Sandboxed bool   `help:"Explain for a sandboxed session."`
	asJSON
}

// Run asks the running host.
func (c toolsExplainCmd) Run(e *env) error {
	key, err := optionalSession(e, c.Session)
	if err != nil {
		return err
	}
	t, err := request[rights.ToolTable](e, "GET /api/tools/explain", api.ToolsQuery{Tool: c.Tool, Session: key, Agent: c.Agent, ChatType: c.ChatType, Sender: c.Sender, Subagent: c.Subagent, Sandboxed: c.Sandboxed})
	if err != nil {
		return err
	}
	if err = tell(e, c.asJSON, t, func(p *page, t rights.ToolTable) {
		p.printf("%s\n", turnWords(t))
		if c.Tool != "" && len(t.Tools) == 1 {
			explainTool(p, t.Tools[0])
			return
		}
		g := p.grid("TOOL", "MAY", "~DECIDED BY")
		for _, x := range t.Tools {
			g.row(x.Name, x.Verdict.Action, x.Verdict.Rule)
		}
		g.print("There are no tools.")
	}); err != nil {
		return err
	}
	if c.Tool != "" && len(t.Tools) == 1 && !t.Tools[0].Known {
		return failed(exitMissing, "not_found", "the host has no tool %s now", c.Tool)
	}
	return nil
}

// turnWords says in a line which turn is meant.
func turnWords(t rights.ToolTable) string {
	s := fmt.Sprintf("agent %s, chat: %s, asked by: %s", t.Agent, cmp.Or(list(t.ChatTypes), "none"), list(t.Senders))
	if t.Session != "" {
		s += ", session " + string(t.Session)
	}
	if t.Subagent {
		s += ", sub-agent"
	}
	if t.Sandboxed {
		s += ", sandboxed"
	}
	return s
}

// list joins the different ones of some words.
func list[T ~string](all []T) string {
	var out []string
	for _, x := range all {
		out = append(out, string(x))
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), ", ")
}

func explainTool(p *page, x rights.ToolVerdict) {
	unknown := ""
	if !x.Known {
		unknown = " (the host has no such tool now)"
	}
	p.printf("%s: %s%s\n%s: %s\n\n", x.Name, strings.ToUpper(string(x.Verdict.Action)), unknown, x.Verdict.Rule, chatclient.OneLine(x.Verdict.Reason))
	g := p.grid("LAYER", "SAYS", "~WHY")
	for _, l := range x.Layers {
		g.row(l.Rule, l.Action, l.Reason)
	}
	g.print("No layer has a rule for the tool.")
}
