package discord

import (
	"encoding/base64"
	"testing"

	"parley/channels"
)

// A token begins with the id of its bot; what is no token names none.
func TestBotOfAToken(t *testing.T) {
	const id = "80351110224678912"
	for token, want := range map[string]channels.UserID{base64.RawStdEncoding.EncodeToString([]byte(id)) + ".x.y": id, base64.StdEncoding.EncodeToString([]byte(id)) + ".x.y": id, "token": "", "": "", "MTIz.x.y": ""} {
		if got := (&Config{Token: channels.NewSecret(token)}).Bot(); got != want {
			t.Errorf("%q: %q", token, got)
		}
	}
}

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
