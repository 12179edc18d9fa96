package whatsapp_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"

	"parley/channels"
	"parley/channels/whatsapp/whatsapptest"
)

func TestChangesBothWays(t *testing.T) {
	t.Parallel()
	s := whatsapptest.New(t)
	anna := s.NewPerson("Anna")
	h := linked(t, s, s.NewPhone("Bot"))
	to := h.direct(anna.Phone)
	id := anna.Say(h.phone, "helo")
	h.next()
	r := h.send(channels.Outbound{Key: "1", To: to, Text: "draft"})
	gone := h.send(channels.Outbound{Key: "2", To: to, Text: "a slip"})
	if err := h.ch.Edit(t.Context(), r.ID, channels.Outbound{Key: "3", To: to, Text: "final"}); err != nil {
		t.Error(err)
	}
	if err := h.ch.Remove(t.Context(), to, gone.ID); err != nil {
		t.Error(err)
	}
	if err := h.ch.React(t.Context(), to, channels.MessageID(id), "👍"); err != nil {
		t.Error(err)
	}
	got := h.phone.Sent(anna)
	if len(got) != 2 || got[0].Text != "final" || !got[0].Edited || !got[1].Deleted {
		t.Errorf("Anna sees %+v", got)
	}
	if r := anna.Reactions(id, h.phone); r != "👍" {
		t.Errorf("reaction %q", r)
	}
	if err := h.ch.React(t.Context(), to, channels.MessageID(id), ""); err != nil {
		t.Error(err)
	}
	waitFor(t, "the reaction to go", func() bool { return anna.Reactions(id, h.phone) == "" })
	if err := h.ch.React(t.Context(), to, r.ID, "🙂"); err != nil { // to a message of ours
		t.Error(err)
	}

	h.phone.Sent(anna) // a client that decrypts and encrypts at the same time may use a key twice
	anna.React(h.phone, h.phone, string(r.ID), "❤")
	if in := h.next(); in.Event != channels.Reacted || in.Target != r.ID || in.Emoji != "❤" || in.Address != to {
		t.Errorf("reacted: %+v", in)
	}
	anna.Edit(h.phone, id, "hello")
	if in := h.next(); in.Event != channels.Edited || in.Target != channels.MessageID(id) || in.Text != "hello" {
		t.Errorf("edited: %+v", in)
	}
	anna.Revoke(h.phone, id)
	if in := h.next(); in.Event != channels.Deleted || in.Target != channels.MessageID(id) {
		t.Errorf("deleted: %+v", in)
	}
	h.none()
	if err := h.ch.Typing(t.Context(), to); err != nil || h.phone.Typing(anna) == 0 {
		waitFor(t, "typing", func() bool { return h.phone.Typing(anna) > 0 })
	}
}

