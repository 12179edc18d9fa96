package telegram_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"parley/channels"
	"parley/channels/telegram/telegramtest"
)

func TestReactionsOfPeople(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		synctest.Wait() // the bot has said what it wants
		sent, err := r.ch.Send(t.Context(), channels.Outbound{To: inTopic, Text: "in the topic"})
		if err != nil {
			t.Fatal(err)
		}
		id := number(sent.ID)
		r.srv.Reacts(forum, bert, id, "👍")
		r.srv.Reacts(forum, bert, id, "👍", "🔥")
		r.srv.Reacts(forum, bert, id)
		seen := map[channels.MessageID]bool{}
		for i, in := range r.wait(3) {
			want := []string{"👍", "👍 🔥", ""}[i]
			if in.Event != channels.Reacted || in.Target != sent.ID || in.Emoji != want || in.Address != inTopic || in.Sender.ID != "1002" || in.SentByThisLogin {
				t.Errorf("%d: %+v", i, in)
			}
			seen[in.ID] = true
		}
		if len(seen) != 3 {
			t.Errorf("ids %v: a change would be taken for a repeat", seen)
		}
	})
}

// A chat in whose name an anonymous admin reacts is the sender; emoji that have no text are named.
func TestOddReactions(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		const update = `{"update_id":$id,"message_reaction":{"chat":{"id":-5,"type":"supergroup","title":"G"},"message_id":3,"date":1,"actor_chat":{"id":-5,"type":"supergroup","title":"G"},
			"old_reaction":[],"new_reaction":[{"type":"custom_emoji","custom_emoji_id":"1"},{"type":"paid"},{"type":"emoji","emoji":"👀"}]}}`
		r.srv.Raw(update)
		if in := r.wait(1)[0]; in.Sender.ID != "-5" || in.Emoji != "(an emoji of their own) ⭐ 👀" {
			t.Errorf("%+v", in)
		}
	})
}

func TestTopicsComeAndGo(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		opened := r.srv.OpenTopic(forum, anna, "Ideas")
		r.srv.Say(forum, anna, "one", telegramtest.InTopic(opened.MessageID))
		r.srv.RenameTopic(forum, anna, opened.MessageID, "Good ideas")
		r.srv.RenameTopic(forum, anna, opened.MessageID, "") // only its icon
		r.srv.CloseTopic(forum, anna, opened.MessageID, true)
		r.srv.Say(forum, anna, "two", telegramtest.InTopic(opened.MessageID))
		at := inTopic
		at.Thread = channels.ThreadID(r.wait(1)[0].ID)
		got := r.wait(4)
		for i, want := range []struct {
			event channels.Event
			title string
		}{{channels.Renamed, "Forum / Ideas"}, {channels.Message, "Forum / Ideas"}, {channels.Renamed, "Forum / Good ideas"}, {channels.Message, "Forum / Good ideas"}} {
			if got[i].Event != want.event || got[i].Title != want.title || got[i].Address != at {
				t.Errorf("%d: %+v, want %+v at %s", i, got[i], want, at)
			}
		}
		// Into a topic that is closed or gone nothing is written, and nothing goes elsewhere instead.
		send := func() error {
			_, err := r.ch.Send(t.Context(), channels.Outbound{To: at, Text: "x", Plain: "x", ReplyTo: got[1].ID})
			return err
		}
		if err := send(); class(err) != channels.Rejected {
			t.Errorf("closed: %v", err)
		}
		r.srv.CloseTopic(forum, anna, opened.MessageID, false)
		r.srv.DeleteTopic(forum, opened.MessageID)
		if err := send(); class(err) != channels.Rejected || len(r.srv.Sent()) != 0 {
			t.Errorf("deleted: %v, shown %+v", err, r.srv.Sent())
		}
	})
}

