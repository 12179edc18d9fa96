package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"parley/gateway/api"
)

// badMessage is a body that is no message which can be handled, answered before the library words it in terms of its own types.
type badMessage struct {
	id     json.RawMessage // null where it is not known
	code   int64
	text   string
	status int
}

// Error implements error.
func (e *badMessage) Error() string { return e.text }

// write answers with the error as JSON-RPC has it.
func (e *badMessage) write(w http.ResponseWriter) {
	api.WriteJSON(w, e.status, map[string]any{"jsonrpc": "2.0", "id": e.id, "error": map[string]any{"code": e.code, "message": e.text}})
}

// argumentTypes says what the parameters of a method are: the first character of their JSON by name. Other names are not looked at.
var argumentTypes = map[string]map[string]string{
	"tools/call": {"name": `"`, "_meta": "{"},
	"tools/list": {"cursor": `"`, "_meta": "{"},
	"initialize": {"protocolVersion": `"`, "clientInfo": "{", "capabilities": "{", "_meta": "{"},
}

// typeWords says what a value is that begins with a character.
var typeWords = map[string]string{`"`: "a text", "{": "an object"}

// checkMessage looks whether a body is a message whose parameters can be read. A list of messages is left to the library.
func checkMessage(body []byte) error {
	null := json.RawMessage("null")
	body = bytes.TrimSpace(body)
	if len(body) == 0 || body[0] == '[' && json.Valid(body) {
		return nil
	}
	var m map[string]json.RawMessage
	if !json.Valid(body) {
		return &badMessage{null, jsonrpc.CodeParseError, "the body is not JSON", http.StatusBadRequest}
	}
	if json.Unmarshal(body, &m) != nil {
		return &badMessage{null, jsonrpc.CodeInvalidRequest, "the body is not a JSON-RPC message: it must be an object", http.StatusBadRequest}
	}
	id, hasID := m["id"]
	if !hasID || len(id) > 200 || id[0] == '{' || id[0] == '[' {
		id = null
	}
	if string(m["jsonrpc"]) != `"2.0"` {
		return &badMessage{id, jsonrpc.CodeInvalidRequest, `the body is not a JSON-RPC message: jsonrpc must be "2.0"`, http.StatusBadRequest}
	}
	if hasID && string(id) == "null" && string(m["id"]) != "null" {
		return &badMessage{id, jsonrpc.CodeInvalidRequest, "id must be a text or a number", http.StatusBadRequest}
	}
	var method string
	if raw, ok := m["method"]; ok && json.Unmarshal(raw, &method) != nil {
		return &badMessage{id, jsonrpc.CodeInvalidRequest, "method must be a text", http.StatusBadRequest}
	}
	if !hasID {
		return nil
	}
	if wrong := checkParams(method, m["params"]); wrong != "" {
		return &badMessage{id, jsonrpc.CodeInvalidParams, wrong, http.StatusOK}
	}
	return nil
}

// checkParams says what is wrong with the parameters of a request; "" = nothing that is known.
func checkParams(method string, raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		if method == "tools/call" {
			return "params of tools/call are missing: they have name and arguments"
		}
		return ""
	}
	var params map[string]json.RawMessage
	if json.Unmarshal(raw, &params) != nil {
		return fmt.Sprintf("params of %.100s must be an object", method)
	}
	types := argumentTypes[method]
	var names []string
	for name := range types {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		value := params[name]
		if len(value) > 0 && string(value) != "null" && string(value[:1]) != types[name] {
			return fmt.Sprintf("%s of %s must be %s", name, method, typeWords[types[name]])
		}
	}
	if method == "tools/call" && len(params["name"]) == 0 {
		return "name of tools/call is missing: tools/list shows the names of tools"
	}
	return ""
}
