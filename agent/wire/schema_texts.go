package wire

import (
	"encoding/json"
	"strings"
)

// ShortTexts gives a schema in which no description of an argument has more than so many bytes.
func ShortTexts(schema json.RawMessage, most int) json.RawMessage {
	root, ok := decoded(schema)
	cut := false
	if !ok {
		return schema
	}
	eachText(root, 0, func(s map[string]any, text string) {
		if len(text) > most {
			s["description"], cut = strings.ToValidUTF8(text[:most], ""), true
		}
	})
	if !cut {
		return schema
	}
	return encoded(root, schema)
}

// LongestText gives how many bytes the longest description of an argument has.
func LongestText(schema json.RawMessage) (most int) {
	root, _ := decoded(schema)
	eachText(root, 0, func(_ map[string]any, text string) { most = max(most, len(text)) })
	return most
}

// eachText calls f for each schema that has a description, but for the values that a schema lists.
func eachText(v any, depth int, f func(s map[string]any, text string)) {
	if depth > maxSchemaDepth {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			eachText(x, depth+1, f)
		}
	case map[string]any:
		if text, ok := v["description"].(string); ok {
			f(v, text)
		}
		for key, x := range v {
			if key != "enum" && key != "const" && key != "default" && key != "examples" {
				eachText(x, depth+1, f)
			}
		}
	}
}
