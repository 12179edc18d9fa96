package discord

import "testing"

// A user is an id, a mention or a name, a channel an id or a mention; whatever else would never match is refused.
func TestIDsAsWritten(t *testing.T) {
	const id = "80351110224678912"
	for _, c := range []struct{ text, person, chat string }{
		{id, id, id}, {" " + id + " ", id, id}, {"<@" + id + ">", id, ""}, {"<@!" + id + ">", id, ""}, {"<#" + id + ">", "", id}, {"@ada", "@ada", ""},
		{"abc", "", ""}, {"1001", "", ""}, {"@", "", ""}, {"@ada lovelace", "", ""}, {"ada#1234", "", ""}, {"-" + id, "", ""}, {"99999999999999999999", "", ""}, {"<@1>", "", ""}, {"", "", ""},
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
