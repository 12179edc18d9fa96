package lessons

import (
	"parley/agent"
	"parley/agent/wire/pattern"
)

// insists notes a setting of a kind: "on" or "off".
func (c *Call) insists(kind, setting string) {
	if c.settings == nil {
		c.settings = make(map[string]string)
	}
	c.settings[kind] = setting
}

// wantsStream is in errors of endpoints that answer in pieces only. source: help.aliyun.com/zh/model-studio/error-code
var wantsStream = pattern.New(`\bonly supports? stream|\bstream(?:ing)?(?: mode)? (?:is )?(?:required|only)\b|\bnon-?stream|\benable (?:the )?stream|\bmust (?:be |use )?stream|\bstream must be\b|[仅只]支持流式`)

// againstSetting tells which setting of the model an error refuses, as kind: value; "" = none.
func (x refusedRequest) againstSetting() string {
	c, sent := x.call, x.sent
	if !x.found && !sent.Stream && c.settings[Stream] == "off" && wantsStream.MatchString(reasons(x.fault.All)) {
		return Stream + ": off"
	}
	if kind := x.lesson.Kind; (x.found || x.known) && c.settings[kind] == "on" && (kind != Images || x.lesson.Name == "") {
		return kind + ": on"
	}
	return ""
}

// obey ends a call whose refusal a setting of the user is the reason of: it wins, and the error names it. Pictures alone are left out of this
// call, so that the person gets an answer. It reports whether the request is worth making again.
func (x refusedRequest) obey(setting string) bool {
	c := x.call
	if setting == Images+": on" && !c.images {
		c.images = true
		c.changed.count++
		return true
	}
	if x.err.Class == agent.BadRequest || x.err.Class == agent.NoSuchModel {
		x.err.Class = agent.BadForm
	}
	x.err.Hint = "The setting `" + setting + "` of this model is the reason: my requests follow it, and the provider refuses that."
	return false
}
