package whatsapp

import (
	"fmt"
	"strings"

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
	unknown string // the fields that this version does not know; empty = it was read
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
			msg.GetCommentMessage().GetMessage())
		if inner == nil {
			return msg
		}
		msg = inner
	}
	return msg
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
	"pollUpdateMessage": true, "keepInChatMessage": true, "pinInChatMessage": true, "encEventResponseMessage": true,
	"stickerSyncRmrMessage": true, "messageHistoryBundle": true, "messageHistoryNotice": true, "groupRootKeyShare": true,
	"rootSecretDistributeMessage": true, "albumMessage": true, "callLogMesssage": true, "bcallMessage": true, "call": true, "chat": true,
	"scheduledCallEditMessage": true, "pollResultSnapshotMessage": true, "pollResultSnapshotMessageV3": true, "statusMentionMessage": true,
	"groupStatusMentionMessage": true, "statusNotificationMessage": true, "statusLinkPreviewMetadata": true, "pollAddOptionMessage": true,
	"splitPaymentUpdateMessage": true, "paymentReminderMessage": true, "botTaskMessage": true, "limitSharingMessage": true,
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
	switch {
	case msg == nil:
		return content{}
	case msg.Conversation != nil:
		return content{text: msg.GetConversation()}
	case msg.GetExtendedTextMessage() != nil:
		m := msg.GetExtendedTextMessage()
		return content{text: m.GetText(), context: m.GetContextInfo()}
	}
	if c, ok := readMedia(msg); ok {
		return c
	}
	if c, ok := readPlace(msg); ok {
		return c
	}
	if c, ok := readChoice(msg); ok {
		return c
	}
	if set := append(fields(msg), newer(msg)...); len(set) > 0 {
		return content{unknown: strings.Join(set, ", ")}
	}
	return content{}
}

// readPlace reads what the apps show as a card: places, people, groups, events.
func readPlace(msg *waE2E.Message) (content, bool) {
	switch {
	case msg.GetLocationMessage() != nil:
		m := msg.GetLocationMessage()
		return content{text: place("location", m.GetDegreesLatitude(), m.GetDegreesLongitude(), m.GetName(), m.GetAddress(), m.GetComment()), context: m.GetContextInfo()}, true
	case msg.GetLiveLocationMessage() != nil:
		m := msg.GetLiveLocationMessage()
		return content{text: place("live location", m.GetDegreesLatitude(), m.GetDegreesLongitude(), m.GetCaption()), context: m.GetContextInfo()}, true
	case msg.GetContactMessage() != nil:
		m := msg.GetContactMessage()
		return content{text: "(contact: " + contact(m) + ")", context: m.GetContextInfo()}, true
	case msg.GetContactsArrayMessage() != nil:
		m := msg.GetContactsArrayMessage()
		var list []string
		for _, c := range m.GetContacts()[:min(len(m.GetContacts()), mostListed)] {
			list = append(list, contact(c))
		}
		return content{text: "(contacts: " + strings.Join(list, "; ") + ")", context: m.GetContextInfo()}, true
	case msg.GetGroupInviteMessage() != nil:
		m := msg.GetGroupInviteMessage()
		return content{text: join(fmt.Sprintf("(invitation to the group %q)", m.GetGroupName()), m.GetCaption()), context: m.GetContextInfo()}, true
	case msg.GetEventMessage() != nil:
		m := msg.GetEventMessage()
		return content{text: join(fmt.Sprintf("(event: %s)", m.GetName()), m.GetDescription()), context: m.GetContextInfo()}, true
	}
	return content{}, false
}

// readChoice reads polls, and what people pick in messages of companies.
func readChoice(msg *waE2E.Message) (content, bool) {
	for _, p := range []*waE2E.PollCreationMessage{
		msg.GetPollCreationMessage(), msg.GetPollCreationMessageV2(), msg.GetPollCreationMessageV3(), msg.GetPollCreationMessageV5(), msg.GetPollCreationMessageV6(),
	} {
		if p != nil {
			return content{text: poll(p), context: p.GetContextInfo()}, true
		}
	}
	switch {
	case msg.GetButtonsResponseMessage() != nil:
		m := msg.GetButtonsResponseMessage()
		return content{text: m.GetSelectedDisplayText(), context: m.GetContextInfo()}, true
	case msg.GetListResponseMessage() != nil:
		m := msg.GetListResponseMessage()
		return content{text: m.GetTitle(), context: m.GetContextInfo()}, true
	case msg.GetTemplateButtonReplyMessage() != nil:
		m := msg.GetTemplateButtonReplyMessage()
		return content{text: m.GetSelectedDisplayText(), context: m.GetContextInfo()}, true
	case msg.GetInteractiveResponseMessage() != nil:
		m := msg.GetInteractiveResponseMessage()
		return content{text: m.GetBody().GetText(), context: m.GetContextInfo()}, true
	case msg.GetInteractiveMessage() != nil:
		m := msg.GetInteractiveMessage()
		return content{text: join(m.GetHeader().GetTitle(), m.GetBody().GetText(), m.GetFooter().GetText()), context: m.GetContextInfo()}, true
	case msg.GetButtonsMessage() != nil:
		m := msg.GetButtonsMessage()
		return content{text: join(m.GetText(), m.GetContentText(), m.GetFooterText()), context: m.GetContextInfo()}, true
	case msg.GetListMessage() != nil:
		m := msg.GetListMessage()
		return content{text: join(m.GetTitle(), m.GetDescription(), m.GetFooterText()), context: m.GetContextInfo()}, true
	case msg.GetTemplateMessage().GetHydratedTemplate() != nil:
		m := msg.GetTemplateMessage()
		return content{text: join(m.GetHydratedTemplate().GetHydratedTitleText(), m.GetHydratedTemplate().GetHydratedContentText()), context: m.GetContextInfo()}, true
	}
	return content{}, false
}

func poll(p *waE2E.PollCreationMessage) string {
	var options []string
	for _, o := range p.GetOptions()[:min(len(p.GetOptions()), mostListed)] {
		options = append(options, o.GetOptionName())
	}
	return fmt.Sprintf("(poll: %s — %s)", p.GetName(), strings.Join(options, " / "))
}

func place(what string, lat, long float64, more ...string) string {
	parts := []string{fmt.Sprintf("%.6f, %.6f", lat, long)}
	for _, m := range more {
		if m != "" {
			parts = append(parts, m)
		}
	}
	return fmt.Sprintf("(%s: %s)", what, strings.Join(parts, ", "))
}

// contact gives a person's name and numbers out of a vCard.
func contact(c *waE2E.ContactMessage) string {
	parts := []string{c.GetDisplayName()}
	card := c.GetVcard()
	for line := range strings.Lines(card[:min(len(card), longestCard)]) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if name, _, _ = strings.Cut(name, ";"); ok && value != "" && (strings.HasSuffix(name, "TEL") || strings.HasSuffix(name, "EMAIL")) {
			parts = append(parts, value)
		}
	}
	return strings.Join(parts, ", ")
}

// join puts texts that are there below each other.
func join(texts ...string) string {
	var list []string
	for _, t := range texts {
		if t != "" {
			list = append(list, t)
		}
	}
	return strings.Join(list, "\n")
}

// short cuts a text that is only there to recognise a message by.
func short(s string) string {
	n := 0
	for i := range s {
		if n++; n > longestText {
			return s[:i] + "…"
		}
	}
	return strings.Clone(s) // it is remembered, and must not hold on to a longer text that it is a part of
}
