package hooks

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
	"unicode/utf8"
)

// maxOutput bounds what a template may write.
const maxOutput = 256 << 10

// Parse reads a template over the JSON of a request. A field that is missing, at any depth, is empty.
func Parse(name, text string) (*template.Template, error) {
	t, err := template.New(name).Funcs(functions).Parse(text)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "template: "))
	}
	for _, x := range t.Templates() {
		if x.Tree != nil {
			lenient(x.Root)
		}
	}
	if _, err := render(t, map[string]any{}); err != nil { // also of a payload that has nothing of what it asks for
		return nil, err
	}
	return t, nil
}

// functions are what templates have besides Go's own.
var functions = template.FuncMap{
	"get": get, "each": each,
	"eq": func(v any, others ...any) bool { // what is missing compares as well
		return slices.ContainsFunc(others, func(o any) bool { return templateText(o) == templateText(v) })
	},
	"ne":    func(v, o any) bool { return templateText(v) != templateText(o) },
	"lower": func(v any) string { return strings.ToLower(templateText(v)) },
	"upper": func(v any) string { return strings.ToUpper(templateText(v)) },
	"trim":  func(v any) string { return strings.TrimSpace(templateText(v)) },
	"cut":   cut,
	"json": func(v any) (string, error) {
		b, err := json.Marshal(v)
		return string(b), err
	},
}

func templateText(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// cut gives at most so many characters of a text.
func cut(most int, v any) string {
	s := templateText(v)
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:max(most, 0)]) + "…"
}

// get follows names and numbers into a value; "" where there is nothing.
func get(v any, path ...any) any {
	for _, step := range path {
		switch at := v.(type) {
		case map[string]any:
			v = at[templateText(step)]
		case []any:
			i, err := strconv.Atoi(templateText(step))
			if err != nil || i < 0 || i >= len(at) {
				return ""
			}
			v = at[i]
		default:
			return ""
		}
	}
	if v == nil {
		return ""
	}
	return v
}

// each is what a range goes over; nothing where there is nothing to go over.
func each(v any) any {
	switch reflect.ValueOf(v).Kind() {
	case reflect.Map, reflect.Slice:
		return v
	default:
		return []any{}
	}
}

// lenient has every field of a template read by get, and every range go over each.
func lenient(n parse.Node) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n == nil {
			return
		}
		for _, x := range n.Nodes {
			lenient(x)
		}
	case *parse.ActionNode:
		lenient(n.Pipe)
	case *parse.IfNode:
		branch(&n.BranchNode)
	case *parse.WithNode:
		branch(&n.BranchNode)
	case *parse.RangeNode:
		branch(&n.BranchNode)
		n.Pipe.Cmds = append(n.Pipe.Cmds, command(n.Pos, parse.NewIdentifier("each").SetPos(n.Pos)))
	case *parse.TemplateNode:
		lenient(n.Pipe)
	case *parse.PipeNode:
		if n == nil {
			return
		}
		for _, c := range n.Cmds {
			for i, arg := range c.Args {
				c.Args[i] = lenientArg(arg)
			}
			if p, ok := c.Args[0].(*parse.PipeNode); ok && len(c.Args) == 1 && len(n.Cmds) == 1 && len(p.Cmds) == 1 && len(p.Decl) == 0 {
				c.Args = p.Cmds[0].Args // {{.a}} is {{get . "a"}}, not {{(get . "a")}}
			}
		}
	}
}

func branch(b *parse.BranchNode) {
	lenient(b.Pipe)
	lenient(b.List)
	lenient(b.ElseList)
}

// lenientArg gives the node that reads an argument leniently.
func lenientArg(arg parse.Node) parse.Node {
	switch a := arg.(type) {
	case *parse.FieldNode:
		return getter(a.Pos, &parse.DotNode{NodeType: parse.NodeDot, Pos: a.Pos}, a.Ident)
	case *parse.VariableNode:
		if len(a.Ident) > 1 {
			return getter(a.Pos, &parse.VariableNode{NodeType: parse.NodeVariable, Pos: a.Pos, Ident: a.Ident[:1]}, a.Ident[1:])
		}
	case *parse.ChainNode:
		return getter(a.Pos, lenientArg(a.Node), a.Field)
	case *parse.PipeNode:
		lenient(a)
	}
	return arg
}

// getter is (get from "name" "name" …).
func getter(at parse.Pos, from parse.Node, names []string) parse.Node {
	args := []parse.Node{parse.NewIdentifier("get").SetPos(at), from}
	for _, n := range names {
		args = append(args, &parse.StringNode{NodeType: parse.NodeString, Pos: at, Quoted: strconv.Quote(n), Text: n})
	}
	return &parse.PipeNode{NodeType: parse.NodePipe, Pos: at, Cmds: []*parse.CommandNode{command(at, args...)}}
}

func command(at parse.Pos, args ...parse.Node) *parse.CommandNode {
	return &parse.CommandNode{NodeType: parse.NodeCommand, Pos: at, Args: args}
}

// render gives what a template makes of a payload, without the space around it.
func render(t *template.Template, payload any) (string, error) {
	var out bounded
	if err := t.Execute(&out, payload); err != nil {
		if errors.Is(err, errLong) {
			return "", errLong
		}
		return "", errors.New(strings.TrimPrefix(err.Error(), "template: "))
	}
	return strings.TrimSpace(out.String()), nil
}

var errLong = fmt.Errorf("the template produces more than %d bytes", maxOutput)

// bounded is a writer that ends what writes too much.
type bounded struct{ strings.Builder }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxOutput {
		return 0, errLong
	}
	return b.Builder.Write(p)
}
