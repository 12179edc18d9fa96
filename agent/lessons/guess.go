package lessons

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"parley/agent/wire"
	"parley/channels/pattern"
	"parley/sessions"
)

// unexplained is a refusal that gives no reason which is understood.
type unexplained struct {
	call *Call
	sent Sent

	fault *wire.Fault // nil = a failure
}

// lastResort changes a request whose refusal says nothing that is understood: what is new in it goes first, then what the endpoint took before. A
// history told bare is not remembered; what else ends the refusals is, when it does so in the next call as well.
func (x unexplained) lastResort() bool {
	c, sent := x.call, x.sent
	for _, isNew := range []bool{true, false} {
		if x.leavePart(isNew) {
			return true
		}
	}
	if c.bare || !sent.Steps && !sent.Reasoning {
		return false
	}
	c.bare = true
	return true
}

// leavePart leaves out a part of a request, the smallest loss first, and reports whether there was one. isNew: of reasoning, optional parameters
// and calls only what the endpoint has not been seen to take.
func (x unexplained) leavePart(isNew bool) bool {
	c, sent := x.call, x.sent
	optional := slices.DeleteFunc(slices.Clone(sent.Params), func(p Param) bool { return p.Value == Unset || p.Fixed || isNew && c.taken.hasParam(p) })
	switch {
	case sent.Reasoning && !sent.OnlyIDs && !(isNew && c.taken.thoughts) && !c.changed.hasChanged(Reasoning) && c.Use(Reasoning) == "":
		x.leaveThoughts()
	case len(optional) > 0:
		x.leaveOut(optional)
	case x.leaveSettings(false):
	case !c.images && len(sent.Pictures) > 0:
		x.leavePictures()
	case x.leavePlainItems():
	case sent.Steps && !(isNew && c.taken.steps) && !c.changed.hasChanged(History): // every later call has them in its history
		x.guess(c.told())
	default:
		return false
	}
	return true
}

// leaveThoughts leaves out the reasoning of earlier steps: what is older than now where the endpoint has been seen to take some.
func (x unexplained) leaveThoughts() {
	l := sessions.Lesson{Kind: Reasoning, Use: OmitReasoning}
	if x.call.taken.thoughts {
		l = reading{call: x.call}.olderReasoning()
	}
	x.guess(l)
}

// leavePlainItems leaves out the fields of items of the Responses API that say nothing new: id, type, annotations.
// source: lmstudio-ai/lmstudio-bug-tracker (invalid_union), platform.openai.com/docs/api-reference/responses/create (EasyInputMessage)
func (x unexplained) leavePlainItems() bool {
	fields := slices.DeleteFunc(slices.Clone(x.sent.Params), func(p Param) bool {
		isForm := p.Name == contentForm+"assistant" && p.Value == AsList
		return !isForm && (!strings.HasPrefix(p.Name, ItemField) || p.Value != Taken)
	})
	if len(fields) == 0 || !slices.Contains(x.sent.Roles, "assistant") && !x.sent.Steps {
		return false
	}
	for _, p := range fields {
		use := ""
		if p.Name == contentForm+"assistant" {
			use = AsText
		}
		x.guess(p.refused(use))
	}
	return true
}

// leavePictures leaves all pictures out of this call. They are remembered one by one: another picture may be taken.
// source: lmstudio-ai/lmstudio-bug-tracker#1106
func (x unexplained) leavePictures() {
	c, sent := x.call, x.sent
	c.images = true
	if c.takesNoPicture() || x.refusedOthers(sent.Pictures) {
		x.guess(sessions.Lesson{Kind: Images})
	}
	for _, data := range sent.Pictures {
		x.guess(sessions.Lesson{Kind: Images, Name: Hash(data)})
	}
}

// refusedOthers reports whether the endpoint took no picture since the host began, and the call before this one was taken without other ones
// than these, in words that did not speak of one.
func (x unexplained) refusedOthers(pictures []string) bool {
	c := x.call
	return !c.taken.images && slices.ContainsFunc(c.suspects.changes, func(l sessions.Lesson) bool {
		return l.Kind == Images && l.Name != "" && !onePicture.MatchString(strings.ToLower(l.Evidence)) &&
			!slices.ContainsFunc(pictures, func(data string) bool { return Hash(data) == l.Name })
	})
}

