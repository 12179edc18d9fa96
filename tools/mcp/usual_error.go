package mcp

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// usualAnswer puts the id and the error of an answer into the form of JSON-RPC, and reports whether it changed them. The SDK drops a
// message whose error it cannot read, and the call would wait for its whole time.
func usualAnswer(m members) (changed bool) {
	if m == nil || m["id"] == nil || (m["method"] != nil || m["jsonrpc"] == nil) && m["result"] == nil && m["error"] == nil {
		return false
	}
	if changed = usualEnvelope(m); m["jsonrpc"] == nil { // of a log
		return changed
	}
	if s, ok := m.text("id"); ok { // the host's ids are numbers
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			m.set("id", n)
			changed = true
		}
	}
	raw := m["error"]
	if len(raw) > 0 && slices.Contains(noErrors, asText(raw)) {
		delete(m, "error")
		raw, changed = nil, true
	}
	if raw == nil && m["result"] == nil {
		m["result"], changed = json.RawMessage("{}"), true
	}
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

// usualEnvelope gives an answer the members that JSON-RPC wants, and takes away those that only requests have. A line with other members may be of
// a log, and stays as it is where nothing says that it is an answer.
func usualEnvelope(m members) (changed bool) {
	if version, _ := m.text("jsonrpc"); version != "2.0" {
		for name := range m {
			if m["jsonrpc"] == nil && name != "id" && name != "result" && name != "error" {
				return false
			}
		}
		m.set("jsonrpc", "2.0")
		changed = true
	}
	for _, name := range []string{"method", "params"} {
		if m[name] != nil {
			delete(m, name)
			changed = true
		}
	}
	return changed
}

// asText returns a string, or any other value as it stands; null is empty.
func asText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
