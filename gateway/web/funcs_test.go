package web

import "testing"

// A title is the first line that says something, without its Markdown.
func TestPlainLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"## The **parents'** evening\n\n- bring the forms": "The parents' evening",
		"---\n\n1. see [the list](https://example.org/x)":  "see the list",
		"`go test` says snake_case * 2":                    "go test says snake_case * 2",
		"":                                                 "",
		"a very long one":                                  "a very lo…",
	} {
		n := 120
		if text == "a very long one" {
			n = 10
		}
		if got := plainLine(n, text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
