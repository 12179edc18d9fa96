package telegram

import (
	"encoding/json"
	"fmt"
	"strings"
)

// metaFields are fields of a message that say how it was sent, not what it says.
var metaFields = fieldSet(`message_id ephemeral_message_id receiver_user message_thread_id direct_messages_topic from sender_chat sender_boost_count sender_business_bot
	sender_tag date guest_query_id guest_bot_caller_user guest_bot_caller_chat business_connection_id chat forward_origin is_topic_message is_automatic_forward reply_to_message
	external_reply quote reply_to_story reply_to_checklist_task_id reply_to_poll_option_id via_bot edit_date has_protected_content
	is_from_offline is_paid_post media_group_id author_signature paid_star_count text entities link_preview_options
	suggested_post_info effect_id caption caption_entities show_caption_above_media has_media_spoiler reply_markup`)

// serviceFields are what Telegram itself reports in a chat, which no agent has a use for: skipped and counted.
var serviceFields = fieldSet(`new_chat_members left_chat_member new_chat_title forum_topic_created chat_owner_left chat_owner_changed new_chat_photo
	delete_chat_photo group_chat_created supergroup_chat_created channel_chat_created message_auto_delete_timer_changed
	pinned_message gift_upgrade_sent connected_website write_access_allowed passport_data proximity_alert_triggered boost_added
	chat_background_set checklist_tasks_done checklist_tasks_added direct_message_price_changed
	forum_topic_edited forum_topic_closed forum_topic_reopened general_forum_topic_hidden general_forum_topic_unhidden
	giveaway_created giveaway_completed managed_bot_created paid_message_price_changed poll_option_added
	poll_option_deleted suggested_post_approved suggested_post_approval_failed suggested_post_declined suggested_post_paid
	suggested_post_refunded community_chat_added community_chat_removed video_chat_scheduled video_chat_started video_chat_ended video_chat_participants_invited`)

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
				if serviceFields[f] {
					return f, ""
				}
				if !metaFields[f] {
					why = fmt.Sprintf("a %s with nothing known in it but %.60q", kind, f)
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
			why = fmt.Sprintf("unknown kind of update %.60q", kind)
		}
	}
	if why == "" {
		why = "an update without content"
	}
	return "", why
}
