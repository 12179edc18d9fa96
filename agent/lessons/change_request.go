package lessons

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"parley/agent"
	"parley/agent/wire"
	"parley/channels/pattern"
	"parley/sessions"
)

// maxChanges bounds how often one call is changed and sent again. With the last change goes all that may go.
const maxChanges = 8

// Refused takes the error of a request in, and reports whether the request is worth making again, changed. The error is a
// *agent.ModelError with a *wire.Fault in it. When the call ends here, the changes that helped are remembered all the same: the next call
// begins where this one ended. Where the endpoint refuses the form of requests, whatever they say, the class becomes agent.BadForm.
func (c *Call) Refused(ctx context.Context, err error, sent Sent) bool {
	c.learnTooLong(ctx, err)
	unquoteCount(err, sent)
	c.learnMessages(ctx, err, sent)
	if c.shortenAnswer(ctx, err, sent) {
		return true
	}
	x, ok := c.understand(err, sent)
	if ok {
		if setting := x.againstSetting(); setting != "" {
			return x.obey(ctx, setting)
		}
		if setting := x.namedExtra(); setting != "" {
			x.blame(setting)
			return false
		}
	}
	if !x.found && (unexplained{c, sent, nil}).failedAgain(err) {
		return true
	}
	if ok && x.waits() { // agent.Retry makes the others again, after a pause
		c.changed.count++
		return x.err.Class == agent.BadRequest || x.err.Class == agent.NoSuchModel || x.err.Class == agent.BadKey
	}
	if ok && x.change() {
		return true
	}
	isBound := c.changed.count >= maxChanges && len(c.changed.helped) > 0 // the next call has fewer changes to make
	if len(c.changed.helped) > 0 {
		helped := func(l sessions.Lesson) bool { return slices.Contains(c.changed.helped, keyOf(l)) }
		kept := slices.DeleteFunc(slices.Clone(c.changed.pending), func(l sessions.Lesson) bool { return !helped(l) })
		c.changed.pending = slices.DeleteFunc(c.changed.pending, helped)
		c.changed.helped = nil
		c.book.keep(ctx, c.at, c.config, kept, nil)
	} else if ok && c.guessed && !x.found && !x.known && x.err.Class == agent.BadRequest {
		c.book.refusedInVain(ctx, c.at, c.config, c.left)
	}
	if ok && x.err.Class == agent.BadRequest && !x.found && !x.known && x.err.Hint == "" {
		x.suspectSettings()
	}
	if ok && x.err.Class == agent.BadRequest && (isBound || x.isOfForm()) {
		x.err.Class = agent.BadForm
	}
	return false
}

// learnTooLong remembers the window that an error about a prompt that is too long names.
// source: docs.vllm.ai, platform.openai.com/docs/guides/error-codes (maximum context length is 4096 tokens)
func (c *Call) learnTooLong(ctx context.Context, err error) {
	e, ok := errors.AsType[*agent.ModelError](err)
	if ok && e.Class == agent.TooLong && e.Window > 0 {
		c.learnWindow(ctx, e.Window, e.Said)
	}
}

// learnWindow remembers how many tokens an endpoint takes: the next prompts are shortened, and answers asked for that fit behind them, before it
// says so again.
func (c *Call) learnWindow(ctx context.Context, window int, said string) {
	l := c.lesson(sessions.Lesson{Kind: Window, Use: strconv.Itoa(window)})
	l.Evidence = said
	if was := c.now[keyOf(l)]; was.Use != l.Use {
		c.now = withLesson(c.now, keyOf(l), l)
		c.book.keep(ctx, c.at, c.config, []sessions.Lesson{l}, nil)
	}
}

// unquoteCount gives an error the class of its own words where only the conversation, which it quotes, speaks of a number of messages.
func unquoteCount(err error, sent Sent) {
	e, isModel := errors.AsType[*agent.ModelError](err)
	f, isFault := errors.AsType[*wire.Fault](err)
	if !isModel || !isFault || e.Class != agent.TooLong && e.Class != agent.RateLimited || !f.CountsMessages() {
		return
	}
	if own := withoutQuotes(f, sent); !own.CountsMessages() {
		e.Class = own.Class()
	}
}