func TestMembers(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		nora, carl := telegramtest.User{ID: 8, Name: "Nora", Username: "nora_n"}, telegramtest.User{ID: 9, Name: "Carl"}
		us := telegramtest.User{ID: telegramtest.BotID, Name: "Parley", Bot: true}
		r.srv.Joins(team, anna, us) // said by the next one
		r.srv.Membership(team, anna, "left", "member")
		r.srv.Joins(team, anna, nora, us, carl)
		r.srv.Membership(team, anna, "member", "administrator") // other rights
		r.srv.Leaves(team, 9, carl)
		r.srv.Leaves(team, anna, us) // said by the next one
		r.srv.Membership(team, anna, "administrator", "kicked")
		r.srv.Membership(bert, bert, "member", "kicked") // he blocked the bot
		got := map[channels.ChatID][]channels.Inbound{}
		for _, in := range r.wait(5) {
			got[in.Address.Chat] = append(got[in.Address.Chat], in)
		}
		inGroup := got[inTeam.Chat]
		if len(inGroup) != 4 {
			t.Fatalf("%+v", inGroup)
		}
		for i, want := range []struct {
			event  channels.Event
			people string
			self   bool
			sender channels.UserID
		}{
			{channels.Joined, telegramtest.BotUsername, true, "1001"}, {channels.Joined, "Nora Carl", false, "1001"},
			{channels.Left, "Carl", false, "9"}, {channels.Left, telegramtest.BotUsername, true, "1001"},
		} {
			in := inGroup[i]
			var names []string
			for _, p := range in.People {
				names = append(names, p.Name)
			}
			if in.Event != want.event || strings.Join(names, " ") != want.people || in.Self != want.self || in.Sender.ID != want.sender || in.Title != "Team" || in.ID == "" {
				t.Errorf("%d: %+v, want %+v", i, in, want)
			}
		}
		if blocked := got["1002"]; len(blocked) != 1 || blocked[0].Event != channels.Left || !blocked[0].Self || blocked[0].Address != direct("1002") {
			t.Errorf("blocked: %+v", blocked)
		}
		if _, err := r.ch.Send(t.Context(), channels.Outbound{To: direct("1002"), Text: "x"}); class(err) != channels.Rejected {
			t.Errorf("to who blocked the bot: %v", err)
		}
	})
}

func TestRenamedAndMoved(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.srv.AddGroup(-6, "Old")
		r.srv.Say(-6, anna, "before")
		r.srv.Rename(-6, anna, "New")
		r.srv.Migrate(-6, -1006)
		r.srv.Say(-1006, anna, "after")
		got := r.wait(5)
		var kinds []string
		for _, in := range got {
			kinds = append(kinds, string(in.Event)+" "+string(in.Address.Chat)+" "+string(in.MovedTo))
		}
		if want := "message -6 ,renamed -6 ,moved -6 -1006,moved -6 -1006,message -1006 "; strings.Join(kinds, ",") != want {
			t.Errorf("%q", kinds)
		}
		if got[1].Title != "New" || got[2].ID != got[3].ID || got[2].ID == "" {
			t.Errorf("both words about the move are one event: %+v", got)
		}
	})
}

func TestEditsNameTheirMessage(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		said := r.srv.Say(team, anna, "one")
		r.srv.Edit(said, "two")
		r.srv.Edit(said, "three")
		post := r.srv.Say(news, 0, "news")
		r.srv.Edit(post, "old news")
		got := r.wait(5)
		var edits []channels.Inbound
		for _, in := range got {
			if in.Event == channels.Edited {
				edits = append(edits, in)
			}
		}
		if len(edits) != 3 || edits[0].ID == edits[1].ID || edits[0].Target != edits[1].Target || edits[2].Address.Type == channels.Group && edits[2].Text == "old news" {
			t.Fatalf("%+v", edits)
		}
		for _, in := range edits {
			if number(in.Target) <= 0 || in.Text == "one" || in.Text == "news" {
				t.Errorf("%+v", in)
			}
		}
	})
}

// What is not written to the bot as itself, and what nobody asked for, is confirmed, never offered, and counted.
func TestForeignKindsAreIgnored(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		const body = `{"message_id":5,"date":1,"chat":{"id":1001,"type":"private","first_name":"A"},"from":{"id":1001,"is_bot":false,"first_name":"A"},"text":"for my employer"`
		for _, u := range []string{
			`"business_message":` + body + `,"business_connection_id":"b"}`, `"edited_business_message":` + body + `,"business_connection_id":"b"}`, `"guest_message":` + body + `,"guest_query_id":"g"}`,
			`"message":` + body + `,"business_connection_id":"b"}`, `"business_connection":{"id":"b"}`, `"callback_query":{"id":"1"}`, `"chat_boost":{}`,
		} {
			r.srv.Raw(`{"update_id":$id,` + u + `}`)
		}
		last := r.srv.Say(anna, anna, "to you")
		if err := r.srv.WaitConfirmed(t.Context(), last.UpdateID); err != nil {
			t.Fatal(err)
		}
		if got := r.wait(1); len(got) != 1 || got[0].Text != "to you" {
			t.Errorf("%+v", got)
		}
		if !strings.Contains(r.log.String(), `kind=guest_message "so far"=1`) || !strings.Contains(r.log.String(), `kind="business or guest message"`) {
			t.Errorf("no count:\n%s", r.log)
		}
	})
}
