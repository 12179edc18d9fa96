package lessons

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"

	"parley/channels/pattern"
	"parley/sessions"
)

// knownKeywords are the keywords of JSON Schema and of OpenAPI, and those that servers and editors added, in lower case, but for those that a schema has in each
// form. Other keys may be words of any error.
// source: json-schema.org/draft/2020-12/meta, json-schema.org/draft-07/schema, spec.openapis.org/oas/v3.0.3 (Schema Object), ai.google.dev/api/caching#Schema
var knownKeywords = strings.Fields(`$anchor $comment $defs $dynamicanchor $dynamicref $id $recursiveanchor $recursiveref $ref $schema $vocabulary
	additionalitems additionalproperties allof anyof const contains contentencoding contentmediatype contentschema default definitions dependencies
	dependentrequired dependentschemas deprecated discriminator divisibleby else enum enumdescriptions enumnames errormessage example examples
	exclusivemaximum exclusiveminimum externaldocs format if markdowndescription maxcontains maximum maxitems maxlength maxproperties mincontains minimum
	minitems minlength minproperties multipleof not nullable oneof optional pattern patternproperties prefixitems propertynames propertyordering
	readonly then title unevaluateditems unevaluatedproperties uniqueitems writeonly xml`)

// isKeyword reports whether a key of a schema, in lower case, is a keyword that a refusal may mean.
func isKeyword(key string) bool {
	return strings.HasPrefix(key, "x-") || slices.Contains(knownKeywords, key)
}

// namedSchemas are the keywords whose keys are names that a schema gives, and literalValues those whose values are no schemas.
var (
	namedSchemas  = []string{"properties", "patternproperties", "$defs", "definitions", "dependentschemas"}
	literalValues = []string{"enum", "const", "default", "example", "examples", "required", "dependentrequired"}
)