// learnMessages remembers how many messages an endpoint takes, and notes that in the error: the next prompts are summed up before they have
// more. Where the error does not say how many, they are half of those that were sent. A message of the transcript may be several in a request.
func (c *Call) learnMessages(ctx context.Context, err error, sent Sent) {
	e, isModel := errors.AsType[*agent.ModelError](err)
	f, isFault := errors.AsType[*wire.Fault](err)
	if !isModel || !isFault || e.Class != agent.TooLong {
		return
	}
	most, isCount := withoutQuotes(f, sent).TooManyMessages()
	n, all := len(sent.Messages), max(len(sent.Roles), len(sent.Messages))
	if !isCount || n < 2 {
		return
	}
	if most == 0 || most >= all {
		most = all / 2
	}
	e.Messages = max(min(most*n/all, n-1), minMessages)
	l := c.lesson(sessions.Lesson{Kind: MaxMessages, Use: strconv.Itoa(e.Messages)})
	l.Evidence = e.Said
	if was := c.now[keyOf(l)]; was.Use != l.Use {
		c.now = withLesson(c.now, keyOf(l), l)
		c.book.keep(ctx, c.at, c.config, []sessions.Lesson{l}, nil)
	}
}

// minMessages is the smallest number of messages that is believed and remembered: a summary, what a person wrote, a call and its result.
const minMessages = 4

// refusedRequest is what an error says of a request.
type refusedRequest struct {
	call   *Call
	sent   Sent
	err    *agent.ModelError
	fault  *wire.Fault // without what it quotes of the conversation
	text   string      // the provider's sentences
	lesson sessions.Lesson
	found  bool // there is a lesson, and the call was not changed by it before
	known  bool // there is a lesson, and the call was changed by it before
	quoted bool // only the words that are quoted teach it: they are people's
	named  bool // an error of its class is about the request only if it names a part of it
}

// understand reads an error; ok is false for one that does not speak of the request.
func (c *Call) understand(err error, sent Sent) (x refusedRequest, ok bool) {
	x.call, x.sent = c, sent
	e, isModel := errors.AsType[*agent.ModelError](err)
	f, isFault := errors.AsType[*wire.Fault](err)
	if !isModel || !isFault {
		return x, false
	}
	f = withoutTags(f.WithoutOtherBranches(sent.Roles))
	teaches, named := mayTeach(e, f)
	if !teaches {
		return x, false
	}
	x = refusedRequest{call: c, sent: sent, err: e, fault: withoutQuotes(f, sent), text: f.Text, named: named}
	x.lesson, x.found = read(x.fault, e.Class, sent, c)
	if x.known = x.found && c.changed.wasApplied(x.lesson); x.known { // it would go round in circles
		x.found = false
	}
	if !x.found && !x.known && x.fault != f {
		x.lesson, x.found = read(f, e.Class, sent, c)
		x.found = x.found && !c.changed.wasApplied(x.lesson)
		x.quoted = x.found
	}
	if named && !x.isNamed() {
		x.found, x.known = false, false
	}
	return x, !named || x.found
}

// change changes the request after a refusal, and reports whether it did.
func (x refusedRequest) change() bool {
	c, sent := x.call, x.sent
	c.changed.judge(x.text, x.lesson, x.found)
	if c.changed.count >= maxChanges || !x.found && x.err.Class == agent.TooLong {
		return false
	}
	l := x.lesson
	if x.found {
		l = c.lesson(l)
		l.Evidence = x.fault.Text
	}
	c.changed.count++
	newer := x.refusesNewerCalls()
	old := !newer && c.restore(x.found)
	switch {
	case newer:
		c.apply(c.unnamed(c.told()))
	case (!x.found || c.changed.words == c.suspects.words) && c.restoreSuspects():
	case x.found && (x.isPassing() || x.named || foundToolUse.MatchString(strings.ToLower(x.text)) || c.wasTaken(l) && !x.isChanged(l)):
		c.suppose(l)
	case x.found:
		c.apply(l)
		x.leaves(l)
		x.applyListed()
		if x.quoted {
			c.changed.forget(keyOf(l))
		}
	case old:
	default:
		why := unexplained{c, sent, x.fault}
		guessed := !c.quiet && x.err.Class == agent.BadRequest && !x.fault.WantsResponses() && (why.lastResort() || why.lastParts(x.status()) || why.leaveSettings(true))
		c.changed.since = nil // only an answer shows that a guess was right
		if !guessed {
			return false
		}
		c.guessed = true
	}
	if c.changed.count == maxChanges {
		x.strip(l.Kind)
	}
	return true
}

