package lessons

import (
	"slices"
	"strings"

	"parley/channels/pattern"
	"parley/sessions"
)

// notKnown is in errors about a field itself, not about its value.
var notKnown = pattern.New(`unknown|unrecogni[sz]ed|unexpected|\bextra\b|not permitted|unsupported (?:parameter|field|argument)|(?:parameter|field|argument)s?\b[^\n]{0,40} not supported`)

// readParent reads errors that name a field whose parts were sent: reasoning, with its effort and summary.
func readParent(r reading) (sessions.Lesson, bool) {
	if !notKnown.MatchString(r.text) || itemAt.MatchString(r.text) || anyMessage.MatchString(r.text) {
		return sessions.Lesson{}, false
	}
	for _, p := range r.sent.Params {
		name, _, nested := strings.Cut(p.Name, ".")
		if !nested || p.Value == Unset || p.Fixed || r.isSent(name) || !strings.EqualFold(r.f.Param, name) && !quotes(r.text, name) {
			continue
		}
		return sessions.Lesson{Kind: Parameter, Name: name}, true
	}
	return sessions.Lesson{}, false
}

// isSent reports whether a field is a parameter of its own in the request.
func (r reading) isSent(name string) bool {
	_, sent := r.sentParam(name)
	return sent || name == "system" || name == "tools"
}

// quotes reports whether a text has a name in quotation marks.
func quotes(text, name string) bool {
	return slices.ContainsFunc([]string{"'", `"`, "`"}, func(q string) bool { return strings.Contains(text, q+name+q) })
}

// readSibling reads errors that go on to name a part of a field after that part was left out: the field itself is refused.
func readSibling(r reading) (sessions.Lesson, bool) {
	for _, p := range r.sent.Params {
		parent, _, nested := strings.Cut(p.Name, ".")
		if !nested || p.Value != Unset || !word(r.text, p.Name) && r.f.Param != p.Name || !r.call.changed.hasLeftOut(p.Name) {
			continue
		}
		if slices.ContainsFunc(r.sent.Params, func(s Param) bool { return s.Value != Unset && !s.Fixed && strings.HasPrefix(s.Name, parent+".") }) {
			return sessions.Lesson{Kind: Parameter, Name: parent}, true
		}
	}
	return sessions.Lesson{}, false
}

// refusedValue matches a value that is refused.
var refusedValue = pattern.New("(?:unsupported|invalid|unknown|unexpected) (?:value|option|variant)[^a-z0-9]{1,4}([a-z0-9_.-]+)|[`'\"]([a-z0-9_.-]+)[`'\"] is not (?:an? )?(?:support|valid|allow|one of|permitted|known)|value [`'\"]([a-z0-9_.-]+)[`'\"] (?:is )?(?:not|un|in)")

// readValue reads errors that name a value and no parameter: the parameter is the one that had this value.
func readValue(r reading) (sessions.Lesson, bool) {
	if r.f.Param != "" {
		return sessions.Lesson{}, false
	}
	for _, m := range refusedValue.FindAllStringSubmatch(r.text, -1) {
		value := strings.Trim(m[1]+m[2]+m[3], ".")
		sent := slices.DeleteFunc(slices.Clone(r.sent.Params), func(p Param) bool { return !strings.EqualFold(p.Value, value) })
		if len(sent) == 1 {
			return sent[0].refused(r.nearest(sent[0])), true
		}
	}
	return sessions.Lesson{}, false
}

// listedFields matches several fields that an error refuses together.
// source: platform.openai.com/docs/guides/error-codes (Unrecognized request arguments supplied), docs.litellm.ai/docs/completion/drop_params
var listedFields = pattern.New(`\b(?:unrecognized|unrecognised|unknown|unsupported|unexpected|extra|does not support)\b[^:;.,\n]{0,30}(?:arguments|parameters|params|fields|keys|properties)\b[^:;.,\n]{0,20}: ?([^\n;.]+)`)

// applyListed leaves out the other fields that an error refuses with the one that was found.
func (x refusedRequest) applyListed() {
	c, sent := x.call, x.sent
	m := listedFields.FindStringSubmatch(reasons(x.fault.All))
	if m == nil || x.lesson.Kind != Parameter || x.lesson.Use != "" || !word(m[1], strings.ToLower(x.lesson.Name)) {
		return
	}
	for _, p := range sent.Params {
		if p.Value != Unset && p.Name != x.lesson.Name && word(m[1], strings.ToLower(p.Name)) {
			l := c.lesson(p.refused(""))
			l.Evidence = x.fault.Text
			c.apply(l)
			c.leaves(p)
		}
	}
}
