package telegram

import "testing"

// A reply to a line of Telegram's own, to a message of a kind that is not known here, or to one that cannot be read quotes it in words.
// source: https://core.telegram.org/bots/api#message, #inaccessiblemessage ("Always 0. The field can be used to differentiate regular and inaccessible messages"), #externalreplyinfo
func TestRepliesToWhatSaysNothing(t *testing.T) {
	t.Parallel()
	const head = `,"reply_to_message":{"message_id":4,"date":1700000000,"from":{"id":3,"first_name":"Bob"},"chat":{"id":-100,"type":"supergroup","title":"G"}`
	for fields, want := range map[string]string{
		head + `,"pinned_message":{"message_id":2,"date":0,"chat":{"id":-100,"type":"supergroup","title":"G"}}}`:        "[a message was pinned]",
		head + `,"new_chat_members":[{"id":5,"first_name":"Eve"}]}`:                                                     "[somebody joined]",
		head + `,"new_chat_title":"Team B"}`:                                                                            "[the chat got another name: Team B]",
		head + `,"video_chat_scheduled":{"start_date":1700000000}}`:                                                     "[a video chat was planned]",
		head + `,"hologram":{"file_id":"h"}}`:                                                                           "[a message of a kind that is not known here]",
		head + `}`:                                                                                                      "[a message that cannot be read any more]",
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
