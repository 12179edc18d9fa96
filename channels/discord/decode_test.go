package discord

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"parley/channels"
	"parley/channels/discord/discordtest"
)

func TestRepliesAndQuotes(t *testing.T) {
	inBubble(t, func(h *host) {
		r, err := h.send(channels.Outbound{Key: "a", Text: "my words"})
		if err != nil {
			t.Fatal(err)
		}
		h.settle()
		h.taken()
		h.srv.Say(general, anna, "yes", discordtest.ReplyTo(string(r.ID)), discordtest.Quietly())
		in := h.one()
		if !in.Mentioned || in.Quote == nil || !reflect.DeepEqual(*in.Quote, channels.Quote{ID: r.ID, Sender: discordtest.BotName, By: in.Quote.By, Text: "my words", FromBot: true}) {
			t.Errorf("%+v %+v", in, in.Quote)
		}
		id := h.srv.Say(general, bert, "hello")
		h.one()
		h.srv.Say(general, anna, "hello you", discordtest.ReplyTo(id))
		if in := h.one(); in.Mentioned || !in.MentionsOthers || in.Quote.FromBot || in.Quote.Sender != "bert" || in.Quote.By != channels.UserID(bert) {
			t.Errorf("%+v %+v", in, in.Quote)
		}
	})
}

func TestOwnRoleMentions(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Say(general, anna, "<@&"+discordtest.BotRole(town)+"> help")
		if in := h.one(); !in.Mentioned || in.MentionsOthers || in.Addressed != "help" {
			t.Errorf("%+v", in)
		}
		h.srv.Say(general, anna, "<@&"+helpers+"> help")
		if in := h.one(); in.Mentioned || !in.MentionsOthers || in.Text != "@helpers help" {
			t.Errorf("%+v", in)
		}
		h.srv.Say(general, anna, "@everyone help")
		if in := h.one(); in.Mentioned {
			t.Errorf("everybody is not the bot: %+v", in)
		}
	})
}

func TestWebhooksAreBots(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Say(general, "900000000000000001", "build failed", discordtest.ByWebhook("900000000000000001", "CI"))
		if in := h.one(); !in.Sender.Bot || in.Sender.Name != "CI" || in.SentByThisLogin {
			t.Errorf("%+v", in)
		}
	})
}

func TestForwarded(t *testing.T) {
	inBubble(t, func(h *host) {
		id := h.srv.Say(general, bert, "/new and <@"+discordtest.BotID+">", discordtest.Attach(discordtest.File{Name: "a.png", Type: "image/png", Data: []byte("png")}))
		h.one()
		h.srv.Say(h.dm, anna, "", discordtest.Forward(general, id))
		in := h.one()
		if !in.Forwarded || !strings.HasPrefix(in.Text, "/new") || in.Mentioned || len(in.Media) != 1 || in.Quote != nil {
			t.Errorf("%+v", in)
		}
	})
}

func TestMediaIsFetchedAgain(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Say(h.dm, anna, "", discordtest.Attach(discordtest.File{Name: "a.png", Type: "image/png", Data: []byte("png")}))
		in := h.one()
		if len(in.Media) != 1 || in.Media[0].Kind != channels.Image || in.Media[0].Size != 3 || in.Media[0].Name != "a.png" {
			t.Fatalf("%+v", in)
		}
		h.srv.ExpireLinks()
		data, err := h.ch.Fetch(h.t.Context(), in.Media[0], 100)
		if err != nil || string(data) != "png" {
			t.Errorf("%q, %v", data, err)
		}
		big := in.Media[0]
		big.Size = 0
		if _, err := h.ch.Fetch(h.t.Context(), big, 2); channels.Classify(err).Class != channels.Rejected {
			t.Errorf("too large: %v", err)
		}
		h.srv.Delete(h.dm, string(in.ID))
		h.srv.ExpireLinks()
		if _, err := h.ch.Fetch(h.t.Context(), in.Media[0], 100); channels.Classify(err).Class != channels.Rejected {
			t.Errorf("a message that is gone: %v", err)
		}
	})
}

