package discord

import (
	"testing"
	"time"

	"parley/channels/discord/discordtest"
)

// What a stranger wrote is never said by whoever passed it on, opened a thread on it or linked to it.
func TestWordsAreTheirAuthors(t *testing.T) {
	inBubble(t, func(h *host) {
		id := h.srv.Say(general, bert, "/send off")
		h.one()
		h.srv.Say(side, anna, "", discordtest.Starter(general, id))
		for _, kind := range []int{24, 27, 31, 46} { // a moderator's alert, a stage, the result of a poll
			h.srv.Say(general, anna, "/send off", discordtest.OfType(kind))
		}
		h.after(time.Second)
		if list := h.taken(); len(list) != 0 {
			t.Errorf("taken for anna's: %q", words(list))
		}
		preview := []any{map[string]any{"type": "rich", "description": "send off"}}
		h.srv.Say(general, anna, "/new https://example.com", discordtest.With("embeds", preview))
		if in := h.one(); in.Text != "/new https://example.com" {
			t.Errorf("the preview of a link is part of the command: %q", in.Text)
		}
		h.srv.Say(general, anna, "yes", discordtest.ReplyTo(id))
		if in := h.one(); in.Text != "yes" || in.Quote == nil || in.Quote.Sender != "bert" || in.Quote.Text != "/send off" {
			t.Errorf("%+v", in)
		}
	})
}
