package lessons

import (
	"slices"
	"strconv"
	"strings"

	"parley/agent"
	"parley/agent/wire"
	"parley/tools"
)

// Arguments is the Name of a lesson about descriptions of tools' arguments.
const Arguments = "arguments"

// shorten cuts the descriptions of tools to the length that the endpoint takes. specs stays as it is.
func (c *Call) shorten(specs []tools.Spec) []tools.Spec {
	longest, most := 0, 0
	for i := range specs {
		longest = max(longest, len(specs[i].Description))
	}
	if c.mayCut(ToolTexts, longest) {
		most = c.countOf(ToolTexts)
	}
	specs = c.shortenArguments(c.rename(specs))
	c.longest = 0
	cut := false
	for i := range specs {
		if most > 0 && len(specs[i].Description) > most {
			if !cut {
				specs, cut = slices.Clone(specs), true
			}
			specs[i].Description = strings.ToValidUTF8(specs[i].Description[:most], "")
		}
		c.longest = max(c.longest, len(specs[i].Description))
	}
	return specs
}

// rename gives tools names of letters and digits, where the endpoint takes no others. specs stays as it is.
func (c *Call) rename(specs []tools.Spec) []tools.Spec {
	if !c.Off(ToolNames, "") {
		return specs
	}
	specs = slices.Clone(specs)
	for i := range specs {
		specs[i].Name = agent.PlainName(specs[i].Name)
	}
	return specs
}

// shortenArguments cuts the descriptions of tools' arguments to the length that the endpoint takes. specs stays as it is.
func (c *Call) shortenArguments(specs []tools.Spec) []tools.Spec {
	l, ok := c.find(key{ToolTexts, Arguments, ""})
	most, err := strconv.Atoi(l.Use)
	if !ok || err != nil || most <= 0 {
		return specs
	}
	specs = slices.Clone(specs)
	for i := range specs {
		specs[i].Schema = wire.ShortTexts(specs[i].Schema, most)
	}
	return specs
}

// longestArgument gives how many bytes the longest description of an argument of the tools has.
func longestArgument(offered []tools.Spec) (most int) {
	for _, s := range offered {
		most = max(most, wire.LongestText(s.Schema))
	}
	return most
}