func TestEditsAndDeletions(t *testing.T) {
	inBubble(t, func(h *host) {
		id := h.srv.Say(general, anna, "one")
		h.one()
		h.srv.Unfurl(general, id)
		h.after(time.Second)
		if list := h.taken(); len(list) != 0 {
			t.Errorf("a preview counts as an edit: %+v", list)
		}
		h.srv.Edit(general, id, "two")
		in := h.one()
		if in.Event != channels.Edited || string(in.Target) != id || in.Text != "two" || in.ID == channels.MessageID(id) || in.Sender.ID != anna {
			t.Errorf("%+v", in)
		}
		h.srv.Unfurl(general, id)
		h.srv.Delete(general, id)
		in = h.one()
		if in.Event != channels.Deleted || string(in.Target) != id || in.Sender.ID != anna || len(in.Roles) != 1 {
			t.Errorf("%+v", in)
		}
		a, b := h.srv.Say(general, anna, "a"), h.srv.Say(general, bert, "b")
		h.after(time.Second)
		h.taken()
		h.srv.Delete(general, a, b)
		h.after(time.Second)
		if list := h.taken(); len(list) != 2 || string(list[1].Target) != b || list[1].Sender.ID != bert {
			t.Errorf("%+v", list)
		}
	})
}

func TestReactions(t *testing.T) {
	inBubble(t, func(h *host) {
		id := h.srv.Say(general, anna, "one")
		h.one()
		h.srv.React(general, id, bert, "👍")
		in := h.one()
		if in.Event != channels.Reacted || string(in.Target) != id || in.Emoji != "👍" || in.Sender.ID != bert || in.Sender.Name != "bert" {
			t.Errorf("%+v", in)
		}
		h.srv.Unreact(general, id, bert, "👍")
		off := h.one()
		if off.Event != channels.Reacted || off.Emoji != "" || off.ID == in.ID || off.Sender.Name != "bert" {
			t.Errorf("%+v", off)
		}
		if err := h.ch.React(h.t.Context(), room(), channels.MessageID(id), "👀"); err != nil {
			t.Fatal(err)
		}
		if in := h.one(); !in.SentByThisLogin {
			t.Errorf("%+v", in)
		}
	})
}

func TestNamesAndPlaces(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Rename(side, "new side")
		if in := h.one(); in.Event != channels.Renamed || in.Title != "new side · Town" || in.Address.Chat != side || in.Parent != general {
			t.Errorf("%+v", in)
		}
		thread := h.srv.StartThread(general, anna, "fresh", "")
		h.srv.Say(thread, anna, "in it")
		if in := h.one(); in.Parent != general || in.Title != "fresh · Town" {
			t.Errorf("%+v", in)
		}
		h.srv.AddGroupDM("700000000000000001", "three", anna, bert)
		h.srv.Say("700000000000000001", bert, "hi all")
		if in := h.one(); in.Address.Type != channels.Group || in.Title != "three" {
			t.Errorf("%+v", in)
		}
	})
}

func TestSystemMessages(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Say(general, anna, "", discordtest.OfType(6))
		h.srv.Say(general, anna, "thread name", discordtest.OfType(18))
		h.after(time.Second)
		if list := h.taken(); len(list) != 0 {
			t.Errorf("%+v", list)
		}
		h.srv.Say(general, bert, "", discordtest.OfType(7))
		if in := h.one(); in.Event != channels.Joined || len(in.People) != 1 || in.People[0].ID != bert || in.Self {
			t.Errorf("%+v", in)
		}
		h.srv.Say(general, "900000000000000001", "", discordtest.ByWebhook("900000000000000001", "CI"),
			discordtest.With("embeds", []any{map[string]any{"type": "rich", "title": "Title", "description": "Words"}}))
		if in := h.one(); in.Text != "Title\nWords" {
			t.Errorf("%+v", in)
		}
	})
}

