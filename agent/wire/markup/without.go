package markup

import "strings"

// WithoutReasoning gives a text without the reasoning in tags that stands in it: of models whose adapter reads no markup, and of
// transcripts that earlier versions wrote. Anything else stays as it is.
func WithoutReasoning(text string) string {
	if !mayReason(text) {
		return text
	}
	r := Reader{plain: true}
	r.Add(text)
	r.End()
	return r.Text()
}

// DraftWithoutReasoning does the same for a text that is still growing. thinks says that it has no words yet, or may be a tag.
func DraftWithoutReasoning(text string) (words string, thinks bool) {
	if !mayReason(text) {
		return text, false
	}
	r := Reader{plain: true}
	r.Add(text)
	return r.Text(), r.Text() == ""
}

// mayReason reports whether an opening tag, or the beginning of one, stands in a text.
func mayReason(text string) bool {
	if !strings.ContainsAny(text, "<[&") && !strings.Contains(text, kimiMark) {
		return false
	}
	for i := range len(text) {
		if text[i] != '<' && text[i] != '[' && text[i] != '&' && text[i] != kimiMark[0] {
			continue
		}
		if tag, _, partial := openingMark(text[i:]); tag != nil || partial {
			return true
		}
	}
	return false
}
