package lessons

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"parley/agent"
	"parley/agent/wire"
	"parley/agent/wire/pattern"
	"parley/sessions"
)

// maxChanges bounds how often one call is changed and sent again. With the last change goes all that may go.
const maxChanges = 8

// Refused takes the error of a request in, and reports whether the request is worth making again, changed. The error is a
// *agent.ModelError with a *wire.Fault in it. When the call ends here, the changes that helped are remembered all the same: the next call
// begins where this one ended. Where the endpoint refuses the form of requests, whatever they say, the class becomes agent.BadForm.
func (c *Call) Refused(ctx context.Context, err error, sent Sent) bool {
	x, ok := c.understand(err, sent)
	if ok && c.change(x, sent) {
		return true
	}
	isBound := c.changes >= maxChanges && len(c.helped) > 0 // the next call has fewer changes to make
	if len(c.helped) > 0 {
		helped := func(l sessions.Lesson) bool { return slices.Contains(c.helped, keyOf(l)) }
		kept := slices.DeleteFunc(slices.Clone(c.pending), func(l sessions.Lesson) bool { return !helped(l) })
		c.pending = slices.DeleteFunc(c.pending, helped)
		c.helped = nil
		c.book.keep(ctx, c.at, c.config, kept, nil)
	} else if ok && c.guessed && !x.found && !x.known && x.err.Class == agent.BadRequest {
		c.book.refusedInVain(ctx, c.at, c.config)
	}
	if ok && x.err.Class == agent.BadRequest && (isBound || x.isOfForm(sent)) {
		x.err.Class = agent.BadForm
	}
	return false
}

// refusedRequest is what an error says of a request.
type refusedRequest struct {
	err    *agent.ModelError
	fault  *wire.Fault // without what it quotes of the conversation
	text   string      // the provider's sentences
	lesson sessions.Lesson
	found  bool // there is a lesson, and the call was not changed by it before
	known  bool // there is a lesson, and the call was changed by it before
	quoted bool // only the words that are quoted teach it: they are people's
}

// understand reads an error; ok is false for one that does not speak of the request.
func (c *Call) understand(err error, sent Sent) (x refusedRequest, ok bool) {
	e, isModel := errors.AsType[*agent.ModelError](err)
	f, isFault := errors.AsType[*wire.Fault](err)
	if !isModel || !isFault || !mayTeach(e, f) {
		return x, false
	}
	x = refusedRequest{err: e, fault: withoutQuotes(f, sent), text: f.Text}
	x.lesson, x.found = read(x.fault, e.Class, sent, c)
	if x.known = x.found && c.wasApplied(x.lesson); x.known { // it would go round in circles
		x.found = false
	}
	if !x.found && !x.known && x.fault != f {
		x.lesson, x.found = read(f, e.Class, sent, c)
		x.found = x.found && !c.wasApplied(x.lesson)
		x.quoted = x.found
	}
	return x, true
}

// change changes the request after a refusal, and reports whether it did.
func (c *Call) change(x refusedRequest, sent Sent) bool {
	c.judge(x.text, x.lesson, x.found)
	if c.changes >= maxChanges || !x.found && x.err.Class == agent.TooLong {
		return false
	}
	if !x.found { // they were not the only reason, or none
		for _, k := range c.guess {
			c.forget(k)
		}
		c.guess = nil
	}
	l := x.lesson
	if x.found {
		l = c.lesson(l)
		l.Evidence = x.err.Said
	}
	c.changes++
	old := c.restore(x.found)
	switch {
	case x.found:
		c.apply(l)
		if x.quoted {
			c.forget(keyOf(l))
		}
	case old:
	default:
		guessed := !c.quiet && x.err.Class == agent.BadRequest && !x.fault.WantsResponses() && (c.lastResort(sent) || x.err.Status >= 400 && c.lastParts(sent))
		c.since = nil // only an answer shows that a guess was right
		if !guessed {
			return false
		}
		c.guessed = true
	}
	if c.changes == maxChanges {
		c.strip(sent, l.Kind)
	}
	return true
}

