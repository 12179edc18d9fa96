package tools

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

//go:embed find_tool.md
var findToolText string

// The bounds of what find_tool shows.
const (
	foundDefault  = 5
	maxFoundTools = 20
	foundAbout    = 1500     // characters of a description
	foundBytes    = 40 << 10 // of a result: further tools are named only
)

type findToolArgs struct {
	Query  string  `json:"query,omitempty" jsonschema:"words of what it should do, or a name; empty lists all names"`
	Limit  integer `json:"limit,omitzero" jsonschema:"tools to show, at most 20"`
	Offset integer `json:"offset,omitzero" jsonschema:"tools to leave out, to see more"`
}

var findToolSchema = schemaOf[findToolArgs](nil)

type foundTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Arguments   json.RawMessage `json:"arguments,omitempty"` // their schema
}

type findToolResult struct {
	Tools []foundTool `json:"tools"`
	Names []string    `json:"names,omitempty"` // of all, where nothing was asked for; of those that had no room
	Total int         `json:"total"`
	Next  int         `json:"next,omitempty"`
	Note  string      `json:"note,omitempty"`
}

// findTool is the tool find_tool: it finds tools that a request has no room for.
type findTool struct{ rest *catalogue }

// Spec implements Tool.
func (findTool) Spec() Spec {
	return Spec{Name: "find_tool", Description: findToolText, Schema: findToolSchema}
}

// Call implements Tool.
func (t findTool) Call(_ context.Context, c Call) (Result, error) {
	args, bad := decode[findToolArgs](c.Args)
	if bad != nil {
		return bad.result(), nil
	}
	skip := max(args.Offset.or(0), 0)
	words := wordsOf(args.Query)
	if len(words) == 0 {
		return t.names(skip), nil
	}
	found := t.rest.search(words)
	r := findToolResult{Tools: []foundTool{}, Total: len(found)}
	if len(found) == 0 {
		r.Note = "no tool matches these words; an empty query lists all names"
		return reply(r), nil
	}
	found = found[min(skip, len(found)):]
	if most := min(max(args.Limit.or(foundDefault), 1), maxFoundTools); len(found) > most {
		found, r.Next = found[:most], skip+most
	}
	size := 0
	for _, x := range found {
		s := x.Spec()
		about, _ := clip(s.Description, foundAbout)
		if size += len(about) + len(s.Schema); size > foundBytes && len(r.Tools) > 0 {
			r.Names = append(r.Names, s.Name)
			continue
		}
		r.Tools = append(r.Tools, foundTool{s.Name, about, s.Schema})
	}
	if len(r.Names) > 0 {
		r.Note = "the tools in names did not fit: query each by its name"
	}
	return reply(r), nil
}

// maxNames is how many names a result lists.
const maxNames = 400

// names lists the names of all tools.
func (t findTool) names(skip int) Result {
	r := findToolResult{Tools: []foundTool{}, Total: len(t.rest.tools)}
	for _, x := range t.rest.tools[min(skip, len(t.rest.tools)):] {
		if len(r.Names) == maxNames {
			r.Next = skip + maxNames
			break
		}
		r.Names = append(r.Names, x.Spec().Name)
	}
	return reply(r)
}

// search returns the tools that have one of the words, those with the most first, then by name.
func (c *catalogue) search(words []string) []Tool {
	type hit struct {
		tool  Tool
		name  string
		score int
	}
	var hits []hit
	for _, t := range c.tools {
		s := t.Spec()
		score, name, about, arguments := 0, strings.ToLower(s.Name), strings.ToLower(s.Description), strings.ToLower(string(s.Schema))
		if name == strings.Join(words, "_") {
			score += 1000
		}
		for _, w := range words {
			switch {
			case slices.Contains(wordsOf(name), w):
				score += 20
			case strings.Contains(name, w):
				score += 12
			}
			switch {
			case strings.Contains(about, w):
				score += 5
			case strings.Contains(arguments, w):
				score++
			}
		}
		if score > 0 {
			hits = append(hits, hit{t, s.Name, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Or(b.score-a.score, strings.Compare(a.name, b.name)) })
	out := make([]Tool, len(hits))
	for i, h := range hits {
		out[i] = h.tool
	}
	return out
}

// wordsOf returns the words of a text in small letters, at most 20; _ and - part words, as they do in names.
func wordsOf(text string) []string {
	text, _ = clip(text, 1000)
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return words[:min(len(words), 20)]
}