// status gives the status of a refusal. One inside of an answer of which nothing was shown has none; where it speaks of the request's parameters
// it is like any other.
func (x refusedRequest) status() int {
	if x.fault.Status == 0 && x.err.Class == agent.BadRequest && mayBeTools.MatchString(strings.ToLower(x.text)) {
		return http.StatusBadRequest
	}
	return x.err.Status
}

// suppose changes the request although it is not known whether that is the reason.
func (c *Call) suppose(l sessions.Lesson) {
	if len(c.changed.blind.changes) == 0 {
		c.changed.blind = suspects{words: c.changed.words, config: c.config}
		for _, a := range c.changed.applied { // the same words came again: both may be needed
			if slices.Contains(c.changed.after[c.changed.words], keyOf(a)) && !c.changed.isPending(keyOf(a)) {
				c.changed.blind.changes = append(c.changed.blind.changes, a)
			}
		}
	}
	c.apply(l)
	c.changed.forget(keyOf(l))
	c.changed.blind.changes = append(slices.DeleteFunc(c.changed.blind.changes, func(s sessions.Lesson) bool {
		return keyOf(s) == keyOf(l) || l.Kind == Tools && (s.Kind == MaxTools || s.Kind == Schema)
	}), l)
}

// restoreSuspects makes the changes again with which an earlier call was taken, and reports whether it made some.
func (c *Call) restoreSuspects() bool {
	if len(c.spared) == 0 {
		return false
	}
	for _, l := range c.suspects.changes {
		evidence := l.Evidence
		if l.Kind == History { // up to now
			l = c.told()
		}
		l = c.lesson(l)
		l.Evidence = evidence
		c.suppose(l)
	}
	c.spared = nil
	return true
}

// strip makes the last request of a call without the parameters that the user has not set. If single tools or pictures were refused, it
// leaves out all of them. None of this is remembered.
func (x refusedRequest) strip(kind string) {
	c, sent := x.call, x.sent
	for _, p := range sent.Params {
		if _, known := c.now[key{Parameter, p.Name, p.Value}]; !p.Fixed && p.Value != Unset && !known {
			c.now = withLesson(c.now, key{Parameter, p.Name, p.Value}, sessions.Lesson{})
		}
	}
	switch kind {
	case Tool, MaxTools:
		c.now = withLesson(c.now, key{Tools, "", ""}, sessions.Lesson{})
	case Images:
		c.images = true
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
func (x refusedRequest) isOfForm() bool {
	if x.fault.WantsResponses() || slices.Contains(x.fault.Codes, wrongAPI) || headerWord.MatchString(x.fault.All) || x.known && slices.Contains(formKinds, x.lesson.Kind) {
		return true
	}
	field, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(x.fault.Param), "[", "."), ".")
	switch {
	case field == "" || slices.Contains(contentFields, field):
		return false
	case field == "tools" || field == "tool_choice" || field == "stream" || field == "store":
		return true
	}
	return slices.ContainsFunc(x.fault.Codes, func(code string) bool { return slices.Contains(formCodes, code) }) ||
		slices.ContainsFunc(x.sent.Params, func(p Param) bool { return strings.EqualFold(p.Name, field) })
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
		c.now = withLesson(c.now, k, old)
	}
	if found || len(c.spared) > 0 && c.changed.words == c.suspects.words { // what is suspected may be the reason instead
		return true
	}
	for _, k := range c.tried {
		l := stale[k]
		if k.kind == History { // up to now, or all
			l = c.told()
		}
		l = c.lesson(l)
		l.Evidence = strings.TrimPrefix(stale[k].Evidence, leftTogether) // it was sent alone now
		c.apply(l)
	}
	return true
}

func (c *Call) apply(l sessions.Lesson) {
	c.now = withLesson(c.now, keyOf(l), l)
	c.changed.add(l)
}

// leftTogether begins the evidence of changes that helped together. Later calls are made without one of them each, until it is known which of
// them are needed.
const leftTogether = "(changed together with others) "

// inDoubt reports whether a lesson was learned with others, and none of them was tried again yet.
func inDoubt(l sessions.Lesson) bool { return strings.HasPrefix(l.Evidence, leftTogether) }

// lesson fills in where and when something is learned.
func (c *Call) lesson(l sessions.Lesson) sessions.Lesson {
	l.Provider, l.Address, l.Model, l.Config, l.At = c.at.Provider, c.at.Address, c.at.Model, c.config, c.book.conf.Now()
	return l
}