// guess makes a change that no refusal named.
func (x unexplained) guess(l sessions.Lesson) { x.call.suppose(x.call.unnamed(l)) }

// unnamed is a lesson that no refusal named.
func (c *Call) unnamed(l sessions.Lesson) sessions.Lesson {
	l = c.lesson(l)
	l.Evidence = cmp.Or(c.changed.said, "(refused without a word, and taken without)")
	return l
}

// refusesNewerCalls reports whether a refusal without a reason has the words of those that older calls of the history are told as text for: it takes
// none of them.
func (x refusedRequest) refusesNewerCalls() bool {
	c := x.call
	l, known := c.now[key{History, "", ""}]
	if x.found || !known || !x.sent.Steps || c.changed.hasChanged(History) || c.told().Use != ToldHistory {
		return false
	}
	return wordsWithoutCounts(strings.TrimPrefix(l.Evidence, leftTogether)) == wordsWithoutCounts(c.unnamed(l).Evidence)
}

// leaveOut leaves parameters out of the request.
func (x unexplained) leaveOut(params []Param) {
	for _, p := range params {
		x.call.leaves(p)
		x.guess(p.refused(""))
	}
}

// lastParts leaves out what else a request has when nothing else is left to change: first streaming, rich schemas and a long answer, then the system role and
// the tools; but nothing that the endpoint has been seen to take since the host began. History with calls shows that tools are taken.
func (x unexplained) lastParts(status int) bool {
	c, sent := x.call, x.sent
	if role, ok := placeInHistory(x.fault, sent); ok && role != "" { // the refusal is of a message alone
		return role == "system" && x.lastSystem()
	}
	stream := status >= 400 && sent.Stream && !c.taken.stream && !c.Off(Stream, "")
	if stream {
		x.guess(sessions.Lesson{Kind: Stream})
	}
	short := x.shorterAnswer()
	if sent.Loose && !c.Off(Schema, "") {
		x.guess(sessions.Lesson{Kind: Schema})
		return true
	}
	if stream || short || status < 400 {
		return stream || short
	}
	system := x.lastSystem()
	return x.lastTools() || system
}

// commonAnswer is how many tokens of an answer every endpoint takes, and longer ones only some. source: platform.claude.com/docs/en/about-claude/models/overview
const commonAnswer = 4096

// shorterAnswer asks for a shorter answer where nobody has set how long it may be, and the endpoint has not been seen to take that.
func (x unexplained) shorterAnswer() bool {
	for _, p := range x.sent.Params {
		if n, err := strconv.Atoi(p.Value); err == nil && n > commonAnswer && slices.Contains(limits, p.Name) && p.Setting == "" && !x.call.taken.hasParam(p) {
			x.guess(p.refused(strconv.Itoa(commonAnswer)))
			return true
		}
	}
	return false
}

// lastSystem leaves out the system role.
func (x unexplained) lastSystem() bool {
	c := x.call
	if !x.sent.System || c.taken.system || c.Off(System, "") {
		return false
	}
	x.guess(sessions.Lesson{Kind: System})
	return true
}

// fewTools is how many tools are sent to an endpoint that may refuse their number: most take as many.
const fewTools = 16

// mayBeTools is in refusals that one tool may be the reason of.
var mayBeTools = pattern.New(`tool|function|schema|argument|parameter|definition|工具|函数|参数`)

// lastTools leaves out half of the tools, or most of them where there are many; in the end, all.
// source: zai-org/feedback#81, tanaikech/ToolsForMCPServer#13 (one tool is wrong)
func (x unexplained) lastTools() bool {
	c, sent := x.call, x.sent
	few := min(fewTools, len(sent.Tools)/2)
	if len(sent.Tools) <= fewTools && (x.fault == nil || !givesNoReason(x.fault, x.fault.Text) && !mayBeTools.MatchString(strings.ToLower(x.fault.Text))) {
		few = 0 // it is no more than a guess, which costs one request
	}
	switch {
	case len(sent.Tools) > fewTools && !c.taken.tools || few > 0 && !sent.Steps && !c.taken.tools && c.changed.count < maxChanges-3:
		x.guess(sessions.Lesson{Kind: MaxTools, Use: strconv.Itoa(few)})
	case len(sent.Tools) > 0 && !sent.Steps && !c.taken.tools && !c.Off(Tools, ""):
		x.guess(sessions.Lesson{Kind: Tools})
	default:
		return false
	}
	return true
}
