package whatsapp_test

import (
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"parley/channels"
	"parley/channels/whatsapp"
)

var (
	ownPN, ownLID   = types.NewJID("491550001", types.DefaultUserServer), types.NewJID("90001", types.HiddenUserServer)
	annaPN, annaLID = types.NewJID("491550002", types.DefaultUserServer), types.NewJID("90002", types.HiddenUserServer)
	groupJID        = types.NewJID("120363", types.GroupServer)
	people          = whatsapp.People{
		Names:  map[types.JID]string{annaPN: "Anna"},
		Groups: map[types.JID]string{groupJID: "crew"},
	}
)

func text(s string) *string { return &s }

// from is a message of Anna's to this account.
func from(msg *waE2E.Message) *events.Message {
	return (&events.Message{RawMessage: msg, Info: types.MessageInfo{
		MessageSource: types.MessageSource{Chat: annaLID, Sender: annaLID, SenderAlt: annaPN}, ID: "ID", PushName: "Anna", Timestamp: time.Unix(1_800_000_000, 0),
	}}).UnwrapRaw()
}

func said(msg *waE2E.Message) channels.Inbound {
	in, _ := whatsapp.Decode(from(msg), ownPN, ownLID, people)
	return in
}

func inside(msg *waE2E.Message) *waE2E.FutureProofMessage {
	return &waE2E.FutureProofMessage{Message: msg}
}

func TestContents(t *testing.T) {
	t.Parallel()
	hello := &waE2E.Message{Conversation: text("hello")}
	for name, c := range map[string]struct {
		msg  *waE2E.Message
		want string
	}{
		"text":                    {hello, "hello"},
		"text with more":          {&waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: text("/status now")}}, "/status now"},
		"that disappears":         {&waE2E.Message{EphemeralMessage: inside(hello)}, "hello"},
		"viewed once":             {&waE2E.Message{ViewOnceMessageV2: inside(&waE2E.Message{ImageMessage: &waE2E.ImageMessage{Caption: text("look")}})}, "look"},
		"in envelopes":            {&waE2E.Message{EphemeralMessage: inside(&waE2E.Message{GroupMentionedMessage: inside(&waE2E.Message{AssociatedChildMessage: inside(hello)})})}, "hello"},
		"document with a caption": {&waE2E.Message{DocumentWithCaptionMessage: inside(&waE2E.Message{DocumentMessage: &waE2E.DocumentMessage{Caption: text("the report")}})}, "the report"},
		"place":                   {&waE2E.Message{LocationMessage: &waE2E.LocationMessage{DegreesLatitude: proto.Float64(52.5), DegreesLongitude: proto.Float64(13.4), Name: text("Berlin")}}, "[location: 52.500000, 13.400000, Berlin]"},
		"live place":              {&waE2E.Message{LiveLocationMessage: &waE2E.LiveLocationMessage{DegreesLatitude: proto.Float64(1), DegreesLongitude: proto.Float64(2)}}, "[live location: 1.000000, 2.000000]"},
		"person":                  {&waE2E.Message{ContactMessage: &waE2E.ContactMessage{DisplayName: text("Bert"), Vcard: text("BEGIN:VCARD\nitem1.TEL;waid=49:+49 1\nEMAIL:b@example.org\nEND:VCARD")}}, "[contact: Bert, +49 1, b@example.org]"},
		"people":                  {&waE2E.Message{ContactsArrayMessage: &waE2E.ContactsArrayMessage{Contacts: []*waE2E.ContactMessage{{DisplayName: text("A")}, {DisplayName: text("B")}}}}, "[contacts: A; B]"},
		"poll": {&waE2E.Message{PollCreationMessageV3: &waE2E.PollCreationMessage{Name: text("Lunch?"), Options: []*waE2E.PollCreationMessage_Option{
			{OptionName: text("yes")}, {OptionName: text("no")}}}}, "[poll: Lunch? — yes / no]"},
		"invitation": {&waE2E.Message{GroupInviteMessage: &waE2E.GroupInviteMessage{GroupName: text("crew"), Caption: text("join us")}}, "[invitation to the group \"crew\"]\njoin us"},
		"event":      {&waE2E.Message{EventMessage: &waE2E.EventMessage{Name: text("Party"), Description: text("at ten")}}, "[event: Party]\nat ten"},
		"button":     {&waE2E.Message{TemplateButtonReplyMessage: &waE2E.TemplateButtonReplyMessage{SelectedDisplayText: text("OK")}}, "OK"},
		"NUL":        {&waE2E.Message{Conversation: text("a\x00b")}, "ab"},
	} {
		if in := said(c.msg); in.Event != channels.Message || in.Text != c.want {
			t.Errorf("%s: %s %q %s", name, in.Event, in.Text, in.Reason)
		}
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	key, sum := make([]byte, 32), make([]byte, 32)
	for kind, msg := range map[channels.MediaKind]*waE2E.Message{
		channels.Image:    {ImageMessage: &waE2E.ImageMessage{Mimetype: text("x/y"), FileLength: proto.Uint64(7), DirectPath: text("/v/1"), MediaKey: key, FileEncSHA256: sum, FileSHA256: sum}},
		channels.Video:    {PtvMessage: &waE2E.VideoMessage{Mimetype: text("x/y"), FileLength: proto.Uint64(7), DirectPath: text("/v/1"), MediaKey: key, FileEncSHA256: sum, FileSHA256: sum}},
		channels.Audio:    {AudioMessage: &waE2E.AudioMessage{Mimetype: text("x/y"), FileLength: proto.Uint64(7), DirectPath: text("/v/1"), MediaKey: key, FileEncSHA256: sum, FileSHA256: sum}},
		channels.Sticker:  {StickerMessage: &waE2E.StickerMessage{Mimetype: text("x/y"), FileLength: proto.Uint64(7), DirectPath: text("/v/1"), MediaKey: key, FileEncSHA256: sum, FileSHA256: sum}},
		channels.Document: {DocumentMessage: &waE2E.DocumentMessage{Mimetype: text("x/y"), FileLength: proto.Uint64(7), DirectPath: text("/v/1"), MediaKey: key, FileEncSHA256: sum, FileSHA256: sum, Title: text("a.pdf")}},
	} {
		in := said(msg)
		if len(in.Media) != 1 || in.Media[0].Kind != kind || in.Media[0].MIME != "x/y" || in.Media[0].Size != 7 || !strings.Contains(in.Media[0].Ref, "/v/1") {
			t.Errorf("%s: %+v", kind, in.Media)
		}
	}
}