func TestGroup(t *testing.T) {
	t.Parallel()
	s := whatsapptest.New(t)
	anna, bert, carl := s.NewPerson("Anna"), s.NewPerson("Bert"), s.NewPerson("Carl")
	h := linked(t, s, s.NewPhone("Bot"))
	g := s.NewGroup("crew", anna.Phone, bert.Phone, h.phone)
	id := anna.Say(g, "hello @"+h.phone.LID().User, whatsapptest.Mentioning(h.phone, bert.Phone))
	in := h.next()
	if in.Address != h.group(g) || in.Title != "crew" || !in.Mentioned || !in.MentionsOthers || in.Addressed != "hello" || in.Sender.ID != channels.UserID(anna.Number()) {
		t.Errorf("came as %+v", in)
	}
	h.send(channels.Outbound{Key: "1", To: h.group(g), Text: "hello all", ReplyTo: in.ID})
	if got := h.phone.Sent(g); len(got) != 1 || got[0].Text != "hello all" || got[0].Quote != id {
		t.Errorf("the group sees %+v", got)
	}
	if err := h.ch.React(t.Context(), h.group(g), in.ID, "👍"); err != nil || bert.Reactions(id, h.phone) != "👍" {
		t.Errorf("reaction %q, %v", bert.Reactions(id, h.phone), err)
	}
	h.class(h.ch.React(t.Context(), h.group(g), "3EB0UNKNOWN", "👍"), channels.Unsupported)

	bert.Post(g, "", changeOf(id))
	if in = h.next(); in.Event != channels.Unreadable || !strings.Contains(in.Reason, "another person") {
		t.Errorf("Bert changes Anna's message: %+v", in)
	}
	g.Add(anna.Phone, carl.Phone)
	if in = h.next(); in.Event != channels.Joined || in.Self || len(in.People) != 1 || in.People[0].ID != channels.UserID(carl.Number()) || in.Address != h.group(g) {
		t.Errorf("joined: %+v", in)
	}
	g.Rename(anna.Phone, "the crew")
	if in = h.next(); in.Event != channels.Renamed || in.Title != "the crew" || in.Sender.ID != channels.UserID(anna.Number()) {
		t.Errorf("renamed: %+v", in)
	}
	g.Remove(carl.Phone, carl.Phone)
	if in = h.next(); in.Event != channels.Left || len(in.People) != 1 || in.Title != "the crew" {
		t.Errorf("left: %+v", in)
	}
	other := s.NewGroup("others", bert.Phone)
	h.refusing(func(channels.Inbound) error { return errors.New("not now") })
	other.Add(bert.Phone, h.phone)
	waitFor(t, "the refusal", func() bool { return strings.Contains(h.log.String(), "not accepted") })
	h.refusing(nil)
	if in = h.next(); in.Event != channels.Joined || !in.Self || in.Title != "others" || in.Sender.ID != channels.UserID(bert.Number()) {
		t.Errorf("came into a group: %+v", in)
	}
	h.none()
}

func file(kind channels.MediaKind, name, mime string, data []byte) channels.File {
	return channels.File{Kind: kind, Name: name, MIME: mime, Size: int64(len(data)), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
}

func TestFilesBothWays(t *testing.T) {
	t.Parallel()
	s := whatsapptest.New(t)
	anna := s.NewPerson("Anna")
	h := linked(t, s, s.NewPhone("Bot"))
	to := h.direct(anna.Phone)
	data := bytes.Repeat([]byte("parley"), 5000)
	anna.Say(h.phone, "look", whatsapptest.With(whatsapptest.File{Kind: whatsmeow.MediaImage, MIME: "image/png", Data: data}))
	in := h.next()
	if in.Text != "look" || len(in.Media) != 1 || in.Media[0].Kind != channels.Image || in.Media[0].Size != int64(len(data)) {
		t.Fatalf("came as %+v", in)
	}
	got, err := h.ch.Fetch(t.Context(), in.Media[0], int64(len(data)))
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("fetched %d bytes, %v", len(got), err)
	}
	_, err = h.ch.Fetch(t.Context(), in.Media[0], 100)
	h.class(err, channels.Rejected)
	lie := in.Media[0] // a sender who says that the file is smaller
	lie.Size, lie.Ref = 10, strings.ReplaceAll(lie.Ref, `"n":30000`, `"n":10`)
	_, err = h.ch.Fetch(t.Context(), lie, 100)
	h.class(err, channels.Rejected)
	if !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a lie about the size: %v", err)
	}
	for _, ref := range []string{"", "{}", `{"t":"image","p":"//evil","k":"","e":"","s":""}`} {
		_, err = h.ch.Fetch(t.Context(), channels.Media{Ref: ref}, 100)
		h.class(err, channels.Rejected)
	}
	s.ForgetMedia()
	_, err = h.ch.Fetch(t.Context(), in.Media[0], 1<<20)
	h.class(err, channels.Rejected)
	if strings.Contains(err.Error(), "mmg.whatsapp.net") {
		t.Errorf("a file that is gone: %v", err)
	}

	for i, c := range []struct {
		f       channels.File
		caption string
		shown   whatsmeow.MediaType
	}{
		{file(channels.Image, "a.png", "image/png", data), "a picture", whatsmeow.MediaImage},
		{file(channels.Image, "a.tiff", "image/tiff", data), "", whatsmeow.MediaDocument},
		{file(channels.Video, "a.mp4", "video/mp4", data), "a film", whatsmeow.MediaVideo},
		{file(channels.Audio, "a.ogg", "audio/ogg; codecs=opus", data), "", whatsmeow.MediaAudio},
		{file(channels.Audio, "b.ogg", "audio/ogg", data), "audio has no caption", whatsmeow.MediaDocument},
		{file(channels.Document, "a.pdf", "application/pdf", data), "a report", whatsmeow.MediaDocument},
	} {
		h.send(channels.Outbound{Key: strings.Repeat("f", i+1), To: to, Text: c.caption, Files: []channels.File{c.f}})
		sent := h.phone.Sent(anna)
		m := sent[len(sent)-1]
		if len(sent) != i+1 || m.File == nil || m.File.Kind != c.shown || m.Text != c.caption || m.File.MIME != c.f.MIME || m.File.Err != nil || !bytes.Equal(m.File.Data, data) {
			t.Errorf("%s: %+v", c.f.Name, m)
		}
	}
	big := file(channels.Document, "big", "x/y", nil)
	big.Size = 101 << 20
	gone := file(channels.Document, "gone", "x/y", nil)
	gone.Open = func() (io.ReadCloser, error) { return nil, errors.New("no such file") }
	for key, files := range map[string][]channels.File{"x": {big}, "y": {gone}, "z": {big, gone}} {
		r := h.send(channels.Outbound{Key: key, To: to, Files: files})
		sent := h.phone.Sent(anna)
		if m := sent[len(sent)-1]; m.File != nil || strings.Count(m.Text, "cannot be sent in this chat") != len(files) || r.Unsent != channels.FileWords(files) {
			t.Errorf("%+v, Anna sees %+v", r, m)
		}
	}
}

