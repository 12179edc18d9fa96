package lessons

import (
	"slices"
	"strings"

	"parley/channels/pattern"
	"parley/sessions"
)

// acceptedList matches a list of what an endpoint accepts. Its groups are a negation in front of it, which makes it a list of what is refused,
// and the list.
// source: docs.pydantic.dev/latest/errors/validation_errors (union_tag_invalid), python-jsonschema.readthedocs.io (is not one of)
var acceptedList = pattern.New("(\\bnot (?:be )?|n't (?:be )?)?(?:\\b(?:supported|allowed|accepted|valid|expected|permitted|known|possible|available)\\b[^:\n,'\"`]{0,40}:|\\bschema:|\\bnot one of) *" +
	"(" + listItem + "(?:(?: ?, ?(?:and |or )?| and | or | ?\\| ?)" + listItem + ")+)")

const listItem = "[\\['\"`(]*[a-z_][\\w.-]*(?: [a-z_][\\w.-]*)?[\\]'\"`)]*"

// withoutAccepted gives a text without the lists of what its endpoint accepts: they are no evidence against what they name.
func withoutAccepted(text string) string {
	var out strings.Builder
	for {
		m := acceptedList.FindStringSubmatchIndex(text)
		if m == nil {
			return out.String() + text
		}
		from := m[4]
		if m[2] >= 0 {
			from = m[5]
		}
		out.WriteString(text[:from])
		text = text[m[5]:]
	}
}

// readUnlisted reads errors that list the fields of a request that are known: a parameter that was sent and is not in the list is left out.
func readUnlisted(r reading) (sessions.Lesson, bool) {
	m := acceptedList.FindStringSubmatch(r.text)
	if m == nil || m[1] != "" || !word(m[2], "model") || !word(m[2], "messages") && !word(m[2], "input") {
		return sessions.Lesson{}, false
	}
	i := slices.IndexFunc(r.sent.Params, func(p Param) bool {
		name, _, _ := strings.Cut(p.Name, ".")
		return p.Value != Unset && !strings.Contains(name, " ") && !strings.HasPrefix(p.Name, ItemField) && !word(m[2], name)
	})
	if i < 0 {
		return sessions.Lesson{}, false
	}
	return r.sent.Params[i].refused(""), true
}

// conflict matches a parameter that cannot be sent together with something else.
// source: quarkiverse/quarkus-langchain4j#1812 (top_k must be unset), langchain-ai/langchainjs#7750 (not supported when thinking is enabled)
var conflict = pattern.New("[`'\"]?\\b([a-z_.]+)[`'\"]? (?:must (?:be unset|not be set)|(?:is|are) (?:not (?:supported|allowed|permitted|compatible)|incompatible|unsupported)|can ?not be (?:set|used|combined|specified)) (?:with|when|while|if|together|alongside)\\b([^\n.]*)")

// readConflict reads errors about two parts of a request that do not go together: the one that is refused is left out, not the one that it
// is refused with.
func readConflict(r reading) (sessions.Lesson, bool) {
	m := conflict.FindStringSubmatch(r.text)
	if m == nil || slices.Contains(limits, m[1]) || !r.isOfRequest(m[2]) {
		return sessions.Lesson{}, false
	}
	if p, ok := r.sentParam(m[1]); ok {
		return p.refused(""), true
	}
	for _, p := range r.sent.Params { // a field whose parts were sent
		if p.Value != Unset && !p.Fixed && strings.HasPrefix(p.Name, m[1]+".") && !r.isSent(m[1]) {
			return sessions.Lesson{Kind: Parameter, Name: m[1]}, true
		}
	}
	return sessions.Lesson{}, false
}

// isOfRequest reports whether words name a part of a request.
func (r reading) isOfRequest(words string) bool {
	return toolWord.MatchString(words) || word(words, "thinking") || word(words, "reasoning") || streamWord.MatchString(words) ||
		slices.ContainsFunc(r.sent.Params, func(p Param) bool { return p.Value != Unset && word(words, strings.ToLower(p.Name)) })
}
