package main

import (
	"strings"
	"testing"

	"parley/channels"
	"parley/sessions"
)

// What is said about a withheld delivery names what of it the chat shows, or may show.
func TestWithheldFor(t *testing.T) {
	part := []channels.Receipt{{ID: "1"}}
	for want, d := range map[string]sessions.Delivery{
		"is not sent later":         {},
		"Its first part arrived":    {Receipts: part},
		"and may have arrived":      {Unclear: true},
		"policy denied it, and may": {Unclear: true, Receipts: part},
	} {
		if got := withheldFor(d); !strings.Contains(got, want) {
			t.Errorf("%+v: %s", d, got)
		}
	}
}
