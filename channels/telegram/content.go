package telegram

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"parley/channels"
)

// What a message may carry besides text.
type (
	wireFiles struct {
		Photo     []wirePhoto   `json:"photo"`
		Document  *wireFile     `json:"document"`
		Video     *wireFile     `json:"video"`
		VideoNote *wireFile     `json:"video_note"`
		Audio     *wireFile     `json:"audio"`
		Voice     *wireFile     `json:"voice"`
		Animation *wireFile     `json:"animation"`
		Sticker   *wireFile     `json:"sticker"`
		Location  *wireLocation `json:"location"`
		Venue     *struct {
			Title   string `json:"title"`
			Address string `json:"address"`
		} `json:"venue"`
		Contact *struct {
			Phone     string `json:"phone_number"`
			FirstName string `json:"first_name"`
			LastName  string `json:"last_name"`
		} `json:"contact"`
		Poll *struct {
			Question string `json:"question"`
			Options  []struct {
				Text string `json:"text"`
			} `json:"options"`
		} `json:"poll"`
		Dice *struct {
			Emoji string `json:"emoji"`
			Value int    `json:"value"`
		} `json:"dice"`
	}
	wireFile struct {
		FileID string `json:"file_id"`
		Name   string `json:"file_name"`
		MIME   string `json:"mime_type"`
		Size   int64  `json:"file_size"`
		Emoji  string `json:"emoji"`
	}
	wirePhoto struct {
		FileID string `json:"file_id"`
		Width  int64  `json:"width"`
		Height int64  `json:"height"`
		Size   int64  `json:"file_size"`
	}
	wireLocation struct {
		Latitude  float64 `json:"latitude"`
		Longitude float64 `json:"longitude"`
	}
)

// media lists the files of a message. Telegram sends a picture in several sizes; the largest counts. An animation comes as a
// document as well, which is left out.
func (m *wireMessage) media() []channels.Media {
	var list []channels.Media
	best := -1
	for i, p := range m.Photo {
		if p.FileID != "" && (best < 0 || p.Width*p.Height > m.Photo[best].Width*m.Photo[best].Height) {
			best = i
		}
	}
	if best >= 0 {
		p := m.Photo[best]
		list = append(list, channels.Media{Kind: channels.Image, Ref: p.FileID, MIME: "image/jpeg", Size: p.Size})
	}
	add := func(kind channels.MediaKind, f *wireFile) {
		if f != nil && f.FileID != "" {
			list = append(list, channels.Media{Kind: kind, Ref: f.FileID, Name: clean(f.Name), MIME: clean(f.MIME), Size: f.Size})
		}
	}
	add(channels.Video, m.Video)
	add(channels.Video, m.VideoNote)
	add(channels.Video, m.Animation)
	add(channels.Audio, m.Audio)
	add(channels.Audio, m.Voice)
	add(channels.Sticker, m.Sticker)
	if m.Animation == nil {
		add(channels.Document, m.Document)
	}
	return list
}

// placeholder words what people can send that is neither text nor a file.
func (m *wireMessage) placeholder() string {
	switch {
	case m.Venue != nil:
		return fmt.Sprintf("[place: %s, %s]", m.Venue.Title, m.Venue.Address)
	case m.Location != nil:
		return fmt.Sprintf("[location: %.6f, %.6f]", m.Location.Latitude, m.Location.Longitude)
	case m.Contact != nil:
		return fmt.Sprintf("[contact: %s, %s]", strings.TrimSpace(m.Contact.FirstName+" "+m.Contact.LastName), m.Contact.Phone)
	case m.Poll != nil:
		var options []string
		for _, o := range m.Poll.Options {
			options = append(options, o.Text)
		}
		return fmt.Sprintf("[poll: %s: %s]", m.Poll.Question, strings.Join(options, " / "))
	case m.Dice != nil:
		return fmt.Sprintf("[dice: %s %d]", m.Dice.Emoji, m.Dice.Value)
	case m.Sticker != nil:
		return m.Sticker.Emoji
	default:
		return ""
	}
}

// span is a part of a text that names somebody, in bytes.
type span struct {
	start, end int
	mine       bool
}

// mentions fills in who is mentioned, and the text without the bot's own mention.
func (d decoder) mentions(in *channels.Inbound, text string, entities []wireEntity) {
	var spans []span
	if len(entities) > 0 {
		spans = d.fromEntities(text, entities)
	} else {
		spans = d.fromWords(text) // small servers send no entities
	}
	rest, last := "", 0
	for _, s := range spans {
		if !s.mine {
			in.MentionsOthers = true
			continue
		}
		in.Mentioned = true
		if s.start < last {
			continue
		}
		rest, last = rest+text[last:s.start], s.end
		if rest == "" || strings.HasSuffix(rest, " ") { // no double space, no comma in front
			for last < len(text) && (text[last] == ' ' || rest == "" && strings.IndexByte(",:\n", text[last]) >= 0) {
				last++
			}
		}
	}
	if last > 0 {
		in.Addressed = clean(strings.TrimSpace(rest + text[last:]))
	}
}

// fromEntities finds the mentions that the platform marked.
func (d decoder) fromEntities(text string, entities []wireEntity) []span {
	var spans []span
	for _, e := range entities {
		if e.Type != "mention" && e.Type != "text_mention" && e.Type != "bot_command" {
			continue
		}
		start, end, ok := byteRange(text, e.Offset, e.Length)
		if !ok {
			continue
		}
		word := text[start:end]
		switch e.Type {
		case "mention":
			spans = append(spans, span{start, end, d.isMe(word)})
		case "text_mention":
			spans = append(spans, span{start, end, e.User != nil && e.User.ID == d.me.ID})
		case "bot_command": // /status@name is a mention of name
			if i := strings.IndexByte(word, '@'); i >= 0 {
				spans = append(spans, span{start + i, end, d.isMe(word[i:])})
			}
		}
	}
	return spans
}

