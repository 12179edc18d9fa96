package markup

import "strings"

// WithoutReasoning gives a text without the reasoning in tags that it begins with: of models whose adapter reads no markup, and of
// transcripts that earlier versions wrote. Anything else stays as it is.
func WithoutReasoning(text string) string {
	if tag, _, _ := opening(text); tag == nil {
		return text
	}
	var r Reader
	r.Add(text)
	r.End()
	return r.Text()
}

// DraftWithoutReasoning does the same for a text that is still growing. thinks says that it has no words yet, or may be a tag.
func DraftWithoutReasoning(text string) (words string, thinks bool) {
	tag, _, partial := opening(text)
	if tag == nil {
		return text, partial
	}
	var r Reader
	r.Add(text)
	return r.Text(), r.Text() == ""
}

func opening(text string) (tag *reasonTag, n int, partial bool) {
	text = strings.TrimLeft(text, " \t\r\n")
	if text == "" || text[0] != '<' && text[0] != '[' && text[0] != "\u25c1"[0] {
		return nil, 0, false
	}
	return openingTag(text)
}
