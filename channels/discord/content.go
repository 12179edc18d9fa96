package discord

import (
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"parley/channels"
)

// markup is how Discord writes mentions, channels, roles, commands, emoji of servers and times in a text.
// https://discord.com/developers/docs/reference#message-formatting
var markup = regexp.MustCompile(`<(?:(@!?|#|@&)([0-9]{1,20})|/([^:>\n]{1,100}):[0-9]{1,20}|a?:([A-Za-z0-9_]{1,64}):[0-9]{1,20}|t:(-?[0-9]{1,13})(?::[tTdDfFsSR])?)>`)

// The flags of a message that matter here, https://discord.com/developers/docs/resources/message#message-object-message-flags
const (
	flagVoice        = 1 << 13
	flagComponentsV2 = 1 << 15
)

// reading is what a message says and brings.
type reading struct {
	text      string
	media     []channels.Media
	forwarded bool
	origin    string // forwarded: who wrote it
}

// read reads a message, wherever it stands: one that was written, quoted or read again. What it passes on counts as its words.
func (d decoder) read(m *wireMessage, guild, chat string) reading {
	if m.Author != nil && !m.Author.Bot && m.WebhookID == "" && isWrittenType(m.Type) {
		m.Embeds = nil // people write none: these are previews, which say what somebody else wrote
	}
	r := reading{text: d.text(m, guild, false), media: m.media(chat, m.ID)}
	if !m.forwards() {
		return r
	}
	r.forwarded, r.origin = true, d.origin(m.Reference)
	texts := []string{r.text}
	for i := range m.Snapshots {
		body := &m.Snapshots[i].Message
		texts = append(texts, d.text(body, m.Reference.GuildID, false))
		r.media = append(r.media, body.media(chat, m.ID)...) // files are found again by the message that has them now
	}
	r.text = paragraphs(texts)
	return r
}

// forwards reports whether a message passes on others.
func (m *wireMessage) forwards() bool {
	return m.Reference != nil && m.Reference.Type == referenceForward && len(m.Snapshots) > 0
}

// origin is who wrote what was forwarded, as far as the bot knows the chat: Discord says only where it stands.
func (d decoder) origin(ref *wireReference) string {
	where := d.names.title(ref.ChannelID)
	was, seen := d.recent.messages.get(ref.MessageID)
	if !seen {
		return where
	}
	who, _ := d.recent.people.get(ref.GuildID + "/" + was.author)
	switch {
	case who.sender.Name == "":
		return where
	case where == "":
		return who.sender.Name
	}
	return who.sender.Name + " in " + where
}

func paragraphs(list []string) string { return channels.Below("\n\n", list...) }

// text is what a message says in words, with names for ids. addressed leaves out the bot's own mention.
func (d decoder) text(m *wireMessage, guild string, addressed bool) string {
	names := func(s string) string { return d.readable(m, guild, addressed, s) }
	if words := serviceWords(m, names); words != "" {
		return words
	}
	text := paragraphs(m.parts(names))
	if addressed {
		return strings.TrimSpace(text)
	}
	return text
}

// parts are the paragraphs of a message, its own text first. What has no text is named.
func (m *wireMessage) parts(names func(string) string) []string {
	text := names(m.Content)
	list := append([]string{channels.Typed(text)}, componentWords(m.Components, names, 0)...)
	for _, e := range m.Embeds {
		if text == "" || e.Type == "rich" {
			list = append(list, e.text(names))
		}
	}
	if m.Poll != nil {
		list = append(list, m.Poll.text(names))
	}
	for _, s := range m.stickers() {
		if s.Format == stickerLottie || !isID(s.ID) {
			list = append(list, channels.HostLine("sticker: "+channels.CleanText(s.Name)))
		}
	}
	if len(m.Activity) > 0 && string(m.Activity) != "null" {
		game := "an activity"
		if m.Application != nil && m.Application.Name != "" {
			game = channels.CleanName(m.Application.Name)
		}
		list = append(list, channels.HostLine("invites to "+game))
	}
	for _, a := range m.Attachments {
		if a.Description != "" && !strings.HasPrefix(text, "/") {
			list = append(list, channels.HostLine("file "+channels.CleanText(a.Filename)+" shows: "+channels.CleanText(a.Description)))
		}
	}
	return list
}

