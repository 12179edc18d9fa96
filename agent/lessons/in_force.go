package lessons

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/sessions"
)

// inForce are the lessons that hold for one call: what is asked of them decides what the next request has. Those that are old or in doubt are
// tried without, and hold again after a refusal.
type inForce struct {
	now     map[key]sessions.Lesson // in force in this call
	stale   map[key]sessions.Lesson // in the book, but old: tried without, in force again after a refusal
	doubted bool                    // one lesson in doubt is stale in this call
	tried   []key                   // stale ones that would have changed the request

	suspects suspects // from an earlier call
	spared   []key    // those of them that would have changed the request
}

// find gives the lesson in force for a key.
func (f *inForce) find(k key) (sessions.Lesson, bool) {
	if f.isEmpty() {
		return sessions.Lesson{}, false
	}
	if l, ok := f.now[k]; ok {
		if f.doubted || !inDoubt(l) {
			return l, true
		}
		f.doubted = true // this call is made without the first lesson in doubt that would change it
		delete(f.now, k)
		f.stale = withLesson(f.stale, k, l)
	}
	if _, ok := f.stale[k]; ok && !slices.Contains(f.tried, k) {
		f.tried = append(f.tried, k)
	}
	if !slices.Contains(f.spared, k) && slices.ContainsFunc(f.suspects.changes, func(l sessions.Lesson) bool { return keyOf(l) == k }) {
		f.spared = append(f.spared, k)
	}
	return sessions.Lesson{}, false
}

// isEmpty reports whether nothing is known of the endpoint.
func (f *inForce) isEmpty() bool {
	return len(f.now) == 0 && len(f.stale) == 0 && len(f.suspects.changes) == 0
}

func (f *inForce) param(name, value string) (use string, send bool) {
	if f.isEmpty() {
		return value, value != Unset
	}
	for range 8 { // a replacement may have been refused as well
		l, ok := f.find(key{Parameter, name, value})
		if !ok && value != Unset && value != "none" {
			l, ok = f.find(key{Parameter, name, ""})
		}
		if parent, _, nested := strings.Cut(name, "."); !ok && nested && value != Unset {
			l, ok = f.find(key{Parameter, parent, ""})
		}
		if !ok {
			return value, value != Unset
		}
		switch {
		case l.Use != "":
			value = l.Use
		case value == Unset:
			return "", false
		default:
			value = Unset // what is sent in its place may be known
		}
	}
	return "", false
}

// refused reports whether a value of a parameter was just refused, or is known to be.
func (f *inForce) refused(p Param, value string) bool {
	_, known := f.now[key{Parameter, p.Name, value}]
	return known || value == p.Value
}

// Name gives the name that a parameter is sent by.
func (f *inForce) Name(name string) string {
	if l, ok := f.find(key{Rename, name, ""}); ok {
		return l.Use
	}
	return name
}

// singlePictures reports whether something is known of single pictures.
func (f *inForce) singlePictures() bool {
	for _, known := range []map[key]sessions.Lesson{f.now, f.stale} {
		for k := range known {
			if k.kind == Images && k.name != "" {
				return true
			}
		}
	}
	return slices.ContainsFunc(f.suspects.changes, func(l sessions.Lesson) bool { return l.Kind == Images && l.Name != "" })
}

// Use gives what is learned of Reasoning, Roles and Content; "" = nothing.
func (f *inForce) Use(kind string) string {
	l, _ := f.find(key{kind, "", ""})
	return l.Use
}

// ReasoningFrom gives the time up to which reasoning of earlier steps cannot be read any more; zero = all of it can. It is for
// agent.Target.
func (f *inForce) ReasoningFrom() time.Time {
	l, _ := f.find(key{Reasoning, OldReasoning, ""})
	return timeOf(l.Use)
}

// ToldUntil gives the time up to which calls and results are told as text; zero = there is none. It is for agent.Target.
func (f *inForce) ToldUntil() time.Time {
	return timeOf(f.Use(History))
}

// timeOf reads a time that was learned; zero where there is none.
func timeOf(use string) time.Time {
	if use == "" { // an error costs more than the question
		return time.Time{}
	}
	at, _ := time.Parse(time.RFC3339Nano, use)
	return at
}

// countOf gives a number that was learned; 0 where there is none.
func (f *inForce) countOf(kind string) int {
	use := f.Use(kind)
	if use == "" { // an error costs more than the question
		return 0
	}
	n, _ := strconv.Atoi(use)
	return n
}

// Said gives the provider's words from which something was learned; "" = nothing was.
func (f *inForce) Said(kind string) string {
	l, _ := f.find(key{kind, "", ""})
	return l.Evidence
}

// MaxText gives how many characters the text of a message may have; 0 = any number. It is for agent.Target.
func (f *inForce) MaxText() int {
	return f.countOf(MaxText)
}

// MaxTools gives how many tools are taken; 0 = any number.
func (f *inForce) MaxTools() int {
	return f.countOf(MaxTools)
}

// isOff is Off for a request that may have nothing of the kind: it does not count as tried without a lesson that is old or in doubt.
func (f *inForce) isOff(kind, name string) bool {
	l, ok := f.now[key{kind, name, ""}]
	return ok && (f.doubted || !inDoubt(l))
}

// mayCut reports whether a lesson about the most of something would change a request that has n, in force or not.
func (f *inForce) mayCut(kind string, n int) bool {
	k := key{kind, "", ""}
	for _, known := range []map[key]sessions.Lesson{f.now, f.stale} {
		if l, ok := known[k]; ok {
			most, err := strconv.Atoi(l.Use)
			return err != nil || n > most
		}
	}
	return slices.ContainsFunc(f.suspects.changes, func(l sessions.Lesson) bool { return keyOf(l) == k })
}