func TestUnreadable(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Raw("MESSAGE_CREATE", `{"id":"5","channel_id":"`+general+`","content":7}`)
		in := h.one()
		if in.Event != channels.Unreadable || in.Address.Chat != general || in.Reason == "" || len(in.Raw) == 0 {
			t.Errorf("%+v", in)
		}
		h.srv.Raw("INTERACTION_CREATE", `{"id":"5","channel_id":"`+general+`","type":2,"token":"secret","data":{"type":1,"name":7}}`)
		if in := h.one(); in.Event != channels.Unreadable || strings.Contains(string(in.Raw), "secret") {
			t.Errorf("%+v", in)
		}
		h.srv.Raw("SOMETHING_NEW", `[1]`)
		h.srv.Say(general, anna, "still here")
		if in := h.one(); in.Text != "still here" {
			t.Errorf("%+v", in)
		}
	})
}

func TestGuildsBeforeReady(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Next(discordtest.Link{GuildsFirst: true})
		h.srv.Invalidate(false)
		h.settle()
		h.srv.Say(general, anna, "<@&"+discordtest.BotRole(town)+"> hi")
		if in := h.one(); in.Title != "#general · Town" || !in.Mentioned {
			t.Errorf("%+v", in)
		}
	})
}

// FuzzDecode feeds raw gateway messages: whatever comes, decoding ends, and what it gives is whole.
func FuzzDecode(f *testing.F) {
	seeds := []string{
		`{"t":"MESSAGE_CREATE","d":{"id":"7","channel_id":"5","guild_id":"4","author":{"id":"3","username":"a"},"content":"<@1> <#5> <:x:9>","mentions":[{"id":"1"}]}}`,
		`{"t":"MESSAGE_CREATE","d":{"id":"7","channel_id":"5","type":21,"author":{"id":"3"},"referenced_message":{"id":"6","content":"x"}}}`,
		`{"t":"MESSAGE_CREATE","d":{"id":"7","channel_id":"5","author":{"id":"3"},"message_reference":{"type":1},"message_snapshots":[{"message":{"content":"f","attachments":[{"id":"1","url":"https://x/y"}]}}]}}`,
		`{"t":"MESSAGE_UPDATE","d":{"id":"7","channel_id":"5","author":{"id":"3"},"content":"x","edited_timestamp":"2026-01-01T00:00:00+00:00"}}`,
		`{"t":"MESSAGE_DELETE_BULK","d":{"ids":["1","2"],"channel_id":"5"}}`,
		`{"t":"MESSAGE_REACTION_ADD","d":{"user_id":"1","message_id":"2","channel_id":"5","emoji":{"name":"x","id":"9"}}}`,
		`{"t":"INTERACTION_CREATE","d":{"id":"1","type":2,"token":"t","channel_id":"5","channel":{"type":11,"parent_id":"4"},"user":{"id":"3"},"data":{"name":"new","options":[{"name":"args","value":"a"},{"name":"s","options":[{"name":"n","value":1}]}]}}}`,
		`{"t":"THREAD_UPDATE","d":{"id":"5","name":"new","type":11}}`,
		`{"t":"GUILD_CREATE","d":{"id":"4","name":"g","roles":[{"id":"9","tags":{"bot_id":"1"}}],"channels":[{"id":"5","type":0,"name":"c"}],"system_channel_id":"5"}}`,
		`{"t":"GUILD_MEMBER_ADD","d":{"guild_id":"4","user":{"id":"8"}}}`,
	}
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var fr frame
		if json.Unmarshal(raw, &fr) != nil {
			return
		}
		known := newNames()
		for _, s := range seeds[8:9] {
			var g frame
			_ = json.Unmarshal([]byte(s), &g)
			known.learn(&event{kind: g.Type, data: g.Data})
		}
		d := decoder{account: "a", me: identity{User: "1", Application: "1", Name: "bot"}, names: known, recent: newRecent(), members: true}
		e := event{kind: fr.Type, data: fr.Data, at: time.Unix(1, 0), mark: "m.1"}
		known.learn(&e)
		_ = known.chatOf(e)
		for _, in := range d.decode(e) {
			if in.ID == "" || in.Address.Chat == "" || in.Address.Channel != Kind || in.Event == "" || in.Time.IsZero() {
				t.Errorf("not whole: %+v", in)
			}
			if !utf8.ValidString(in.Text) || strings.ContainsRune(in.Text, 0) || len(in.Raw) > channels.MaxRaw {
				t.Errorf("not clean: %+v", in)
			}
		}
	})
}
