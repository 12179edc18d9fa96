package telegram

import "testing"

// A user is a number or a name, a group a number below zero; whatever else would never match is refused.
func TestIDsAsWritten(t *testing.T) {
	for _, c := range []struct{ text, person, chat string }{
		{"1001", "1001", ""}, {" 007 ", "7", ""}, {"@Ada", "@Ada", ""}, {"-1001234567890", "-1001234567890", "-1001234567890"},
		{"+491555000003", "", ""}, {"ada", "", ""}, {"@", "", ""}, {"@a b", "", ""}, {"0", "", ""}, {"1.5", "", ""}, {"99999999999999999999", "", ""}, {"", "", ""},
	} {
		person, err := Person(c.text)
		if string(person) != c.person || (err == nil) != (c.person != "") {
			t.Errorf("person %q: %q, %v", c.text, person, err)
		}
		chat, err := Chat(c.text)
		if string(chat) != c.chat || (err == nil) != (c.chat != "") {
			t.Errorf("chat %q: %q, %v", c.text, chat, err)
		}
	}
}
