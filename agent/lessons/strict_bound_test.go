package lessons

import "testing"

// TestStrictBound: a value must lie below a bound that is said to be strict, and may reach any other one.
// source: docs.pydantic.dev/latest/errors/validation_errors (less_than, less_than_equal)
func TestStrictBound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"max_tokens must be less than 4097":               "4096",
		"max_tokens must be < 8192":                       "8191",
		"max_tokens: Input should be less than 8193":      "8192",
		"max_tokens must be less than or equal to 4096":   "4096",
		"max_tokens must be <= 8192":                      "8192",
		"max_tokens is too large: it may be 8192 at most": "8192",
	} {
		c := NewBook(Config{}).Call(at, "")
		c.Refused(t.Context(), refusal(400, `{"error":{"message":"`+text+`"}}`), Sent{Params: []Param{{Name: "max_tokens", Value: "32000"}}})
		if use, _ := c.Param("max_tokens", "32000"); use != want {
			t.Errorf("%s: %s, not %s", text, use, want)
		}
	}
}