// fromWords finds the bot's own name in a text that came without marks.
func (d decoder) fromWords(text string) []span {
	if d.me.Username == "" || !strings.Contains(text, "@") {
		return nil
	}
	var spans []span
	name := "@" + strings.ToLower(d.me.Username)
	lower := strings.ToLower(text)
	if len(lower) != len(text) {
		return nil // lowering moved the bytes; without marks that is not worth more
	}
	for from := 0; ; {
		i := strings.Index(lower[from:], name)
		if i < 0 {
			return spans
		}
		start := from + i
		from = start + len(name)
		command := text[0] == '/' && !strings.ContainsAny(text[:start], " \n")
		if (start == 0 || command || !isNameByte(text[start-1])) && (from == len(text) || !isNameByte(text[from])) {
			spans = append(spans, span{start, from, true})
		}
	}
}

func isNameByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

func (d decoder) isMe(word string) bool {
	return d.me.Username != "" && strings.EqualFold(word, "@"+d.me.Username)
}

// byteRange turns an entity's position, which counts UTF-16 units, into bytes. It refuses one that is not inside the text.
func byteRange(text string, offset, length int) (start, end int, ok bool) {
	if offset < 0 || length <= 0 || offset > len(text) || length > len(text) {
		return 0, 0, false
	}
	start, units := -1, 0
	for i, r := range text {
		if units == offset {
			start = i
		}
		if units >= offset+length {
			return start, i, start >= 0 && units == offset+length
		}
		if units++; r > 0xFFFF && utf8.ValidRune(r) {
			units++
		}
	}
	return start, len(text), start >= 0 && units == offset+length
}

// metaFields are fields of a message that say how it was sent, not what it says.
var metaFields = fieldSet(`message_id message_thread_id direct_messages_topic from sender_chat sender_boost_count sender_business_bot
	sender_tag date guest_query_id guest_bot_caller_user guest_bot_caller_chat business_connection_id chat forward_origin is_topic_message is_automatic_forward reply_to_message
	external_reply quote reply_to_story reply_to_checklist_task_id reply_to_poll_option_id via_bot edit_date has_protected_content
	is_from_offline is_paid_post media_group_id author_signature paid_star_count text entities link_preview_options
	suggested_post_info effect_id caption caption_entities show_caption_above_media has_media_spoiler reply_markup`)

// serviceFields are what Telegram itself reports in a chat, and content that no agent has a use for: skipped without a trace.
var serviceFields = fieldSet(`new_chat_members left_chat_member chat_owner_left chat_owner_changed new_chat_title new_chat_photo
	delete_chat_photo group_chat_created supergroup_chat_created channel_chat_created message_auto_delete_timer_changed
	migrate_to_chat_id migrate_from_chat_id pinned_message invoice successful_payment refunded_payment users_shared chat_shared gift
	unique_gift gift_upgrade_sent connected_website write_access_allowed passport_data proximity_alert_triggered boost_added
	chat_background_set checklist_tasks_done checklist_tasks_added direct_message_price_changed forum_topic_created
	forum_topic_edited forum_topic_closed forum_topic_reopened general_forum_topic_hidden general_forum_topic_unhidden
	giveaway_created giveaway giveaway_winners giveaway_completed managed_bot_created paid_message_price_changed poll_option_added
	poll_option_deleted suggested_post_approved suggested_post_approval_failed suggested_post_declined suggested_post_paid
	suggested_post_refunded video_chat_scheduled video_chat_started video_chat_ended video_chat_participants_invited web_app_data
	game story paid_media checklist live_photo rich_message`)

// otherUpdates are kinds of updates that are not asked for; the server may still send some that it queued earlier.
var otherUpdates = fieldSet(`business_connection business_message edited_business_message deleted_business_messages guest_message
	message_reaction message_reaction_count inline_query chosen_inline_result callback_query shipping_query pre_checkout_query
	purchased_paid_media poll poll_answer my_chat_member chat_member chat_join_request chat_boost removed_chat_boost managed_bot`)

func fieldSet(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// judge says whether an update without known content is one that may be skipped, and what is odd about it otherwise.
func judge(raw json.RawMessage) (skip bool, why string) {
	var update map[string]json.RawMessage
	if json.Unmarshal(raw, &update) != nil {
		return false, ""
	}
	delete(update, "update_id")
	for kind, body := range update {
		switch kind {
		case "message", "edited_message", "channel_post", "edited_channel_post":
			var fields map[string]json.RawMessage
			if json.Unmarshal(body, &fields) != nil || fields == nil {
				return false, "an empty " + kind
			}
			for f := range fields {
				if serviceFields[f] {
					return true, ""
				}
				if !metaFields[f] {
					why = fmt.Sprintf("a %s with nothing known in it but %.60q", kind, f)
				}
			}
			if why == "" {
				why = "a " + kind + " without content"
			}
			return false, why
		default:
			if otherUpdates[kind] {
				return true, ""
			}
			why = fmt.Sprintf("unknown kind of update %.60q", kind)
		}
	}
	if why == "" {
		why = "an update without content"
	}
	return false, why
}
