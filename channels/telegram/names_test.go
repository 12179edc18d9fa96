package telegram

import (
	"strings"
	"testing"
)

// The names that people and chats have on Telegram turn no words around in what parley reads; what people write stays.
// source: CVE-2021-42574; CWE-451
func TestNamesTurnNothing(t *testing.T) {
	t.Parallel()
	const rlo = "\u202e"
	for name, fields := range map[string]string{
		"an origin":          `"text":"a","forward_origin":{"type":"hidden_user","date":1,"sender_user_name":"Eve\u202etsni"}`,
		"an author":          `"text":"a","reply_to_message":{"message_id":4,"date":1,"chat":{"id":-100,"type":"supergroup"},"from":{"id":2,"is_bot":false,"first_name":"Eve\u202e"},"text":"b"}`,
		"a contact":          `"contact":{"first_name":"Eve\u202e","phone_number":"+1"}`,
		"somebody who joins": `"new_chat_members":[{"id":2,"is_bot":false,"first_name":"Eve\u202e"}]`,
	} {
		in := decodeOne(t, fields).in
		all := in.Text + in.Title + in.Sender.Name + in.Reason + in.Origin
		if in.Quote != nil {
			all += in.Quote.Sender + in.Quote.Origin
		}
		for _, p := range in.People {
			all += p.Name
		}
		if strings.Contains(all, rlo) || name != "somebody who joins" && !strings.Contains(all, "Eve") {
			t.Errorf("%s: %q", name, all)
		}
	}
	if got := decodeOne(t, `"text":"a\u202eb"`).in.Text; got != "a"+rlo+"b" {
		t.Errorf("what a person wrote became %q", got)
	}
}
