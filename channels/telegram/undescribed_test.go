package telegram_test

import (
	"fmt"
	"strings"
	"testing"

	"parley/channels"
)

// A chat of which Telegram does not say what it is is no person's chat: whatever is told of it reaches no agent, what follows is taken,
// and nothing is sent to an address that stands for it, after a restart as well.
// source: https://core.telegram.org/bots/api#chat ("type": "private", "group", "supergroup" or "channel"; both id and type are always given)
func TestChatThatTelegramDoesNotDescribe(t *testing.T) {
	chats := map[string]string{
		"none": ``, "null": `"chat":null,`, "empty": `"chat":{},`, "no type": `"chat":{"id":-1005550009,"title":"x"},`, "no id": `"chat":{"type":"private"},`,
		"id 0": `"chat":{"id":0,"type":"group"},`, "a new type": `"chat":{"id":-1005550009,"type":"community"},`, "a type that is no text": `"chat":{"id":-1005550009,"type":7},`,
		"a list": `"chat":[],`, "an id that is no number": `"chat":{"id":"general","type":"group"},`, "a topic of nothing": `"message_thread_id":7,"is_topic_message":true,`,
		"direct messages of nobody": `"chat":{"id":-1005550009,"type":"supergroup","is_direct_messages":true},`,
	}
	const from, date = `{"id":1001,"is_bot":false,"first_name":"Anna"}`, `"date":1760000000`
	for name, update := range map[string]string{
		"message":         `"message":{%s"message_id":5,` + date + `,"from":` + from + `,"text":"my secret is 1234"}`,
		"edit":            `"edited_message":{%s"message_id":5,` + date + `,"edit_date":1760000001,"from":` + from + `,"text":"my secret is 1234"}`,
		"post":            `"channel_post":{%s"message_id":5,` + date + `,"text":"my secret is 1234"}`,
		"reaction":        `"message_reaction":{%s"message_id":5,` + date + `,"user":` + from + `,"old_reaction":[],"new_reaction":[{"type":"emoji","emoji":"👍"}]}`,
		"membership":      `"my_chat_member":{%s` + date + `,"from":` + from + `,"old_chat_member":{"status":"left","user":` + from + `},"new_chat_member":{"status":"member","user":` + from + `}}`,
		"stopped a draft": `"stopped_message_generation":{%s"from":` + from + `,"draft_id":5}`,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				n := 0
				for what, chat := range chats {
					if strings.HasPrefix(what, "direct messages") && name != "message" && name != "edit" && name != "post" {
						continue // whose they are is said of messages alone
					}
					r.srv.Raw(`{"update_id":$id,` + fmt.Sprintf(update, chat) + `}`)
					n++
				}
				r.srv.Say(1001, anna, "hello")
				got := r.wait(n + 1)
				for _, in := range got[:n] {
					if in.Event != channels.Unreadable || in.Text != "" || in.Reason == "" {
						t.Errorf("came as %+v", in)
					}
				}
				if last := got[n]; last.Event != channels.Message || last.Text != "hello" {
					t.Errorf("then %+v", last)
				}
				for range 2 {
					to := got[0].Address
					if _, err := r.ch.Send(t.Context(), channels.Outbound{To: to, Text: "x", Plain: "x"}); err == nil || channels.Classify(err).Class != channels.Rejected {
						t.Errorf("sent to %s: %v", to, err)
					}
					if err := r.stop(); err != nil {
						t.Fatal(err)
					}
					r.ch = r.open()
					r.start()
				}
			})
		})
	}
}
