package telegram

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"parley/channels"
)

// The parts of the Bot API's objects that are used. Ids are int64 throughout: as a float they would lose digits.
type (
	wireMessage struct {
		MessageID     int64      `json:"message_id"`
		EphemeralID   int64      `json:"ephemeral_message_id"` // of a message that one member of a group alone sees; MessageID is 0 then
		ThreadID      int64      `json:"message_thread_id"`
		DirectTopic   *wireTopic `json:"direct_messages_topic"`
		Group         string     `json:"media_group_id"`
		Business      string     `json:"business_connection_id"`
		Guest         string     `json:"guest_query_id"`
		IsTopic       bool       `json:"is_topic_message"`
		AutoForward   bool       `json:"is_automatic_forward"`
		From          *wireUser  `json:"from"`
		SenderChat    *wireChat  `json:"sender_chat"`
		Chat          *wireChat  `json:"chat"`
		Date          quantity   `json:"date"`
		EditDate      quantity   `json:"edit_date"`
		ForwardDate   quantity   `json:"forward_date"` // this and the next five are of older servers
		ForwardUser   *wireUser  `json:"forward_from"`
		ForwardChat   *wireChat  `json:"forward_from_chat"`
		ForwardID     quantity   `json:"forward_from_message_id"`
		ForwardHidden string     `json:"forward_sender_name"`
		ForwardSigned string     `json:"forward_signature"`
		ReplyTo       *wireReply `json:"reply_to_message"`
		External      *wireReply `json:"external_reply"` // to a message of another chat or topic
		Quote         *wireQuote `json:"quote"`
		ReplyStory    *wireStory `json:"reply_to_story"`
		ReplyTask     quantity   `json:"reply_to_checklist_task_id"`
		ReplyOption   string     `json:"reply_to_poll_option_id"`
		wireContent
		wireService
	}
	// wireContent is what a message says, also one that is replied to.
	wireContent struct {
		Text            string         `json:"text"`
		Entities        []wireEntity   `json:"entities"`
		Caption         string         `json:"caption"`
		CaptionEntities []wireEntity   `json:"caption_entities"`
		ForwardOrigin   *wireOrigin    `json:"forward_origin"`
		Signature       string         `json:"author_signature"` // of a channel's post; the title of an administrator who writes as the group
		Via             *wireUser      `json:"via_bot"`
		Suggested       *wireSuggested `json:"suggested_post_info"`
		Preview         *struct {
			URL string `json:"url"`
		} `json:"link_preview_options"`
		Markup *struct {
			Buttons [][]wireButton `json:"inline_keyboard"`
		} `json:"reply_markup"`
		wireFiles

		unknown bool // there is something beside it of a kind that is not known here
	}
	wireUser struct {
		ID        int64  `json:"id"`
		IsBot     bool   `json:"is_bot"`
		FirstName string `json:"first_name"`
		LastName  string `json:"last_name"`
		Username  string `json:"username"`
	}
	wireChat struct {
		ID        int64  `json:"id"`
		Type      string `json:"type"`
		Title     string `json:"title"`
		Username  string `json:"username"`
		FirstName string `json:"first_name"`
		LastName  string `json:"last_name"`
		IsForum   bool   `json:"is_forum"`
		IsDirect  bool   `json:"is_direct_messages"` // the direct messages of a channel: each topic is one person
	}
	wireTopic struct {
		ID   int64     `json:"topic_id"`
		User *wireUser `json:"user"`
	}
	wireReply struct {
		MessageID    quantity    `json:"message_id"`
		From         *wireUser   `json:"from"`
		SenderChat   *wireChat   `json:"sender_chat"`
		TopicCreated *wireName   `json:"forum_topic_created"`
		Chat         *wireChat   `json:"chat"`
		Origin       *wireOrigin `json:"origin"` // of an external one
		unsaid       string      // names it when it has neither words nor files
		wireContent
	}
	// wireOrigin is who wrote a message that was passed on.
	wireOrigin struct {
		User      *wireUser `json:"sender_user"`
		Hidden    string    `json:"sender_user_name"`
		Sender    *wireChat `json:"sender_chat"` // somebody who spoke in the name of a chat
		Chat      *wireChat `json:"chat"`        // a channel
		MessageID quantity  `json:"message_id"`
		Signature string    `json:"author_signature"`
	}
	wireQuote struct {
		Text     string       `json:"text"`
		Entities []wireEntity `json:"entities"`
	}
	wireEntity struct {
		Type     string    `json:"type"`
		Offset   quantity  `json:"offset"`
		Length   quantity  `json:"length"`
		URL      string    `json:"url"`
		Language string    `json:"language"`
		Time     quantity  `json:"unix_time"`
		User     *wireUser `json:"user"`
	}
	wireButton struct {
		Text   string   `json:"text"`
		URL    string   `json:"url"`
		WebApp *wireURL `json:"web_app"`
		Login  *wireURL `json:"login_url"`
		Copy   *struct {
			Text string `json:"text"`
		} `json:"copy_text"`
	}
	wireURL struct {
		URL string `json:"url"`
	}
)

// quantity is a date, a size or a length of time. A server that writes something else there does not cost the message: what is no whole
// number counts as unknown, which is 0.
type quantity int64

// UnmarshalJSON implements json.Unmarshaler.
func (q *quantity) UnmarshalJSON(raw []byte) error {
	if len(raw) < len("1000000000000000000") && !slices.ContainsFunc(raw, func(c byte) bool { return c < '0' || c > '9' }) { // nearly all are
		*q = 0
		for _, c := range raw {
			*q = 10**q + quantity(c-'0')
		}
		return nil
	}
	var whole int64
	if json.Unmarshal(raw, &whole) == nil {
		*q = quantity(whole)
		return nil
	}
	var number float64
	if json.Unmarshal(raw, &number) == nil && number >= 0 && number < 1<<53 {
		*q = quantity(number)
	}
	return nil
}

// time reads a date.
func (q quantity) time() time.Time { return channels.UnixTime(int64(q)) }

// id reads an update's id; 0 = none that can be confirmed. The update is taken all the same.
func (q quantity) id() int64 {
	if q < 0 || q >= maxUpdateID {
		return 0
	}
	return int64(q)
}

// number words how many there are of something, or how much; "" = unknown.
func (q quantity) number() string {
	const most = 1e15
	if q <= 0 || q > most {
		return ""
	}
	return strconv.FormatInt(int64(q), 10)
}

// of words how many things there are: 3 stars; "" = unknown.
func (q quantity) of(what string) string {
	if q.number() == "" {
		return ""
	}
	return channels.Plural(int(q), what)
}

// size reads a number of bytes; 0 = unknown.
func (q quantity) size() int64 {
	const largest = 1 << 50
	if q < 0 || q > largest {
		return 0
	}
	return int64(q)
}

// seconds reads a length of time; 0 = unknown.
func (q quantity) seconds() int {
	const longest = 1 << 30
	if q < 0 || q > longest {
		return 0
	}
	return int(q)
}
