package tools

import (
	"cmp"
	"context"
	_ "embed"
	"maps"
	"slices"
	"strings"

	"parley/sessions"
)

//go:embed recall.md
var recallText string

const (
	recallDefault = 20
	maxRecall     = 100
	recallScan    = 2000      // notes that have one word of a query, the newest
	recallBytes   = 16 * 1024 // of a result
	recallWords   = 12        // of a query that are looked for one by one
)

type recallArgs struct {
	Query string  `json:"query,omitempty" jsonschema:"words to look for; empty = the newest notes"`
	Limit integer `json:"limit,omitzero" jsonschema:"default 20, at most 100"`
}

type recallResult struct {
	Count     int         `json:"count"`
	Notes     []noteShown `json:"notes"`             // newest first, unless partial
	Partial   bool        `json:"partial,omitempty"` // none has all words: these have some, those with most of them first
	Truncated bool        `json:"truncated,omitempty"`
}

type noteShown struct {
	Text string `json:"text"`
	When string `json:"when"` // RFC 3339, UTC
	From string `json:"from"` // the session it was noted in
}

type recall struct{ deps Deps }

// Recall is the tool recall: it finds notes of the agent, those that were made in sessions which the caller may see (contract V4).
func Recall(d Deps) Tool { return recall{d} }

var recallSchema = schemaOf[recallArgs](nil)

func (recall) Spec() Spec { return Spec{Name: "recall", Description: recallText, Schema: recallSchema} }

func (t recall) Call(ctx context.Context, c Call) (Result, error) {
	args, bad := decode[recallArgs](c.Args)
	if bad != nil {
		return bad.result(), nil
	}
	limit := args.Limit.bound(recallDefault, maxRecall)
	q := t.deps.notesOf(c.Caller)
	q.Text, q.Limit = strings.TrimSpace(args.Query), limit+1
	notes, err := t.deps.Store.Notes(ctx, q)
	if err != nil {
		return Result{}, err
	}
	r := recallResult{Notes: []noteShown{}}
	if words := strings.Fields(q.Text); len(notes) == 0 && len(words) > 1 {
		if notes, err = t.nearest(ctx, q, words); err != nil {
			return Result{}, err
		}
		r.Partial = len(notes) > 0
	}
	show := shown{redact: t.deps.Redact, block: maxNote}
	room := recallBytes - slack
	for _, n := range notes {
		row := noteShown{Text: show.text(n.Text), When: n.Time.UTC().Format("2006-01-02T15:04:05Z"), From: t.deps.name(c.Caller, n.Key)}
		size := len(encode(row)) + 1
		if len(r.Notes) == limit || size > room {
			r.Truncated = true
			break
		}
		room -= size
		r.Notes = append(r.Notes, row)
	}
	r.Count = len(r.Notes)
	return reply(r), nil
}

// nearest returns the notes that q selects and that have some of the words: those with most of them first, then the newest.
func (t recall) nearest(ctx context.Context, q sessions.NoteQuery, words []string) ([]sessions.Note, error) {
	found, hits := map[int64]sessions.Note{}, map[int64]int{}
	q.Limit = recallScan
	for _, q.Text = range words[:min(len(words), recallWords)] {
		notes, err := t.deps.Store.Notes(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, n := range notes {
			found[n.ID] = n
			hits[n.ID]++
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b sessions.Note) int {
		return cmp.Or(cmp.Compare(hits[b.ID], hits[a.ID]), cmp.Compare(b.ID, a.ID))
	}), nil
}
