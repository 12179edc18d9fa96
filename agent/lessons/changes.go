package lessons

import (
	"slices"
	"strings"

	"parley/channels/pattern"
	"parley/sessions"
)

// changes are what a call changed in its request after refusals.
type changes struct {
	count   int
	applied []sessions.Lesson
	pending []sessions.Lesson // of these: not remembered yet
	said    string            // by the last refusal
	words   string            // of it, without what differs each time
	since   []key             // what was changed after it
	after   map[string][]key  // what was changed, by the words of the refusal before
	helped  []key             // changes after which the endpoint refused something else
	blind   suspects          // what was changed without a reason that named it
}

// counted matches the words of a refusal that may differ each time: ids of requests, times, places in a list.
var counted = pattern.New(`\S*\d\S*`)

func wordsWithoutCounts(said string) string {
	return counted.ReplaceAllString(strings.ToLower(said), "")
}

// judge tells from the words of a refusal whether what was changed after the one before it helped. A change helped when the endpoint
// refuses something else now. One after which the same words come again did not: it stays changed in this call, but it is not remembered.
// Another value of the same parameter may be the right one: that is left open.
func (c *changes) judge(said string, l sessions.Lesson, found bool) {
	words := wordsWithoutCounts(said)
	if changed, again := c.after[words]; again {
		for _, k := range changed {
			c.helped = slices.DeleteFunc(c.helped, func(h key) bool { return h == k && (said == c.said || !otherName(said, h)) })
			if said == c.said && (k.kind != Parameter || !found) {
				c.forget(k)
			}
		}
		for _, k := range c.since {
			if found && said != c.said && (k.kind != l.Kind || k.name != l.Name) && otherName(said, k) {
				c.helped = append(c.helped, k)
			}
		}
	} else {
		for _, k := range c.since {
			if !found || k.kind != l.Kind || k.name != l.Name {
				c.helped = append(c.helped, k)
			}
		}
	}
	if c.after == nil {
		c.after = make(map[string][]key)
	}
	c.said, c.words, c.since = said, words, nil
}

func (c *changes) isPending(k key) bool {
	return slices.ContainsFunc(c.pending, func(l sessions.Lesson) bool { return keyOf(l) == k })
}

// wasApplied reports whether this call has been changed in the same way before.
func (c *changes) wasApplied(l sessions.Lesson) bool {
	return slices.ContainsFunc(c.applied, func(a sessions.Lesson) bool { return keyOf(a) == keyOf(l) && a.Use == l.Use })
}

// hasChanged reports whether this call has been changed by a lesson of a kind.
func (c *changes) hasChanged(kind string) bool {
	return slices.ContainsFunc(c.applied, func(a sessions.Lesson) bool { return a.Kind == kind })
}

// hasChangedTo reports whether this call has sent a value in the place of a parameter's.
func (c *changes) hasChangedTo(name, value string) bool {
	return slices.ContainsFunc(c.applied, func(a sessions.Lesson) bool { return a.Kind == Parameter && a.Name == name && a.Use == value })
}

// add notes a change.
func (c *changes) add(l sessions.Lesson) {
	c.since = append(c.since, keyOf(l))
	c.after[c.words] = append(c.after[c.words], keyOf(l))
	c.applied = append(c.applied, l)
	c.forget(keyOf(l))
	c.pending = append(c.pending, l)
}

// forget has a change not be remembered; in this call it stays.
func (c *changes) forget(k key) {
	c.pending = slices.DeleteFunc(c.pending, func(p sessions.Lesson) bool { return keyOf(p) == k })
}

// ofAllTools forgets which tools were left out one by one, where the form of all of them was the last change: it was that.
func (c *changes) ofAllTools() {
	if n := len(c.applied); n > 0 && c.applied[n-1].Kind == Schema && c.applied[n-1].Name == bareSchema {
		c.pending = slices.DeleteFunc(c.pending, func(l sessions.Lesson) bool { return l.Kind == Tool })
	}
}

// hasLeftOut reports whether this call has left a parameter out.
func (c *changes) hasLeftOut(name string) bool {
	return slices.ContainsFunc(c.applied, func(l sessions.Lesson) bool { return l.Kind == Parameter && l.Name == name && l.Use == "" })
}

// again gives the changes of this call that no refusal named, and that an earlier call was taken with as well. If there are several, the
// next calls are made without one of them each, until it is known which of them are needed.
func (c *changes) again(before suspects) (out []sessions.Lesson) {
	for _, l := range c.blind.changes {
		if slices.ContainsFunc(before.changes, func(s sessions.Lesson) bool { return keyOf(s) == keyOf(l) }) {
			out = append(out, l)
		}
	}
	if len(out) > 1 {
		for i := range out {
			out[i].Evidence = leftTogether + out[i].Evidence
		}
	}
	return out
}
