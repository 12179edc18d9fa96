package mcp

import (
	"cmp"
	"encoding/json"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// usualAnswer puts the id and the error of an answer into the form of JSON-RPC, and reports whether it changed them. The SDK drops a
// message whose error it cannot read, and the call would wait for its whole time.
func usualAnswer(m members) (changed bool) {
	if m == nil || m["method"] != nil {
		return false
	}
	if s, ok := m.text("id"); ok { // the host's ids are numbers
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			m.set("id", n)
			changed = true
		}
	}
	raw := m["error"]
	var strict *jsonrpc.Error
	if len(raw) == 0 || json.Unmarshal(raw, &strict) == nil {
		return changed
	}
	code, said := int64(jsonrpc.CodeInternalError), asText(raw)
	if e := decodeMembers(raw); e != nil {
		said = cmp.Or(asText(e["message"]), said)
		written := asText(e["code"])
		if n, err := strconv.ParseInt(written, 10, 64); err == nil {
			code = n
		} else if written != "" {
			said = written + ": " + said
		}
	}
	m.set("error", map[string]any{"code": code, "message": said})
	return true
}

// asText returns a string, or any other value as it stands; null is empty.
func asText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
