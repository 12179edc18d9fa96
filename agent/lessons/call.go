package lessons

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/agent"
	"parley/agent/wire"
	"parley/agent/wire/pattern"
	"parley/sessions"
	"parley/tools"
)

// maxChanges bounds how often one call is changed and sent again.
const maxChanges = 8

// Sent is what a request consists of, as far as an endpoint may refuse it. Nothing else is ever changed.
type Sent struct {
	Params     []Param
	Tools      []string // names, in the order sent
	Pictures   []string // base64, in the order sent; of messages of people
	ToolImages bool     // there are pictures in the results of tools
	System     bool
	Stream     bool
	Reasoning  bool // of earlier steps, or signatures of it
	Steps      bool // there are tool calls in the history
	Items      []Item
	Loose      bool // schemas have other keywords than the plainest
}

// Item is a part of the history that its provider wants back as it came, and that it may be unable to read later.
type Item struct {
	ID     string // the provider's own; may be empty
	Sealed string // encrypted content; may be empty
}

// name tells items apart in lessons.
func (i Item) name() string {
	if i.ID != "" && len(i.ID) <= maxItemName {
		return i.ID
	}
	return Hash(i.ID + i.Sealed)
}

// maxItemName bounds an id that is the name of a lesson, in bytes. Longer ones are hashed.
const maxItemName = 64

// Param is an optional parameter of a request.
type Param struct {
	Name   string   // as it stands in the request, dots for nested ones: reasoning.effort
	Words  []string // other names that errors use for it
	Value  string   // what was sent; Unset = it was not, but an error may ask for it
	Next   []string // other values, best first
	Effort bool     // it says how much to think: it is left out first when an error is unclear
	Fixed  bool     // the user's configuration has it: it is left out only when an error names it
}

// Call is one model call in the making.
type Call struct {
	book    *Book
	at      Endpoint
	config  string
	now     map[key]sessions.Lesson // in force in this call
	stale   map[key]sessions.Lesson // in the book, but old: tried without, in force again after a refusal
	tried   []key                   // stale ones that would have changed the request
	pending []sessions.Lesson       // in force, and not remembered yet
	changes int
	said    string            // by the last refusal
	words   string            // of it, without what differs each time
	since   []key             // what it had changed
	after   map[string][]key  // what was changed in this call, by the words of the refusal before
	helped  []key             // changes after which the endpoint refused something else
	guess   key               // the parameter that was left out because nothing was understood; it may not have been the reason
	applied []sessions.Lesson // in this call
	images  bool              // pictures are left out of this call
	bare    bool              // the history is told as text in this call
}

// find gives the lesson in force for a key.
func (c *Call) find(k key) (sessions.Lesson, bool) {
	if l, ok := c.now[k]; ok {
		return l, true
	}
	if _, ok := c.stale[k]; ok && !slices.Contains(c.tried, k) {
		c.tried = append(c.tried, k)
	}
	return sessions.Lesson{}, false
}

