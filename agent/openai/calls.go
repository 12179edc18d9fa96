package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strings"

	"parley/agent"
	"parley/agent/wire"
	"parley/sessions"
)

// functionCall is the index of the call in the field function_call, which has none.
const functionCall = math.MinInt

// call is a tool call whose pieces are put together.
type call struct {
	index     int
	id, name  string
	arguments strings.Builder
	latest    string // the last piece of them
	grows     bool   // each piece began with the one before it
	extra     json.RawMessage
	fields    signed // of the call
	function  signed // of its function
}

// complete reports whether the arguments are a whole JSON value. Most pieces of an object do not end it: those cost no reading.
func (c *call) complete() bool {
	args := strings.TrimSpace(c.arguments.String())
	return args != "" && (args[0] != '{' || args[len(args)-1] == '}') && json.Valid([]byte(args))
}

// addCall takes a piece of a call in. Servers count from 1, leave the index out, give every call the index 0 or the same id, repeat a
// call's name in every piece, or a whole call at the end.
func (s *stream) addCall(p toolCall) error {
	c, repeated := s.callOf(p)
	if repeated {
		return nil
	}
	if c == nil {
		if len(s.calls) >= maxCalls {
			return s.t.Broken("more than %d tool calls in one message", maxCalls)
		}
		c = &call{index: p.Index}
		s.calls = append(s.calls, c)
	}
	if c.id == "" {
		c.id = p.ID
	}
	switch name := p.Function.Name; {
	case c.name == "":
		c.name = name
	case s.continuesName(c, p):
		c.name += name
	}
	if !s.isOver(len(p.Extra) + p.signed.size() + p.Function.signed.size()) {
		if says(p.Extra) {
			c.extra = bytes.Clone(p.Extra)
		}
		c.fields.add(p.signed)
		c.function.add(p.Function.signed)
	}
	if args := p.Function.Arguments; args != "" {
		if s.size += len(args); s.size > maxArguments {
			return s.t.TooLarge("the arguments of its tool calls", maxArguments)
		}
		c.grows = strings.HasPrefix(args, c.latest) && (c.grows || c.arguments.Len() == 0 || c.arguments.String() == c.latest)
		c.latest = args
		c.arguments.WriteString(args)
	}
	return nil
}

// callOf finds the call that a piece belongs to; nil = it begins another one. repeated: the piece is a whole call again.
func (s *stream) callOf(p toolCall) (c *call, repeated bool) {
	var sameID *call
	for i := len(s.calls) - 1; i >= 0; i-- {
		k := s.calls[i]
		if c == nil && k.index == p.Index {
			c = k
		}
		if sameID == nil && p.ID != "" && k.id == p.ID {
			sameID = k
		}
	}
	name, args := p.Function.Name, p.Function.Arguments
	if sameID != nil && name != "" && args != "" && sameID.name == name && sameID.arguments.String() == args && sameID.complete() {
		return sameID, true
	}
	if n := len(s.calls); c == nil && n > 0 && name == "" && p.ID == "" && !s.calls[n-1].complete() {
		return s.calls[n-1], false // the index counts pieces. source: dirac-run/dirac#215
	}
	if c == nil {
		return nil, false
	}
	if sameID != nil && (sameID.index == p.Index || name == "") {
		c = sameID
	}
	switch {
	case name == "" || c.name == "":
		return c, false
	case p.ID != "" && p.ID == c.id:
		if strings.HasPrefix(strings.TrimSpace(args), "{") && c.complete() {
			return nil, false // another call with the same id
		}
		return c, false
	case c.id != "" && s.continuesName(c, p):
		return c, false
	case (p.ID == "" || c.id == "") && name == c.name && !c.complete():
		return c, false
	}
	return nil, false
}

// continuesName reports whether the name of a piece is a further part of that of a call: alone, or where both make the name of an offered
// tool. source: ankit373/hydra#958
func (s *stream) continuesName(c *call, p toolCall) bool {
	if p.ID != "" || p.Function.Name == c.name || c.arguments.Len() > 0 {
		return false
	}
	_, offered := s.offered(c.name + p.Function.Name)
	return offered || p.Function.Arguments == ""
}

