package config

import (
	"math"
	"reflect"
	"strconv"

	"gopkg.in/yaml.v3"

	"parley/gateway/config/field"
)

// free reads a value of any shape, as JSON has it: text, number, true, false, null, a list, or an object. Numbers stay numbers: int
// where they are whole, else float64. Variables are filled into texts; what a variable contains stays a text unless the scalar is
// nothing but that variable and contains a number, true or false. Depth and number of values are bounded like those of the file.
func (d *decoder) free(n *yaml.Node, at spot) (any, bool) {
	switch n.Kind {
	case yaml.MappingNode:
		out := make(map[string]any, len(n.Content)/2)
		for _, p := range d.pairs(n, at) {
			if x, ok := d.freeChild(p.node, at.key(nameText(p.key), p.line)); ok {
				out[p.key] = x
			}
		}
		return out, true
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for i, c := range n.Content {
			if d.nodes > maxNodes {
				break
			}
			if x, ok := d.freeChild(c, at.item(i, c.Line)); ok {
				out = append(out, x)
			}
		}
		return out, true
	}
	return d.freeScalar(n, at)
}

func (d *decoder) freeChild(n *yaml.Node, at spot) (any, bool) {
	n, ok := d.visit(n, at)
	if !ok {
		return nil, false
	}
	if isNull(n) {
		if n.Value == "" {
			d.wrong(at, "has no value", "write null to send null")
		}
		return nil, true
	}
	return d.free(n, at)
}

func (d *decoder) freeScalar(n *yaml.Node, at spot) (any, bool) {
	e, ok := d.expand(n, field.Field{}, at)
	if !ok {
		return nil, false
	}
	tag := n.ShortTag()
	if e.used { // the text of the file says what is meant: "${N}" is a text, ${N} what the variable holds
		if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			return e.text, true
		}
		if reference.FindString(n.Value) != n.Value {
			return e.text, true
		}
		return plainValue(e.text), true
	}
	switch tag {
	case "!!int", "!!float":
		var x any
		if err := n.Decode(&x); err != nil {
			d.wrong(at, "must be a number that JSON can hold, is "+shown(n), "quote it if it is text")
			return nil, false
		}
		if f, isFloat := x.(float64); isFloat && (math.IsInf(f, 0) || math.IsNaN(f)) {
			d.wrong(at, "must be a number that JSON can hold, is "+shown(n), "quote it if it is text")
			return nil, false
		}
		return x, true
	case "!!bool":
		var x bool
		if err := n.Decode(&x); err != nil {
			return e.text, true
		}
		return x, true
	}
	return e.text, true
}

// plainValue reads what a variable contains: a number, true, false, else a text.
func plainValue(text string) any {
	var b bool
	if err := field.SetText(reflect.ValueOf(&b).Elem(), text); err == nil {
		return b
	}
	if n, err := strconv.Atoi(text); err == nil && strconv.Itoa(n) == text {
		return n
	}
	var f float64
	if err := field.SetText(reflect.ValueOf(&f).Elem(), text); err == nil {
		return f
	}
	return text
}
