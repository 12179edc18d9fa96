package wire

import (
	"bytes"
	"slices"
	"sync/atomic"

	"parley/tools"
)

// Tools remembers the last tools in a provider's form: most calls of an agent bring the same ones. The zero value is ready.
type Tools struct{ last atomic.Pointer[encodedTools] }

type encodedTools struct {
	specs   []tools.Spec
	encoded []byte
}

// Encode gives specs as encode makes them, nil for none. The result is shared and must not be changed.
func (c *Tools) Encode(specs []tools.Spec, encode func([]tools.Spec) ([]byte, error)) ([]byte, error) {
	if len(specs) == 0 {
		return nil, nil
	}
	last := c.last.Load()
	if last != nil && slices.EqualFunc(last.specs, specs, func(a, b tools.Spec) bool {
		return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema)
	}) {
		return last.encoded, nil
	}
	encoded, err := encode(specs)
	if err != nil {
		return nil, err
	}
	c.last.Store(&encodedTools{slices.Clone(specs), encoded})
	return encoded, nil
}