// Param says what to send for a parameter that would have a value, or Unset: use is sent when send is true.
func (c *Call) Param(name, value string) (use string, send bool) {
	if len(c.now) == 0 && len(c.stale) == 0 {
		return value, value != Unset
	}
	for range 8 { // a replacement may have been refused as well
		l, ok := c.find(key{Parameter, name, value})
		if !ok && value != Unset && value != "none" {
			l, ok = c.find(key{Parameter, name, ""})
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
func (c *Call) refused(p Param, value string) bool {
	_, known := c.now[key{Parameter, p.Name, value}]
	return known || value == p.Value
}

// Name gives the name that a parameter is sent by.
func (c *Call) Name(name string) string {
	if l, ok := c.find(key{Rename, name, ""}); ok {
		return l.Use
	}
	return name
}

// Off reports whether something is left out: Images (name is a picture's Hash, "" = all), Tools, Tool (by name), System, Stream,
// ToolImages; and for Schema and CallIDs whether they are to be plain.
func (c *Call) Off(kind, name string) bool {
	if kind == Images && (c.images || c.bare) {
		return true
	}
	if len(c.now) == 0 && len(c.stale) == 0 {
		return false
	}
	_, ok := c.find(key{kind, name, ""})
	return ok
}

// Takes reports whether something is sent for which there is a setting, "on", "off" or "": the setting wins over what was learned.
func (c *Call) Takes(kind, setting string) bool {
	return !c.bareOff(kind) && (setting == "on" || setting != "off" && !c.Off(kind, ""))
}

// bareOff reports whether this call is made without pictures, whatever the settings say.
func (c *Call) bareOff(kind string) bool { return kind == Images && (c.images || c.bare) }

// Picture gives which pictures may be shown, for agent.Target: nil = each. setting is that of images: "on", "off" or "".
func (c *Call) Picture(setting string) func(sessions.Block) bool {
	if !c.Takes(Images, setting) {
		return func(sessions.Block) bool { return false }
	}
	for k := range c.now {
		if k.kind == Images && k.name != "" { // single ones are refused
			return func(b sessions.Block) bool { return !c.Off(Images, Hash(b.Data)) }
		}
	}
	return nil
}

// Offer gives those of the tools that the endpoint takes, in their order. specs stays as it is.
func (c *Call) Offer(specs []tools.Spec) []tools.Spec {
	refused := func(t tools.Spec) bool { return c.Off(Tool, t.Name) }
	if slices.ContainsFunc(specs, refused) {
		specs = slices.DeleteFunc(slices.Clone(specs), refused)
	}
	if most := c.MaxTools(); most > 0 && len(specs) > most {
		specs = specs[:most]
	}
	return specs
}

// Use gives what is learned of Reasoning, Roles and Content; "" = nothing.
func (c *Call) Use(kind string) string {
	if len(c.now) == 0 && len(c.stale) == 0 {
		return ""
	}
	l, _ := c.find(key{kind, "", ""})
	return l.Use
}

// OffItem reports whether an item of the history is left out.
func (c *Call) OffItem(i Item) bool {
	return (i.ID != "" || i.Sealed != "") && c.Off(Reasoning, i.name())
}

// ReasoningFrom gives the time up to which reasoning of earlier steps cannot be read any more; zero = all of it can. It is for
// agent.Target.
func (c *Call) ReasoningFrom() time.Time {
	if len(c.now) == 0 && len(c.stale) == 0 {
		return time.Time{}
	}
	l, _ := c.find(key{Reasoning, OldReasoning, ""})
	at, _ := time.Parse(time.RFC3339Nano, l.Use) // zero where there is none
	return at
}

// Said gives the provider's words from which something was learned; "" = nothing was.
func (c *Call) Said(kind string) string {
	l, _ := c.find(key{kind, "", ""})
	return l.Evidence
}

// MaxTools gives how many tools are taken; 0 = any number.
func (c *Call) MaxTools() int {
	n, _ := strconv.Atoi(c.Use(MaxTools)) // 0 when there is none
	return n
}

// Bare reports whether the history is told as plain text: no pictures, no calls, no reasoning. The last resort of a call.
func (c *Call) Bare() bool { return c.bare }

// Worked says that the request was taken: what was changed is remembered.
func (c *Call) Worked(ctx context.Context) {
	var wrong []key
	if len(c.stale) > 0 && len(c.tried) > 0 {
		for _, k := range c.tried {
			if _, again := c.now[k]; !again {
				wrong = append(wrong, k)
			}
		}
	}
	if len(c.pending) > 0 || len(wrong) > 0 {
		c.book.keep(ctx, c.at, c.config, c.pending, wrong)
	}
	c.pending, c.tried, c.helped = nil, nil, nil
}

// Refused takes the error of a request in, and reports whether the request is worth making again, changed. The error is a
// *agent.ModelError with a *wire.Fault in it. When the call ends here, the changes that helped are remembered all the same: the next call
// begins where this one ended.
func (c *Call) Refused(ctx context.Context, err error, sent Sent) bool {
	if c.change(err, sent) {
		return true
	}
	if len(c.helped) > 0 {
		helped := func(l sessions.Lesson) bool { return slices.Contains(c.helped, keyOf(l)) }
		kept := slices.DeleteFunc(slices.Clone(c.pending), func(l sessions.Lesson) bool { return !helped(l) })
		c.pending = slices.DeleteFunc(c.pending, helped)
		c.helped = nil
		c.book.keep(ctx, c.at, c.config, kept, nil)
	}
	return false
}

// change changes the request after an error, and reports whether it did.
func (c *Call) change(err error, sent Sent) bool {
	e, ok := errors.AsType[*agent.ModelError](err)
	if !ok {
		return false
	}
	f, ok := errors.AsType[*wire.Fault](e.Err)
	if !ok || !mayTeach(e, f) {
		return false
	}
	l, found := read(f, e.Class, sent, c)
	found = found && !c.wasApplied(l) // it would go round in circles
	c.judge(f.Text, l, found)
	if c.changes >= maxChanges || !found && e.Class == agent.TooLong {
		return false
	}
	if !found && c.guess != (key{}) { // it was not the only reason, or none
		c.forget(c.guess)
		c.guess = key{}
	}
	if found {
		l = c.lesson(l)
		l.Evidence = e.Said
	}
	c.changes++
	old := c.restore(found)
	switch {
	case found:
		c.apply(l)
	case old:
	default:
		guessed := e.Class == agent.BadRequest && !f.WantsResponses() && c.lastResort(sent)
		c.since = nil // only an answer shows that a guess was right
		return guessed
	}
	return true
}

// counted matches the words of a refusal that may differ each time: ids of requests, times, places in a list.
var counted = pattern.New(`\S*\d\S*`)

// judge tells from the words of a refusal whether what was changed after the one before it helped. A change helped when the endpoint
// refuses something else now. One after which the same words come again did not: it stays changed in this call, but it is not remembered.
// Another value of the same parameter may be the right one: that is left open.
func (c *Call) judge(said string, l sessions.Lesson, found bool) {
	words := counted.ReplaceAllString(strings.ToLower(said), "")
	if changed, again := c.after[words]; again {
		for _, k := range changed {
			c.helped = slices.DeleteFunc(c.helped, func(h key) bool { return h == k && (said == c.said || !otherName(said, h)) })
			if said == c.said && k.kind != Parameter {
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

// otherName reports whether a refusal does not name what was changed, although its other words are those of the refusal before.
func otherName(said string, k key) bool {
	return (k.kind == Parameter || k.kind == Tool) && !strings.Contains(strings.ToLower(said), strings.ToLower(k.name))
}

// restore puts old lessons in force again that this call was tried without, and reports whether there were some. The one that the error
// speaks of is learned again by its reader. When nothing was found, all that changed the request hold for another MaxAge: which of them
// was right cannot be told.
func (c *Call) restore(found bool) bool {
	if len(c.stale) == 0 || len(c.tried) == 0 {
		return false
	}
	stale := c.stale
	c.stale = nil
	for k, old := range stale {
		c.now = with(c.now, k, old)
	}
	if found {
		return true
	}
	for _, k := range c.tried {
		c.apply(c.lesson(stale[k]))
	}
	return true
}

// wasApplied reports whether this call has been changed in the same way before.
func (c *Call) wasApplied(l sessions.Lesson) bool {
	return slices.ContainsFunc(c.applied, func(a sessions.Lesson) bool { return keyOf(a) == keyOf(l) && a.Use == l.Use })
}

func (c *Call) apply(l sessions.Lesson) {
	c.since = append(c.since, keyOf(l))
	c.after[c.words] = append(c.after[c.words], keyOf(l))
	c.applied = append(c.applied, l)
	c.now = with(c.now, keyOf(l), l)
	c.forget(keyOf(l))
	c.pending = append(c.pending, l)
}

// forget has a change not be remembered; in this call it stays.
func (c *Call) forget(k key) {
	c.pending = slices.DeleteFunc(c.pending, func(p sessions.Lesson) bool { return keyOf(p) == k })
}

// passing is in the errors of servers that failed: the same request mostly works later, so what it consists of was not the reason.
var passing = pattern.New(`internal (server )?error|error while|error occurred|timed? ?out|temporar|try again|overloaded|\bunavailable|capacity|connection|unexpectedly|crashed|out of memory`)

// mayTeach reports whether an error may be about a part of the request.
func mayTeach(e *agent.ModelError, f *wire.Fault) bool {
	if e.Status >= 300 && e.Status < 400 || f.IsPassing() && e.Class != agent.BadRequest {
		return false
	}
	switch e.Class {
	case agent.BadRequest, agent.NoSuchModel, agent.TooLong: // too long may be the answer that was asked for
		return true
	case agent.Overloaded: // some servers answer 500 and 501 to what they do not know
		return (e.Status == 500 || e.Status == 501 || e.Status == 0 || e.Status == 200) && !passing.MatchString(strings.ToLower(f.Text))
	case agent.Broken:
		return (e.Status == 0 || e.Status == 200) && !passing.MatchString(strings.ToLower(f.Text))
	}
	return false
}

// lastResort changes a request whose refusal says nothing that is understood. Nothing of it is remembered but an effort that alone was
// the reason, pictures that were left out, and that schemas are to be plain.
func (c *Call) lastResort(sent Sent) bool {
	for _, p := range sent.Params {
		if p.Effort && p.Value != Unset && !p.Fixed {
			c.apply(c.lesson(sessions.Lesson{Kind: Parameter, Name: p.Name, Value: p.Value}))
			c.guess = key{Parameter, p.Name, p.Value}
			return true
		}
	}
	i := slices.IndexFunc(sent.Params, func(p Param) bool { return p.Value != Unset && !p.Fixed && !p.Effort })
	switch {
	case i >= 0:
		for _, p := range sent.Params[i:] {
			if p.Value != Unset && !p.Fixed && !p.Effort {
				c.now = with(c.now, key{Parameter, p.Name, p.Value}, sessions.Lesson{})
			}
		}
		return true
	case !c.images && len(sent.Pictures) > 0:
		c.images = true
		for _, data := range sent.Pictures { // remembered one by one: another picture may be taken. source: lmstudio-ai/lmstudio-bug-tracker#1106
			l := c.lesson(sessions.Lesson{Kind: Images, Name: Hash(data)})
			l.Evidence = c.said
			c.apply(l)
		}
		return true
	case !c.bare && (sent.Steps || sent.Reasoning):
		c.bare = true
		return true
	case sent.Loose && !c.Off(Schema, ""): // remembered: without it every call would cost this
		l := c.lesson(sessions.Lesson{Kind: Schema})
		l.Evidence = c.said
		if l.Evidence == "" {
			l.Evidence = "(refused without a word, and taken with plain schemas)"
		}
		c.apply(l)
		return true
	}
	return false
}

// lesson fills in where and when something is learned.
func (c *Call) lesson(l sessions.Lesson) sessions.Lesson {
	l.Provider, l.Address, l.Model, l.Config, l.At = c.at.Provider, c.at.Address, c.at.Model, c.config, c.book.conf.Now()
	return l
}
