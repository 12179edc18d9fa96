package whatsapp

import (
	"fmt"
	"strings"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"parley/channels"
)

const (
	deepest     = 8    // envelopes around a message
	mostNewer   = 8    // fields without a name that are told of
	mostListed  = 50   // options of a poll, people of a list of contacts
	longestText = 300  // runes of a quoted text
	longestCard = 4096 // bytes of a contact's card that are read
)

// content is what a message says.
type content struct {
	text    string
	media   []channels.Media
	context *waE2E.ContextInfo
	unknown string // why it could not be read; empty = it was
}

// unwrap opens the envelopes that the apps put around a message: one that disappears, one that is viewed once, a document with a
// caption, a new version of a message, a part of an album …
func unwrap(msg *waE2E.Message) *waE2E.Message {
	for range deepest {
		inner := firstOf(
			msg.GetDeviceSentMessage().GetMessage(), msg.GetEphemeralMessage().GetMessage(), msg.GetViewOnceMessage().GetMessage(),
			msg.GetViewOnceMessageV2().GetMessage(), msg.GetViewOnceMessageV2Extension().GetMessage(),
			msg.GetDocumentWithCaptionMessage().GetMessage(), msg.GetEditedMessage().GetMessage(), msg.GetLottieStickerMessage().GetMessage(),
			msg.GetGroupMentionedMessage().GetMessage(), msg.GetAssociatedChildMessage().GetMessage(), msg.GetPollCreationMessageV4().GetMessage(),
			msg.GetBotInvokeMessage().GetMessage(), msg.GetSpoilerMessage().GetMessage(), msg.GetQuestionMessage().GetMessage(),
			msg.GetQuestionReplyMessage().GetMessage(), msg.GetBotForwardedMessage().GetMessage(), msg.GetLimitSharingMessage().GetMessage(),
			msg.GetCommentMessage().GetMessage(), msg.GetGroupStatusMessage().GetMessage(), msg.GetGroupStatusMessageV2().GetMessage(),
			msg.GetEventCoverImage().GetMessage(), msg.GetPollCreationOptionImageMessage().GetMessage(), msg.GetStatusAddYours().GetMessage(),
			msg.GetNewsletterAdminProfileMessage().GetMessage(), msg.GetNewsletterAdminProfileStatusMessage().GetMessage(),
			msg.GetBotTaskMessage().GetMessage(), msg.GetBotPlatformRegistrationSuccessMessage().GetMessage())
		if inner == nil {
			return msg
		}
		msg = inner
	}
	return msg
}

// association says which other message this one belongs to: the part of an album, the larger twin of a picture.
func association(msg *waE2E.Message) *waE2E.MessageAssociation {
	for range deepest {
		if a := msg.GetMessageContextInfo().GetMessageAssociation(); a != nil {
			return a
		}
		inner := msg.GetAssociatedChildMessage().GetMessage()
		if inner == nil {
			break
		}
		msg = inner
	}
	return nil
}

func firstOf(list ...*waE2E.Message) *waE2E.Message {
	for _, m := range list {
		if m != nil {
			return m
		}
	}
	return nil
}

// silent are the fields that carry keys, receipts and votes rather than something that a person says.
var silent = map[protoreflect.Name]bool{
	"senderKeyDistributionMessage": true, "fastRatchetKeySenderKeyDistributionMessage": true, "messageContextInfo": true,
	"pollUpdateMessage": true, "encEventResponseMessage": true, "stickerSyncRmrMessage": true, "messageHistoryBundle": true,
	"messageHistoryNotice": true, "groupRootKeyShare": true, "rootSecretDistributeMessage": true, "albumMessage": true, "call": true, "chat": true,
	"statusNotificationMessage": true, "statusLinkPreviewMetadata": true, "pollAddOptionMessage": true, "splitPaymentUpdateMessage": true,
	"paymentReminderMessage": true, "limitSharingMessage": true, "statusStickerInteractionMessage": true,
}

// isHidden reports whether nothing in a message is for people. What the library has no name for may be.
func isHidden(msg *waE2E.Message) bool {
	return len(fields(msg)) == 0 && len(msg.ProtoReflect().GetUnknown()) == 0
}

