package web

import (
	"testing"

	"parley/channels"
	"parley/sessions"
)

// A stopped turn has its line in the chat, which also ends the wait for an answer; other words of the host for its own use have none.
func TestStoreHistoryHasTheStop(t *testing.T) {
	t.Parallel()
	s := &shelf{msgs: []sessions.Message{
		from(message("m1", sessions.User, 1, "count to a million"), sessions.Provenance{Kind: sessions.ExternalUser, Address: chat, Message: "w1"}),
		sessions.StoppedMessage("r1", at(2)),
		from(message("m3", sessions.User, 3, "a prompt of the host"), sessions.Provenance{Kind: sessions.InternalSystem, Tool: "steer"}),
	}}
	lines, err := StoreHistory(s, func(channels.ChatID) channels.Address { return chat }, func(channels.ChatID) sessions.Key { return "agent:main:main" })(t.Context(), "main", "")
	if err != nil || len(lines) != 2 || lines[1].Role != Notice || lines[1].Text != "Stopped by a person." || lines[1].Client != "" {
		t.Errorf("%+v %v", lines, err)
	}
}