// strip makes the last request of a call without the parameters that the user has not set. If single tools or pictures were refused, it
// leaves out all of them. None of this is remembered.
func (c *Call) strip(sent Sent, kind string) {
	c.omit(slices.DeleteFunc(slices.Clone(sent.Params), func(p Param) bool { return p.Fixed }))
	switch kind {
	case Tool, MaxTools:
		c.now = with(c.now, key{Tools, "", ""}, sessions.Lesson{})
	case Images:
		c.images = true
	}
}

// omit leaves parameters out of this call.
func (c *Call) omit(params []Param) {
	for _, p := range params {
		if _, known := c.now[key{Parameter, p.Name, p.Value}]; p.Value != Unset && !known {
			c.now = with(c.now, key{Parameter, p.Name, p.Value}, sessions.Lesson{})
		}
	}
}

// formKinds are the kinds of lessons that do not depend on what a conversation says.
var formKinds = []string{Parameter, Rename, Tools, MaxTools, Tool, Schema, Stream, System}

// formCodes are given for parameters, also for ones of messages.
var formCodes = []string{"unknown_parameter", "unsupported_parameter", "unsupported_value"}

// wrongAPI is the code for a model that is served by another API. source: egoist/chatwise-releases#1273
const wrongAPI = "unsupported_api_for_model"

// contentFields are the fields of a request that hold the conversation.
var contentFields = []string{"messages", "input", "contents", "prompt", "body", "system", "instructions"}

// headerWord is in errors about the headers of requests. source: genspark-ai/genoffice#331
var headerWord = pattern.New(`\bheaders?\b|(?:missing|requires?|without|lacks) [^.\n]{0,12}\bx-[a-z]+-[a-z-]+`)

// isOfForm reports whether an error that no change helped against is about the form of requests: the API, a header, a part that a setting insists
// on, a parameter that the error names.
func (x refusedRequest) isOfForm(sent Sent) bool {
	if x.fault.WantsResponses() || slices.Contains(x.fault.Codes, wrongAPI) || headerWord.MatchString(x.fault.All) || x.known && slices.Contains(formKinds, x.lesson.Kind) {
		return true
	}
	field, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(x.fault.Param), "[", "."), ".")
	switch {
	case field == "" || slices.Contains(contentFields, field):
		return false
	case field == "tools" || field == "tool_choice" || field == "stream":
		return true
	}
	return slices.ContainsFunc(x.fault.Codes, func(code string) bool { return slices.Contains(formCodes, code) }) ||
		slices.ContainsFunc(sent.Params, func(p Param) bool { return strings.EqualFold(p.Name, field) })
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
		l := c.lesson(stale[k])
		l.Evidence = strings.TrimPrefix(l.Evidence, leftTogether) // it was sent alone now
		c.apply(l)
	}
	return true
}

// wasApplied reports whether this call has been changed in the same way before.
func (c *Call) wasApplied(l sessions.Lesson) bool {
	return slices.ContainsFunc(c.applied, func(a sessions.Lesson) bool { return keyOf(a) == keyOf(l) && a.Use == l.Use })
}

