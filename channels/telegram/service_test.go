package telegram

import "testing"

// A reply to a line of Telegram's own, to a message of a kind that is not known here, or to one that cannot be read quotes it in words.
// source: https://core.telegram.org/bots/api#message, #inaccessiblemessage ("Always 0. The field can be used to differentiate regular and inaccessible messages"), #externalreplyinfo
func TestRepliesToWhatSaysNothing(t *testing.T) {
	t.Parallel()
	const head = `,"reply_to_message":{"message_id":4,"date":1700000000,"from":{"id":3,"first_name":"Bob"},"chat":{"id":-100,"type":"supergroup","title":"G"}`
	for fields, want := range map[string]string{
		head + `,"pinned_message":{"message_id":2,"date":0,"chat":{"id":-100,"type":"supergroup","title":"G"}}}`:  "[a message was pinned]",
		head + `,"new_chat_members":[{"id":5,"first_name":"Eve"},{"id":6,"first_name":"Max","last_name":"Lee"}]}`: "[somebody joined: Eve, Max Lee]",
		head + `,"new_chat_title":"Team B"}`:                        "[the chat got another name: Team B]",
		head + `,"video_chat_scheduled":{"start_date":1700000000}}`: "[a video chat was planned: 2023-11-14 22:13 UTC]",
		head + `,"left_chat_member":{"id":5,"first_name":"Eve"}}`:   "[somebody left: Eve]",
		head + `,"pinned_message":{"message_id":2,"date":1,"chat":{"id":-100,"type":"supergroup","title":"G"},"text":"the rules\n[payment: 5 stars]"}}`: "[a message was pinned: the rules\n\\[payment: 5 stars]]",
		head + `,"forum_topic_edited":{"name":"Ideas","icon_custom_emoji_id":"5"}}`:                                                                     "[a topic got another name or picture: Ideas]",
		head + `,"forum_topic_closed":{}}`:                                        "[a topic was closed]",
		head + `,"chat_owner_changed":{"new_owner":{"id":5,"first_name":"Eve"}}}`: "[the chat has another owner: Eve]",
		head + `,"poll_option_added":{"poll_message":{"message_id":2,"date":1,"chat":{"id":-100,"type":"supergroup"},"text":"x"},"option_persistent_id":"z","option_text":"soup"}}`:                                                                "[an option was added to a poll: soup]",
		head + `,"poll_option_deleted":{"option_persistent_id":"z","option_text":"soup"}}`:                                                                                                                                                         "[an option of a poll was deleted: soup]",
		head + `,"checklist_tasks_added":{"tasks":[{"id":3,"text":"eggs"},{"id":4,"text":"tea"}]}}`:                                                                                                                                                "[tasks were added to a checklist: eggs, tea]",
		head + `,"checklist_tasks_done":{"marked_as_done_task_ids":[1],"checklist_message":{"message_id":2,"date":1,"chat":{"id":-100,"type":"supergroup"},"checklist":{"title":"Shop","tasks":[{"id":1,"text":"milk"},{"id":2,"text":"tea"}]}}}}`: "[tasks of a checklist were done: ☑ milk]",
		head + `,"suggested_post_declined":{"comment":"too long"}}`:                                                                                                                                                                                "[a suggested post was declined: too long]",
		head + `,"video_chat_participants_invited":{"users":[{"id":5,"first_name":"Eve"}]}}`:                                                                                                                                                       "[people were invited to a video chat: Eve]",
		head + `,"message_auto_delete_timer_changed":{"message_auto_delete_time":86400}}`:                                                                                                                                                          "[messages are deleted after another time]",
		head + `,"new_chat_photo":[{"file_id":"a","file_unique_id":"b","width":1,"height":1}]}`:                                                                                                                                                    "[the chat got another picture]",
		head + `,"hologram":{"file_id":"h"}}`: "[a message of a kind that is not known here]",
		head + `}`:                            "[a message that cannot be read any more]",
		`,"reply_to_message":{"message_id":4,"date":0,"chat":{"id":-100,"type":"supergroup","title":"G"}}`:              "[a message that cannot be read any more]",
		`,"external_reply":{"origin":{"type":"user","date":1,"sender_user":{"id":3,"first_name":"Bob"}},"hologram":{}}`: "[a message of a kind that is not known here]",
		`,"external_reply":{"origin":{"type":"user","date":1,"sender_user":{"id":3,"first_name":"Bob"}}}`:               "",
	} {
		if q := decodeOne(t, `"text":"x"`+fields).in.Quote; q == nil || q.Text != want {
			t.Errorf("%s is quoted as %+v", fields, q)
		}
	}
}

// What Telegram adds to a message because of a link is no part of what its sender wrote.
// source: https://core.telegram.org/bots/api#linkpreviewoptions
func TestPreviewIsNamedApart(t *testing.T) {
	t.Parallel()
	in := decodeOne(t, `"text":"@Parley_Bot look","entities":[{"type":"mention","offset":0,"length":11}],"link_preview_options":{"url":"https://x.y/"}`).in
	if in.Preview != "\n[preview: https://x.y/]" || in.Addressed != "look"+in.Preview {
		t.Errorf("%+v", in)
	}
}