// fields names what is set in a message, without what is not for people and without what the library has no name for.
func fields(msg *waE2E.Message) []string {
	var list []string
	msg.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		if !silent[f.Name()] {
			list = append(list, string(f.Name()))
		}
		return true
	})
	return list
}

// newer numbers the fields that the library has no name for.
func newer(msg *waE2E.Message) []string {
	var list []string
	for raw := msg.ProtoReflect().GetUnknown(); len(raw) > 0 && len(list) < mostNewer; {
		number, _, size := protowire.ConsumeField(raw)
		if size < 0 {
			break
		}
		list, raw = append(list, fmt.Sprintf("field %d", number)), raw[size:]
	}
	return list
}

// read gives what an unwrapped message says.
func read(msg *waE2E.Message) content {
	if msg == nil {
		return content{}
	}
	for _, r := range []func(*waE2E.Message) (content, bool){
		readText, readMedia, readPlace, readPeople, readOccasion, readPoll, readAnswer, readTemplate, readShop, readPayment, readRare,
	} {
		if c, ok := r(msg); ok {
			return c
		}
	}
	if set := append(fields(msg), newer(msg)...); len(set) > 0 {
		return content{unknown: "a kind of message that this version cannot read: " + strings.Join(set, ", ")}
	}
	return content{}
}

func readText(msg *waE2E.Message) (content, bool) {
	switch {
	case msg.Conversation != nil:
		return content{text: channels.Typed(msg.GetConversation())}, true
	case msg.GetExtendedTextMessage() != nil:
		m := msg.GetExtendedTextMessage()
		return content{text: join(channels.Typed(m.GetText()), linked(m), advertisement(m.GetContextInfo())), context: m.GetContextInfo()}, true
	}
	return content{}, false
}

// linked names the address of a link preview that the text does not have.
func linked(m *waE2E.ExtendedTextMessage) string {
	if to := strings.TrimSpace(m.GetMatchedText()); to != "" && !strings.Contains(m.GetText(), to) {
		return card("link", to)
	}
	return ""
}

// advertisement names the advertisement that somebody came by, which the apps show above their first message.
func advertisement(c *waE2E.ContextInfo) string {
	ad := c.GetExternalAdReply()
	if ad == nil || ad.GetSourceType() != "ad" {
		return ""
	}
	return card("came by the advertisement", ad.GetTitle(), ad.GetBody(), ad.GetSourceURL())
}

// join puts texts that are there below each other.
func join(texts ...string) string { return channels.Below("\n", texts...) }

// short cuts a text that is only there to recognise a message by.
func short(s string) string { return cutRunes(s, longestText) }

func cutRunes(s string, most int) string {
	n := 0
	for i := range s {
		if n++; n > most {
			return s[:i] + "…"
		}
	}
	return strings.Clone(s) // it is remembered, and must not hold on to a longer text that it is a part of
}

// card words what the apps show as a card: "[place: 52.5, 13.4, Berlin]". Without any part it names the kind alone.
func card(what string, parts ...string) string {
	var list []string
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return channels.HostLine(what)
	}
	return channels.HostLine(what + ": " + strings.Join(list, ", "))
}

const dateForm = "Mon 2 Jan 2006 15:04 MST"

// date words a Unix time in seconds, or in milliseconds where it can be nothing else; empty for none and for one out of range.
func date(sec int64) string {
	const mostSeconds = 1 << 36 // the year 4147
	if sec > mostSeconds {
		sec /= 1000
	}
	if sec <= 0 || sec > mostSeconds {
		return ""
	}
	return time.Unix(sec, 0).UTC().Format(dateForm)
}

// span words a beginning and an end.
func span(from, to int64) string {
	if date(from) != "" && to > from && date(to) != "" {
		return date(from) + " to " + date(to)
	}
	return date(from)
}

// amount words a price in thousandths.
func amount(thousandths int64, currency string) string { return price(thousandths, 1000, currency) }

// price words a sum of money in fractions of a unit; empty for none and for one out of range.
func price(value, fractions int64, currency string) string {
	const most = 1e15
	if value <= 0 || value > most || fractions <= 0 || fractions > most {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("%.2f %s", float64(value)/float64(fractions), currency))
}
