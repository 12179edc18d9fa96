package wire

import (
	"encoding/json"

	"parley/tools"
)

// Repair returns JSON without what many servers write and no JSON has, as tools.RepairJSON does, and reads what Python writes of objects. ok is
// false where there was none of it. It is called for what cannot be read, so that one odd figure does not cost an answer.
func Repair(data []byte) (fixed []byte, ok bool) {
	fixed, ok = tools.RepairJSON(data)
	if ok && json.Valid(fixed) {
		return fixed, true
	}
	if !ok && json.Valid(data) {
		return data, false
	}
	for _, odd := range [][]byte{data, fixed} {
		if read := fromPython(odd); read != nil {
			return read, true
		}
	}
	return fixed, ok
}
