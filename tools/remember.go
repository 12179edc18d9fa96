package tools

import (
	"context"
	_ "embed"
	"strings"
	"unicode/utf8"

	"parley/sessions"
)

//go:embed remember.md
var rememberText string

// maxNote is the longest note, in characters.
const maxNote = 2000

type rememberArgs struct {
	Text string `json:"text" jsonschema:"one fact, complete in itself"`
}

type rememberResult struct {
	Status string `json:"status"`
}

type remember struct{ deps Deps }

// Remember is the tool remember: it keeps a note for the agent.
func Remember(d Deps) Tool { return remember{d} }

var rememberSchema = schemaOf[rememberArgs](nil)

func (remember) Spec() Spec {
	return Spec{Name: "remember", Description: rememberText, Schema: rememberSchema}
}

func (t remember) Call(ctx context.Context, c Call) (Result, error) {
	args, bad := decode[rememberArgs](c.Args)
	if bad != nil {
		return bad.result(), nil
	}
	text := strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(args.Text, "\uFFFD"), "\x00", ""))
	if text == "" {
		return mistake("text is required: what to remember").result(), nil
	}
	if n := utf8.RuneCountInString(text); n > maxNote {
		return mistake("text has %d characters; %d are allowed. Keep the facts.", n, maxNote).result(), nil
	}
	s := c.Caller.Session
	_, err := t.deps.Store.Submit(ctx, sessions.Change{IdempotencyKey: c.Source(), Ops: []sessions.Op{sessions.AddNote{Agent: s.Agent, Key: s.Key, Text: text}}})
	if err != nil {
		return Result{}, err
	}
	return reply(rememberResult{Status: "ok"}), nil
}
