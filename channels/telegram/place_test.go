package telegram_test

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/telegram/telegramtest"
)

const mention = "@" + telegramtest.BotUsername

// A reply in the General topic of a forum carries the number of a reply chain where topics have theirs: it is answered in General, with what
// it replies to.
// source: nutgram's fixture message_general_topic_reply.json; tdlib/telegram-bot-api#447, tdlib/telegram-bot-api#356; grammyjs/auto-thread#3
func TestReplyInGeneral(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		bob := r.srv.Say(forum, bert, "the meeting is at 5")
		r.srv.Say(forum, anna, mention+" when is it?", telegramtest.ReplyTo(bob.MessageID))
		in := r.wait(2)[1]
		general := channels.Address{Channel: "telegram", Account: "default", Chat: inTopic.Chat, Type: channels.Group}
		if in.Address != general || in.Quote == nil || in.Quote.Text != "the meeting is at 5" || !in.Mentioned {
			t.Errorf("%+v %+v", in, in.Quote)
		}
		answer, err := r.ch.Send(t.Context(), channels.Outbound{To: in.Address, Text: "At 5.", Plain: "At 5.", ReplyTo: in.ID})
		if err != nil {
			t.Fatal(err)
		}
		r.srv.Say(forum, anna, "are you sure?", telegramtest.ReplyTo(number(answer.ID)))
		if in := r.wait(3)[2]; in.Address != general || !in.Mentioned || in.Quote == nil || in.Quote.Text != "At 5." || !in.Quote.FromBot {
			t.Errorf("a reply to the bot: %+v %+v", in, in.Quote)
		}
	})
}

// A group that switched its topics off goes on naming them; sends to them are refused.
// source: tdlib/telegram-bot-api#447; tucnak/telebot#762, tucnak/telebot#778
func TestTopicsSwitchedOff(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.srv.SwitchTopics(forum, false)
		r.srv.Say(forum, anna, "hello", telegramtest.InTopic(topic))
		in := r.wait(1)[0]
		if in.Address.Thread != "" {
			t.Errorf("%+v", in)
		}
		if _, err := r.ch.Send(t.Context(), channels.Outbound{To: in.Address, Text: "x", Plain: "x"}); err != nil {
			t.Error(err)
		}
		if err := r.ch.Typing(t.Context(), in.Address); err != nil {
			t.Error(err)
		}
	})
}

// In the direct messages of a channel each topic is a person: two of them never share a session, answers of every kind reach the right one,
// and a message that does not say whose it is reaches no agent.
// source: the Bot API's Message.direct_messages_topic (9.2)
func TestDirectMessagesOfAChannel(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		const chat int64 = -1005550001
		r.srv.AddDirectMessages(chat, "News")
		r.srv.Say(chat, anna, "my secret is 1234", telegramtest.InDirect(anna))
		asked := r.srv.Say(chat, bert, "what did others say?", telegramtest.InDirect(bert))
		got := r.wait(2)
		if a, b := got[0].Address, got[1].Address; a == b || a.Chat != b.Chat || a.Thread == "" || b.Thread == "" || got[1].Title != "News / User 1002" {
			t.Fatalf("%+v\n%+v", got[0], got[1])
		}
		r.srv.Say(chat, anna, "I am an admin", telegramtest.InDirect(bert))
		if admin := r.wait(3)[2]; !got[0].Private || !got[1].Private || admin.Private {
			t.Errorf("to the channel: %v %v, of an admin: %v", got[0].Private, got[1].Private, admin.Private)
		}
		to := got[1].Address
		var a attachments
		pdf := a.file(channels.Document, "d.pdf", "application/pdf", []byte("x"))
		ids := map[channels.MessageID]bool{}
		for _, out := range []channels.Outbound{
			{To: to, Text: "x", Plain: "x", ReplyTo: got[1].ID}, {To: to, Text: "f", Plain: "f", Files: []channels.File{pdf}}, {To: to, Text: "a", Plain: "a", Files: []channels.File{pdf, pdf}},
		} {
			receipt, err := r.ch.Send(t.Context(), out)
			if err != nil {
				t.Fatal(err)
			}
			ids[receipt.ID] = true
		}
		for _, m := range r.srv.Sent() {
			if m.Direct != bert || m.Chat != chat || m.Thread != 0 {
				t.Errorf("%+v", m)
			}
			if err := r.ch.Edit(t.Context(), channels.MessageID(numbered(m.ID)), channels.Outbound{To: to, Text: "y", Plain: "y"}); len(m.Files) == 0 && err != nil {
				t.Error(err)
			}
		}
		if err := r.ch.Typing(t.Context(), to); class(err) != channels.Unsupported || len(r.srv.Calls("sendChatAction")) != 0 {
			t.Errorf("typing: %v", err)
		}
		r.srv.Reacts(chat, bert, asked.MessageID, "👍")
		if in := r.wait(4)[3]; in.Address != to {
			t.Errorf("a reaction: %+v", in)
		}
		r.srv.Say(chat, anna, "whose is this?")
		r.srv.Reacts(chat, anna, 424242, "👍")
		for _, in := range r.wait(6)[4:] {
			if in.Event != channels.Unreadable || !strings.Contains(in.Reason, "topic") {
				t.Errorf("%+v", in)
			}
		}
	})
}

