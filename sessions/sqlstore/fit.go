package sqlstore

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"parley/sessions"
)

// What platforms, models and tools hand over is made to fit a row here, or is refused with ErrUnfit: the second wall behind the adapters.

// maxKey bounds a text from outside in an index, in bytes: PostgreSQL refuses index rows of more than 2,704.
const maxKey = 1000

// fitKey gives a text that an index takes. One that is too long keeps its beginning, and a hash of the whole tells it from others.
func fitKey(s string) string {
	if len(s) <= maxKey {
		return s
	}
	h := sha256.Sum256([]byte(s))
	return strings.ToValidUTF8(s[:maxKey-64], "") + "#" + hex.EncodeToString(h[:16])
}

// marshal writes a JSON body. The error wraps ErrUnfit: it is the value's.
func marshal(v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("%w: %w", sessions.ErrUnfit, err)
	}
	return string(b), nil
}
