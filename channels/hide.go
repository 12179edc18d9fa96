package channels

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// shortSecret is how long a text must be that Hide takes out: shorter ones are words that anybody may write.
const shortSecret = 8

// secretMark stands where a secret was.
const secretMark = "[secret]"

// Hide makes what takes secrets out of texts: as they are, and as they stand in addresses, in JSON and in base64. Whoever repeats a
// request in an error repeats them in one of these forms.
func Hide(secrets ...Secret) *strings.Replacer { return replacerOf(allForms(secrets)) }

// allForms gives the ways in which secrets may be written, longest first: one may be a part of another.
func allForms(secrets []Secret) (texts []string) {
	for _, s := range secrets {
		if len(s.Reveal()) >= shortSecret {
			texts = append(texts, formsOf(s.Reveal())...)
		}
	}
	slices.SortFunc(texts, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.Compact(texts)
}

func replacerOf(forms []string) *strings.Replacer {
	var pairs []string
	for _, f := range forms {
		pairs = append(pairs, f, secretMark)
	}
	return strings.NewReplacer(pairs...)
}

// formsOf gives the ways in which a text may be written. Of base64 these are the parts that are the same whatever stands around it.
func formsOf(text string) []string {
	quoted, _ := json.Marshal(text) // of a text it never fails
	inJSON := string(quoted[1 : len(quoted)-1])
	out := []string{text, url.QueryEscape(text), url.PathEscape(text), (&url.URL{Path: text}).EscapedPath(), inJSON,
		strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(inJSON)}
	for shift := range 3 {
		part := text[shift:]
		part = part[:len(part)/3*3]
		out = append(out, base64.StdEncoding.EncodeToString([]byte(part)), base64.URLEncoding.EncodeToString([]byte(part)))
	}
	return slices.DeleteFunc(out, func(s string) bool { return len(s) < shortSecret })
}
