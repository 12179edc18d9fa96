package whatsapp

import (
	"cmp"
	"fmt"
	"strings"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"parley/channels"
)

// readPlace reads places.
func readPlace(msg *waE2E.Message) (content, bool) {
	switch {
	case msg.GetLocationMessage() != nil:
		m := msg.GetLocationMessage()
		return content{text: location(m), context: m.GetContextInfo()}, true
	case msg.GetLiveLocationMessage() != nil:
		m := msg.GetLiveLocationMessage()
		return content{text: card("live location", channels.Degrees(m.GetDegreesLatitude(), m.GetDegreesLongitude()), m.GetCaption()), context: m.GetContextInfo()}, true
	}
	return content{}, false
}

func location(m *waE2E.LocationMessage) string {
	what := "location"
	if m.GetIsLive() {
		what = "live location"
	}
	at := ""
	if m.DegreesLatitude != nil || m.DegreesLongitude != nil {
		at = channels.Degrees(m.GetDegreesLatitude(), m.GetDegreesLongitude())
	}
	return card(what, at, m.GetName(), m.GetAddress(), m.GetComment(), m.GetURL())
}

// readPeople reads contacts, and invitations to groups and channels.
func readPeople(msg *waE2E.Message) (content, bool) {
	switch {
	case msg.GetContactMessage() != nil:
		m := msg.GetContactMessage()
		return content{text: card("contact", contact(m)), context: m.GetContextInfo()}, true
	case msg.GetContactsArrayMessage() != nil:
		m := msg.GetContactsArrayMessage()
		var list []string
		for _, c := range m.GetContacts()[:min(len(m.GetContacts()), mostListed)] {
			list = append(list, contact(c))
		}
		return content{text: card("contacts", strings.Join(list, "; ")), context: m.GetContextInfo()}, true
	case msg.GetGroupInviteMessage() != nil:
		m := msg.GetGroupInviteMessage()
		return content{text: join(invitation("the group", m.GetGroupName(), m.GetInviteExpiration()), channels.Typed(m.GetCaption())), context: m.GetContextInfo()}, true
	case msg.GetNewsletterAdminInviteMessage() != nil:
		m := msg.GetNewsletterAdminInviteMessage()
		return content{text: join(invitation("run the channel", m.GetNewsletterName(), m.GetInviteExpiration()), channels.Typed(m.GetCaption())), context: m.GetContextInfo()}, true
	case msg.GetNewsletterFollowerInviteMessageV2() != nil:
		m := msg.GetNewsletterFollowerInviteMessageV2()
		return content{text: join(invitation("follow the channel", m.GetNewsletterName(), 0), channels.Typed(m.GetCaption())), context: m.GetContextInfo()}, true
	case msg.GetRequestPhoneNumberMessage() != nil:
		return content{text: channels.HostLine("asks for this account's phone number"), context: msg.GetRequestPhoneNumberMessage().GetContextInfo()}, true
	}
	return content{}, false
}

func invitation(to, name string, until int64) string {
	text := fmt.Sprintf("invitation to %s %q", to, name)
	if d := date(until); d != "" {
		text += ", until " + d
	}
	return channels.HostLine(text)
}

// contact gives a person's name and numbers out of a vCard (RFC 2426, RFC 6350).
func contact(c *waE2E.ContactMessage) string {
	var formatted, structured, company string
	var reach []string
	vcard := c.GetVcard()
	vcard = strings.NewReplacer("\r\n ", "", "\r\n\t", "", "\n ", "", "\n\t", "").Replace(vcard[:min(len(vcard), longestCard)]) // long lines are folded
	for line := range strings.Lines(vcard) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		name, _, _ = strings.Cut(name, ";")
		if _, property, grouped := strings.Cut(name, "."); grouped {
			name = property
		}
		value = strings.TrimSpace(value)
		if !ok || value == "" {
			continue
		}
		switch strings.ToUpper(name) {
		case "FN":
			formatted = cmp.Or(formatted, unescape(value))
		case "N":
			structured = cmp.Or(structured, fullName(value))
		case "ORG":
			company = cmp.Or(company, unescape(strings.ReplaceAll(value, ";", " ")))
		case "TEL":
			reach = append(reach, strings.TrimPrefix(value, "tel:"))
		case "EMAIL":
			reach = append(reach, value)
		}
	}
	who := cmp.Or(strings.TrimSpace(c.GetDisplayName()), formatted, structured)
	if company != "" && company != who {
		who = strings.TrimPrefix(who+", "+company, ", ")
	}
	if who != "" {
		reach = append([]string{who}, reach...)
	}
	return strings.Join(reach, ", ")
}

