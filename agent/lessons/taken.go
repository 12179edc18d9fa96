package lessons

import (
	"hash/maphash"
	"slices"
	"strings"

	"parley/sessions"
	"parley/tools"
)

// parts are what an endpoint was seen to take since the host began.
type parts struct {
	stream, tools, system, images, reasoning bool
	thoughts, steps                          bool // reasoning that is more than ids, and calls of the history

	offered uint64 // the last list of tools; 0 = none
	params  values // of optional parameters; those of an endpoint are replaced, never changed
}

// with gives what was taken before and now.
func (p parts) with(now parts) parts {
	p.stream, p.tools, p.system = p.stream || now.stream, p.tools || now.tools, p.system || now.system
	p.images, p.reasoning = p.images || now.images, p.reasoning || now.reasoning
	p.thoughts, p.steps = p.thoughts || now.thoughts, p.steps || now.steps
	if now.offered != 0 {
		p.offered = now.offered
	}
	for _, n := range now.params {
		if was, known := p.params.of(n.name); !known || was != n.value {
			all := slices.Clone(now.params)
			for _, was := range p.params {
				if _, newer := all.of(was.name); !newer {
					all = append(all, was)
				}
			}
			p.params = all
			break
		}
	}
	return p
}

// hasParam reports whether a parameter is among them as it was sent.
func (p parts) hasParam(sent Param) bool {
	was, known := p.params.of(sent.Name)
	return known && (sent.Varies || was == sent.Value)
}

// noteParam notes what this request has for a parameter.
func (p *parts) noteParam(name, value string, send bool) {
	i := slices.IndexFunc(p.params, func(v paramValue) bool { return v.name == name })
	switch {
	case send && i >= 0:
		p.params[i].value = value
	case send:
		p.params = append(p.params, paramValue{name, value})
	case i >= 0:
		p.params = slices.Delete(p.params, i, i+1)
	}
}

// values are those of a few parameters, by name. A list of them is made for each request.
type values []paramValue

type paramValue struct{ name, value string }

// of gives the value of a name.
func (v values) of(name string) (value string, known bool) {
	for i := range v {
		if v[i].name == name {
			return v[i].value, true
		}
	}
	return "", false
}

var listSeed = maphash.MakeSeed()

// hashOf tells lists of tools apart.
func hashOf(specs []tools.Spec) uint64 {
	if len(specs) == 0 {
		return 0
	}
	var sum uint64
	for i := range specs {
		sum = 31*(31*sum+maphash.String(listSeed, specs[i].Name)) + maphash.Bytes(listSeed, specs[i].Schema)
	}
	return max(sum, 1)
}

// wasTaken reports whether the endpoint took before what a lesson would have it refuse. One refusal of that teaches nothing: the model wrote a
// bad call, or one of several servers behind the address is not like the others.
func (c *Call) wasTaken(l sessions.Lesson) bool {
	if _, was := c.stale[keyOf(l)]; was {
		return false
	}
	switch l.Kind {
	case Stream:
		return c.taken.stream
	case System:
		return c.taken.system
	case Tools:
		return c.taken.tools
	case Tool, MaxTools, ToolTexts, ToolNames, Schema:
		return c.taken.offered != 0 && c.taken.offered == c.sends.offered
	case Reasoning:
		_, again := c.now[key{Reasoning, OldReasoning, ""}] // what it refused before was left out, and it refuses newer reasoning
		return l.Use == OmitReasoning && l.Name == "" && c.taken.reasoning && !again
	case Parameter, Rename:
		for _, p := range c.taken.params {
			if (p.name == l.Name || strings.HasPrefix(p.name, l.Name+".")) && (l.Value == "" || l.Value == p.value) {
				return true
			}
		}
	}
	return false
}

// isChanged reports whether an endpoint that took a parameter before takes it no more: it refused the same request twice, and names the parameter.
// Tools and parts of the history are worth more, and are believed when a second call is refused as well.
func (x refusedRequest) isChanged(l sessions.Lesson) bool {
	return (l.Kind == Parameter || l.Kind == Rename) && x.call.seen[wordsWithoutCounts(x.text)] && (strings.EqualFold(x.fault.Param, l.Name) || quotes(x.fault.All, strings.ToLower(l.Name)))
}

// Shows notes of the request at hand whether it has reasoning and calls of earlier steps, and the form of its messages' content, by their roles.
// Providers say so of each request.
func (c *Call) Shows(sent *Sent, forms []Param) {
	c.sends.reasoning, c.sends.thoughts, c.sends.steps = sent.Reasoning, sent.Reasoning && !sent.OnlyIDs, sent.Steps
	for _, p := range forms {
		if role, ok := strings.CutPrefix(p.Name, contentForm); ok {
			c.sends.noteParam(p.Name, p.Value, slices.Contains(sent.Roles, role))
		}
	}
}
