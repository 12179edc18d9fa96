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
	var a struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(args, &a); err != nil {
		r := mistake("the arguments of call_tool are not an object with name and arguments. Nothing was done").result()
		return "", nil, &r
	}
	if a.Name = strings.TrimSpace(a.Name); a.Name == "" {
		r := mistake("name is required: which tool; find_tool says which there are. Nothing was done").result()
		return "", nil, &r
	}
	return a.Name, a.Arguments, nil
}

// Call implements Tool. The agent loop makes the inner call itself (see Indirect); what comes here is not from it.
func (t callTool) Call(ctx context.Context, c Call) (Result, error) {
	name, args, problem := t.Inner(c.Args)
	if problem != nil {
		return *problem, nil
	}
	inner, ok := t.Find(name)
	if !ok {
		return mistake("there is no tool %.100q; find_tool says which there are. Nothing was done", name).result(), nil
	}
	if c.Args = args; len(c.Args) == 0 {
		c.Args = json.RawMessage("{}")
	}
	return inner.Call(ctx, c)
}