func TestWhoAndWhere(t *testing.T) {
	t.Parallel()
	own := types.JID{User: ownLID.User, Server: types.HiddenUserServer, Device: 3}
	type want struct {
		chat, sender string
		ours, skip   bool
		title        string
	}
	for name, c := range map[string]struct {
		source types.MessageSource
		want   want
	}{
		"by LID with the number":   {types.MessageSource{Chat: annaLID, Sender: annaLID, SenderAlt: annaPN}, want{chat: annaPN.String(), sender: "+491550002"}},
		"by number with the LID":   {types.MessageSource{Chat: annaPN, Sender: annaPN, SenderAlt: annaLID}, want{chat: annaPN.String(), sender: "+491550002"}},
		"by LID alone":             {types.MessageSource{Chat: annaLID, Sender: annaLID}, want{chat: annaLID.String(), sender: annaLID.String()}},
		"an old server name":       {types.MessageSource{Chat: types.NewJID("5", types.LegacyUserServer), Sender: types.NewJID("5", types.LegacyUserServer)}, want{chat: "5@s.whatsapp.net", sender: "+5"}},
		"a hosted device":          {types.MessageSource{Chat: types.NewJID("90002", types.HostedLIDServer), Sender: types.NewJID("90002", types.HostedLIDServer), SenderAlt: annaPN}, want{chat: annaPN.String(), sender: "+491550002"}},
		"a group":                  {types.MessageSource{Chat: groupJID, Sender: annaLID, SenderAlt: annaPN, IsGroup: true}, want{chat: groupJID.String(), sender: "+491550002", title: "crew"}},
		"own phone to Anna":        {types.MessageSource{Chat: annaLID, Sender: own, RecipientAlt: annaPN, IsFromMe: true}, want{chat: annaPN.String(), sender: "+491550001", ours: true}},
		"own phone in a group":     {types.MessageSource{Chat: groupJID, Sender: own, IsFromMe: true, IsGroup: true}, want{chat: groupJID.String(), sender: "+491550001", ours: true, title: "crew"}},
		"own phone to itself":      {types.MessageSource{Chat: ownLID, Sender: own, IsFromMe: true}, want{chat: ownPN.String(), sender: "+491550001"}},
		"this device to itself":    {types.MessageSource{Chat: ownLID, Sender: types.JID{User: ownLID.User, Server: types.HiddenUserServer, Device: 7}, IsFromMe: true}, want{chat: ownPN.String(), sender: "+491550001", ours: true}},
		"a status":                 {types.MessageSource{Chat: types.StatusBroadcastJID, Sender: annaLID}, want{skip: true}},
		"a broadcast list":         {types.MessageSource{Chat: types.NewJID("123", types.BroadcastServer), Sender: annaLID}, want{skip: true}},
		"a newsletter":             {types.MessageSource{Chat: types.NewJID("123", types.NewsletterServer), Sender: types.NewJID("123", types.NewsletterServer)}, want{skip: true}},
		"a notice of WhatsApp":     {types.MessageSource{Chat: types.PSAJID, Sender: types.PSAJID}, want{skip: true}},
		"a kind of chat to come":   {types.MessageSource{Chat: types.NewJID("123", "community"), Sender: annaLID, IsGroup: true}, want{skip: true}},
		"another app's chat":       {types.MessageSource{Chat: types.NewJID("123", types.MessengerServer), Sender: annaLID}, want{skip: true}},
		"a chat without a server":  {types.MessageSource{Chat: types.NewJID("123", ""), Sender: annaLID}, want{skip: true}},
		"a group without an id":    {types.MessageSource{Chat: types.NewJID("", types.GroupServer), Sender: annaLID, IsGroup: true}, want{skip: true}},
		"a message without sender": {types.MessageSource{Chat: annaLID}, want{skip: true}},
	} {
		evt := from(&waE2E.Message{Conversation: text("x")})
		evt.Info.MessageSource = c.source
		in, ok := whatsapp.Decode(evt, ownPN, ownLID, people)
		got := want{string(in.Address.Chat), string(in.Sender.ID), in.SentByThisLogin, !ok, in.Title}
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	known := people
	known.Numbers = map[types.JID]types.JID{annaLID: annaPN}
	evt := from(&waE2E.Message{Conversation: text("x")})
	evt.Info.MessageSource = types.MessageSource{Chat: annaLID, Sender: annaLID}
	if in, _ := whatsapp.Decode(evt, ownPN, ownLID, known); in.Address.Chat != channels.ChatID(annaPN.String()) {
		t.Errorf("a number that is known: %+v", in)
	}
}

func TestMentionsAndQuotes(t *testing.T) {
	t.Parallel()
	say := func(s string, c *waE2E.ContextInfo) channels.Inbound {
		return said(&waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: &s, ContextInfo: c}})
	}
	in := say("@90001 /status and @90002 too, not @900012", &waE2E.ContextInfo{MentionedJID: []string{ownLID.String(), annaLID.String(), "rubbish"}})
	if !in.Mentioned || !in.MentionsOthers || in.Addressed != "/status and @90002 too, not @900012" || !strings.HasPrefix(in.Text, "@90001") {
		t.Errorf("mentions: %+v", in)
	}
	if in = say("hey @491550001", &waE2E.ContextInfo{MentionedJID: []string{ownPN.String()}}); !in.Mentioned || in.MentionsOthers || in.Addressed != "hey" {
		t.Errorf("by number: %+v", in)
	}
	if in = say("hey @90001", nil); in.Mentioned || in.Addressed != "" {
		t.Errorf("only written: %+v", in)
	}
	if in = say("x", &waE2E.ContextInfo{IsForwarded: proto.Bool(true)}); !in.Forwarded {
		t.Error("forwarded")
	}
	long := strings.Repeat("ä", 1000)
	in = say("yes", &waE2E.ContextInfo{StanzaID: text("Q"), Participant: text(annaPN.String()), QuotedMessage: &waE2E.Message{Conversation: &long}})
	if q := in.Quote; q == nil || q.ID != "Q" || q.FromBot || q.Sender != "Anna" || utf8.RuneCountInString(q.Text) != 301 || in.Mentioned {
		t.Errorf("quote: %+v", q)
	}
	in = say("yes", &waE2E.ContextInfo{StanzaID: text("Q"), Participant: text(ownLID.String())})
	if in.Quote == nil || !in.Quote.FromBot || !in.Mentioned {
		t.Errorf("an answer to the account: %+v", in.Quote)
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	key := &waCommon.MessageKey{ID: text("T")}
	change := func(p *waE2E.ProtocolMessage) *waE2E.Message { return &waE2E.Message{ProtocolMessage: p} }
	edit := change(&waE2E.ProtocolMessage{Type: waE2E.ProtocolMessage_MESSAGE_EDIT.Enum(), Key: key, EditedMessage: &waE2E.Message{Conversation: text("new")}})
	for name, c := range map[string]struct {
		msg  *waE2E.Message
		want channels.Inbound
	}{
		"edited":     {&waE2E.Message{EditedMessage: inside(edit)}, channels.Inbound{Event: channels.Edited, Target: "T", Text: "new"}},
		"deleted":    {change(&waE2E.ProtocolMessage{Type: waE2E.ProtocolMessage_REVOKE.Enum(), Key: key}), channels.Inbound{Event: channels.Deleted, Target: "T"}},
		"reacted":    {&waE2E.Message{ReactionMessage: &waE2E.ReactionMessage{Key: key, Text: text("👍")}}, channels.Inbound{Event: channels.Reacted, Target: "T", Emoji: "👍"}},
		"taken away": {&waE2E.Message{ReactionMessage: &waE2E.ReactionMessage{Key: key, Text: text("")}}, channels.Inbound{Event: channels.Reacted, Target: "T"}},
	} {
		in := said(c.msg)
		got := channels.Inbound{Event: in.Event, Target: in.Target, Text: in.Text, Emoji: in.Emoji}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for name, msg := range map[string]*waE2E.Message{
		"keys alone":           {SenderKeyDistributionMessage: &waE2E.SenderKeyDistributionMessage{}},
		"a vote":               {PollUpdateMessage: &waE2E.PollUpdateMessage{}},
		"history":              change(&waE2E.ProtocolMessage{Type: waE2E.ProtocolMessage_HISTORY_SYNC_NOTIFICATION.Enum(), Key: key}),
		"a change of nothing":  change(&waE2E.ProtocolMessage{Type: waE2E.ProtocolMessage_REVOKE.Enum()}),
		"no type":              change(&waE2E.ProtocolMessage{Key: key}),
		"an edit without text": change(&waE2E.ProtocolMessage{Type: waE2E.ProtocolMessage_MESSAGE_EDIT.Enum(), Key: key}),
		"nothing":              {},
	} {
		if in, ok := whatsapp.Decode(from(msg), ownPN, ownLID, people); ok {
			t.Errorf("%s: %+v", name, in)
		}
	}
}

func TestGroupChanges(t *testing.T) {
	t.Parallel()
	evt := &events.GroupInfo{JID: groupJID, Sender: &annaLID, SenderPN: &annaPN, Timestamp: time.Unix(1_800_000_000, 0), Name: &types.GroupName{Name: "new name"},
		Join: []types.JID{ownLID, annaPN}, Leave: []types.JID{annaPN}}
	list := whatsapp.DecodeGroup(evt, ownPN, ownLID, people)
	if len(list) != 3 {
		t.Fatalf("%d events", len(list))
	}
	again := whatsapp.DecodeGroup(evt, ownPN, ownLID, people)
	for i, in := range list {
		if in.Address.Chat != channels.ChatID(groupJID.String()) || in.Sender.ID != "+491550002" || in.ID == "" || in.ID != again[i].ID || in.SentByThisLogin {
			t.Errorf("%+v", in)
		}
	}
	if j := list[0]; j.Event != channels.Joined || !j.Self || len(j.People) != 2 || j.People[0].ID != "+491550001" || j.People[1].Name != "Anna" {
		t.Errorf("joined: %+v", j)
	}
	if l := list[1]; l.Event != channels.Left || l.Self || len(l.People) != 1 {
		t.Errorf("left: %+v", l)
	}
	if r := list[2]; r.Event != channels.Renamed || r.Title != "new name" {
		t.Errorf("renamed: %+v", r)
	}
	link := &events.GroupInfo{JID: groupJID, Join: []types.JID{annaPN}} // by an invitation link nobody added them
	if list := whatsapp.DecodeGroup(link, ownPN, ownLID, people); len(list) != 1 || list[0].Sender.ID != "+491550002" {
		t.Errorf("by link: %+v", list)
	}
}

// A message that the decoder fails on is offered as unreadable, in its chat.
func TestDecoderThatFails(t *testing.T) {
	t.Parallel()
	ch, err := whatsapp.New(whatsapp.Config{}, whatsapp.Deps{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	evt := from(&waE2E.Message{Conversation: text("x")})
	evt.Info.PushName = ""
	in, ok := whatsapp.DecodeFenced(ch, evt, ownPN, ownLID, whatsapp.People{Panic: true})
	if !ok || in.Event != channels.Unreadable || in.ID != "ID" || in.Reason == "" || in.Address.Chat != channels.ChatID(annaLID.String()) {
		t.Errorf("%+v", in)
	}
}

func FuzzDecode(f *testing.F) {
	for _, m := range []*waE2E.Message{
		{Conversation: text("@90001 hello")},
		{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: text("@90001 x"), ContextInfo: &waE2E.ContextInfo{MentionedJID: []string{ownLID.String()}, StanzaID: text("Q"), Participant: text("1@lid"), QuotedMessage: &waE2E.Message{Conversation: text("q")}}}},
		{EphemeralMessage: inside(&waE2E.Message{ImageMessage: &waE2E.ImageMessage{Caption: text("c"), FileLength: proto.Uint64(1 << 63)}})},
		{ContactMessage: &waE2E.ContactMessage{Vcard: text("TEL;x:1\nEMAIL:")}},
		{PollCreationMessage: &waE2E.PollCreationMessage{Options: []*waE2E.PollCreationMessage_Option{{}}}},
		{ReactionMessage: &waE2E.ReactionMessage{Text: text("x")}},
		{EditedMessage: inside(&waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{Type: waE2E.ProtocolMessage_MESSAGE_EDIT.Enum(), Key: &waCommon.MessageKey{ID: text("T")}, EditedMessage: &waE2E.Message{}}})},
	} {
		raw, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw, "90002", true)
	}
	f.Fuzz(func(t *testing.T, raw []byte, user string, group bool) {
		var msg waE2E.Message
		if proto.Unmarshal(raw, &msg) != nil {
			return
		}
		evt := from(&msg)
		evt.Info.Sender.User = user
		if group {
			evt.Info.Chat = groupJID
		}
		in, ok := whatsapp.Decode(evt, ownPN, ownLID, people)
		if !ok {
			return
		}
		if !utf8.ValidString(in.Text) || strings.Contains(in.Text, "\x00") || !utf8.ValidString(in.Addressed) || in.Event == "" || in.ID == "" || in.Address.Chat == "" || in.Sender.ID == "" {
			t.Errorf("%+v", in)
		}
		if len(in.Text) > 16*len(raw)+200 || in.Quote != nil && len(in.Quote.Text) > 4*310 {
			t.Errorf("%d bytes became %d", len(raw), len(in.Text))
		}
	})
}

