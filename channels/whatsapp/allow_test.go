package whatsapp

import (
	"strings"
	"testing"

	"parley/channels"
)

// However a person is written in the configuration, it is what messages say; what is nobody is refused with what is wanted.
func TestPersonAsWritten(t *testing.T) {
	for text, want := range map[string]channels.UserID{
		"+491555000003": "+491555000003", "491555000003": "+491555000003", "+49 1555 000003": "+491555000003", "00491555000003": "+491555000003",
		" +49 (1555) 000-003 ": "+491555000003", "491555000003@s.whatsapp.net": "+491555000003", "491555000003:7@s.whatsapp.net": "+491555000003",
		"491555000003@c.us": "+491555000003", "1234567890123456@lid": "1234567890123456@lid",
		"01555000003": "", "+0491555000003": "", "+49": "", "1234567890123456": "", "anna": "", "anna@s.whatsapp.net": "", "@lid": "", "+49x1555000003": "",
		"12036312345@g.us": "", "+491555000003@lid": "", "": "",
	} {
		got, err := Person(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
		if again, err := Person(string(got)); want != "" && (again != want || err != nil) {
			t.Errorf("%q again: %q, %v", text, again, err)
		}
	}
	if _, err := Person("@anna"); err == nil || !strings.Contains(err.Error(), "no @names") {
		t.Error(err)
	}
}

func TestGroupAsWritten(t *testing.T) {
	for text, good := range map[string]bool{
		"120363000000000001@g.us": true, "491555000003-1600000000@g.us": true,
		"120363000000000001": false, "+49": false, "491555000003@s.whatsapp.net": false, "x@g.us": false, "@g.us": false, "": false,
	} {
		if got, err := Chat(" " + text); (err == nil) != good || good && string(got) != text {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}
