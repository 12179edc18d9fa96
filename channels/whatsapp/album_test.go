package whatsapp_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"parley/channels"
	"parley/channels/whatsapp"
	"parley/channels/whatsapp/whatsapptest"
)

// child is a message that belongs to another one. The apps put it into an envelope.
func child(kind waE2E.MessageAssociation_AssociationType, parent string, inner *waE2E.Message) *waE2E.Message {
	return &waE2E.Message{AssociatedChildMessage: inside(inner), MessageContextInfo: &waE2E.MessageContextInfo{
		MessageAssociation: &waE2E.MessageAssociation{AssociationType: kind.Enum(), ParentMessageKey: &waCommon.MessageKey{ID: &parent}}}}
}

// numbered is a picture that a test recognizes by its number.
func numbered(n int, caption string, c *waE2E.ContextInfo) *waE2E.Message {
	p := picture(caption, c)
	p.DirectPath = text(fmt.Sprintf("/v/picture-%d", n))
	return &waE2E.Message{ImageMessage: p}
}

// pictures gives the numbers of the pictures of a message.
func pictures(in channels.Inbound) (list string) {
	for _, m := range in.Media {
		_, rest, _ := strings.Cut(m.Ref, "/v/picture-")
		list += rest[:1]
	}
	return list
}

func album(images uint32, c *waE2E.ContextInfo) *waE2E.Message {
	return &waE2E.Message{AlbumMessage: &waE2E.AlbumMessage{ExpectedImageCount: &images, ContextInfo: c}}
}

const inAlbum = waE2E.MessageAssociation_MEDIA_ALBUM

// source: mautrix/whatsapp#818
func TestAlbum(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	whatsapp.SetGather(h.ch, 2*time.Second)
	asked := anna.Say(h.phone, "before")
	h.texts("before")
	head := anna.Post(h.phone, "", album(3, &waE2E.ContextInfo{StanzaID: &asked, Participant: text(anna.LID().String()), QuotedMessage: &waE2E.Message{Conversation: text("before")}}))
	first := anna.Post(h.phone, "", child(inAlbum, head, numbered(1, "what are these?", nil)))
	anna.Post(h.phone, "", child(inAlbum, head, numbered(2, "", nil)))
	h.phone.Double(1)
	last := anna.Post(h.phone, "", child(inAlbum, head, numbered(3, "plants", nil)))
	in := h.next()
	if in.Event != channels.Message || in.ID != channels.MessageID(last) || in.Text != "what are these?\nplants" || pictures(in) != "123" || in.Quote == nil || in.Quote.Text != "before" {
		t.Errorf("came as %+v", in)
	}
	h.phone.WaitDelivered()
	h.none()

	anna.Say(h.phone, "and these?", whatsapptest.Quoting(anna.Phone, head, ""))
	if in = h.next(); in.Quote == nil || len(in.Quote.Media) != 3 {
		t.Errorf("a quote of the album: %+v", in.Quote)
	}
	anna.Edit(h.phone, first, "what is this?")
	if in = h.next(); in.Event != channels.Edited || in.Target != channels.MessageID(last) || in.Text != "what is this?\nplants" || pictures(in) != "123" {
		t.Errorf("edited: %+v", in)
	}
	anna.Revoke(h.phone, last)
	if in = h.next(); in.Event != channels.Edited || in.Target != channels.MessageID(last) || !strings.HasPrefix(in.Text, "what is this?\n[one file") || pictures(in) != "12" {
		t.Errorf("one deleted: %+v", in)
	}
}

// What was announced and does not come is not waited for, and whatever its sender says next comes behind it.
func TestAlbumThatIsNotWhole(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	whatsapp.SetGather(h.ch, time.Second)
	head := anna.Post(h.phone, "", album(3, nil))
	anna.Post(h.phone, "", child(inAlbum, head, numbered(1, "two of three", nil)))
	anna.Post(h.phone, "", child(inAlbum, head, numbered(2, "", nil)))
	if in := h.next(); pictures(in) != "12" || in.Text != "two of three" {
		t.Errorf("came as %+v", in)
	}
	anna.Post(h.phone, "", child(inAlbum, head, numbered(3, "late", nil)))
	if in := h.next(); pictures(in) != "3" {
		t.Errorf("the late one: %+v", in)
	}
	whatsapp.SetGather(h.ch, time.Minute)
	head = anna.Post(h.phone, "", album(2, nil))
	anna.Post(h.phone, "", child(inAlbum, head, numbered(4, "", nil)))
	anna.Say(h.phone, "that is all")
	if in := h.next(); pictures(in) != "4" {
		t.Errorf("came as %+v", in)
	}
	h.texts("that is all")
	h.phone.WaitDelivered()
}

