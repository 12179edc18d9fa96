package telegram

import (
	"strings"
	"testing"

	"parley/channels"
	"parley/channels/telegram/telegramtest/kinds"
)

// Every kind of message reaches the model as the documentation's table says.
func TestKindsIn(t *testing.T) {
	t.Parallel()
	for _, row := range kinds.Table() {
		if row.Message == "" {
			continue
		}
		t.Run(row.Name, func(t *testing.T) {
			t.Parallel()
			if got := described(decodeMessage(t, row.Message)); got != row.In {
				t.Errorf("%s\n got %s\nwant %s\nsource %s", row.Message, got, row.In, row.Source)
			}
		})
	}
}

// decodeMessage reads a message of a private chat; fields is JSON without the braces and wins over what every message has.
func decodeMessage(t *testing.T, fields string) item {
	t.Helper()
	raw := `{"update_id":9,"message":{"message_id":5,"date":1764100000,"chat":{"id":1001,"type":"private","first_name":"Ann"},` +
		`"from":{"id":1001,"is_bot":false,"first_name":"Ann"},` + fields + `}}`
	return decoder{account: channels.DefaultAccount, me: identity{ID: 42, Username: "parley_bot"}, topics: newTopics()}.single([]byte(raw))
}

// described says what reaches the model, as the table does.
func described(it item) string {
	in := it.in
	switch {
	case it.skip != "":
		return "skipped: " + it.skip
	case in.Event == channels.Unreadable:
		return "unreadable: " + in.Reason
	case in.Event != channels.Message:
		return "event: " + string(in.Event)
	}
	var parts []string
	if in.Text != "" {
		parts = append(parts, "`"+in.Text+"`")
	}
	for _, m := range in.Media {
		parts = append(parts, string(m.Kind))
	}
	return strings.Join(parts, ", ")
}
