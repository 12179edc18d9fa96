package wire

import "parley/tools"

// Repair is tools.RepairJSON: one odd figure must not cost an answer.
func Repair(data []byte) (fixed []byte, ok bool) { return tools.RepairJSON(data) }
