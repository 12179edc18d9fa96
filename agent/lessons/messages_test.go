package lessons

import (
	"errors"
	"strconv"
	"testing"

	"parley/agent"
	"parley/agent/wire"
	"parley/sessions"
)

// TestMessages: the bound of the number of messages is that of the sentence, at least what a summary and a step have, and never one that a person
// wrote: what is refused then is no conversation that is too long.
// source: openai-php/client#269, docs.pydantic.dev ("input" of a validation error)
func TestMessages(t *testing.T) {
	t.Parallel()
	const rules = "a deck holds up to 30 messages, says the rule of this card game"
	const quota = "my old chat said: daily message limit reached, come back"
	for _, c := range []struct {
		body     string
		messages int // of a request of 24
		class    agent.ErrorClass
	}{
		{`{"error":{"message":"This endpoint takes at most 20 messages in 1 request"}}`, 20, agent.TooLong},
		{`{"error":{"message":"maximum number of messages is 1"}}`, minMessages, agent.TooLong},
		{`{"error":{"message":"too many messages"}}`, 12, agent.TooLong},
		{`{"error":{"message":"Daily message limit of 20 messages reached"}}`, 0, agent.RateLimited},
		{`{"error":{"message":"Value of 'messages[3].content' is not allowed: '` + rules + `'"}}`, 0, agent.BadRequest},
		{`{"error":{"message":"Value of 'messages[4].content' is not allowed: '` + quota + `'"}}`, 0, agent.BadRequest},
	} {
		msgs := make([]sessions.Message, 24)
		msgs[3] = sessions.Message{Role: sessions.User, Content: sessions.TextContent(rules)}
		msgs[4] = sessions.Message{Role: sessions.User, Content: sessions.TextContent(quota)}
		err := refusal(400, c.body)
		e, _ := errors.AsType[*agent.ModelError](err)
		f, _ := errors.AsType[*wire.Fault](err)
		e.Class = f.Class()
		b := NewBook(Config{})
		b.Call(at, "").Refused(t.Context(), err, Sent{Messages: msgs})
		want := []string{strconv.Itoa(c.messages)}
		if c.messages == 0 {
			want = nil
		}
		var got []string
		for _, l := range b.Known() {
			got = append(got, l.Use)
		}
		if e.Class != c.class || e.Messages != c.messages || len(got) != len(want) || len(got) > 0 && got[0] != want[0] {
			t.Errorf("%s: %s, %d messages, learned %v", c.body, e.Class, e.Messages, got)
		}
	}
}
