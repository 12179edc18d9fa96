package whatsapp

import (
	"encoding/hex"
	"encoding/json"
	"errors"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"

	"parley/channels"
)

// mediaRef is what Fetch needs; it is a Media's Ref as JSON. The file on the server is encrypted with a key that only the message had.
type mediaRef struct {
	Type string `json:"t"`
	Path string `json:"p"`
	Key  []byte `json:"k"`
	Enc  []byte `json:"e"` // SHA-256 of the encrypted file
	Sum  []byte `json:"s"` // and of the file itself
	Size uint64 `json:"n,omitempty"`
}

// mediaTypes are the names of a mediaRef's Type.
var mediaTypes = map[string]whatsmeow.MediaType{
	"image": whatsmeow.MediaImage, "video": whatsmeow.MediaVideo, "audio": whatsmeow.MediaAudio, "document": whatsmeow.MediaDocument,
}

var errRef = errors.New("not a reference to a WhatsApp file")

func parseRef(text string) (mediaRef, whatsmeow.MediaType, error) {
	var r mediaRef
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return r, "", errRef
	}
	kind, ok := mediaTypes[r.Type]
	const keySize, sumSize = 32, 32
	if !ok || len(r.Path) < 2 || r.Path[0] != '/' || len(r.Key) != keySize || len(r.Enc) != sumSize || len(r.Sum) != sumSize {
		return r, "", errRef
	}
	return r, kind, nil
}

// downloadable is what every kind of file has.
type downloadable interface {
	GetDirectPath() string
	GetMediaKey() []byte
	GetFileEncSHA256() []byte
	GetFileSHA256() []byte
	GetFileLength() uint64
	GetMimetype() string
}

func media(kind channels.MediaKind, class, name string, m downloadable) []channels.Media {
	ref, err := json.Marshal(mediaRef{Type: class, Path: m.GetDirectPath(), Key: m.GetMediaKey(), Enc: m.GetFileEncSHA256(), Sum: m.GetFileSHA256(), Size: m.GetFileLength()})
	if err != nil {
		return nil
	}
	one := channels.Media{Kind: kind, Ref: string(ref), Name: channels.CleanText(name), MIME: channels.CleanText(m.GetMimetype()), ID: hex.EncodeToString(m.GetFileSHA256()), Size: int64(min(m.GetFileLength(), 1<<62))} //nolint:gosec // bounded by min
	if timed, ok := m.(interface{ GetSeconds() uint32 }); ok {
		const longest = 7 * 24 * 3600 // more is no length that anything has
		if s := timed.GetSeconds(); s <= longest {
			one.Seconds = int(s)
		}
	}
	if voice, ok := m.(interface{ GetPTT() bool }); ok {
		one.Voice = voice.GetPTT()
	}
	return []channels.Media{one}
}

// readMedia reads the messages that carry a file.
func readMedia(msg *waE2E.Message) (content, bool) {
	switch {
	case msg.GetImageMessage() != nil:
		m := msg.GetImageMessage()
		return content{text: channels.Typed(m.GetCaption()), media: media(channels.Image, "image", "", m), context: m.GetContextInfo()}, true
	case msg.GetVideoMessage() != nil:
		m := msg.GetVideoMessage()
		return content{text: channels.Typed(m.GetCaption()), media: media(channels.Video, "video", "", m), context: m.GetContextInfo()}, true
	case msg.GetPtvMessage() != nil:
		m := msg.GetPtvMessage()
		return content{text: channels.Typed(m.GetCaption()), media: media(channels.Video, "video", "", m), context: m.GetContextInfo()}, true
	case msg.GetAudioMessage() != nil:
		m := msg.GetAudioMessage()
		return content{media: media(channels.Audio, "audio", "", m), context: m.GetContextInfo()}, true
	case msg.GetStickerMessage() != nil:
		m := msg.GetStickerMessage()
		return content{media: media(channels.Sticker, "image", "", m), context: m.GetContextInfo()}, true
	case msg.GetDocumentMessage() != nil:
		m := msg.GetDocumentMessage()
		name := m.GetFileName()
		if name == "" {
			name = m.GetTitle()
		}
		return content{text: channels.Typed(m.GetCaption()), media: media(channels.Document, "document", name, m), context: m.GetContextInfo()}, true
	}
	return content{}, false
}
