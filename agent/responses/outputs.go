package responses

import (
	"slices"
	"strings"

	"parley/agent/wire/markup"
)

// outputs are the items of an answer as they came.
type outputs []*output

// known gives an item by its id, or else the newest one that is not complete at its place. whole is all of its text where that is said.
func (all outputs) known(k kind, id string, index int, whole string) *output {
	for _, o := range slices.Backward(all) {
		if o.kind == k && id != "" && o.id == id {
			return o
		}
	}
	for _, o := range slices.Backward(all) {
		if o.kind == k && !o.done && (id == "" || o.id == "" || index >= 0 && o.index == index) && (index < 0 || o.index < 0 || o.index == index) {
			return o
		}
	}
	if index < 0 {
		return all.unplaced(k, whole)
	}
	return nil
}

// unplaced gives the newest item of a kind where an event has no place, and an id that no item has: in some streams it changes with each event.
// source: EricLBuehler/mistral.rs#1944, RESMP-DEV/ccr-rust#25
func (all outputs) unplaced(k kind, whole string) *output {
	for _, o := range slices.Backward(all) {
		switch {
		case o.kind != k:
			continue
		case o.done, whole != "" && !strings.HasPrefix(whole, o.text.String()), whole == "" && (o.told || k == call && !o.announced):
			return nil
		}
		return o
	}
	return nil
}

// byCallID gives a call by the id that its result will name.
func (all outputs) byCallID(k kind, it item) *output {
	if k != call || it.CallID == "" {
		return nil
	}
	for _, o := range all {
		if o.kind == call && o.callID == it.CallID {
			return o
		}
	}
	return nil
}

// match finds the item that came in pieces for one of the whole answer: by its id, its call, what it says, or its turn.
func (all outputs) match(k kind, it item, seen map[*output]bool) *output {
	text, args := "", ""
	if k == message {
		text = joined(it.Content, "")
	} else if k == call {
		args = arguments(it.Arguments)
	}
	for _, same := range []func(*output) bool{
		func(o *output) bool { return it.ID != "" && o.id == it.ID },
		func(o *output) bool { return k == call && it.CallID != "" && o.callID == it.CallID },
		func(o *output) bool { return k == message && strings.HasPrefix(text, o.text.String()) },
		func(o *output) bool { return k == message || k == reasoning },
		func(o *output) bool {
			return (o.callID == "" || it.CallID == "") && (o.name == it.Name || o.name == "") && (o.args.String() == args || o.args.Len() == 0)
		},
	} {
		for _, o := range all {
			if o.kind == k && !seen[o] && same(o) {
				return o
			}
		}
	}
	return nil
}

// readers gives the readers of the answer's messages.
func (all outputs) readers() (out []*markup.Reader) {
	for _, o := range all {
		if o.kind == message {
			out = append(out, &o.reader)
		}
	}
	return out
}
