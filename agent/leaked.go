package agent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
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
		} else if object, ok := markup.TrailingArguments(b.Name, text, schema); ok && strings.HasPrefix(strings.TrimSpace(text), "<") {
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

// maxBundled is how many calls one that stands for several may have.
const maxBundled = 128

// unbundled gives the calls that models of OpenAI write as one of a tool that only their training had: multi_tool_use.parallel. A call of anything
// else, or of a tool that is not offered, stays as it is.
//
// source: Azure/azure-rest-api-specs#32329, community.openai.com/t/model-tries-to-call-unknown-function-multi-tool-use-parallel/490653
func (r *turnRun) unbundled(blocks []sessions.Block, stop string) []sessions.Block {
	if stop == StopLength {
		return blocks
	}
	for i := len(blocks) - 1; i >= 0; i-- {
		if b := &blocks[i]; b.Type == sessions.ToolCallBlock && bytes.Contains(b.Arguments, []byte("tool_uses")) {
			blocks = slices.Replace(blocks, i, i+1, r.inBundle(*b)...)
		}
	}
	return blocks
}

func (r *turnRun) inBundle(b sessions.Block) (out []sessions.Block) {
	none := []sessions.Block{b}
	if name, _ := r.toolName(b.Name); r.offers(name) {
		return none
	}
	args := b.Arguments
	if text, ok := unquoteArguments(args); ok {
		args = json.RawMessage(text)
	}
	var bundle struct {
		Uses []struct {
			Recipient  string `json:"recipient_name"`
			Name       string
			Parameters json.RawMessage
			Arguments  json.RawMessage
		} `json:"tool_uses"`
	}
	if json.Unmarshal(args, &bundle) != nil || len(bundle.Uses) == 0 || len(bundle.Uses) > maxBundled {
		return none
	}
	for i, use := range bundle.Uses {
		c := sessions.Block{Type: sessions.ToolCallBlock, Name: cmp.Or(use.Recipient, use.Name), Arguments: use.Parameters}
		if len(c.Arguments) == 0 {
			c.Arguments = use.Arguments
		}
		if i == 0 {
			c.ID, c.Opaque = b.ID, b.Opaque
		}
		if name, _ := r.toolName(c.Name); !r.offers(name) {
			return none
		}
		out = append(out, c)
	}
	return out
}