// readable is a text with names for ids.
func (d decoder) readable(m *wireMessage, guild string, addressed bool, text string) string {
	return markup.ReplaceAllStringFunc(channels.CleanText(text), func(s string) string {
		g := markup.FindStringSubmatch(s)
		switch {
		case g[3] != "":
			return "/" + g[3]
		case g[4] != "":
			return ":" + g[4] + ":"
		case g[5] != "":
			return moment(g[5], s)
		}
		name, own := d.called(m, guild, g[1], g[2])
		switch {
		case own && addressed:
			return ""
		case name == "":
			return s
		}
		return strings.TrimSuffix(strings.TrimSuffix(g[1], "!"), "&") + name
	})
}

// moment is a time that Discord shows everybody by their own clock.
func moment(seconds, otherwise string) string {
	n, err := strconv.ParseInt(seconds, 10, 64)
	at := time.Unix(n, 0).UTC()
	if err != nil || at.Year() < 1 || at.Year() > 9999 {
		return otherwise
	}
	return at.Format("2006-01-02 15:04 UTC")
}

// called gives the name of what is mentioned and whether it is the bot.
func (d decoder) called(m *wireMessage, guild, sign, id string) (name string, own bool) {
	switch sign {
	case "#":
		for _, c := range m.MentionChannels {
			if c.ID == id {
				return channels.CleanName(c.Name), false
			}
		}
		p, _ := d.names.find(id)
		return p.name, false
	case "@&":
		return d.names.role(guild, id, d.me.User)
	}
	if id == d.me.User && d.me.Name != "" {
		return d.me.Name, true
	}
	for _, u := range m.Mentions {
		if u.ID == id {
			return u.shown(u.Member), id == d.me.User
		}
	}
	who, _ := d.recent.people.get(guild + "/" + id)
	return who.sender.Name, id == d.me.User
}

// The formats of stickers, https://discord.com/developers/docs/resources/sticker#sticker-object-sticker-format-types
const (
	stickerLottie = 3
	stickerGIF    = 4
)

func (m *wireMessage) stickers() []wireSticker {
	if len(m.Stickers) > 0 {
		return m.Stickers
	}
	return m.OldStickers
}

// media lists the files of a message. Their references name the message as well: addresses of files expire.
func (m *wireMessage) media(chat, message string) []channels.Media {
	var list []channels.Media
	known := map[string]bool{}
	for _, a := range append(m.Attachments, componentFiles(m.Components, 0)...) {
		if a.URL == "" || known[a.ID] {
			continue
		}
		known[a.ID] = a.ID != ""
		mime := strings.TrimSpace(strings.Split(channels.CleanText(a.ContentType), ";")[0])
		file := channels.Media{
			Kind: kindOf(mime, a.Filename), Ref: fileRef{a.URL, chat, message, a.ID}.String(), ID: a.ID, Name: channels.CleanText(a.Filename), MIME: mime, Size: int64(a.Size),
			Seconds: int(math.Ceil(min(float64(a.Seconds), maxSeconds))),
		}
		if m.Flags&flagVoice != 0 || a.Waveform != "" {
			file.Kind, file.Voice = channels.Audio, true
		}
		list = append(list, file)
	}
	for _, s := range m.stickers() {
		if s.Format == stickerLottie || !isID(s.ID) {
			continue
		}
		at, mime := "https://cdn.discordapp.com/stickers/"+s.ID+".png", "image/png"
		if s.Format == stickerGIF {
			at, mime = "https://media.discordapp.net/stickers/"+s.ID+".gif", "image/gif"
		}
		list = append(list, channels.Media{Kind: channels.Sticker, Ref: at, Name: channels.CleanText(s.Name), MIME: mime})
	}
	return list
}

// maxSeconds is the longest that a file plays; what says more makes no sense.
const maxSeconds = 7 * 24 * 3600

func kindOf(mime, name string) channels.MediaKind {
	switch family, _, _ := strings.Cut(mime, "/"); family {
	case "image":
		return channels.Image
	case "video":
		return channels.Video
	case "audio":
		return channels.Audio
	}
	if mime == "" {
		switch strings.ToLower(path.Ext(name)) {
		case ".png", ".jpg", ".jpeg", ".gif", ".webp":
			return channels.Image
		}
	}
	return channels.Document
}
