package wire

import (
	"encoding/json"
	"strings"

	"parley/channels/pattern"
)

// IsNotice reports whether an event beside an answer has words for people, and nothing that says that they are about an error: a place in a
// queue, a model that is loaded. It is an error only where nothing of an answer follows.
//
// source: open-webui/pipelines#491 (status events among the chunks), huggingface/transformers#44758 (status loading while a model is loaded)
func IsNotice(data []byte) bool {
	var all map[string]json.RawMessage
	if json.Unmarshal(data, &all) != nil {
		return false
	}
	words := false
	for key, raw := range all {
		switch strings.ToLower(key) {
		case "error", "errors", "code", "status_code", "statuscode", "error_code", "errorcode", "errcode", "err_code", "error_msg", "error_message", "base_resp", "response":
			if IsError(raw) {
				return false
			}
		case "choices", "output", "content", "delta":
			return false
		case "type", "object", "event", "status", "state":
			var word any
			if json.Unmarshal(raw, &word) != nil {
				return false
			}
			switch word := word.(type) {
			case string:
				if IsFailing(word) || IsFiltered(word) {
					return false
				}
			case float64:
				if word >= 300 {
					return false
				}
			}
		case "message", "msg", "detail", "details":
			var text string
			if json.Unmarshal(raw, &text) != nil || faulty.MatchString(text) {
				return false
			}
			words = words || text != ""
		}
	}
	return words || len(all["status"]) > 0 || len(all["state"]) > 0
}

// faulty matches words of errors.
var faulty = pattern.New(`(?i)\b(?:error|fail(?:ed|ure|s)?|exceed\w*|invalid|denied|refused|unauthori[sz]ed|forbidden|not found|unavailable|overloaded|limit(?:ed)?|quota|credits?|too (?:long|many|large)|time(?:d )?out|aborted|crash\w*|exception|unable|cannot|can't|could not|(?:un|not )supported|missing|expired|violat\w+|retry|try again)\b`)
