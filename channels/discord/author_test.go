package discord

import (
	"fmt"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/discord/discordtest"
)

// The message that a thread grew from reaches the agent with the first words in it, as somebody else's.
// source: OpenClaw, thread starter context; Discord documentation, Message types, THREAD_STARTER_MESSAGE
func TestThreadStarterIsTold(t *testing.T) {
	inBubble(t, func(h *host) {
		id := h.srv.Say(general, bert, "the deploy failed", discordtest.Attach(discordtest.File{Name: "log.txt", Type: "text/plain", Data: []byte("log")}))
		h.one()
		h.srv.Say(side, anna, "", discordtest.Starter(general, id))
		h.srv.Say(side, anna, "why?")
		in := h.one()
		if in.Text != "why?" || in.Quote == nil || in.Quote.Sender != "bert" || in.Quote.Text != "the deploy failed" || len(in.Quote.Media) != 1 || string(in.Quote.ID) != id || in.Mentioned {
			t.Fatalf("%+v %+v", in, in.Quote)
		}
		h.srv.ExpireLinks()
		if data, err := h.ch.Fetch(h.t.Context(), in.Quote.Media[0], 100); err != nil || string(data) != "log" {
			t.Errorf("the file of the message: %q, %v", data, err)
		}
		h.srv.Say(side, anna, "and now?")
		if in := h.one(); in.Quote != nil {
			t.Errorf("told again: %+v", in.Quote)
		}
	})
}

// A thread hangs below a message that was written before the bot came; nobody repeats it. It is read, and told with the first words.
// source: Discord documentation, Threads (a thread that grew from a message has its id)
func TestThreadOlderThanTheBot(t *testing.T) {
	inBubble(t, func(h *host) {
		id := h.srv.Say(general, bert, "the deploy failed")
		h.one()
		thread := h.srv.StartThread(general, anna, "deploy", id)
		h.srv.Say(thread, anna, "why?")
		in := h.one()
		if in.Text != "why?" || in.Quote == nil || in.Quote.Sender != "bert" || in.Quote.Text != "the deploy failed" || in.Parent != general {
			t.Fatalf("%+v %+v", in, in.Quote)
		}
		h.srv.Say(thread, anna, "and now?")
		if in := h.one(); in.Quote != nil {
			t.Errorf("told again: %+v", in.Quote)
		}
		alone := h.srv.StartThread(general, anna, "talk", "")
		h.srv.Say(alone, anna, "hello")
		if in := h.one(); in.Quote != nil || in.Text != "hello" {
			t.Errorf("%+v %+v", in, in.Quote)
		}
	})
}

// Discord may leave the message out that a reply answers: it is read then, once, and a reply whose message cannot be read still says that it is one.
// source: Discord documentation, Message object, referenced_message ("If the field is not present ... the backend did not attempt to fetch the message")
func TestReplyWithoutItsMessage(t *testing.T) {
	inBubble(t, func(h *host) {
		id := h.srv.Say(general, bert, "lunch?")
		h.one()
		const reply = `{"id":"%s9","channel_id":"` + general + `","guild_id":"` + town + `","type":19,"timestamp":"2026-01-02T03:04:05+00:00","content":"yes","author":{"id":"` + anna + `","username":"anna"},` +
			`"message_reference":{"type":0,"message_id":"%s","channel_id":"` + general + `"}%s}`
		h.srv.Raw("MESSAGE_CREATE", fmt.Sprintf(reply, id[:17], id, ""))
		if in := h.one(); in.Quote == nil || in.Quote.Text != "lunch?" || in.Quote.Sender != "bert" || string(in.Quote.ID) != id {
			t.Errorf("%+v", in.Quote)
		}
		before := len(h.srv.Calls(discordtest.RouteMessage))
		h.srv.Raw("MESSAGE_CREATE", fmt.Sprintf(reply, id[:16]+"8", id, `,"referenced_message":null`))
		if in := h.one(); in.Quote == nil || in.Quote.Text != "[a message that cannot be read any more]" || in.Quote.Sender != "bert" {
			t.Errorf("gone: %+v", in.Quote)
		}
		if n := len(h.srv.Calls(discordtest.RouteMessage)); n != before {
			t.Errorf("what is gone was asked for %d times", n-before)
		}
		h.srv.Raw("MESSAGE_CREATE", fmt.Sprintf(reply, id[:16]+"7", "1", ""))
		if in := h.one(); in.Text != "yes" || in.Quote == nil || in.Quote.Text != "[a message that cannot be read any more]" {
			t.Errorf("unknown: %+v", in.Quote)
		}
	})
}

