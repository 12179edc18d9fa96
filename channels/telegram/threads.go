package telegram

import (
	"fmt"
	"strconv"
	"strings"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"parley/channels"
)

// The thread of an address is one of three things, told apart by how it begins, so that every way out knows them after a restart too: a
// topic ("7"), the topic of a person in the direct messages of a channel ("dm7"), or what one member of a group alone sees ("only1001",
// in a topic "only1001.7").
const (
	directThread  = "dm"
	privateThread = "only"
	general       = "1" // the topic of a forum that has no topic id in messages
)

// thread is the thread that a message belongs to, from the fields that mean it: in groups without topics, also in those that had some
// once, message_thread_id names the first message of a reply chain, and so it does in the General topic.
func (m *wireMessage) thread() (channels.ThreadID, error) {
	topic := ""
	if m.IsTopic && m.ThreadID > 1 && (m.Chat.IsForum || m.Chat.Type == "private") {
		topic = strconv.FormatInt(m.ThreadID, 10)
	}
	switch {
	case m.DirectTopic != nil && m.DirectTopic.ID != 0:
		return channels.ThreadID(directThread + strconv.FormatInt(m.DirectTopic.ID, 10)), nil
	case m.Chat.IsDirect:
		return "", errNobodysTopic
	case m.EphemeralID != 0 && m.From != nil && m.From.ID != 0:
		only := privateThread + strconv.FormatInt(m.From.ID, 10)
		if topic != "" {
			only += "." + topic
		}
		return channels.ThreadID(only), nil
	}
	return channels.ThreadID(topic), nil
}

// split takes a thread apart: the topic of a forum, that of a channel's direct messages, and who alone sees it; empty = none.
func split(thread channels.ThreadID) (topic, direct, only string) {
	if direct, ok := strings.CutPrefix(string(thread), directThread); ok {
		return "", direct, ""
	}
	if rest, ok := strings.CutPrefix(string(thread), privateThread); ok {
		only, topic, _ = strings.Cut(rest, ".")
		return topic, "", only
	}
	if thread == general {
		return "", "", ""
	}
	return string(thread), "", ""
}

// destination is where a message goes, as the methods that send want it.
func destination(to channels.Address) tgbotapi.Params {
	topic, direct, only := split(to.Thread)
	params := tgbotapi.Params{"chat_id": string(to.Chat)}
	params.AddNonEmpty(topicParam, topic)
	params.AddNonEmpty("direct_messages_topic_id", direct)
	if only != "" { // a server that knows the older parameter alone must not show the message to everybody
		params["ephemeral_message_parameters"] = fmt.Sprintf(`{"receiver_user_id":%s}`, only)
		params["receiver_user_id"] = only
	}
	return params
}

// replyTo is the parameter that makes a message a reply; empty = it is none.
func replyTo(id channels.MessageID) string {
	if id == "" {
		return ""
	}
	if e, ok := strings.CutPrefix(string(id), ephemeralID); ok {
		return fmt.Sprintf(`{"ephemeral_message_id":%s,"allow_sending_without_reply":true}`, e)
	}
	n, err := strconv.ParseInt(string(id), 10, 64)
	if err != nil {
		return ""
	}
	return fmt.Sprintf(`{"message_id":%d,"allow_sending_without_reply":true}`, n)
}

// ephemeralID begins the id of a message that one member of a group alone sees: those are counted by themselves.
const ephemeralID = "ephemeral:"

// id is the message's id.
func (m *wireMessage) id() (channels.MessageID, error) {
	switch {
	case m.MessageID > 0:
		return messageID(m.MessageID), nil
	case m.MessageID == 0 && m.EphemeralID > 0:
		return channels.MessageID(ephemeralID + strconv.FormatInt(m.EphemeralID, 10)), nil
	}
	return "", fmt.Errorf("message_id %d is not a message id", m.MessageID)
}
