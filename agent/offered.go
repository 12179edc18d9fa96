package agent

import (
	"slices"
	"strings"

	"parley/agent/wire/markup"
	"parley/tools"
)

// offered are the tools of a turn: those that the model was told of, and those behind them.
type offered struct {
	tools map[string]tools.Tool
	specs []tools.Spec
}

// tool returns the tool of a name: one that the model was told of, or one of those behind them, which a model may call by its name as well.
func (o *offered) tool(name string) (tools.Tool, bool) {
	if t, ok := o.tools[name]; ok {
		return t, true
	}
	for _, t := range o.tools {
		if many, ok := t.(tools.Indirect); ok {
			if inner, ok := many.Find(name); ok {
				return inner, true
			}
		}
	}
	return nil, false
}

// behind returns the tool that a call of many means: one that many finds, or one that the model was told of itself, but not another of its kind.
func (o *offered) behind(many tools.Indirect, name string) (tools.Tool, bool) {
	if t, ok := many.Find(name); ok {
		return t, true
	}
	t, ok := o.tools[name]
	_, again := t.(tools.Indirect)
	return t, ok && !again
}

// toolNames lists the tools that the model was told of.
func (o *offered) toolNames() string {
	if len(o.specs) == 0 {
		return "(none)"
	}
	names := make([]string, 0, len(o.specs))
	for _, s := range o.specs {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return capText(strings.Join(names, ", "), 4000)
}

// toolName finds the tool that a name means, and gives what stood behind it.
func (o *offered) toolName(written string) (name, rest string) {
	if _, ok := o.tools[written]; ok {
		return written, ""
	}
	told := make([]string, len(o.specs))
	for i, s := range o.specs {
		told[i] = s.Name
	}
	name, rest, _ = markup.KnownName(written, told, func(name string) bool {
		_, ok := o.tool(name)
		return ok
	})
	if _, ok := o.tool(name); !ok {
		if own := o.ofServer(name); own != "" {
			return own, ""
		}
	}
	return name, rest
}

// ofServer finds the one tool of an MCP server that has a name there; "" = there is none, or more than one.
//
// source: NousResearch/hermes-agent#61336 (GLM leaves out the server)
func (o *offered) ofServer(name string) (found string) {
	bare := name[strings.LastIndexAny(name, ".:/")+1:]
	for _, s := range o.specs {
		if len(s.Server) == 0 || len(s.Name) != len(s.Server)+1+len(bare) || !strings.HasSuffix(s.Name, "_"+bare) {
			continue
		}
		if found != "" {
			return ""
		}
		found = s.Name
	}
	return found
}

// offers reports whether there is a tool of a name.
func (o *offered) offers(name string) bool {
	_, ok := o.tool(name)
	return ok
}