// What one member of a group alone sees is a conversation of its own, and the answer is for that member alone.
// source: the Bot API's Message.ephemeral_message_id (10.2), EphemeralMessageParameters (10.3)
func TestEphemeral(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.srv.Say(team, anna, "/status@"+telegramtest.BotUsername, telegramtest.Ephemeral(77))
		in := r.wait(1)[0]
		if in.Event != channels.Message || in.Address.Thread == "" || in.ID == "0" || in.Addressed != "/status" {
			t.Fatalf("%+v", in)
		}
		receipt, err := r.ch.Send(t.Context(), channels.Outbound{To: in.Address, Text: "fine", Plain: "fine", ReplyTo: in.ID})
		sent := r.srv.Sent()
		if err != nil || len(sent) != 1 || sent[0].Only != anna || sent[0].ReplyTo != 77 || receipt.ID == "" || receipt.ID == "0" {
			t.Fatalf("%v %+v %+v", err, receipt, sent)
		}
		if c := r.srv.Calls("sendMessage")[0]; c.Params.Get("ephemeral_message_parameters") != `{"receiver_user_id":1001}` {
			t.Errorf("%v", c.Params)
		}
		for name, err := range map[string]error{"typing": r.ch.Typing(t.Context(), in.Address), "a reaction": r.ch.React(t.Context(), in.Address, in.ID, "👍")} {
			if class(err) != channels.Unsupported {
				t.Errorf("%s would be seen by everybody: %v", name, err)
			}
		}
		if n := r.ch.Limits(in.Address).Files; n != 1 {
			t.Errorf("%d files", n)
		}
	})
}

// The bot's own post comes back from the discussion group of the channel as the channel's words: it is the bot's own, also when the update is
// faster than the answer to the send. What others post is not.
// source: openclaw/openclaw PR#34309; the Bot API's Message.is_automatic_forward
func TestOwnPostComesBack(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		channel := channels.Address{Channel: "telegram", Account: "default", Chat: "-1005555555555", Type: channels.Room}
		back := func(id int64) {
			chat := map[string]any{"id": news, "type": "channel", "title": "News"}
			r.srv.Say(team, 777000, "post", telegramtest.With("is_automatic_forward", true), telegramtest.With("sender_chat", chat),
				telegramtest.With("forward_origin", map[string]any{"type": "channel", "date": 1, "chat": chat, "message_id": id}))
		}
		receipt, err := r.ch.Send(t.Context(), channels.Outbound{To: channel, Text: "post", Plain: "post"})
		if err != nil {
			t.Fatal(err)
		}
		back(number(receipt.ID))
		back(424242)
		if got := r.wait(2); !got[0].SentByThisLogin || got[1].SentByThisLogin || got[1].Origin != "News" || !got[1].Forwarded {
			t.Errorf("%+v\n%+v", got[0], got[1])
		}
		r.srv.Inject(telegramtest.Fault{Method: "sendMessage", Arrives: true, Delay: time.Second}) // and an answer that comes late, and is an error
		go func() { _, _ = r.ch.Send(t.Context(), channels.Outbound{To: channel, Text: "again", Plain: "again"}) }()
		synctest.Wait()
		back(number(receipt.ID) + 1)
		if got := r.wait(3); got[2].SentByThisLogin {
			t.Errorf("a send that is not known to have arrived: %+v", got[2])
		}
	})
}

// A press on the button below a draft stops that answer, and no other.
// source: the Bot API's MessageGenerationStopped (10.3)
func TestStopOfADraft(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		to := direct("1001")
		if err := r.ch.Draft(t.Context(), to, "run-1", "Well"); err != nil {
			t.Fatal(err)
		}
		shown := r.srv.Drafts()[0]
		if !shown.Stop {
			t.Error("a draft without a button")
		}
		r.srv.StopDraft(shown)
		if in := r.wait(1)[0]; in.Event != channels.Message || in.Text != "/stop" || in.Sender.ID != "1001" || in.Address.Chat != "1001" || in.Address.Type != channels.Direct {
			t.Errorf("%+v", in)
		}
		if _, err := r.ch.Send(t.Context(), channels.Outbound{To: to, Text: "Well.", Plain: "Well."}); err != nil {
			t.Fatal(err)
		}
		late := r.srv.StopDraft(shown)
		if err := r.srv.WaitConfirmed(t.Context(), late.UpdateID); err != nil || len(r.got) != 1 {
			t.Errorf("%v, a late press stops the next answer: %+v", err, r.got[1:])
		}
	})
}

