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

// The list says what a message was sent without, each thing once.
func TestWhyNamesWhatWasLeftOut(t *testing.T) {
	d := sessions.Delivery{State: sessions.Sent, Receipts: []channels.Receipt{{ID: "1", LeftOut: "the reply reference"}, {ID: "2"}, {ID: "3", LeftOut: "the reply reference"}}}
	if got := why(d); got != "sent without the reply reference" {
		t.Errorf("%q", got)
	}
	if d.Receipts = nil; why(d) != "" {
		t.Errorf("%q", why(d))
	}
}
