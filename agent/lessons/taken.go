package lessons

import (
	"hash/maphash"
	"maps"
	"slices"
	"strings"

	"parley/sessions"
	"parley/tools"
)

// parts are what an endpoint was seen to take since the host began.
type parts struct {
	stream, tools, system, images, reasoning bool

	offered uint64            // the last list of tools; 0 = none
	params  map[string]string // values of optional parameters; replaced, never changed
}

// with gives what was taken before and now.
func (p parts) with(now parts) parts {
	p.stream, p.tools, p.system = p.stream || now.stream, p.tools || now.tools, p.system || now.system
	p.images, p.reasoning = p.images || now.images, p.reasoning || now.reasoning
	if now.offered != 0 {
		p.offered = now.offered
	}
	for name, value := range now.params {
		if was, known := p.params[name]; !known || was != value {
			all := maps.Clone(now.params)
			for name, value := range p.params {
				if _, newer := all[name]; !newer {
					all[name] = value
				}
			}
			p.params = all
			break
		}
	}
	return p
}

// noteParam notes what this request has for a parameter.
func (p *parts) noteParam(name, value string, send bool) {
	if !send {
		delete(p.params, name)
		return
	}
	if p.params == nil {
		p.params = make(map[string]string)
	}
	p.params[name] = value
}

var listSeed = maphash.MakeSeed()

// hashOf tells lists of tools apart.
func hashOf(specs []tools.Spec) uint64 {
	if len(specs) == 0 {
		return 0
	}
	var h maphash.Hash
	h.SetSeed(listSeed)
	for i := range specs {
		_, _ = h.WriteString(specs[i].Name)
		_ = h.WriteByte(0)
		_, _ = h.Write(specs[i].Schema)
	}
	return max(h.Sum64(), 1)
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
		for name, value := range c.taken.params {
			if (name == l.Name || strings.HasPrefix(name, l.Name+".")) && (l.Value == "" || l.Value == value) {
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

// Shows notes of the request at hand whether it has reasoning of earlier steps, and the form of its messages' content, by their roles.
// Providers say so of each request.
func (c *Call) Shows(reasoning bool, forms []Param, roles []string) {
	c.sends.reasoning = reasoning
	for _, p := range forms {
		if role, ok := strings.CutPrefix(p.Name, contentForm); ok {
			c.sends.noteParam(p.Name, p.Value, slices.Contains(roles, role))
		}
	}
}
