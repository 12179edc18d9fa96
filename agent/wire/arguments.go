package wire

import (
	"bytes"
	"encoding/json"

	"parley/agent/wire/markup"
)

// Arguments gives the arguments of a call as an object where only one can be meant, as markup.LooseObject reads it. Arguments that may be cut
// off stay as they are.
func Arguments(raw json.RawMessage) json.RawMessage {
	args := bytes.TrimSpace(raw)
	if len(args) == 0 || args[0] == '"' || args[0] == '{' && json.Valid(args) {
		return raw
	}
	object, ok := markup.LooseObject(string(args), false)
	if object = markup.Alone(object); !ok || object[0] != '{' {
		return raw
	}
	return object
}