// fullName puts the parts of a vCard's N, family name first, in the order in which they are spoken.
func fullName(n string) string {
	parts := strings.Split(n, ";")
	if len(parts) > 1 {
		parts[0], parts[1] = parts[1], parts[0]
	}
	return strings.Join(strings.Fields(unescape(strings.Join(parts[:min(2, len(parts))], " "))), " ")
}

var cardEscapes = strings.NewReplacer(`\\`, `\`, `\,`, ",", `\;`, ";", `\n`, " ", `\N`, " ")

func unescape(s string) string { return strings.TrimSpace(cardEscapes.Replace(s)) }

// readOccasion reads events and calls.
func readOccasion(msg *waE2E.Message) (content, bool) {
	switch {
	case msg.GetEventMessage() != nil:
		m := msg.GetEventMessage()
		what := "event"
		if m.GetIsCanceled() {
			what = "cancelled event"
		}
		where := ""
		if m.GetLocation() != nil {
			where = location(m.GetLocation())
		}
		text := join(card(what, m.GetName(), span(m.GetStartTime(), m.GetEndTime())), channels.Typed(m.GetDescription()), where, channels.Typed(m.GetJoinLink()))
		return content{text: text, context: m.GetContextInfo()}, true
	case msg.GetEventInviteMessage() != nil:
		m := msg.GetEventInviteMessage()
		what := "invitation to the event"
		if m.GetIsCanceled() {
			what = "cancelled event"
		}
		return content{text: join(card(what, m.GetEventTitle(), span(m.GetStartTime(), m.GetEndTime())), channels.Typed(join(m.GetCaption(), m.GetCallLink()))), context: m.GetContextInfo()}, true
	case msg.GetScheduledCallCreationMessage() != nil:
		m := msg.GetScheduledCallCreationMessage()
		what := "planned call"
		if m.GetCallType() == waE2E.ScheduledCallCreationMessage_VIDEO {
			what = "planned video call"
		}
		return content{text: card(what, m.GetTitle(), date(m.GetScheduledTimestampMS()/1000))}, true
	case msg.GetScheduledCallEditMessage() != nil:
		return content{text: channels.HostLine("a planned call was cancelled")}, true
	case msg.GetCallLogMesssage() != nil:
		return content{text: callLog(msg.GetCallLogMesssage())}, true
	case msg.GetBcallMessage() != nil:
		return content{text: card("call", msg.GetBcallMessage().GetCaption())}, true
	}
	return content{}, false
}

// mostCounted is more than there are of anything that people count.
const mostCounted = 1 << 40

func callLog(m *waE2E.CallLogMessage) string {
	what := "call"
	if m.GetIsVideo() {
		what = "video call"
	}
	how := strings.ToLower(strings.ReplaceAll(m.GetCallOutcome().String(), "_", " "))
	if s := m.GetDurationSecs(); s > 0 && s <= mostCounted {
		how += fmt.Sprintf(", %d s", s)
	}
	return card(what, how)
}

// readPoll reads polls.
func readPoll(msg *waE2E.Message) (content, bool) {
	for _, p := range []*waE2E.PollCreationMessage{
		msg.GetPollCreationMessage(), msg.GetPollCreationMessageV2(), msg.GetPollCreationMessageV3(), msg.GetPollCreationMessageV5(), msg.GetPollCreationMessageV6(),
	} {
		if p != nil {
			return content{text: poll(p), context: p.GetContextInfo()}, true
		}
	}
	for _, p := range []*waE2E.PollResultSnapshotMessage{msg.GetPollResultSnapshotMessage(), msg.GetPollResultSnapshotMessageV3()} {
		if p != nil {
			var votes []string
			for _, v := range p.GetPollVotes()[:min(len(p.GetPollVotes()), mostListed)] {
				option := v.GetOptionName()
				if n := v.GetOptionVoteCount(); n >= 0 && n <= mostCounted {
					option += fmt.Sprintf(": %d", n)
				}
				votes = append(votes, option)
			}
			return content{text: channels.HostLine(fmt.Sprintf("result of the poll: %s — %s", p.GetName(), strings.Join(votes, " / "))), context: p.GetContextInfo()}, true
		}
	}
	return content{}, false
}

func poll(p *waE2E.PollCreationMessage) string {
	var options []string
	for _, o := range p.GetOptions()[:min(len(p.GetOptions()), mostListed)] {
		options = append(options, o.GetOptionName())
	}
	text := fmt.Sprintf("poll: %s — %s", p.GetName(), strings.Join(options, " / "))
	if p.GetSelectableOptionsCount() == 1 {
		text += ", one answer"
	}
	if p.GetPollType() == waE2E.PollType_QUIZ {
		text += ", a quiz"
	}
	if d := date(p.GetEndTime()); d != "" {
		text += ", until " + d
	}
	return channels.HostLine(text)
}

// readRare reads what the apps send now and then.
func readRare(msg *waE2E.Message) (content, bool) {
	switch {
	case msg.GetStickerPackMessage() != nil:
		m := msg.GetStickerPackMessage()
		return content{text: join(card("sticker pack", m.GetName(), m.GetPublisher(), m.GetPackDescription()), channels.Typed(m.GetCaption())), context: m.GetContextInfo()}, true
	case msg.GetMusicMessage() != nil:
		m := msg.GetMusicMessage()
		return content{text: card("song", m.GetEmbeddedMusic().GetTitle(), m.GetEmbeddedMusic().GetAuthor(), m.GetSongUri()), context: m.GetContextInfo()}, true
	case msg.GetRichResponseMessage() != nil:
		m := msg.GetRichResponseMessage()
		var texts []string
		for _, s := range m.GetSubmessages()[:min(len(m.GetSubmessages()), mostListed)] {
			texts = append(texts, s.GetMessageText())
		}
		return content{text: cmp.Or(channels.Typed(join(texts...)), channels.HostLine("answer of an AI")), context: m.GetContextInfo()}, true
	case msg.GetStatusMentionMessage() != nil:
		return content{text: channels.HostLine("mentioned this account in a status")}, true
	case msg.GetGroupStatusMentionMessage() != nil:
		return content{text: channels.HostLine("mentioned this group in a status")}, true
	case msg.GetQuestionResponseMessage() != nil:
		return content{text: channels.Typed(msg.GetQuestionResponseMessage().GetText())}, true
	case msg.GetStatusQuestionAnswerMessage() != nil:
		return content{text: card("answer to a question in a status", msg.GetStatusQuestionAnswerMessage().GetText())}, true
	case msg.GetStatusQuotedMessage() != nil:
		return content{text: card("status", msg.GetStatusQuotedMessage().GetText())}, true
	case msg.GetPlaceholderMessage() != nil:
		return content{unknown: "a message that WhatsApp shows on the phone only"}, true
	case msg.GetViewOnceMessage() != nil, msg.GetViewOnceMessageV2() != nil, msg.GetViewOnceMessageV2Extension() != nil: // an envelope without a message
		return content{unknown: "a message to be viewed once, which WhatsApp shows on the phone only"}, true
	case msg.GetPinInChatMessage() != nil:
		return content{unknown: pinned(msg.GetPinInChatMessage())}, true
	case msg.GetKeepInChatMessage() != nil:
		return content{unknown: "a disappearing message was kept in the chat, or is no longer kept"}, true
	case msg.GetSecretEncryptedMessage() != nil, msg.GetEncReactionMessage() != nil, msg.GetEncCommentMessage() != nil:
		return content{unknown: "something about a message whose key this device does not have"}, true
	case msg.GetConditionalRevealMessage() != nil:
		return content{unknown: "a planned message, which can be read when its time has come"}, true
	}
	return content{}, false
}

func pinned(m *waE2E.PinInChatMessage) string {
	if m.GetType() == waE2E.PinInChatMessage_UNPIN_FOR_ALL {
		return "a message was unpinned"
	}
	return "a message was pinned"
}

// quotedAlbum words a quote of a whole album: only its header is quoted.
func quotedAlbum(m *waE2E.AlbumMessage) string {
	var parts []string
	for _, p := range []struct {
		n    uint32
		what string
	}{{m.GetExpectedImageCount(), string(channels.Image)}, {m.GetExpectedVideoCount(), string(channels.Video)}} {
		switch {
		case p.n == 1:
			parts = append(parts, "1 "+p.what)
		case p.n > 1:
			parts = append(parts, fmt.Sprintf("%d %ss", p.n, p.what))
		}
	}
	return card("album", parts...)
}
