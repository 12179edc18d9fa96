package tools

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"
)

//go:embed call_tool.md
var callToolText string

// callToolSchema is that of every request, so that prompts stay the same: which tools there are is in the results of find_tool.
var callToolSchema = json.RawMessage(`{"type":"object","properties":{` +
	`"name":{"type":"string","description":"of the tool, as find_tool gives it"},` +
	`"arguments":{"type":"object","description":"its arguments, by the schema that find_tool gives","properties":{},"additionalProperties":true}},` +
	`"required":["name"],"additionalProperties":false}`)

// callTool is the tool call_tool: it calls a tool that a request has no room for, as if it was called directly.
type callTool struct{ rest *catalogue }

// Spec implements Tool.
func (callTool) Spec() Spec {
	return Spec{Name: "call_tool", Description: callToolText, Schema: callToolSchema}
}

// Find implements Indirect.
func (t callTool) Find(name string) (Tool, bool) {
	x, ok := t.rest.byName[name]
	return x, ok
}

// Inner implements Indirect.
func (t callTool) Inner(args json.RawMessage) (string, json.RawMessage, *Result) {
	var given map[string]json.RawMessage
	var told struct{ Name string }
	if json.Unmarshal(args, &given) != nil || json.Unmarshal(args, &told) != nil {
		r := mistake("the arguments of call_tool are not an object with name and arguments. Nothing was done").result()
		return "", nil, &r
	}
	name := ""
	for _, key := range []string{"name", "tool_name", "tool"} {
		if raw := given[key]; name == "" && json.Unmarshal(raw, &name) == nil {
			name = strings.TrimSpace(name)
			delete(given, key)
		}
	}
	if name == "" {
		r := mistake("name is required: the name of a tool, as find_tool lists it. Nothing was done").result()
		return "", nil, &r
	}
	for _, key := range []string{"arguments", "parameters", "args", "input"} {
		if inner, ok := given[key]; ok && !isNothing(inner) {
			return name, inner, nil
		}
		if isNothing(given[key]) {
			delete(given, key)
		}
	}
	if len(given) > 0 { // models write them beside the name: without them it would be another call
		return name, encode(given), nil
	}
	return name, nil, nil
}

// isNothing reports whether a value says that there are no arguments.
func isNothing(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "{}", `""`, "[]", `"{}"`:
		return true
	}
	return false
}

// Call implements Tool. The agent loop makes the inner call itself (see Indirect) and never calls this.
func (t callTool) Call(ctx context.Context, c Call) (Result, error) {
	name, args, problem := t.Inner(c.Args)
	if problem != nil {
		return *problem, nil
	}
	inner, ok := t.Find(name)
	if !ok {
		return mistake("there is no tool %.100q; find_tool lists the tools. Nothing was done", name).result(), nil
	}
	if c.Args = args; len(c.Args) == 0 {
		c.Args = json.RawMessage("{}")
	}
	return inner.Call(ctx, c)
}