// hasChanged reports whether this call has been changed by a lesson of a kind.
func (c *Call) hasChanged(kind string) bool {
	return slices.ContainsFunc(c.applied, func(a sessions.Lesson) bool { return a.Kind == kind })
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

// keyWord is in errors about keys and rights.
var keyWord = pattern.New(`\b(?:api[ -]?)?keys?\b|\btokens?\b|permission|authori[sz]|authenti|credential|forbidden|access|account|region|country|verif|billing|blocked`)

// mayTeach reports whether an error may be about a part of the request.
func mayTeach(e *agent.ModelError, f *wire.Fault) bool {
	if e.Status >= 300 && e.Status < 400 || f.IsPassing() && e.Class != agent.BadRequest {
		return false
	}
	switch e.Class {
	case agent.BadKey: // some gateways answer 403 to what a model does not take
		return e.Status == 403 && !keyWord.MatchString(strings.ToLower(f.Text))
	case agent.BadRequest, agent.NoSuchModel, agent.TooLong: // too long may be the answer that was asked for
		return true
	case agent.Overloaded: // some servers answer 500 and 501 to what they do not know
		return (e.Status == 500 || e.Status == 501 || e.Status == 0 || e.Status == 200) && !passing.MatchString(strings.ToLower(f.Text))
	case agent.Broken:
		return (e.Status == 0 || e.Status == 200) && !passing.MatchString(strings.ToLower(f.Text))
	}
	return false
}

// leftTogether begins the evidence of parameters that were left out together. Later calls send one of them each, until it is known which of
// them are refused.
const leftTogether = "(left out with other parameters) "

// inDoubt reports whether a lesson was learned with others, and none of them was tried again yet.
func inDoubt(l sessions.Lesson) bool { return strings.HasPrefix(l.Evidence, leftTogether) }

// firstInDoubt returns the first of the lessons in doubt, which the next call is made without; an empty key if there is none.
func firstInDoubt(known map[key]sessions.Lesson) (first key) {
	for k, l := range known {
		if inDoubt(l) && (first == key{} || k.name < first.name) {
			first = k
		}
	}
	return first
}

// lastResort changes a request whose refusal says nothing that is understood. A history told bare is not remembered; what else ends the
// refusals is.
func (c *Call) lastResort(sent Sent) bool {
	for _, p := range sent.Params {
		if p.Effort && p.Value != Unset && !p.Fixed {
			c.apply(c.lesson(sessions.Lesson{Kind: Parameter, Name: p.Name, Value: p.Value}))
			c.guess = []key{{Parameter, p.Name, p.Value}}
			return true
		}
	}
	optional := slices.DeleteFunc(slices.Clone(sent.Params), func(p Param) bool { return p.Value == Unset || p.Fixed || p.Effort })
	switch {
	case len(optional) > 0:
		c.leaveOut(optional)
		return true
	case !c.images && len(sent.Pictures) > 0:
		c.images = true
		for _, data := range sent.Pictures { // remembered one by one: another picture may be taken. source: lmstudio-ai/lmstudio-bug-tracker#1106
			l := c.lesson(sessions.Lesson{Kind: Images, Name: Hash(data)})
			l.Evidence = c.said
			c.apply(l)
		}
		return true
	case sent.Steps && !c.hasChanged(History): // remembered: every later call has them in its history
		l := c.lesson(c.told())
		l.Evidence = cmp.Or(c.said, "(refused without a word, and taken with calls told as text)")
		c.apply(l)
		return true
	case !c.bare && (sent.Steps || sent.Reasoning):
		c.bare = true
		return true
	case sent.Loose && !c.Off(Schema, ""): // remembered: without it every call would cost this
		l := c.lesson(sessions.Lesson{Kind: Schema})
		l.Evidence = cmp.Or(c.said, "(refused without a word, and taken with plain schemas)")
		c.apply(l)
		return true
	}
	return false
}

// leaveOut leaves parameters out of the request.
func (c *Call) leaveOut(params []Param) {
	evidence := cmp.Or(c.said, "(refused without a word, and taken without)")
	if len(params) > 1 {
		evidence = leftTogether + evidence
	}
	for _, p := range params {
		l := c.lesson(p.refused(""))
		l.Evidence = evidence
		c.apply(l)
		c.guess = append(c.guess, keyOf(l))
	}
}

// lastParts leaves streaming and then the tools out when nothing else is left to change, and the endpoint has not been seen to take them since the host began. History with
// calls shows that tools are taken.
func (c *Call) lastParts(sent Sent) bool {
	kind := ""
	switch {
	case sent.Stream && !c.taken.stream && !c.Off(Stream, ""):
		kind = Stream
	case len(sent.Tools) > 0 && !sent.Steps && !c.taken.tools && !c.Off(Tools, ""):
		kind = Tools
	default:
		return false
	}
	l := c.lesson(sessions.Lesson{Kind: kind})
	l.Evidence = cmp.Or(c.said, "(refused without a word, and taken without)")
	c.apply(l)
	return true
}

// lesson fills in where and when something is learned.
func (c *Call) lesson(l sessions.Lesson) sessions.Lesson {
	l.Provider, l.Address, l.Model, l.Config, l.At = c.at.Provider, c.at.Address, c.at.Model, c.config, c.book.conf.Now()
	return l
}
