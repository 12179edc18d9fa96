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
		"Status: success\n\nResult:\n**Three** trains.\n\nNotes:\n- (none)": "Three trains.",
		"Status: timeout\n\nResult:\n(not available)\n\nNotes:\n- (none)":   "timeout: (not available)",
		"Status: green": "Status: green",
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

// A whole text, or a piece that was cut off, is one line without its Markdown.
func TestFlat(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"**Two** things:\n\n- *bread*\n- `milk`":     "Two things: • bread • milk",
		"## Monday\n\nsee [it](https://a.b/c) **an…": "Monday see it (https://a.b/c) an…",
		"2 * 3 = 6 and snake_case":                   "2 * 3 = 6 and snake_case",
		"<b>no markup</b>":                           "<b>no markup</b>",
	} {
		if got := flat(200, text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
