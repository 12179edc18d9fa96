package whatsapp_test

import (
	"strings"
	"testing"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"parley/channels"
)

// T23: hostile messages crash nothing, are each listed once, though they come twice, and hold up nobody.
func TestFaultHostileMessages(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	newer := &waE2E.Message{}
	if err := proto.Unmarshal([]byte{0xfa, 0x3f, 0x03, 'a', 'b', 'c'}, newer); err != nil { // field 1023
		t.Fatal(err)
	}
	about := func(kind waE2E.ProtocolMessage_Type, key *waCommon.MessageKey) *waE2E.Message {
		return &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{Type: kind.Enum(), Key: key}}
	}
	ours := string(h.send(channels.Outbound{Key: "1", To: h.direct(anna.Phone), Text: "mine"}).ID)
	bad := []*waE2E.Message{
		newer,
		{PlaceholderMessage: &waE2E.PlaceholderMessage{}},
		changeOf(ours),
		about(waE2E.ProtocolMessage_REVOKE, &waCommon.MessageKey{ID: &ours, FromMe: proto.Bool(true)}),
	}
	odd := []*waE2E.Message{ // one event each at most
		{},
		about(waE2E.ProtocolMessage_REVOKE, nil), about(waE2E.ProtocolMessage_MESSAGE_EDIT, &waCommon.MessageKey{}), about(999, nil),
		{ReactionMessage: &waE2E.ReactionMessage{Text: proto.String("x")}},
		{PollUpdateMessage: &waE2E.PollUpdateMessage{}}, {PollCreationMessage: &waE2E.PollCreationMessage{Options: []*waE2E.PollCreationMessage_Option{{}}}},
		{GroupMentionedMessage: &waE2E.FutureProofMessage{}}, {EditedMessage: &waE2E.FutureProofMessage{Message: &waE2E.Message{}}},
		{ImageMessage: &waE2E.ImageMessage{FileLength: proto.Uint64(1 << 63), Width: proto.Uint32(1<<32 - 1)}},
		{DocumentMessage: &waE2E.DocumentMessage{FileName: proto.String("../42.zip"), FileLength: proto.Uint64(1 << 52)}},
		{ContactMessage: &waE2E.ContactMessage{Vcard: proto.String("TEL;x:1\nEMAIL:")}}, {LocationMessage: &waE2E.LocationMessage{}},
		{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: proto.String("x"), ContextInfo: &waE2E.ContextInfo{StanzaID: proto.String(""), Participant: proto.String("no jid @"), MentionedJID: []string{"", "@", "1@2@3"}}}},
		{Conversation: proto.String(strings.Repeat("x", 1<<20))},
	}
	want := map[channels.MessageID]bool{} // true: it is to be listed
	for _, m := range bad {
		h.phone.Double(1)
		want[channels.MessageID(anna.Post(h.phone, "", m))] = true
	}
	for _, m := range odd {
		want[channels.MessageID(anna.Post(h.phone, "", m))] = false
	}
	anna.Say(h.phone, "after all that")
	listed, offered := map[channels.MessageID]int{}, map[channels.MessageID]int{}
	for _, in := range h.until(says("after all that")) {
		if offered[in.ID]++; in.Event == channels.Unreadable {
			listed[in.ID]++
			if in.Reason == "" || in.Text != "" || len(in.Raw) > channels.MaxRaw {
				t.Errorf("%+v", in)
			}
		}
		for _, m := range in.Media {
			if m.Size < 0 {
				t.Errorf("a size of %d", m.Size)
			}
		}
	}
	for id, isBad := range want {
		if offered[id] > 1 || isBad && listed[id] != 1 {
			t.Errorf("%s was offered %d times, %d of them as one that cannot be read", id, offered[id], listed[id])
		}
	}
	t.Logf("%d bad messages twice, %d odd ones, %d listed", len(bad), len(odd), len(listed))
	h.none()
}