// changeOf is a change of a message that says nothing of whose it is.
func changeOf(id string) *waE2E.Message {
	return &waE2E.Message{EditedMessage: inside(&waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
		Type: waE2E.ProtocolMessage_MESSAGE_EDIT.Enum(), Key: &waCommon.MessageKey{ID: text(id)}, EditedMessage: &waE2E.Message{Conversation: text("forged")},
	}})}
}

// A client that is not WhatsApp's own can say that it takes back what others wrote. In a group admins may; the event says who did it.
func TestDeletionsByOthers(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	bert := h.s.NewPerson("Bert")
	g := h.s.NewGroup("crew", anna.Phone, bert.Phone, h.phone)
	id := anna.Say(g, "please do")
	h.texts("please do")
	bert.Revoke(g, id)
	if in := h.next(); in.Event != channels.Deleted || in.Target != channels.MessageID(id) || in.Sender.ID != channels.UserID(bert.Number()) {
		t.Errorf("in a group: %+v", in)
	}
	ours := h.send(channels.Outbound{Key: "1", To: h.direct(anna.Phone), Text: "mine"})
	anna.Revoke(h.phone, string(ours.ID))
	if in := h.next(); in.Event != channels.Unreadable || !strings.Contains(in.Reason, "a deletion of another person's message") {
		t.Errorf("of ours, in a direct chat: %+v", in)
	}
	anna.Post(h.phone, "", changeOf(string(ours.ID)))
	if in := h.next(); in.Event != channels.Unreadable || !strings.Contains(in.Reason, "a change of another person's message") {
		t.Errorf("a change of ours: %+v", in)
	}
	h.phone.Owner().Revoke(anna, string(ours.ID))
	if in := h.next(); in.Event != channels.Deleted || in.Target != channels.MessageID(ours.ID) || !in.SentByThisLogin {
		t.Errorf("by our phone: %+v", in)
	}
}

// source: WhiskeySockets/Baileys, Socket/messages-send (a phone sends its key of a group once to each device)
func TestGroupMessagesWithoutKeys(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	anna.SendKeysOnce()
	g := h.s.NewGroup("crew", anna.Phone, h.phone)
	anna.Say(g, "with the key")
	anna.Say(g, "without")
	h.texts("with the key", "without")
	h.reopen()
	anna.Say(g, "after a restart")
	h.texts("after a restart")
	h.phone.WaitDelivered()
}
