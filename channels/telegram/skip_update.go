package telegram

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// metaFields are fields of a message that say how it was sent, not what it says.
var metaFields = fieldSet(`message_id ephemeral_message_id receiver_user message_thread_id direct_messages_topic from sender_chat sender_boost_count sender_business_bot
	sender_tag date guest_query_id guest_bot_caller_user guest_bot_caller_chat business_connection_id chat forward_origin is_topic_message is_automatic_forward reply_to_message
	external_reply quote reply_to_story reply_to_checklist_task_id reply_to_poll_option_id via_bot edit_date has_protected_content
	is_from_offline is_paid_post media_group_id author_signature paid_star_count text entities link_preview_options
	suggested_post_info effect_id caption caption_entities show_caption_above_media has_media_spoiler reply_markup`)

// otherUpdates are kinds of updates that are not asked for; the server may still send some that it queued earlier.
var otherUpdates = fieldSet(`business_connection business_message edited_business_message deleted_business_messages guest_message
	message_reaction_count inline_query chosen_inline_result callback_query shipping_query pre_checkout_query
	purchased_paid_media poll poll_answer chat_member chat_join_request chat_boost removed_chat_boost managed_bot subscription`)

func fieldSet(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// knownFields are the fields of a message that are read.
var knownFields = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[wireMessage]()) {
		set[f.Tag.Get("json")] = true
	}
	return set
})

// mayBeForeign reports whether there may be something in updates of a kind that is not known here: an object under a name that no message
// has. Most updates have none, and are not read a second time.
func mayBeForeign(raw []byte) bool {
	for at, c := range raw {
		if c != '{' {
			continue
		}
		before, isField := bytes.CutSuffix(bytes.TrimRight(raw[:at], " \t\r\n"), []byte{':'})
		if !isField {
			continue
		}
		before = bytes.TrimSuffix(bytes.TrimRight(before, " \t\r\n"), []byte{'"'})
		name := before[bytes.LastIndexByte(before, '"')+1:]
		if !messageFields[string(name)] && !metaFields[string(name)] && services[string(name)] == "" && !knownFields()[string(name)] {
			return true
		}
	}
	return false
}

// messageFields are the fields of an update that have a message.
var messageFields = fieldSet("message edited_message channel_post edited_channel_post")

// unread are the messages of an update by the names of their fields.
type unread struct {
	Message           map[string]json.RawMessage `json:"message"`
	EditedMessage     map[string]json.RawMessage `json:"edited_message"`
	ChannelPost       map[string]json.RawMessage `json:"channel_post"`
	EditedChannelPost map[string]json.RawMessage `json:"edited_channel_post"`
}

// note has the messages of an update know whether there is something in them of a kind that is not known here. What people send comes as an
// object; numbers and texts are facts about the message.
func (x *unread) note(u *wireUpdate) {
	for m, fields := range map[*wireMessage]map[string]json.RawMessage{u.Message: x.Message, u.EditedMessage: x.EditedMessage, u.ChannelPost: x.ChannelPost, u.EditedChannelPost: x.EditedChannelPost} {
		for f, value := range fields {
			if m != nil && !metaFields[f] && services[f] == "" && !knownFields()[f] && len(value) > len("{}") && value[0] == '{' {
				m.unknown = true
			}
		}
	}
}

// judge says of an update without known content why it may be skipped, or else what is odd about it.
func judge(raw json.RawMessage) (skip, why string) {
	var update map[string]json.RawMessage
	if json.Unmarshal(raw, &update) != nil {
		return "", ""
	}
	delete(update, "update_id")
	for kind, body := range update {
		switch kind {
		case "message", "edited_message", "channel_post", "edited_channel_post":
			var fields map[string]json.RawMessage
			if json.Unmarshal(body, &fields) != nil || fields == nil {
				return "", "an empty " + kind
			}
			for f := range fields {
				if services[f] != "" {
					return f, ""
				}
				if !metaFields[f] {
					why = fmt.Sprintf("%s with only the unknown field %.60q", kind, f)
				}
			}
			if why == "" {
				why = "a " + kind + " without content"
			}
			return "", why
		default:
			if otherUpdates[kind] {
				return kind, ""
			}
			why = fmt.Sprintf("unknown update kind %.60q", kind)
		}
	}
	if why == "" {
		why = "an update without content"
	}
	return "", why
}