// A kind of message that the library has no name for is told of; so is one beside what is not for people.
func TestNewerKinds(t *testing.T) {
	t.Parallel()
	raw := []byte{0xfa, 0x3f, 0x03, 'a', 'b', 'c'} // field 1023
	keys, err := proto.Marshal(&waE2E.Message{MessageContextInfo: &waE2E.MessageContextInfo{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{raw, append(keys, raw...)} {
		msg := &waE2E.Message{}
		if err := proto.Unmarshal(b, msg); err != nil {
			t.Fatal(err)
		}
		from := types.NewJID("49152", types.DefaultUserServer)
		evt := &events.Message{Info: types.MessageInfo{MessageSource: types.MessageSource{Chat: from, Sender: from}, ID: "X", Timestamp: time.Now()}, Message: msg}
		in, ok := whatsapp.Decode(evt, ownPN, ownLID, whatsapp.People{})
		if !ok || in.Event != channels.Unreadable || !strings.HasSuffix(in.Reason, "field 1023") {
			t.Errorf("%v, %+v", ok, in)
		}
	}
}

// A reply whose message did not come along, or is of a kind that is not known here, says that it is one.
// source: WhiskeySockets/Baileys WAProto (ContextInfo: stanzaId and quotedMessage are both optional)
func TestQuoteOfWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	for want, quoted := range map[string]*waE2E.Message{
		"[a message that cannot be read any more]":     nil,
		"[a message of a kind that is not known here]": {ConditionalRevealMessage: &waE2E.ConditionalRevealMessage{}},
	} {
		in := said(&waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: text("yes"), ContextInfo: &waE2E.ContextInfo{StanzaID: text("Q"), Participant: text(annaPN.String()), QuotedMessage: quoted}}})
		if q := in.Quote; q == nil || q.Text != want || q.Sender != "Anna" {
			t.Errorf("%+v, want %s", q, want)
		}
	}
}
