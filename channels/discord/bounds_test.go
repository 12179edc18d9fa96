package discord

import (
	"encoding/json"
	"fmt"
	"testing"
)

// Of the roles of a server those are known that there are: not all that there ever were.
func TestRolesAreForgotten(t *testing.T) {
	t.Parallel()
	n := newNames()
	told := func(kind, format string, args ...any) {
		n.learn(&event{kind: kind, data: json.RawMessage(fmt.Sprintf(format, args...))})
	}
	const server = `{"id":"1","name":"Town","roles":[{"id":"1","name":"@everyone"},{"id":"5","name":"%s","tags":{"bot_id":"9"}}]}`
	told("GUILD_CREATE", server, "Bot")
	for id := 100; id < 1100; id++ {
		told("GUILD_ROLE_CREATE", `{"guild_id":"1","role":{"id":"%d","name":"for a day","tags":{"bot_id":"%[1]d"}}}`, id)
		told("GUILD_ROLE_DELETE", `{"guild_id":"1","role_id":"%d"}`, id)
	}
	if s := n.servers["1"]; len(s.roles) != 2 || len(s.owned) != 1 {
		t.Errorf("after each was deleted: %d roles, %d of bots", len(s.roles), len(s.owned))
	}
	for id := 100; id < 1100; id++ { // deleted while nobody was connected
		told("GUILD_ROLE_CREATE", `{"guild_id":"1","role":{"id":"%d","name":"for a day"}}`, id)
	}
	told("GUILD_UPDATE", `{"id":"1","name":"Town"}`)
	if s := n.servers["1"]; len(s.roles) != 1002 {
		t.Errorf("an update that says nothing of roles leaves %d", len(s.roles))
	}
	told("GUILD_CREATE", server, "Robot")
	if s := n.servers["1"]; len(s.roles) != 2 || len(s.owned) != 1 {
		t.Errorf("after the server was described again: %d roles, %d of bots", len(s.roles), len(s.owned))
	}
	if name, own := n.role("1", "5", "9"); name != "Robot" || !own {
		t.Errorf("the bot's own role: %q, %v", name, own)
	}
}

// What is remembered of messages and people has its bounds.
func TestRecentIsBounded(t *testing.T) {
	t.Parallel()
	r := newRecent()
	for n := range 20_000 {
		id := fmt.Sprint(n)
		r.people.put(id, seenUser{})
		r.messages.put(id, seenMessage{})
		r.reactions.put(id, "")
	}
	if a, b, c := len(r.people.items), len(r.messages.items), len(r.reactions.items); a != 4096 || b != 4096 || c != 2048 || len(r.messages.order) != b {
		t.Errorf("%d people, %d messages, %d reactions", a, b, c)
	}
}
