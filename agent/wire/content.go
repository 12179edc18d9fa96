package wire

import (
	"net/http"

	"parley/agent"
	"parley/channels/pattern"
)

const (
	filterVerb = `(?:block|violat|flagg|reject|refus|denied|prohibit|filtered|interven|trigger|disallow|not allowed|fail)`
	filterNoun = `(?:guardrails?|moderation|prompt (?:injection|shield|guard)|(?:content(?: management)?|prompt|abuse|safety|security|input) (?:filter|polic|moderation|safety|check|rule)|(?:usage|acceptable use|our|by) polic|\bwaf\b|web application firewall)`
)

var (
	// filterSentence matches what gateways and firewalls say of a request whose content they refused, at any status.
	// source: BerriAI/litellm#14420, https://docs.litellm.ai/docs/proxy/guardrails/quick_start
	filterSentence = pattern.New(filterVerb + `[^\n]{0,60}\b` + filterNoun + `|` + filterNoun + `[^\n]{0,60}` + filterVerb +
		`|(?:flagged|censored) (?:by|as|for)\b|\brequest (?:was |has been )?blocked|requested url was rejected`)
	// filterAccount matches what is no content: who asks, or from where.
	filterAccount = pattern.New(`\b(?:account|organi[sz]ation|(?:api|virtual) key|team|subscription|ip address|your ip|country|region|territory|location|rate.?limit|quota|budget)\b`)
	// filterDown matches a filter that did not work: it judged nothing.
	filterDown = pattern.New(`(?:guardrail|moderation|filter)[^\n]{0,40}(?:timed? ?out|unavailable|unreachable|could not be reached|connection|not found|not configured)|(?:failed|unable|error) (?:to|calling|while|during|connecting)`)
)

var (
	// sensitiveCodes are given for refused words at any status. source: QuantumNous/new-api#4499
	sensitiveCodes = []string{"sensitive_words_detected"}
	// promptCodes are given for refused words, and for a prompt of a wrong form. source: openai/codex#12114, microsoft/agent-framework#3795
	promptCodes = []string{"invalid_prompt"}
	// ofPolicy is in errors about what a prompt says.
	ofPolicy = pattern.New(`polic|flagged|violat|moderat|safety|guidelines|harmful|usage#|advice-on-prompting|limited access`)
	// wrongForm is in errors about the form of a request.
	wrongForm = pattern.New(`\binvalid [a-z ]{0,24}\b(?:request|format|schema|input)\b|\bexpected (?:a |an )?(?:string|array|object|list|number|one of)\b|\bvalidation\b`)
)

// formCodes are those of validators.
var formCodes = []string{"invalid_union", "invalid_type", "invalid_value", "invalid_literal", "invalid_union_discriminator", "unrecognized_keys", "invalid_format", "invalid_string", "invalid_enum_value"}

// ofForm reports whether an error says that the form of the request is wrong.
func (f *Fault) ofForm() bool { return f.has(formCodes) || wrongForm.MatchString(f.All) }

// ofContent reports whether an error says that a filter refused what the request says. The codes and words of providers are enough below
// 500; of servers that fail and of limits a sentence about it is.
func (f *Fault) ofContent() bool {
	s := f.Status
	if f.has(sensitiveCodes) || f.has(promptCodes) && s < 500 && ofPolicy.MatchString(f.All) && !f.ofForm() {
		return true
	}
	if s != http.StatusTooManyRequests && s < 500 && (f.is(contentCodes, contentWords) || filteredPrompt.MatchString(f.All) || f.says(agent.Refused)) {
		return true
	}
	return !f.has(rateCodes) && !f.has(keyCodes) && filterSentence.MatchString(f.All) && !filterAccount.MatchString(f.All) && !filterDown.MatchString(f.All)
}