// Drafts of two topics of one chat do not take each other's place.
func TestDraftsOfTopics(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		first, second := direct("1001"), direct("1001")
		first.Thread, second.Thread = "5", "6"
		for _, to := range []channels.Address{first, second, first} {
			if err := r.ch.Draft(t.Context(), to, "run "+string(to.Thread), "x"); err != nil {
				t.Error(err)
			}
		}
		if receipt, err := r.ch.Send(t.Context(), channels.Outbound{To: second, Text: "x", Plain: "x"}); err != nil || receipt.LeftOut != "the topic" {
			t.Errorf("%+v, %v", receipt, err) // the stand-in knows no such topic
		}
		if err := r.ch.Draft(t.Context(), first, "run 5", "more"); err != nil {
			t.Error(err)
		}
		if n := len(r.srv.Calls("sendMessageDraft")); n != 4 {
			t.Errorf("%d drafts", n)
		}
	})
}

// A server that answers polls at once with nothing is asked twice a second at most, and what comes is heard as soon.
// source: the Bot API's getUpdates, timeout: "0, i.e. usual short polling"
func TestServerWithoutLongPolling(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.srv.Impatient(true)
		r.srv.Disconnect()
		time.Sleep(time.Second) // virtual time
		r.srv.Forget()
		time.Sleep(time.Minute) // virtual time
		if n := len(r.srv.Calls("getUpdates")); n > 121 || n < 60 {
			t.Errorf("%d polls in a minute", n)
		}
		began := time.Now()
		r.srv.Say(anna, anna, "hello")
		r.wait(1)
		if took := time.Since(began); took > time.Second {
			t.Errorf("heard after %s", took)
		}
	})
}

// Dates in milliseconds are read as what is meant, in what comes in and in what was sent, and no value is out of any range.
// source: the Bot API's Message.date (Unix time in seconds)
func TestDatesInMilliseconds(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.srv.Milliseconds(true)
		r.srv.Say(anna, anna, "hello")
		if in := r.wait(1)[0]; time.Since(in.Time).Abs() > time.Minute {
			t.Errorf("said at %s", in.Time)
		}
		receipt, err := r.ch.Send(t.Context(), channels.Outbound{To: direct("1001"), Text: "x", Plain: "x"})
		if err != nil || time.Since(receipt.At).Abs() > time.Minute {
			t.Errorf("%v, sent at %s", err, receipt.At)
		}
		for i, odd := range []string{"-5", "1e300", `"soon"`, "9223372036854775807", "null", "1.5"} {
			r.srv.Raw(`{"update_id":$id,"message":{"message_id":` + numbered(int64(500+i)) + `,"date":` + odd + `,"chat":{"id":1001,"type":"private"},"from":{"id":1001,"first_name":"A"},"document":{"file_id":"f","file_size":` + odd + `}}}`)
		}
		for _, in := range r.wait(7)[1:] {
			if in.Event != channels.Message || in.Time.Year() < 1970 || in.Time.Year() > 2100 || len(in.Media) != 1 || in.Media[0].Size < 0 || in.Media[0].Size > 1<<50 {
				t.Errorf("%+v", in)
			}
		}
	})
}

// A person without an @name is notified by an answer that names them; those who have one are by that, and code and links stay as they are.
// source: the Bot API's formatting options, tg://user?id=
func TestMentionByNumber(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.srv.AddUser(telegramtest.User{ID: 1003, Name: "Zoë & Co"})
		r.srv.Say(team, bert, "hi")
		r.srv.Say(team, anna, "hi")
		r.srv.Say(team, 1003, "hi")
		for _, kim := range []int64{1004, 1005} { // two people: none is notified rather than the wrong one
			r.srv.AddUser(telegramtest.User{ID: kim, Name: "Kim"})
			r.srv.Say(team, kim, "hi")
		}
		r.wait(5)
		const text = `@Bert, @Bertram, x@Bert <b>@Bert</b> <code>@Bert</code> @anna_a @Anna @Kim @Zoë &amp; Co https://example.com/@Bert example.com/a/@Bert`
		want := `<a href="tg://user?id=1002">@Bert</a>, @Bertram, x@Bert <b><a href="tg://user?id=1002">@Bert</a></b> <code>@Bert</code> @anna_a @Anna @Kim <a href="tg://user?id=1003">@Zoë &amp; Co</a> https://example.com/@Bert example.com/a/@Bert`
		if _, err := r.ch.Send(t.Context(), channels.Outbound{To: inTeam, Text: text, Plain: "x"}); err != nil {
			t.Fatal(err)
		}
		if sent := r.srv.Sent(); sent[0].Raw != want || sent[0].Links[0] != "tg://user?id=1002" {
			t.Errorf("%s", sent[0].Raw)
		}
	})
}

func numbered(id int64) string { return strconv.FormatInt(id, 10) }
