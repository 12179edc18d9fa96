package telegram

import (
	"cmp"
	"encoding/json"

	"parley/channels"
)

// The files that a message may carry.
type (
	wireFiles struct {
		Photo     []wirePhoto `json:"photo"`
		LivePhoto *wireFile   `json:"live_photo"` // its picture comes as Photo as well
		Document  *wireFile   `json:"document"`
		Video     *wireFile   `json:"video"`
		VideoNote *wireFile   `json:"video_note"`
		Audio     *wireFile   `json:"audio"`
		Voice     *wireFile   `json:"voice"`
		VoiceNote *wireFile   `json:"voice_note"` // the same, in a rich message
		Animation *wireFile   `json:"animation"`
		Sticker   *wireFile   `json:"sticker"`
		wireThings
	}
	wireFile struct {
		FileID    string      `json:"file_id"`
		UniqueID  string      `json:"file_unique_id"`
		Name      string      `json:"file_name"`
		MIME      string      `json:"mime_type"`
		Size      quantity    `json:"file_size"`
		Duration  quantity    `json:"duration"` // seconds
		Photo     []wirePhoto `json:"photo"`    // of a live photo
		Title     string      `json:"title"`
		Performer string      `json:"performer"`
		Emoji     string      `json:"emoji"`
		Animated  bool        `json:"is_animated"` // a sticker in Telegram's own vector format
		IsVideo   bool        `json:"is_video"`
	}
	wirePhoto struct {
		FileID   string   `json:"file_id"`
		UniqueID string   `json:"file_unique_id"`
		Width    int64    `json:"width"`
		Height   int64    `json:"height"`
		Size     quantity `json:"file_size"`
	}
)

// media lists the files of a message. An animation comes as a document as well, which is left out; of a live photo the picture counts.
func (t *wireFiles) media() []channels.Media {
	list := pictureOf(t.Photo)
	if t.LivePhoto != nil && list == nil {
		list = pictureOf(t.LivePhoto.Photo)
	}
	add := func(kind channels.MediaKind, f *wireFile, name, mime string) {
		if f == nil || f.FileID == "" {
			return
		}
		list = append(list, channels.Media{
			Kind: kind, Ref: f.FileID, ID: f.UniqueID, Name: channels.CleanText(cmp.Or(f.Name, name)), MIME: channels.CleanText(cmp.Or(f.MIME, mime)), Size: f.Size.size(),
			Seconds: f.Duration.seconds(), Voice: kind == channels.Audio && (f == t.Voice || f == t.VoiceNote),
		})
	}
	add(channels.Video, t.Video, "", "")
	add(channels.Video, t.VideoNote, "video message.mp4", "video/mp4")
	add(channels.Video, t.Animation, "", "")
	add(channels.Audio, t.Audio, "", "")
	add(channels.Audio, t.Voice, "voice message.ogg", "")
	add(channels.Audio, t.VoiceNote, "voice message.ogg", "")
	if s := t.Sticker; s != nil {
		mime := "image/webp"
		switch {
		case s.Animated:
			mime = "application/x-tgsticker"
		case s.IsVideo:
			mime = "video/webm"
		}
		add(channels.Sticker, s, "", mime)
	}
	if t.Animation == nil {
		add(channels.Document, t.Document, "", "")
	}
	return append(list, t.inside()...)
}

// inside lists the files of what a message carries: of paid media, a poll, a rich message.
func (t *wireThings) inside() (list []channels.Media) {
	if t.Paid != nil {
		for i := range t.Paid.Media {
			list = append(list, t.Paid.Media[i].media()...)
		}
	}
	if p := t.Poll; p != nil {
		shown := []*wirePolled{p.Media}
		for _, o := range p.Options {
			shown = append(shown, o.Media)
		}
		for _, m := range append(shown, p.WhyMedia) {
			if m != nil {
				list = append(list, m.media()...)
			}
		}
	}
	if t.Rich != nil {
		_, files := richText(*t.Rich)
		list = append(list, files...)
	}
	return list
}

// pictureOf is the picture that Telegram sends in several sizes: the largest counts.
func pictureOf(sizes []wirePhoto) []channels.Media {
	best := -1
	for i, p := range sizes {
		if p.FileID != "" && (best < 0 || p.Width*p.Height > sizes[best].Width*sizes[best].Height) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	return []channels.Media{{Kind: channels.Image, Ref: sizes[best].FileID, ID: sizes[best].UniqueID, MIME: "image/jpeg", Size: sizes[best].Size.size()}}
}

// richFile reads a part of a rich message that is a file.
func richFile(part map[string]any) []channels.Media {
	raw, err := json.Marshal(part)
	var files wireFiles
	if err != nil || json.Unmarshal(raw, &files) != nil {
		return nil
	}
	return files.media()
}
