package wire

import "encoding/json"

// ModelInfo is one model of a server's list.
type ModelInfo struct {
	ID  string
	Raw json.RawMessage // everything that the server says of it
}
