package lessons

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"parley/sessions"
)

// lastResort changes a request whose refusal says nothing that is understood. A history told bare is not remembered; what else ends the
// refusals is, when it does so in the next call as well.
func (c *Call) lastResort(sent Sent) bool {
	optional := slices.DeleteFunc(slices.Clone(sent.Params), func(p Param) bool { return p.Value == Unset || p.Fixed })
	switch {
	case len(optional) > 0:
		c.leaveOut(optional)
	case !c.images && len(sent.Pictures) > 0:
		c.leavePictures(sent)
	case sent.Steps && !c.hasChanged(History): // every later call has them in its history
		c.guess(c.told())
	case !c.bare && (sent.Steps || sent.Reasoning):
		c.bare = true
	default:
		return false
	}
	return true
}

// leavePictures leaves all pictures out of this call. They are remembered one by one: another picture may be taken.
// source: lmstudio-ai/lmstudio-bug-tracker#1106
func (c *Call) leavePictures(sent Sent) {
	c.images = true
	if c.takesNoPicture() || c.refusedOthers(sent.Pictures) {
		c.guess(sessions.Lesson{Kind: Images})
	}
	for _, data := range sent.Pictures {
		c.guess(sessions.Lesson{Kind: Images, Name: Hash(data)})
	}
}

// refusedOthers reports whether the endpoint took no picture since the host began, and the call before this one was taken without other ones
// than these, in words that did not speak of one.
func (c *Call) refusedOthers(pictures []string) bool {
	return !c.taken.images && slices.ContainsFunc(c.suspects.changes, func(l sessions.Lesson) bool {
		return l.Kind == Images && l.Name != "" && !onePicture.MatchString(strings.ToLower(l.Evidence)) &&
			!slices.ContainsFunc(pictures, func(data string) bool { return Hash(data) == l.Name })
	})
}

// guess makes a change that no refusal named.
func (c *Call) guess(l sessions.Lesson) {
	l = c.lesson(l)
	l.Evidence = cmp.Or(c.said, "(refused without a word, and taken without)")
	c.suppose(l)
}

// leaveOut leaves parameters out of the request.
func (c *Call) leaveOut(params []Param) {
	for _, p := range params {
		c.guess(p.refused(""))
	}
}

// lastParts leaves out what else a request has when nothing else is left to change: first streaming and rich schemas, then the system role and
// the tools; but nothing that the endpoint has been seen to take since the host began. History with calls shows that tools are taken.
func (c *Call) lastParts(sent Sent, status int) bool {
	stream := status >= 400 && sent.Stream && !c.taken.stream && !c.Off(Stream, "")
	if stream {
		c.guess(sessions.Lesson{Kind: Stream})
	}
	if sent.Loose && !c.Off(Schema, "") {
		c.guess(sessions.Lesson{Kind: Schema})
		return true
	}
	if stream || status < 400 {
		return stream
	}
	system := sent.System && !c.taken.system && !c.Off(System, "")
	if system {
		c.guess(sessions.Lesson{Kind: System})
	}
	return c.lastTools(sent) || system
}

// fewTools is how many tools are sent to an endpoint that may refuse their number: most take as many.
const fewTools = 16

// lastTools leaves out the tools, or most of them where there are many. source: zai-org/feedback#81
func (c *Call) lastTools(sent Sent) bool {
	switch {
	case len(sent.Tools) > fewTools && !c.taken.tools:
		c.guess(sessions.Lesson{Kind: MaxTools, Use: strconv.Itoa(fewTools)})
	case len(sent.Tools) > 0 && !sent.Steps && !c.taken.tools && !c.Off(Tools, ""):
		c.guess(sessions.Lesson{Kind: Tools})
	default:
		return false
	}
	return true
}
