package history

import (
	"encoding/json"
	"strings"
)

// tree is the tree of a transcript: rewinds and forks leave branches that the person no longer saw.
// source: openclaw/openclaw src/config/sessions/transcript-tree.ts (021887e1)
type tree struct {
	nodes []node
	at    map[string]int // by id
	leaf  int            // current; -1 = before the first event
	moved bool           // a leaf event chose a branch
}

type node struct {
	parent  int // -1 = none
	message int // -1 = none
}

// add takes the next event; message is the place of its message, -1 = none.
func (t *tree) add(e event, message int) {
	if t.at == nil {
		t.at, t.leaf = map[string]int{}, -1
	}
	if e.Type == "session" {
		return
	}
	if e.Type == "leaf" {
		t.moved = true
		if to, ok := t.at[e.Target]; ok {
			t.leaf = to
		}
		if e.ID != "" {
			t.at[e.ID] = t.leaf // a parent that is a leaf event means its target
		}
		return
	}
	parent := t.leaf
	var id *string
	if e.Parent != nil && json.Unmarshal(e.Parent, &id) == nil {
		switch {
		case id == nil && strings.TrimSpace(string(e.Parent)) == "null":
			parent = -1
		case id != nil:
			if p, ok := t.at[*id]; ok {
				parent = p
			}
		}
	}
	t.nodes = append(t.nodes, node{parent, message})
	here := len(t.nodes) - 1
	if e.ID != "" {
		t.at[e.ID] = here
	}
	if e.Append != "side" {
		t.leaf = here
	}
}

// visible returns the messages on the way from the last leaf to the first event. ok is false without a leaf event: then all are visible.
func (t *tree) visible() (keep map[int]bool, ok bool) {
	if !t.moved {
		return nil, false
	}
	keep = map[int]bool{}
	for at := t.leaf; at >= 0; at = t.nodes[at].parent { // a parent is always an earlier node
		keep[t.nodes[at].message] = true
	}
	return keep, true
}
