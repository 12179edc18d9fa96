package ids

import (
	"testing"

	"parley/channels/telegram"
	"parley/channels/whatsapp"
	"parley/gateway/config"
)

// source: openclaw docs/channels/telegram.md, docs/channels/whatsapp.md (forms of ids), docs/concepts/multi-agent.md
func TestIDs(t *testing.T) {
	t.Parallel()
	x := Adapters{config.Table{{Kind: telegram.Kind, Person: telegram.Person, Chat: telegram.Chat}, {Kind: whatsapp.Kind, Person: whatsapp.Person, Chat: whatsapp.Chat}}}
	for in, want := range map[string]string{"1001": "1001", "TG:user:1001": "1001", "telegram:dm:1001": "1001"} {
		if got, ok := x.Person(telegram.Kind, in); got != want || !ok {
			t.Errorf("person %s: %s %v", in, got, ok)
		}
	}
	if got, ok := x.Chat(telegram.Kind, "telegram:group:-100500"); got != "-100500" || !ok {
		t.Errorf("group: %s %v", got, ok)
	}
	if got, ok := x.Person(whatsapp.Kind, "4915123456789"); got != "+4915123456789" || !ok {
		t.Errorf("WhatsApp: %s %v", got, ok)
	}
	if got, ok := x.Person("slack", "U1"); ok || x.Has("slack") {
		t.Errorf("a channel that is not there knows %s", got)
	}
	if got := [...]string{string(Agent("Helper Two")), string(Agent("§")), string(Account("My Biz")), string(Account(" "))}; got != [...]string{"helper-two", "main", "my-biz", "default"} {
		t.Errorf("%q", got)
	}
}
