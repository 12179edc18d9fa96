package wire

import "testing"

// TestShape: what is logged of an answer that could not be read has no text of it.
// source: docs/security.md (no message text above level debug)
func TestShape(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"index":"0","delta":{"type":"text_delta","text":"Dear Anna"}}`:           `{"index":"1 bytes","delta":{"type":"text_delta","text":"9 bytes"}}`,
		`{"choices":[{"finish_reason":"the tumour is back","n":[1.5,null,true]}]}`: `{"choices":[{"finish_reason":"18 bytes","n":[1.5,null,true]}]}`,
		`[]`:            `[]`,
		`"Dear Anna"`:   `"9 bytes"`,
		`{"a":"Dear An`: `13 bytes that are not JSON`,
		`{}`:            `{}`,
	} {
		if got := shape([]byte(in)); got != want {
			t.Errorf("%s: %s, not %s", in, got, want)
		}
	}
}
