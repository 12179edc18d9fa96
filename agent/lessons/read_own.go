package lessons

import (
	"slices"
	"strings"

	"parley/channels/pattern"
	"parley/sessions"
)

var (
	// ownToken is a name of several words, or one between quotation marks.
	ownToken = pattern.New("[`'\"]([a-z][\\w-]*)[`'\"]|\\b([a-z][a-z0-9]*(?:[_-][a-z0-9]+)+)\\b")
	// camelWord is a name of several words as JavaScript has it.
	camelWord = pattern.New(`\b[a-z]+(?:[A-Z][a-z0-9]+)+\b`)
	// nestedKey is a key inside of the value of a field.
	nestedKey = pattern.New(`"([A-Za-z_][\w-]*)":`)
)

// readOwnSettings reads errors that name a field of the user's settings by a part of its name (chat_template of chat_template_kwargs), in another
// form (chatTemplateKwargs, chat-template-kwargs), or by a field inside of it (enable_thinking).
// source: Alishahryar1/free-claude-code#130, linagora/openrag#335 (chat_template is not supported for Mistral tokenizers)
func readOwnSettings(r reading) (sessions.Lesson, bool) {
	if _, inHistory := placeInHistory(r.f, r.sent); inHistory || !slices.ContainsFunc(r.sent.Params, isOwn) {
		return sessions.Lesson{}, false
	}
	names := r.refusedNames()
	for _, p := range r.sent.Params {
		if isOwn(p) && slices.ContainsFunc(names, p.isNamedBy) {
			return p.refused(""), true
		}
	}
	return sessions.Lesson{}, false
}

// everydayNames are names of fields that errors use as words of a sentence.
var everydayNames = []string{"n", "user", "models", "options", "format", "route", "order", "source", "service"}

// isEveryday reports whether the name of a field of the user's body is an ordinary word in an error: provider in "Provider returned error".
// source: openrouter.ai/docs/api-reference/errors
func (p Param) isEveryday() bool {
	name := strings.ToLower(p.Name)
	return p.Setting != "" && (slices.Contains(everydayNames, name) || commonWords.MatchString(name))
}

// namesField reports whether an error names a field as one, not as a word of a sentence.
func (r reading) namesField(name string) bool {
	param := strings.ToLower(r.f.Param)
	if param == name || strings.HasPrefix(param, name+".") || strings.HasSuffix(param, "."+name) || quotes(r.text, name) || slices.Contains(strings.Split(r.text, "\n"), name) {
		return true
	}
	for _, lead := range []string{"parameter ", "parameter: ", "parameters: ", "field ", "field: ", "argument ", "argument: ", "supplied: ", "property ", "key ", "key: "} {
		if word(r.text, lead+name) {
			return true
		}
	}
	return slices.ContainsFunc([]string{" parameter", " field", " is not supported", " is not allowed", " is not permitted", ": extra", ": unknown"}, func(tail string) bool {
		return strings.HasPrefix(r.text, name+tail) || word(r.text, name) && strings.Contains(r.text, " "+name+tail)
	})
}

// isOwn reports whether a parameter is a setting of the user that is sent.
func isOwn(p Param) bool { return p.Setting != "" && p.Value != Unset }

// refusedNames gives the names in the sentences of a refusal that refuse something, and in the place that it gives, in lower case with underscores.
func (r reading) refusedNames() (out []string) {
	for _, s := range r.sentences() {
		if !no.MatchString(s) {
			continue
		}
		for _, m := range ownToken.FindAllStringSubmatch(s, -1) {
			out = append(out, strings.ReplaceAll(m[1]+m[2], "-", "_"))
		}
	}
	for _, name := range camelWord.FindAllString(r.f.Raw+"\n"+r.f.Param, -1) {
		out = append(out, snake(name))
	}
	return append(out, strings.FieldsFunc(strings.ToLower(r.f.Param), func(c rune) bool { return strings.ContainsRune("./[]", c) })...)
}

// snake writes a name of several words with underscores: chat_template for chatTemplate.
func snake(name string) string {
	var b strings.Builder
	for i, c := range name {
		if i > 0 && c >= 'A' && c <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(c)
	}
	return strings.ToLower(b.String())
}

// minNamePart is the shortest part of a name that counts as the name, in bytes.
const minNamePart = 6

// isNamedBy reports whether a refused name is that of a setting: its field, several words of it, or a field of its value.
func (p Param) isNamedBy(name string) bool {
	key := strings.ReplaceAll(snake(p.Name), "-", "_")
	isPart := len(name) >= minNamePart && strings.Contains(name, "_") && strings.Contains("_"+key+"_", "_"+name+"_")
	return name == key || isPart || slices.ContainsFunc(nestedKey.FindAllStringSubmatch(p.Value, -1), func(m []string) bool {
		return snake(m[1]) == name && strings.Contains(name, "_")
	})
}
