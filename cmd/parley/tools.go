package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"parley/policy"
	"parley/router"
)

type toolsCmd struct {
	List    toolsListCmd    `cmd:"" default:"1" help:"List the tools that there are (the default)."`
	Explain toolsExplainCmd `cmd:"" help:"Say whether a tool can be used in a turn, layer by layer."`
}

type toolsListCmd struct {
	JSON bool `help:"Print JSON."`
}

// Run lists the tools of the running host, those of MCP servers included.
func (c toolsListCmd) Run(e *env) error {
	t, err := ask[router.ToolTable](e, http.MethodGet, "/api/tools/explain", nil, nil)
	if err != nil {
		return err
	}
	return show(c.JSON, t.Tools, func(w io.Writer, list []router.ToolVerdict) {
		table(w, "TOOL\tFROM\tWHAT IT DOES", func(out io.Writer) {
			for _, x := range list {
				from := "parley"
				if !policy.BuiltInTool(x.Name) {
					from = "MCP"
				}
				about := []rune(x.About)
				if len(about) > 100 {
					about = append(about[:99], '…')
				}
				_, _ = fmt.Fprintf(out, "%s\t%s\t%s\n", x.Name, from, string(about))
			}
		})
	})
}

type toolsExplainCmd struct {
	Tool      string `arg:"" optional:"" help:"One tool; without it, a table of all."`
	Agent     string `help:"Agent; without it the session's, or the default one."`
	Session   string `help:"Key, session id, or main."`
	ChatType  string `enum:"direct,group,channel," default:"" help:"direct, group or channel; without it the session's, or direct."`
	Sender    string `help:"Who asks: owner, other, or an id or @username of the session's channel; without it owner."`
	Subagent  bool   `help:"In a sub-agent that such a turn starts."`
	Sandboxed bool   `help:"In a sandboxed session."`
	JSON      bool   `help:"Print JSON."`
}

// Run asks the running host.
func (c toolsExplainCmd) Run(e *env) error {
	q := url.Values{}
	for name, v := range map[string]string{"tool": c.Tool, "agent": c.Agent, "session": c.Session, "chatType": c.ChatType, "sender": c.Sender} {
		if v != "" {
			q.Set(name, v)
		}
	}
	for name, on := range map[string]bool{"subagent": c.Subagent, "sandboxed": c.Sandboxed} {
		if on {
			q.Set(name, "true")
		}
	}
	t, err := ask[router.ToolTable](e, http.MethodGet, "/api/tools/explain", q, nil)
	if err != nil {
		return err
	}
	if err = show(c.JSON, t, func(w io.Writer, t router.ToolTable) {
		_, _ = fmt.Fprintln(w, turnWords(t))
		if c.Tool != "" && len(t.Tools) == 1 {
			explainTool(w, t.Tools[0])
			return
		}
		table(w, "TOOL\t\tDECIDED BY", func(out io.Writer) {
			for _, x := range t.Tools {
				_, _ = fmt.Fprintf(out, "%s\t%s\t%s\n", x.Name, x.Verdict.Action, x.Verdict.Rule)
			}
		})
	}); err != nil {
		return err
	}
	if c.Tool != "" && len(t.Tools) == 1 && !t.Tools[0].Known {
		return fmt.Errorf("there is no such tool now: %s", c.Tool)
	}
	return nil
}

// turnWords says in a line which turn is meant.
func turnWords(t router.ToolTable) string {
	s := fmt.Sprintf("agent %s, chat: %s, asked by: %s", t.Agent, firstOf(list(t.ChatTypes), "none"), list(t.Senders))
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

func explainTool(w io.Writer, x router.ToolVerdict) {
	unknown := ""
	if !x.Known {
		unknown = " (there is no such tool now)"
	}
	_, _ = fmt.Fprintf(w, "%s: %s%s\n%s: %s\n\n", x.Name, strings.ToUpper(string(x.Verdict.Action)), unknown, x.Verdict.Rule, x.Verdict.Reason)
	table(w, "LAYER\t\tWHY", func(out io.Writer) {
		for _, l := range x.Layers {
			_, _ = fmt.Fprintf(out, "%s\t%s\t%s\n", l.Rule, l.Action, l.Reason)
		}
	})
}
