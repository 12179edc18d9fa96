package telegram

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"parley/channels"
)

// What a message may carry besides text.
type (
	wireFiles struct {
		Photo     []wirePhoto   `json:"photo"`
		Document  *wireFile     `json:"document"`
		Video     *wireFile     `json:"video"`
		VideoNote *wireFile     `json:"video_note"`
		Audio     *wireFile     `json:"audio"`
		Voice     *wireFile     `json:"voice"`
		Animation *wireFile     `json:"animation"`
		Sticker   *wireFile     `json:"sticker"`
		Location  *wireLocation `json:"location"`
		Venue     *struct {
			Title   string `json:"title"`
			Address string `json:"address"`
		} `json:"venue"`
		Contact *struct {
			Phone     string `json:"phone_number"`
			FirstName string `json:"first_name"`
			LastName  string `json:"last_name"`
		} `json:"contact"`
		Poll *struct {
			Question string `json:"question"`
			Options  []struct {
				Text string `json:"text"`
			} `json:"options"`
		} `json:"poll"`
		Dice *struct {
			Emoji string `json:"emoji"`
			Value int    `json:"value"`
		} `json:"dice"`
		Checklist *struct {
			Title string     `json:"title"`
			Tasks []wireTask `json:"tasks"`
		} `json:"checklist"`
		Game *struct {
			Title       string `json:"title"`
			Description string `json:"description"`
		} `json:"game"`
		Story *struct {
			Chat *wireChat `json:"chat"`
		} `json:"story"`
		Paid *struct {
			Stars int64      `json:"star_count"`
			Media []struct{} `json:"paid_media"`
		} `json:"paid_media"`
		Rich json.RawMessage `json:"rich_message"`
	}
	wireFile struct {
		FileID    string `json:"file_id"`
		Name      string `json:"file_name"`
		MIME      string `json:"mime_type"`
		Size      int64  `json:"file_size"`
		Duration  int64  `json:"duration"` // seconds
		Title     string `json:"title"`
		Performer string `json:"performer"`
		Emoji     string `json:"emoji"`
		Animated  bool   `json:"is_animated"` // a sticker in Telegram's own vector format
		IsVideo   bool   `json:"is_video"`
	}
	wirePhoto struct {
		FileID string `json:"file_id"`
		Width  int64  `json:"width"`
		Height int64  `json:"height"`
		Size   int64  `json:"file_size"`
	}
	wireTask struct {
		Text string    `json:"text"`
		By   *wireUser `json:"completed_by_user"`
		In   *wireChat `json:"completed_by_chat"`
		Done int64     `json:"completion_date"`
	}
	wireLocation struct {
		Latitude  float64 `json:"latitude"`
		Longitude float64 `json:"longitude"`
	}
)

// media lists the files of a message. Telegram sends a picture in several sizes; the largest counts. An animation comes as a
// document as well, which is left out.
func (m *wireMessage) media() []channels.Media {
	var list []channels.Media
	best := -1
	for i, p := range m.Photo {
		if p.FileID != "" && (best < 0 || p.Width*p.Height > m.Photo[best].Width*m.Photo[best].Height) {
			best = i
		}
	}
	if best >= 0 {
		p := m.Photo[best]
		list = append(list, channels.Media{Kind: channels.Image, Ref: p.FileID, MIME: "image/jpeg", Size: max(p.Size, 0)})
	}
	add := func(kind channels.MediaKind, f *wireFile, name, mime string) {
		if f != nil && f.FileID != "" {
			list = append(list, channels.Media{Kind: kind, Ref: f.FileID, Name: channels.CleanText(cmp.Or(f.Name, name)), MIME: channels.CleanText(cmp.Or(f.MIME, mime)), Size: max(f.Size, 0)})
		}
	}
	add(channels.Video, m.Video, "", "")
	add(channels.Video, m.VideoNote, "video message.mp4", "video/mp4")
	add(channels.Video, m.Animation, "", "")
	add(channels.Audio, m.Audio, "", "")
	add(channels.Audio, m.Voice, "voice message.ogg", "")
	if s := m.Sticker; s != nil {
		mime := "image/webp"
		switch {
		case s.Animated:
			mime = "application/x-tgsticker"
		case s.IsVideo:
			mime = "video/webm"
		}
		add(channels.Sticker, s, "", mime)
	}
	if m.Animation == nil {
		add(channels.Document, m.Document, "", "")
	}
	return list
}

// placeholder words what people can send that is neither text nor a file, and of files what their bytes do not show at once.
func (m *wireFiles) placeholder() string {
	switch {
	case m.Venue != nil:
		return fmt.Sprintf("[place: %s, %s]", m.Venue.Title, m.Venue.Address)
	case m.Location != nil:
		return fmt.Sprintf("[location: %.6f, %.6f]", m.Location.Latitude, m.Location.Longitude)
	case m.Contact != nil:
		return fmt.Sprintf("[contact: %s, %s]", strings.TrimSpace(m.Contact.FirstName+" "+m.Contact.LastName), m.Contact.Phone)
	case m.Poll != nil:
		var options []string
		for _, o := range m.Poll.Options {
			options = append(options, o.Text)
		}
		return fmt.Sprintf("[poll: %s: %s]", m.Poll.Question, strings.Join(options, " / "))
	case m.Dice != nil:
		return fmt.Sprintf("[dice: %s %d]", m.Dice.Emoji, m.Dice.Value)
	case m.Checklist != nil:
		return m.checklist()
	case m.Game != nil:
		return fmt.Sprintf("[game: %s: %s]", m.Game.Title, m.Game.Description)
	case m.Story != nil:
		name := ""
		if m.Story.Chat != nil {
			name = " of " + m.Story.Chat.sender().Name
		}
		return "[story" + name + "]"
	case m.Paid != nil:
		return fmt.Sprintf("[paid media: %d for %d stars]", len(m.Paid.Media), m.Paid.Stars)
	case len(m.Rich) > 0:
		return cmp.Or(richText(m.Rich), "[a message without words]")
	case m.Sticker != nil:
		return m.Sticker.Emoji
	case m.Voice != nil:
		return "[voice message" + m.Voice.length() + "]"
	case m.VideoNote != nil:
		return "[video message" + m.VideoNote.length() + "]"
	case m.Audio != nil:
		name := strings.Trim(m.Audio.Performer+" – "+m.Audio.Title, " –")
		if name != "" {
			name = ": " + name
		}
		return "[audio" + name + m.Audio.length() + "]"
	default:
		return ""
	}
}

// checklist words a list of tasks, with those that are done.
func (m *wireFiles) checklist() string {
	var b strings.Builder
	b.WriteString("[checklist: " + m.Checklist.Title)
	for _, task := range m.Checklist.Tasks {
		mark := "☐"
		if task.By != nil || task.In != nil || task.Done != 0 {
			mark = "☑"
		}
		b.WriteString("\n" + mark + " " + task.Text)
	}
	return b.String() + "]"
}

// length words how long a recording is.
func (f *wireFile) length() string {
	const longest = 1 << 30
	if f.Duration <= 0 || f.Duration > longest {
		return ""
	}
	return ", " + (time.Duration(f.Duration) * time.Second).String()
}
