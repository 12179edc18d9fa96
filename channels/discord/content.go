package discord

import (
	"path"
	"regexp"
	"strings"

	"parley/channels"
)

// markup is how Discord writes mentions, channels, roles, commands and emoji of servers in a text.
// https://discord.com/developers/docs/reference#message-formatting
var markup = regexp.MustCompile(`<(?:(@!?|#|@&)([0-9]{1,20})|/([^:>\n]{1,100}):[0-9]{1,20}|a?:([A-Za-z0-9_]{1,64}):[0-9]{1,20})>`)

// text is what a message says in words, with names for ids. addressed leaves out the bot's own mention. A message without a text of
// its own says what its embeds or its poll say.
func (d decoder) text(m *wireMessage, guild string, addressed bool) string {
	text := d.readable(m, guild, addressed)
	var parts []string
	if text != "" {
		parts = append(parts, text)
	}
	for _, e := range m.Embeds {
		if t := e.text(); t != "" && (text == "" || e.Type == "rich") {
			parts = append(parts, t)
		}
	}
	if p := m.Poll; p != nil {
		lines := []string{"Poll: " + channels.CleanText(p.Question.Text)}
		for _, a := range p.Answers {
			lines = append(lines, "- "+channels.CleanText(a.Media.Text))
		}
		parts = append(parts, strings.Join(lines, "\n"))
	}
	for _, s := range m.Stickers {
		if s.Format == stickerLottie {
			parts = append(parts, "[sticker: "+channels.CleanText(s.Name)+"]")
		}
	}
	return strings.Join(parts, "\n\n")
}

// readable is the text with names for ids.
func (d decoder) readable(m *wireMessage, guild string, addressed bool) string {
	content := channels.CleanText(m.Content)
	out := markup.ReplaceAllStringFunc(content, func(s string) string {
		g := markup.FindStringSubmatch(s)
		switch {
		case g[3] != "":
			return "/" + g[3]
		case g[4] != "":
			return ":" + g[4] + ":"
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
	if addressed {
		return strings.TrimSpace(out)
	}
	return out
}

// called gives the name of what is mentioned and whether it is the bot.
func (d decoder) called(m *wireMessage, guild, sign, id string) (name string, own bool) {
	switch sign {
	case "#":
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
	return "", id == d.me.User
}

func (e wireEmbed) text() string {
	var lines []string
	add := func(s string) {
		if s = strings.TrimSpace(channels.CleanText(s)); s != "" {
			lines = append(lines, s)
		}
	}
	add(e.Author.Name)
	add(e.Title)
	add(e.Description)
	for _, f := range e.Fields {
		add(f.Name + ": " + f.Value)
	}
	add(e.Footer.Text)
	add(e.URL)
	return strings.Join(lines, "\n")
}

// The formats of stickers, https://discord.com/developers/docs/resources/sticker#sticker-object-sticker-format-types
const (
	stickerLottie = 3
	stickerGIF    = 4
)

// media lists the files of a message. Their references name the message as well: addresses of files expire.
func (m *wireMessage) media(chat, message string) []channels.Media {
	var list []channels.Media
	for _, a := range m.Attachments {
		if a.URL == "" {
			continue
		}
		mime := strings.TrimSpace(strings.Split(channels.CleanText(a.ContentType), ";")[0])
		list = append(list, channels.Media{
			Kind: kindOf(mime, a.Filename), Ref: fileRef{a.URL, chat, message, a.ID}.String(), Name: channels.CleanText(a.Filename), MIME: mime, Size: max(a.Size, 0),
		})
	}
	for _, s := range m.Stickers {
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

// describe says in words what a message without text is.
func (m *wireMessage) describe() string {
	var names []string
	for _, a := range m.Attachments {
		names = append(names, channels.CleanText(a.Filename))
	}
	for _, s := range m.Stickers {
		names = append(names, channels.CleanText(s.Name))
	}
	if len(names) == 0 {
		return ""
	}
	return "[" + strings.Join(names, ", ") + "]"
}
