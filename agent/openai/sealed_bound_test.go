package openai

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestSealedFieldsAreBounded: data that goes back is dropped as a whole when there is too much of it, while the answer still comes.
func TestSealedFieldsAreBounded(t *testing.T) {
	t.Parallel()
	value := json.RawMessage(`"` + strings.Repeat("A", 1<<20) + `"`)
	s := &stream{calls: []*call{{extra: value}}}
	kept := func() (n int) {
		return sizeOf(s.rest) + sizeOfValue(s.part) + len(s.extra) + len(s.calls[0].extra) + s.calls[0].fields.size()
	}
	for i := range 3 * maxSealed >> 20 {
		name := fmt.Sprintf("x%d_signature", i)
		switch i % 3 {
		case 0:
			s.keepSealedOf(map[string]json.RawMessage{name: value}, &delta{})
		case 1:
			s.keepOwn(&delta{Extra: json.RawMessage(`{"signature":` + string(value) + `}`)})
		case 2:
			if err := s.addCall(toolCall{Extra: value, signed: signed{Signature: value}}); err != nil {
				t.Fatal(err)
			}
		}
		if n := kept(); n > maxSealed {
			t.Fatalf("%d bytes are kept", n)
		}
	}
	if n := kept(); n > 1 {
		t.Errorf("%d bytes of too many are kept", n)
	}
}
