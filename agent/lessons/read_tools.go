package lessons

import "parley/agent/wire/pattern"

var (
	toolMessage = pattern.New(`tool[-_ ]?(results?|messages?|responses?|outputs?)|function[-_ ]?(call[-_ ]?)?(responses?|outputs?|results?)|role[^a-z]{0,6}tool\b|tool_(call|use)_ids?|tool_use[^a-z]{0,3} (ids?|blocks?)|followed by tool|tool_calls[^a-z]{0,3} must|messages?(\[|\.)\d+(\]|\.|:).{0,40}tool`)
	toolsOff    = pattern.New(`(not|n't|no|un|without|only)[^.;]{0,16}support(s|ed|ing)?( for)?( the)?( use of)? (any )?(tools?\b|function[- _]?call|functions\b|tool[-_ ]?(us|call))|(tools?|functions?|(tool|function)[-_ ]?(us(e|age)|call(s|ing)?)) (is|are) (not|un)|endpoints found that support tool`)
)

// ofToolMessages reports whether an error is about calls and results of the history, not about the tools that are offered: the call
// that they came with has shown that tools are taken.
func (r reading) ofToolMessages() bool {
	return r.sent.Steps && r.f.Param != "tools" && toolMessage.MatchString(r.text) && !toolsOff.MatchString(toolMessage.ReplaceAllString(r.text, "_"))
}
