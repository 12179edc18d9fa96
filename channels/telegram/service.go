package telegram

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"parley/channels"
)

// services say in words what Telegram's own lines are about, by the field of the message that has it, https://core.telegram.org/bots/api#message.
// As messages no agent has a use for them: they are skipped and counted. As what somebody answers to they are named.
var services = map[string]string{
	"new_chat_members": "somebody joined", "left_chat_member": "somebody left", "new_chat_title": "the chat got another name", "new_chat_photo": "the chat got another picture",
	"delete_chat_photo": "the picture of the chat was removed", "chat_owner_left": "the owner left the chat", "chat_owner_changed": "the chat has another owner",
	"group_chat_created": "the group was made", "supergroup_chat_created": "the group was made", "channel_chat_created": "the channel was made",
	"migrate_to_chat_id": "the group became a supergroup", "migrate_from_chat_id": "the group became a supergroup",
	"message_auto_delete_timer_changed": "messages are deleted after another time", "pinned_message": "a message was pinned",
	"connected_website": "a website was connected", "write_access_allowed": "the bot may write", "passport_data": "data of a passport", "proximity_alert_triggered": "two people are near each other",
	"boost_added": "a boost of the chat", "chat_background_set": "the chat got another background", "gift_upgrade_sent": "an upgrade of a gift",
	"checklist_tasks_done": "tasks of a checklist were done", "checklist_tasks_added": "tasks were added to a checklist",
	"poll_option_added": "an option was added to a poll", "poll_option_deleted": "an option of a poll was deleted",
	"forum_topic_created": "a topic was opened", "forum_topic_edited": "a topic got another name or picture", "forum_topic_closed": "a topic was closed", "forum_topic_reopened": "a topic was opened again",
	"general_forum_topic_hidden": "the topic General was hidden", "general_forum_topic_unhidden": "the topic General is shown again",
	"giveaway_created": "a giveaway began", "giveaway_completed": "a giveaway ended", "managed_bot_created": "a bot was made",
	"direct_message_price_changed": "direct messages have another price", "paid_message_price_changed": "messages have another price",
	"suggested_post_approved": "a suggested post was approved", "suggested_post_approval_failed": "a suggested post could not be approved", "suggested_post_declined": "a suggested post was declined",
	"suggested_post_paid": "a suggested post was paid", "suggested_post_refunded": "a suggested post was refunded",
	"community_chat_added": "the chat was added to a community", "community_chat_removed": "the chat was removed from a community",
	"video_chat_scheduled": "a video chat was planned", "video_chat_started": "a video chat began", "video_chat_ended": "a video chat ended", "video_chat_participants_invited": "people were invited to a video chat",
}

// UnmarshalJSON implements json.Unmarshaler: it notes what a message that is answered has besides what is known of it.
func (r *wireReply) UnmarshalJSON(raw []byte) error {
	type plain wireReply // has no such method
	if err := json.Unmarshal(raw, (*plain)(r)); err != nil {
		return err
	}
	if text, _ := r.words(); text != "" || r.beside() != "" || len(r.media()) > 0 {
		return nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	r.unsaid = unsaid(fields)
	return nil
}

// unsaid names a message without words and files: a line of Telegram's own, a kind that is not known here, one that the bot cannot read.
// It is empty for a message of another chat, of which only the part is told that was quoted.
func unsaid(fields map[string]json.RawMessage) string {
	var names []string
	unknown := false
	for f, value := range fields {
		switch words := services[f]; {
		case words != "":
			names = append(names, words+behind(": ", strings.Join(serviceFieldWords(f, value), ", ")))
		case !metaFields[f] && f != "origin" && string(value) != "[]":
			unknown = true
		}
	}
	slices.Sort(names)
	switch date := string(fields["date"]); {
	case len(names) > 0:
		return channels.HostLine(strings.Join(names, "; "))
	case unknown:
		return "[a message of a kind that is not known here]"
	case date == "0" || date != "" && fields["origin"] == nil:
		return "[a message that cannot be read any more]"
	}
	return ""
}

// serviceFields are the fields of a line of Telegram's own, and of what is in them, that say whom or what it is about, in reading order. Others are ids, prices,
// colours and the message that was changed.
var serviceFields = []string{
	"new_owner", "bot", "traveler", "watcher", "users", "user", "name", "title", "text", "option_text", "tasks", "community", "web_app_name", "comment", "start_date",
}

// serviceFieldWords says whom or what a field of a line of Telegram's own names: people, chats, texts, times, and the message that was pinned.
func serviceFieldWords(field string, raw json.RawMessage) (words []string) {
	add := func(s string) {
		if s = strings.TrimSpace(s); s != "" {
			words = append(words, s)
		}
	}
	var said string
	var at quantity
	var list []json.RawMessage
	var parts map[string]json.RawMessage
	switch {
	case json.Unmarshal(raw, &said) == nil:
		add(said)
	case field == "start_date" && json.Unmarshal(raw, &at) == nil:
		add(moment(at))
	case json.Unmarshal(raw, &list) == nil:
		for _, one := range list {
			words = append(words, serviceFieldWords(field, one)...)
		}
	case json.Unmarshal(raw, &parts) != nil:
	case parts["first_name"] != nil:
		var u wireUser
		_ = json.Unmarshal(raw, &u) // one without a name is not told
		add(cmp.Or(u.name(), u.Username))
	case parts["message_id"] != nil:
		var m wireReply
		if json.Unmarshal(raw, &m) == nil && m.unsaid == "" {
			add((&wireMessage{}).quoted(&m))
		}
	case parts["checklist_message"] != nil:
		return checklistTasks(raw)
	default:
		for _, f := range serviceFields {
			words = append(words, serviceFieldWords(f, parts[f])...)
		}
	}
	return words
}

// checklistTasks are the tasks of a checklist that somebody ticked, or added, as they are now.
func checklistTasks(raw json.RawMessage) (words []string) {
	var t wireTasks
	var in channels.Inbound
	if json.Unmarshal(raw, &t) != nil {
		return nil
	}
	t.change(&in)
	tasks := t.Tasks
	if t.Message != nil && t.Message.Checklist != nil && len(tasks) == 0 {
		for _, task := range t.Message.Checklist.Tasks {
			if slices.Contains(t.Done, task.ID) || slices.Contains(t.Undone, task.ID) {
				tasks = append(tasks, task)
			}
		}
	}
	for _, task := range tasks {
		words = append(words, task.line())
	}
	return words
}