// called gives the calls that came as such.
func (s *stream) called() (out []sessions.Block, err error) {
	for _, c := range s.calls {
		if s.isSaidTwice(c) {
			continue
		}
		args := c.whole()
		switch {
		case s.finish == "" && !json.Valid(args) && len(args) > 0:
			return nil, s.t.Broken("the stream ended inside a tool call")
		case len(bytes.TrimSpace(args)) == 0 && !strings.EqualFold(s.finish, "length"): // at the limit, arguments may have been cut off
			args = json.RawMessage("{}")
		}
		name := c.name
		if name == "" && c.id == "" && c.arguments.Len() == 0 {
			continue // an empty list entry
		}
		if name == "" { // functions.NAME:0
			name, _, _ = strings.Cut(strings.TrimPrefix(c.id, "functions."), ":")
			if _, ok := s.offered(name); !ok {
				name = c.name
			}
		}
		many := objectsIn(args)
		if len(many) == 0 {
			many = []json.RawMessage{args}
		}
		for i, args := range many[:min(len(many), maxCalls)] {
			id, kept := c.id, ofCall{CallExtra: c.extra, Call: c.fields.kept(), Function: c.function.kept()}
			if i > 0 {
				id, kept = "", ofCall{}
			}
			out = append(out, s.block(id, name, args, kept))
		}
	}
	return out, nil
}

// isSaidTwice reports whether a call of function_call stands in tool_calls too: servers fill both fields, for old and new readers.
func (s *stream) isSaidTwice(c *call) bool {
	return c.index == functionCall && slices.ContainsFunc(s.calls, func(k *call) bool {
		return k.index != functionCall && k.name == c.name && agent.SameArguments(k.whole(), c.whole())
	})
}

// whole gives a call's arguments as JSON, or as the model wrote them when they are none.
func (c *call) whole() json.RawMessage {
	args := json.RawMessage(c.arguments.String())
	if len(args) == 0 || json.Valid(args) {
		return args
	}
	if c.grows && json.Valid([]byte(c.latest)) {
		return json.RawMessage(c.latest)
	}
	for _, before := range []string{"{}", "null", `""`} { // servers begin with an empty value, and then send the true one
		if rest, ok := strings.CutPrefix(c.arguments.String(), before); ok && json.Valid([]byte(rest)) {
			return json.RawMessage(rest)
		}
	}
	return args
}

// objectsIn gives the JSON objects of a text that is several of them, one behind the other: servers send the arguments whole once more,
// which gives the same object twice, or join those of parallel calls. Nothing = it is no such text.
// source: elizaOS/eliza#16973, NousResearch/hermes-agent#26053
func objectsIn(args json.RawMessage) (out []json.RawMessage) {
	if json.Valid(args) {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(args))
	for {
		var v json.RawMessage
		if err := dec.Decode(&v); errors.Is(err, io.EOF) {
			return out
		} else if err != nil || len(v) == 0 || v[0] != '{' {
			return nil
		}
		if !slices.ContainsFunc(out, func(w json.RawMessage) bool { return bytes.Equal(v, w) }) {
			out = append(out, v)
		}
	}
}

// others keeps the calls of a choice that is not the first: some servers put text and calls into two choices.
// source: SakanaAI/AI-Scientist-v2#89
func (s *stream) others(o *choice) {
	if o.Index < 0 || o.Index > 9 {
		return
	}
	d := &o.Delta
	if o.Message != nil && d.empty() {
		d = o.Message
		for n := range d.ToolCalls {
			d.ToolCalls[n].Index = n
		}
	}
	for _, c := range d.ToolCalls {
		if s.size += len(c.Function.Arguments); s.size > maxArguments || len(s.beside) > 16*maxCalls {
			return
		}
		c.Index += o.Index * maxCalls
		c.Extra = bytes.Clone(c.Extra)
		s.beside = append(s.beside, c)
	}
}

// takeOthers takes the calls of other choices in where the first choice has none.
func (s *stream) takeOthers() error {
	if len(s.calls) > 0 {
		return nil
	}
	s.size = 0
	for _, c := range s.beside {
		if err := s.addCall(c); err != nil {
			return err
		}
	}
	return nil
}

// written gives the calls that the model wrote as text.
func (s *stream) written() (out []sessions.Block) {
	for _, c := range s.visible.Calls() {
		if len(out) < maxCalls {
			out = append(out, s.block(c.ID, c.Name, c.Arguments, ofCall{}))
		}
	}
	return out
}

func (s *stream) block(id, name string, args json.RawMessage, kept ofCall) sessions.Block {
	if id == "" {
		id = agent.NewCallID()
	}
	id, kept.CallID = shortCallID(id)
	b := sessions.Block{Type: sessions.ToolCallBlock, ID: id, Name: name, Arguments: wire.Arguments(args)}
	if !kept.empty() {
		b.Opaque = opaque{ofCall: kept}.block(s.from)
	}
	return b
}
