package main

import (
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/sessions"
)

// What is said about a withheld delivery names what of it the chat shows, or may show.
func TestWithheldFor(t *testing.T) {
	part := []channels.Receipt{{ID: "1"}}
	for want, d := range map[string]sessions.Delivery{
		"does not send a withheld delivery later": {},
		"The first part of the message arrived":   {Receipts: part},
		"so the message may have arrived":         {Ambiguous: true},
		"policy denied it, so the message may":    {Ambiguous: true, Receipts: part},
	} {
		if got := withheldFor(d); !strings.Contains(got, want) {
			t.Errorf("%+v: %s", d, got)
		}
	}
}

// A delivery that waits says when it is tried again.
func TestNextTryIsShown(t *testing.T) {
	p := &page{now: time.Date(2026, 11, 26, 1, 0, 0, 0, time.UTC)}
	d := sessions.Delivery{State: sessions.Pending, NotBefore: p.now.Add(90 * time.Second), Error: "401"}
	if got := nextTry(p, d) + why(d); got != "next try in 90s; 401" {
		t.Errorf("%q", got)
	}
	for _, over := range []sessions.Delivery{{State: sessions.Sent, NotBefore: d.NotBefore}, {State: sessions.Pending, NotBefore: p.now}} {
		if got := nextTry(p, over); got != "" {
			t.Errorf("%+v: %q", over, got)
		}
	}
	var out strings.Builder
	p.out = &out
	if printDelivery(p, d); !strings.Contains(out.String(), "next try at ") {
		t.Error(out.String())
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