// keywordsOf gives the keywords of the schemas that are sent, in lower case and without underscores. Those of several words
// have their capital letters in names, which nothing else in an error has.
func keywordsOf(c *Call) []string {
	found, form := make(map[string]bool), c.SchemaForm()
	for _, t := range c.offered {
		var schema any
		if json.Unmarshal(form.Schema(t), &schema) == nil {
			addKeywords(schema, false, found)
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// addKeywords adds the keywords of a schema, or of the schemas under names.
func addKeywords(v any, areNames bool, found map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			addKeywords(x, false, found)
		}
	case map[string]any:
		for key, x := range v {
			lower := strings.ToLower(key)
			if !areNames && isKeyword(lower) {
				found[key] = true
			}
			if areNames || !slices.Contains(literalValues, lower) {
				addKeywords(x, !areNames && slices.Contains(namedSchemas, lower), found)
			}
		}
	}
}

// schemaPlace is a place in the schema of a tool, also with each of its parts on a line; its group is the part inside of the schema.
var schemaPlace = pattern.New(`\b(?:parameters|parametersjsonschema|parameters_json_schema|input_?schema)((?:[./\[\]'"]+[\w$-]+|(?:\n[\w$-]+))+)`)

// keywordAt gives the keyword that a place in a schema ends with or goes through, the last one; isElement is whether the place goes on to one of
// its elements.
func keywordAt(place string, sent []string) (keyword string, isElement bool) {
	for _, m := range schemaPlace.FindAllStringSubmatch(place, -1) {
		isName := false
		for _, part := range strings.FieldsFunc(m[1], func(r rune) bool { return strings.ContainsRune("./[]'\"\n", r) }) {
			isIndex := strings.Trim(part, "0123456789") == ""
			switch i := slices.IndexFunc(sent, func(k string) bool { return sameKeyword(k, part) }); {
			case isName && !isIndex:
				isName = false
				continue
			case i >= 0:
				keyword, isElement = sent[i], false
			case isIndex && keyword != "":
				isElement = true
			}
			isName = slices.Contains(namedSchemas, part)
		}
		if keyword != "" {
			return keyword, isElement
		}
	}
	return "", false
}

// sameKeyword reports whether a name in lower case is that of a keyword, also as Gemini writes it: any_of.
func sameKeyword(keyword, name string) bool {
	return strings.ReplaceAll(name, "_", "") == strings.ReplaceAll(strings.ToLower(keyword), "_", "")
}

// isRareKeyword reports whether the name of a keyword is no word of a sentence.
func isRareKeyword(keyword string) bool {
	return keyword == "enum" || keyword == "nullable" || strings.ContainsFunc(keyword, func(r rune) bool { return !unicode.IsLower(r) })
}

// everydayKeyword are phrases with the name of a keyword that mean something else.
var everydayKeyword = pattern.New(`\b(?:request|message|messages|response|image|audio|video|file|input|output|prompt|json|data|wrong|bad|invalid|incorrect|malformed|correct|expected|this|that|following|by|the|a|an|model|system|maximum|minimum) (?:formats?|default|title|pattern|examples?)\b|` +
	`\b(?:format|default|title|pattern|examples?|maximum|minimum|const) (?:model|value|of|length|size|context|number|tokens?|error|is \d+|are|for|limit|allowed|request)\b`)

// withoutKeyword sends the schemas without a keyword.
func (r reading) withoutKeyword(keyword string, isElement bool) (sessions.Lesson, bool) {
	if keyword == withoutEnum && !(isElement && r.sent.Loose && !r.call.Off(Schema, "")) {
		return sessions.Lesson{Kind: Schema, Name: withoutEnum}, !r.call.Off(Schema, withoutEnum)
	}
	return sessions.Lesson{Kind: Schema}, !r.call.Off(Schema, "")
}

// readKeyword reads errors that name a keyword of the schemas that were sent, by its place or by a name that nothing else has: all schemas are sent
// without it, and no tool is left out.
// source: camel-ai/camel#2288 ('default' is not permitted), googleapis/python-genai#1093 (Unknown name "const"), CherryHQ/cherry-studio#20939
func readKeyword(r reading) (sessions.Lesson, bool) {
	sent := schemaKeywords(r)
	if len(sent) == 0 {
		return sessions.Lesson{}, false
	}
	place := strings.ToLower(r.f.Param) + "\n" + r.text
	if keyword, isElement := keywordAt(place, sent); keyword != "" {
		return r.withoutKeyword(keyword, isElement)
	}
	if historyPlace.MatchString(place) || slices.ContainsFunc(r.sent.Params, func(p Param) bool { return p.Value != Unset && r.names(p) }) {
		return sessions.Lesson{}, false
	}
	for _, k := range sent {
		if name := strings.ToLower(k); isRareKeyword(k) && (word(r.text, name) || word(r.text, strings.ToLower(snake(k)))) || strings.EqualFold(r.f.Param, k) || namesAsKeyword(r, name) {
			return r.withoutKeyword(k, false)
		}
	}
	return sessions.Lesson{}, false
}

// namesAsKeyword reports whether an error that speaks of schemas has a name in quotation marks, or any calls it a keyword.
func namesAsKeyword(r reading, name string) bool {
	isOfSchema := ofSchemas.MatchString(r.text) || schemaPath.MatchString(strings.ToLower(r.f.Param)+"\n"+r.text) || r.has("function_declarations", "functiondeclaration", "keyword")
	return isOfSchema && quotes(r.text, name) || word(r.text, "keyword "+name) || word(r.text, "keyword: "+name)
}

// readEverydayKeyword reads errors that no other reader understands, and that have the name of a keyword in them which is a word as well.
func readEverydayKeyword(r reading) (sessions.Lesson, bool) {
	if historyPlace.MatchString(strings.ToLower(r.f.Param) + "\n" + r.text) {
		return sessions.Lesson{}, false
	}
	text := everydayKeyword.ReplaceAllString(r.text, "")
	for _, k := range schemaKeywords(r) {
		if k != "not" && k != "if" && k != "then" && k != "else" && word(text, strings.ToLower(k)) {
			return r.withoutKeyword(k, false)
		}
	}
	return sessions.Lesson{}, false
}

// schemaKeywords gives the keywords that a refusal of this request may mean; nil = it speaks of another schema, or of something that is not there.
func schemaKeywords(r reading) []string {
	if _, isOther := r.sentParam("response_format"); isOther || len(r.sent.Tools) == 0 || required.MatchString(r.text) {
		return nil
	}
	return keywordsOf(r.call)
}
