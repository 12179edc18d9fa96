package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// IsError reports whether a field for an error holds one: servers send null, "", {}, a code of zero, and words that all is well, in ordinary events.
//
// source: xfyun.cn/doc/spark (code 0, message Success)
func IsError(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	switch string(raw) {
	case "", "null", `""`, "{}", "[]", "false", "0":
		return false
	}
	var v any
	return json.Unmarshal(raw, &v) != nil || !isWell(v, 0)
}

// wellWords say that nothing is wrong.
var wellWords = []string{"", "0", "200", "00000", "ok", "okay", "success", "succeed", "succeeded", "successful", "null", "none", "nil", "undefined", "false", "no error", "no errors", "normal"}

// maxWellDepth bounds how deep a value is read.
const maxWellDepth = 8

// isWell reports whether a value says nothing, or that nothing is wrong.
func isWell(v any, depth int) bool {
	if depth > maxWellDepth {
		return false
	}
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case float64:
		return v == 0 || v == 200
	case string:
		return slices.Contains(wellWords, strings.ToLower(strings.Trim(v, " \t\r\n.!")))
	case []any:
		return !slices.ContainsFunc(v, func(x any) bool { return !isWell(x, depth+1) })
	case map[string]any:
		for key, x := range v {
			if said, is := x.(bool); is && said && (key == "success" || key == "ok") {
				continue
			}
			if !isWell(x, depth+1) {
				return false
			}
		}
		return true
	}
	return false
}
