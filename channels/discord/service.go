package discord

import (
	"strconv"
	"strings"

	"parley/channels"
)

// The types of messages that are told apart, https://discord.com/developers/docs/resources/message#message-object-message-types
const (
	messageDefault = 0
	messageAdded   = 1
	messageRemoved = 2
	messageRenamed = 4
	messageJoin    = 7
	messageReply   = 19
	messageCommand = 20
	messageStarter = 21
	messageContext = 23
	messagePoll    = 46
)

// referenceForward is the type of a reference to what is passed on; the other is to what is answered.
const referenceForward = 1

// isWrittenType reports whether messages of a type say what their author wrote. Of others that is not known: the first message of a thread
// has who opened the thread as its author, and the words of the one who wrote the message that the thread grew from.
func isWrittenType(kind int) bool {
	switch kind {
	case messageDefault, messageReply, messageCommand, messageContext:
		return true
	}
	return false
}

// isReply reports whether messages of a type answer another one.
func isReply(kind int) bool { return kind == messageReply || kind == messageContext }

// services say in words what the platform's own lines are about, by their type.
var services = map[int]string{
	messageAdded: "somebody was added to the group", messageRemoved: "somebody left the group", 3: "a call", messageRenamed: "the chat got another name", 5: "the chat got another picture",
	6: "a message was pinned", messageJoin: "somebody joined the server", 8: "a boost of the server", 9: "a boost of the server: level 1", 10: "a boost of the server: level 2",
	11: "a boost of the server: level 3", 12: "the channel follows another one", 14: "the server is no longer discoverable", 15: "the server is discoverable again",
	16: "a first warning: the server will soon not be discoverable", 17: "the last warning: the server will soon not be discoverable", 18: "a thread was opened", messageStarter: "the first message of a thread",
	22: "a reminder to invite people", 24: "an alert of the automatic moderation", 25: "a role was bought", 26: "an offer of an app", 27: "a stage began", 28: "a stage ended", 29: "a speaker on the stage",
	30: "a hand was raised on the stage", 31: "the topic of a stage", 32: "the server subscribed to an app", 36: "security actions were switched on", 37: "security actions were switched off",
	38: "a raid was reported", 39: "a false alarm was reported", 44: "a purchase", messagePoll: "the result of a poll", 55: "a stream in better quality",
}

// serviceWords is a line of the platform's own in words; empty for what people and bots write.
func serviceWords(m *wireMessage, names func(string) string) string {
	if isWrittenType(m.Type) {
		return ""
	}
	if m.Type == messagePoll {
		return pollResult(m, names)
	}
	words, known := services[m.Type]
	if !known {
		words = "a message of a type that is not known here"
	}
	if m.Type == messageAdded || m.Type == messageRemoved {
		var who []string
		for _, u := range m.Mentions {
			who = append(who, u.shown(u.Member))
		}
		words = strings.TrimSuffix(words+": "+strings.Join(who, ", "), ": ")
	}
	if text := names(m.Content); strings.TrimSpace(text) != "" {
		words += ": " + text
	}
	return channels.HostLine(words)
}

// pollResult reads how a poll ended from the embed that says so.
// https://discord.com/developers/docs/resources/message#embed-fields-by-embed-type-poll-result-embed-fields
func pollResult(m *wireMessage, names func(string) string) string {
	said := map[string]string{}
	for _, e := range m.Embeds {
		for _, f := range e.Fields {
			said[f.Name] = names(f.Value)
		}
	}
	words := services[messagePoll]
	if q := said["poll_question_text"]; q != "" {
		words = "the poll " + q + " has ended"
	}
	winner := strings.TrimSpace(said["victor_answer_emoji_name"] + " " + said["victor_answer_text"])
	votes, all := votesOf(said["victor_answer_votes"]), votesOf(said["total_votes"])
	switch {
	case winner != "" && votes != "" && all != "":
		words += ": " + winner + ", " + votes + " of " + all + " votes"
	case winner != "":
		words += ": " + winner
	case all != "":
		words += ": no winner, " + all + " votes"
	}
	return channels.HostLine(words)
}

// votesOf gives a number of votes that comes as a text; "" for what is none.
func votesOf(s string) string {
	if _, err := strconv.ParseUint(s, 10, 32); err != nil {
		return ""
	}
	return s
}