// Nothing of an album is acknowledged before all of it was taken.
func TestAlbumOverARestart(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	bert := h.s.NewPerson("Bert")
	g := h.s.NewGroup("crew", anna.Phone, bert.Phone, h.phone)
	bert.Say(g, "hello")
	h.texts("hello")
	anna.Say(g, "hello too")
	h.texts("hello too")
	whatsapp.SetGather(h.ch, time.Minute)
	head := anna.Post(g, "", album(3, nil))
	anna.Post(g, "", child(inAlbum, head, numbered(1, "look", nil)))
	anna.Post(g, "", child(inAlbum, head, numbered(2, "", nil)))
	bert.Say(g, "in between")
	h.texts("in between")
	h.phone.WaitWaiting(3) // the one in between is acknowledged
	if n := h.phone.Waiting(); n != 3 {
		t.Errorf("%d messages are not acknowledged", n)
	}
	if err := h.end(); err != nil {
		t.Fatal(err)
	}
	h.open()
	whatsapp.SetGather(h.ch, 10*time.Second)
	h.refusing(func(channels.Inbound) error { return errors.New("not now") })
	h.run()
	h.online()
	anna.Post(g, "", child(inAlbum, head, numbered(3, "", nil)))
	waitFor(t, "the refusal", func() bool { return strings.Contains(h.log.String(), "not accepted") })
	h.refusing(nil)
	if in := h.next(); pictures(in) != "123" || in.Text != "look" || in.Address != h.group(g) {
		t.Errorf("came as %+v", in)
	}
	h.phone.WaitDelivered()
	h.none()
}

// The host ends between an album's head and its pictures, and knows afterwards what the album answers and how many there are.
//
// source: mautrix/whatsapp#818 (the head has the context and the expected numbers, the parts name it as their parent)
func TestAlbumHeadOverARestart(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	whatsapp.SetGather(h.ch, time.Minute)
	asked := anna.Say(h.phone, "before")
	h.texts("before")
	head := anna.Post(h.phone, "", album(2, &waE2E.ContextInfo{StanzaID: &asked, Participant: text(anna.LID().String()), QuotedMessage: &waE2E.Message{Conversation: text("before")}}))
	anna.Say(h.phone, "look at these") // an album without pictures is no turn, and holds nothing up
	h.texts("look at these")
	h.phone.WaitWaiting(1)
	h.gather = time.Minute
	h.reopen()
	anna.Post(h.phone, "", child(inAlbum, head, numbered(1, "", nil)))
	anna.Post(h.phone, "", child(inAlbum, head, numbered(2, "what are these?", nil)))
	if in := h.next(); pictures(in) != "12" || in.Text != "what are these?" || in.Quote == nil || in.Quote.Text != "before" {
		t.Errorf("came as %+v", in)
	}
	h.phone.WaitDelivered()
	whatsapp.SetGather(h.ch, time.Second)
	anna.Post(h.phone, "", album(2, nil)) // whose pictures never come
	h.phone.WaitDelivered()
	h.none()
}

// source: mautrix/whatsapp#818 (HD_IMAGE_DUAL_UPLOAD, MOTION_PHOTO), WAProto PairedMediaType
func TestTwins(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	whatsapp.SetGather(h.ch, 5*time.Second)
	const hd, motion = waE2E.MessageAssociation_HD_IMAGE_DUAL_UPLOAD, waE2E.MessageAssociation_MOTION_PHOTO
	small := func() *waE2E.ContextInfo {
		return &waE2E.ContextInfo{PairedMediaType: waE2E.ContextInfo_SD_IMAGE_PARENT.Enum()}
	}
	id := anna.Post(h.phone, "", numbered(1, "what plant is this?", small()))
	anna.Post(h.phone, "", child(hd, id, numbered(2, "what plant is this?", nil)))
	if in := h.next(); in.ID != channels.MessageID(id) || pictures(in) != "2" || in.Text != "what plant is this?" {
		t.Errorf("a picture and its larger twin: %+v", in)
	}
	id = anna.Post(h.phone, "", numbered(3, "and this?", nil)) // an app that does not say that there is more
	if in := h.next(); pictures(in) != "3" {
		t.Errorf("came as %+v", in)
	}
	anna.Post(h.phone, "", child(hd, id, numbered(4, "and this?", nil)))
	film := &waE2E.VideoMessage{Mimetype: text("video/mp4"), DirectPath: text("/v/film"), MediaKey: make([]byte, 32), FileEncSHA256: make([]byte, 32), FileSHA256: make([]byte, 32), FileLength: proto.Uint64(9)}
	anna.Post(h.phone, "", child(motion, id, &waE2E.Message{VideoMessage: film}))
	head := anna.Post(h.phone, "", album(2, nil))
	part := anna.Post(h.phone, "", child(inAlbum, head, numbered(5, "both", small())))
	anna.Post(h.phone, "", child(inAlbum, head, numbered(6, "", nil)))
	anna.Post(h.phone, "", child(hd, part, numbered(7, "both", nil)))
	if in := h.next(); pictures(in) != "76" || in.Text != "both" {
		t.Errorf("an album with a twin: %+v", in)
	}
	id = anna.Post(h.phone, "", numbered(8, "alone", small())) // its twin does not come in time
	if in := h.next(); pictures(in) != "8" {
		t.Errorf("came as %+v", in)
	}
	h.phone.WaitDelivered()
	h.none()
	h.reopen()
	anna.Post(h.phone, "", child(hd, id, numbered(9, "alone", nil)))
	if in := h.next(); in.ID != channels.MessageID(id) { // which the host has
		t.Errorf("a twin after a restart: %+v", in)
	}
}