// Names that anybody can take are no user names. source: Discord documentation, Usernames and nicknames
func TestFreeNamesAreNoUserNames(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Say(general, "900000000000000001", "build failed", discordtest.ByWebhook("900000000000000001", "anna"))
		if in := h.one(); in.Sender.Username != "" || in.Sender.Name != "anna" || !in.Sender.Bot {
			t.Errorf("%+v", in.Sender)
		}
		h.srv.Say(general, bert, "hello", discordtest.With("author", map[string]any{
			"id": "900000000000000002", "username": "anna", "discriminator": "1234", "bot": true, "avatar": nil, "public_flags": 0, "flags": 0, "global_name": nil, "primary_guild": nil,
		}))
		if in := h.one(); in.Sender.Username != "anna#1234" {
			t.Errorf("%+v", in.Sender)
		}
	})
}

// A reply to a file brings the file, also when its address has expired since. source: NousResearch/hermes-agent#22250
func TestQuotedFileIsFetched(t *testing.T) {
	inBubble(t, func(h *host) {
		id := h.srv.Say(general, bert, "", discordtest.Attach(discordtest.File{Name: "cat.png", Type: "image/png", Data: []byte("png")}))
		h.one()
		fwd := h.srv.Say(general, bert, "", discordtest.Forward(general, id))
		if in := h.one(); in.Origin != "bert in #general · Town" {
			t.Errorf("origin %q", in.Origin)
		}
		for about, origin := range map[string]string{id: "", fwd: "bert in #general · Town"} {
			h.srv.Say(general, anna, "what is it?", discordtest.ReplyTo(about))
			in := h.one()
			if in.Quote == nil || in.Quote.Text != "" || len(in.Quote.Media) != 1 || in.Quote.Media[0].Kind != channels.Image || in.Quote.Origin != origin {
				t.Fatalf("%+v", in.Quote)
			}
			h.srv.ExpireLinks()
			if data, err := h.ch.Fetch(h.t.Context(), in.Quote.Media[0], 100); err != nil || string(data) != "png" {
				t.Errorf("%q, %v", data, err)
			}
		}
	})
}

// An update without news is none, whatever else of the message has changed; one that takes a file away, or changes a card, is news.
// source: tdlib/telegram-bot-api#388 (the kind), Discord documentation, Message Update
func TestNoNewsIsNotTold(t *testing.T) {
	inBubble(t, func(h *host) {
		card := func(text string) discordtest.Option {
			return discordtest.With("components", []any{map[string]any{"type": 10, "id": 1, "content": text}})
		}
		id := h.srv.Say(general, anna, "one", discordtest.Attach(discordtest.File{Name: "a.txt", Type: "text/plain", Data: []byte("a")}))
		made := h.srv.Say(general, "900000000000000001", "", discordtest.ByWebhook("900000000000000001", "CI"), card("red"))
		h.after(time.Second)
		h.taken()
		h.srv.Edit(general, id, "one")
		h.srv.ExpireLinks()
		h.srv.Edit(general, id, "one")
		h.srv.Edit(general, made, "")
		h.after(time.Second)
		if list := h.taken(); len(list) != 0 {
			t.Errorf("%+v", list)
		}
		h.srv.Change(general, made, card("green"))
		if in := h.one(); in.Event != channels.Edited || in.Text != "green" {
			t.Errorf("%+v", in)
		}
		old := h.srv.Miss(general, anna, "old", discordtest.At(time.Now().Add(-48*time.Hour)))
		h.srv.Change(general, old, discordtest.EditedAt(time.Now().Add(-47*time.Hour)))
		h.after(time.Second)
		if list := h.taken(); len(list) != 0 {
			t.Errorf("a pin of a message that was edited long ago: %+v", list)
		}
	})
}

// What a platform says of times and ids may be nonsense: nothing later meets a year that it cannot write, or an id that is newer than all
// that follow. source: Bot API, Message.date (the kind); Discord documentation, Snowflakes
func TestNonsenseTimesAndIDs(t *testing.T) {
	inBubble(t, func(h *host) {
		for _, stamp := range []string{"9999-12-31T23:59:59+00:00", "0001-01-01T00:00:00+00:00", "12026-01-01T00:00:00Z", ""} {
			h.srv.Raw("MESSAGE_CREATE", `{"id":"`+idAt(time.Now())+`","channel_id":"`+general+`","guild_id":"`+town+`","type":0,"content":"x","timestamp":"`+stamp+`","author":{"id":"`+anna+`","username":"anna"}}`)
			if in := h.one(); in.Event != channels.Message || in.Time.Year() != time.Now().Year() {
				t.Errorf("%s: %+v", stamp, in)
			}
		}
		h.srv.Raw("MESSAGE_CREATE", `{"id":"18446744073709551615","channel_id":"`+general+`","guild_id":"`+town+`","type":0,"content":"x","timestamp":"2026-01-01T00:00:00Z","author":{"id":"`+anna+`","username":"anna"}}`)
		if in := h.one(); in.Event != channels.Unreadable {
			t.Errorf("%+v", in)
		}
	})
}

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
