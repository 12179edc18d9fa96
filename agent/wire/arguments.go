package wire

import (
	"bytes"
	"encoding/json"
	"regexp"
)

var (
	// behindObject matches what servers and models leave behind arguments: brackets that close nothing, closing tags and marks, the end of a block.
	behindObject = regexp.MustCompile("^(?:[}\\]]|</?[a-zA-Z_:]+>|<\\|[a-z_]+\\|>|`{3}|;|\\s)*$")
	// fence begins a block of code.
	fence = regexp.MustCompile("^\\s*`{3}[a-z]*\\s*")
	// lastComma stands in front of the end.
	lastComma = regexp.MustCompile(`,\s*\}\s*$`)
)

// Arguments gives the arguments of a call as an object where it is plain which one is meant: without what stands behind it, a block of code or a
// list around it, or raw control characters in its texts. An empty list is an empty object: PHP cannot tell them apart. Arguments that may be
// cut off stay as they are.
//
// source: ollama/ollama#13519, vllm-project/vllm (tool parsers), php.net/json_encode, npmjs.com/package/jsonrepair
func Arguments(raw json.RawMessage) json.RawMessage {
	args := bytes.TrimSpace(raw)
	if len(args) == 0 || args[0] == '"' || args[0] == '{' && json.Valid(args) {
		return raw
	}
	args = args[len(fence.Find(args)):]
	if object := firstObject(args); object != nil {
		return object
	}
	if fixed, ok := Repair(args); ok {
		args = fixed
		if object := firstObject(args); object != nil {
			return object
		}
	}
	if object := firstObject(lastComma.ReplaceAll(args, []byte("}"))); object != nil {
		return object
	}
	return raw
}

// firstObject gives the object that a text begins with, or that is alone in a list, where nothing else stands behind it; nil = there is none.
func firstObject(text []byte) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(text))
	var v json.RawMessage
	if dec.Decode(&v) != nil || !behindObject.Match(text[dec.InputOffset():]) {
		return nil
	}
	var list []json.RawMessage
	if v[0] == '[' && json.Unmarshal(v, &list) == nil {
		switch len(list) {
		case 0:
			return json.RawMessage("{}")
		case 1:
			v = bytes.TrimSpace(list[0])
		}
	}
	if v[0] != '{' {
		return nil
	}
	return v
}
