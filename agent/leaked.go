package agent

import (
	"bytes"
	"encoding/json"
	"strings"

	"parley/agent/wire/markup"
	"parley/sessions"
)

// asOffered gives a call the name of the offered tool that is meant, and arguments that are the JSON object that is meant, where a model or
// its server wrote them with something else. What is not clear stays as it is: the model is told so.
func (r *turnRun) asOffered(b *sessions.Block, stop, model string) {
	rest := ""
	b.Name, rest = r.toolName(b.Name)
	var schema json.RawMessage
	if t, ok := r.tool(b.Name); ok {
		schema = t.Spec().Schema
	}
	args := bytes.TrimSpace(b.Arguments)
	if rest != "" && string(objectOrEmpty(args)) == "{}" {
		if behind, ok := markup.TrailingArguments(b.Name, rest, schema); ok {
			args = behind
		}
	}
	text := string(args)
	if inner, ok := unquoteArguments(args); ok {
		text = inner
	}
	if !json.Valid([]byte(text)) {
		if object, ok := markup.LooseObject(text, stop != StopLength); ok {
			args = object
		}
	}
	if json.Valid(args) {
		args = markup.Unwrapped(args, b.Name, schema)
		if strings.Contains(strings.ToLower(model), "grok") {
			args = markup.WithoutEntities(args)
		}
		b.Arguments = args
	}
}

// toolName finds the tool that a name means, and gives what stood behind it.
func (r *turnRun) toolName(written string) (name, rest string) {
	if _, ok := r.tools[written]; ok {
		return written, ""
	}
	offered := make([]string, len(r.specs))
	for i, s := range r.specs {
		offered[i] = s.Name
	}
	name, rest, _ = markup.KnownName(written, offered, func(name string) bool {
		_, ok := r.tool(name)
		return ok
	})
	return name, rest
}
