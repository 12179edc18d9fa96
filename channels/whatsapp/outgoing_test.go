package whatsapp_test

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"slices"
	"strings"
	"testing"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/channels/whatsapp"
	"parley/channels/whatsapp/whatsapptest"
)

const day = 86400

// contextOf gives what a message says of itself, whatever kind it is of.
func contextOf(m *waE2E.Message) *waE2E.ContextInfo {
	for _, c := range []interface{ GetContextInfo() *waE2E.ContextInfo }{
		m.GetExtendedTextMessage(), m.GetImageMessage(), m.GetVideoMessage(), m.GetAudioMessage(), m.GetDocumentMessage(), m.GetStickerMessage(),
	} {
		if info := c.GetContextInfo(); info != nil {
			return info
		}
	}
	return nil
}

func ofBytes(kind channels.MediaKind, name, mime string, data []byte) channels.File {
	return channels.File{Kind: kind, Name: name, MIME: mime, Size: int64(len(data)), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
}

func (h *host) expirations(chat whatsapptest.Chat) (list []uint32) {
	h.t.Helper()
	for _, m := range h.phone.Sent(chat) {
		list = append(list, contextOf(m.Raw).GetExpiration())
	}
	return list
}

// source: tulir/whatsmeow#354, WhiskeySockets/Baileys#1687, evolution-foundation/evolution-go#79
func TestAnswersDisappear(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	to := h.direct(anna.Phone)
	id := anna.Say(h.phone, "psst", whatsapptest.Disappearing(day))
	h.texts("psst")
	r := h.send(channels.Outbound{Key: "a", To: to, Text: "yes?"})
	h.send(channels.Outbound{Key: "b", To: to, Text: "a reply", ReplyTo: channels.MessageID(id)})
	h.send(channels.Outbound{Key: "c", To: to, Files: []channels.File{ofBytes(channels.Document, "a.txt", "text/plain", []byte("text"))}})
	if err := h.ch.Edit(t.Context(), r.ID, channels.Outbound{Key: "d", To: to, Text: "yes!"}); err != nil {
		t.Error(err)
	}
	if err := h.ch.React(t.Context(), to, channels.MessageID(id), "👍"); err != nil {
		t.Error(err)
	}
	if got := h.expirations(anna); !slices.Equal(got, []uint32{day, day, day}) {
		t.Errorf("expirations %v", got)
	}
	if err := h.end(); err != nil {
		t.Fatal(err)
	}
	h.open()
	h.run()
	h.online()
	h.send(channels.Outbound{Key: "e", To: to, Text: "after a restart"})
	anna.SetTimer(h.phone, 7*day)
	anna.Say(h.phone, "longer")
	h.texts("longer")
	h.send(channels.Outbound{Key: "f", To: to, Text: "longer"})
	anna.SetTimer(h.phone, 0)
	anna.Say(h.phone, "for ever")
	h.texts("for ever")
	h.send(channels.Outbound{Key: "g", To: to, Text: "for ever"})
	if got := h.expirations(anna)[3:]; !slices.Equal(got, []uint32{day, 7 * day, 0}) {
		t.Errorf("after a restart and two changes: %v", got)
	}
}

// In a group the timer is the group's: a member's message does not change it.
func TestGroupTimer(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	bert := h.s.NewPerson("Bert")
	g := h.s.NewGroup("crew", anna.Phone, bert.Phone, h.phone)
	g.SetTimer(anna.Phone, day)
	anna.Say(g, "hello")
	h.texts("hello")
	h.send(channels.Outbound{Key: "a", To: h.group(g), Text: "one"})
	bert.Say(g, "forged", whatsapptest.Disappearing(1))
	h.texts("forged")
	h.send(channels.Outbound{Key: "b", To: h.group(g), Text: "two"})
	g.SetTimer(anna.Phone, 0)
	anna.Say(g, "stay")
	h.texts("stay")
	h.send(channels.Outbound{Key: "c", To: h.group(g), Text: "three"})
	if got := h.expirations(g); !slices.Equal(got, []uint32{day, day, 0}) {
		t.Errorf("expirations %v", got)
	}
}

// source: zeroclaw-labs/zeroclaw#10976, openclaw/openclaw#16608
func TestOutgoingMentions(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	bert, other := h.s.NewPerson("Bert Smith"), h.s.NewPerson("Carl")
	g := h.s.NewGroup("crew", anna.Phone, bert.Phone, h.phone)
	anna.Say(g, "hello")
	h.texts("hello")
	bert.Say(g, "hello too")
	h.texts("hello too")
	waitFor(t, "their names", func() bool {
		return whatsapp.NameOf(h.ch, anna.LID()) != "" && whatsapp.NameOf(h.ch, bert.LID()) != ""
	})
	a, b := "@"+anna.LID().User, "@"+bert.LID().User
	both := []string{anna.LID().String(), bert.LID().String()}
	for i, c := range []struct {
		text, want string
		mentions   []string
	}{
		{"@Anna and @bert smith: go", a + " and " + b + ": go", both},
		{"@" + anna.Number() + " and @" + strings.TrimPrefix(bert.Number(), "+"), a + " and " + b, both},
		{"ask @Bert", "ask " + b, both[1:]},
		{a + " twice " + a, a + " twice " + a, both[:1]},
		{"mail anna@Anna.example, `@Anna`, @Annabel, @" + other.Number(), "mail anna@Anna.example, `@Anna`, @Annabel, @" + other.Number(), nil},
	} {
		h.send(channels.Outbound{Key: string(rune('a' + i)), To: h.group(g), Text: c.text})
		sent := h.phone.Sent(g)
		if m := sent[len(sent)-1]; m.Text != c.want || !slices.Equal(m.Mentions, c.mentions) {
			t.Errorf("%s: %q, mentions %v", c.text, m.Text, m.Mentions)
		}
	}
	if asked := h.phone.Lookups(); len(asked) != 0 {
		t.Errorf("strangers were looked up: %v", asked)
	}
}

// What WhatsApp refuses with an option is sent once without it.
func TestOptionsAreLeftOut(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	to := h.direct(anna.Phone)
	id := anna.Say(h.phone, "say")
	h.texts("say")
	h.phone.Reject(479)
	r := h.send(channels.Outbound{Key: "a", To: to, Text: "an answer to @Anna", ReplyTo: channels.MessageID(id)})
	if r.LeftOut != "the reply reference, the mentions" {
		t.Errorf("left out: %q", r.LeftOut)
	}
	file := ofBytes(channels.Document, "q3.pdf", "application/pdf", []byte("%PDF"))
	h.phone.Reject(479)
	if r = h.send(channels.Outbound{Key: "b", To: to, Text: "the figures", Files: []channels.File{file}}); r.LeftOut != "the file q3.pdf" || r.Unsent != "q3.pdf" {
		t.Errorf("left out: %+v", r)
	}
	file.Size = 1 << 40
	if r = h.send(channels.Outbound{Key: "c", To: to, Text: "more figures", Files: []channels.File{file}}); r.LeftOut != "the file q3.pdf" {
		t.Errorf("left out: %q", r.LeftOut)
	}
	sent := h.phone.Sent(anna)
	if len(sent) != 3 || sent[0].Text != "an answer to @Anna" || sent[0].Quote != "" || len(sent[0].Mentions) != 0 || sent[1].Text != "the figures\n\n(The file `q3.pdf` cannot be sent in this chat.)" || sent[1].File != nil {
		t.Errorf("Anna sees %+v", sent)
	}
	h.phone.Reject(479)
	_, err := h.ch.Send(t.Context(), channels.Outbound{Key: "d", To: to, Text: "plain"})
	h.class(err, channels.Rejected)
	h.phone.Reject(403) // about the chat, not about the message
	_, err = h.ch.Send(t.Context(), channels.Outbound{Key: "e", To: to, Text: "again", ReplyTo: channels.MessageID(id)})
	h.class(err, channels.Rejected)
}

// A file that the media server does not take as what it is goes as a document, and one that it does not take at all leaves its words. So it
// is with answers to the message that nobody knows yet.
// source: go.mau.fi/whatsmeow upload.go ("upload failed with status code"), itsliaaa/baileys#4
func TestRefusedFiles(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	out := channels.Outbound{Key: "a", To: h.direct(anna.Phone), Text: "look", Files: []channels.File{ofBytes(channels.Image, "p.png", "image/png", []byte("\x89PNG\r\n\x1a\n"))}}
	h.s.RefuseUploads("image", 422)
	if r := h.send(out); r.LeftOut != "showing p.png as a picture" || r.Unsent != "" {
		t.Errorf("as a document: %+v", r)
	}
	h.s.RefuseUploads("document", 415)
	out.Key = "b"
	if r := h.send(out); r.LeftOut != "the file p.png" || r.Unsent != "p.png" {
		t.Errorf("not at all: %+v", r)
	}
	h.s.RefuseUploads("image", 0)
	h.phone.Reject(499)
	out.Key = "c"
	if r := h.send(out); r.LeftOut != "the file p.png" || r.Unsent != "p.png" {
		t.Errorf("a code of tomorrow: %+v", r)
	}
	without := "look\n\n(The file `p.png` cannot be sent in this chat.)"
	if sent := h.phone.Sent(anna); len(sent) != 3 || sent[0].Raw.GetDocumentMessage().GetCaption() != "look" || sent[1].Text != without || sent[2].Text != without {
		t.Errorf("Anna sees %+v", sent)
	}
}

// source: openclaw/openclaw#7, nocodeleaks/quepasa#4, Rhymen/go-whatsapp#219
func TestFilesLeaveAsWhatTheyAre(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	to := h.direct(anna.Phone)
	send := func(text string, f channels.File) *waE2E.Message {
		t.Helper()
		h.send(channels.Outbound{Key: f.Name + text, To: to, Text: text, Files: []channels.File{f}})
		sent := h.phone.Sent(anna)
		return sent[len(sent)-1].Raw
	}
	if a := send("", ofBytes(channels.Audio, "voice.ogg", "application/ogg", channeltest.Opus(14))).GetAudioMessage(); a.GetMimetype() != "audio/ogg; codecs=opus" || !a.GetPTT() || a.GetSeconds() != 14 || len(a.GetWaveform()) != channels.Waveform {
		t.Errorf("voice message: %+v", a)
	}
	if a := send("", ofBytes(channels.Audio, "song.mp3", "audio/mpeg", []byte("ID3 a song"))).GetAudioMessage(); a.GetMimetype() != "audio/mpeg" || a.GetPTT() {
		t.Errorf("song: %+v", a)
	}
	if s := send("", ofBytes(channels.Sticker, "s.webp", "image/webp", channeltest.WebP(512, 500, true))).GetStickerMessage(); s.GetWidth() != 512 || s.GetHeight() != 500 || !s.GetIsAnimated() {
		t.Errorf("sticker: %+v", s)
	}
	if d := send("with words", ofBytes(channels.Sticker, "w.webp", "image/webp", channeltest.WebP(512, 500, true))).GetDocumentMessage(); d.GetCaption() != "with words" {
		t.Errorf("sticker with words: %+v", d)
	}
	if v := send("film", ofBytes(channels.Video, "v.mp4", "video/mp4", channeltest.MP4(640, 360, 5, 9))).GetVideoMessage(); v.GetWidth() != 640 || v.GetHeight() != 360 || v.GetSeconds() != 5 || v.GetCaption() != "film" {
		t.Errorf("film: %+v", v)
	}
	for _, format := range []string{"png", "jpeg"} {
		im := image.NewRGBA(image.Rect(0, 0, 300, 150))
		for i := range im.Pix {
			im.Pix[i] = 0xff
		}
		im.Set(1, 1, color.Black)
		var b bytes.Buffer
		err := png.Encode(&b, im)
		if format == "jpeg" {
			b.Reset()
			err = jpeg.Encode(&b, im, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		p := send("", ofBytes(channels.Image, "p."+format, "image/"+format, b.Bytes())).GetImageMessage()
		small, err := jpeg.Decode(bytes.NewReader(p.GetJPEGThumbnail()))
		if p.GetWidth() != 300 || p.GetHeight() != 150 || err != nil || small.Bounds().Dx() != 72 || small.Bounds().Dy() != 36 || len(p.GetJPEGThumbnail()) > 4096 {
			t.Errorf("%s: %d x %d, thumbnail of %d bytes, %v", format, p.GetWidth(), p.GetHeight(), len(p.GetJPEGThumbnail()), err)
		}
	}
	broken := send("", ofBytes(channels.Image, "b.png", "image/png", []byte("\x89PNG\r\n\x1a\nrubbish")))
	if broken.GetImageMessage() == nil || broken.GetImageMessage().Width != nil {
		t.Errorf("a broken picture: %+v", broken)
	}
}

// Once a message was sent, or was not, nothing follows by itself that nobody asked the send policy about.
// source: developers.facebook.com Cloud API "Typing indicators" (it ends after 25 s or with an answer)
func TestTypingEndsByItself(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	if err := h.ch.Typing(t.Context(), h.direct(anna.Phone)); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "typing", func() bool { return h.phone.Typing(anna) == 1 })
	h.none()
	if n := h.phone.Paused(anna); n != 0 {
		t.Errorf("%d times the typing was ended", n)
	}
}

// source: mautrix/whatsapp (messages of the own phone), docs of linked devices
func TestOwnersHand(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	g := h.s.NewGroup("crew", anna.Phone, h.phone)
	me := h.phone.Owner()
	for _, chat := range []whatsapptest.Chat{anna, g} {
		id := me.Say(chat, "I answer myself")
		if in := h.next(); !in.SentByThisLogin || !in.ByHand || in.Event != channels.Message || in.Text != "I answer myself" {
			t.Errorf("by hand: %+v", in)
		} else if direct := in.Address.Type == channels.Direct; direct != (len(in.People) == 1 && strings.HasPrefix(string(in.People[0].ID), "+")) {
			t.Errorf("by hand, with %+v", in.People)
		}
		me.Edit(chat, id, "better")
		if in := h.next(); !in.SentByThisLogin || !in.ByHand || in.Event != channels.Edited {
			t.Errorf("changed by hand: %+v", in)
		}
	}
	me.Say(h.phone, "note to myself")
	if in := h.next(); in.ByHand || in.SentByThisLogin {
		t.Errorf("in the chat with oneself: %+v", in)
	}
}
