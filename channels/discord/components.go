package discord

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	"parley/channels"
)

// The kinds of components, https://discord.com/developers/docs/components/reference#component-object-component-types
const (
	componentRow       = 1
	componentButton    = 2
	componentInput     = 4
	componentSection   = 9
	componentText      = 10
	componentPicture   = 11
	componentGallery   = 12
	componentFile      = 13
	componentSeparator = 14
	componentContainer = 17
	componentLabel     = 18
)

// maxDepth bounds how deep components lie in each other; Discord has three levels.
const maxDepth = 8

// componentWords are the paragraphs of a message that is made of components: its texts, what its buttons and menus say, and its pictures
// where they are described or stand elsewhere.
func componentWords(list []wireComponent, names func(string) string, depth int) (words []string) {
	if depth > maxDepth {
		return nil
	}
	for _, c := range list {
		switch c.Type {
		case componentRow, componentSection, componentSeparator, componentContainer, componentLabel: // they only hold and order others
		case componentText:
			words = append(words, channels.Typed(names(c.Content)))
		case componentButton:
			words = append(words, c.button(names))
		case componentPicture:
			words = append(words, c.Media.text(c.Description, names))
		case componentGallery:
			for _, item := range c.Items {
				words = append(words, item.Media.text(item.Description, names))
			}
		case componentFile:
			words = append(words, c.file(names))
		default:
			words = append(words, c.other(names))
		}
		words = append(words, componentWords(c.Components, names, depth+1)...)
		if c.Accessory != nil {
			words = append(words, componentWords([]wireComponent{*c.Accessory}, names, depth+1)...)
		}
	}
	return words
}

func (c wireComponent) button(names func(string) string) string {
	label := strings.TrimSpace(c.Emoji.text() + " " + names(c.Label))
	if c.URL != "" {
		label = channels.Link(label, c.URL)
	}
	return channels.HostLine(strings.TrimSuffix("button: "+label, ": "))
}

// other is what a menu or a field asks and offers. What has neither words nor a known kind is named by the number of its kind.
func (c wireComponent) other(names func(string) string) string {
	switch {
	case c.Placeholder != "" || len(c.Options) > 0:
	case c.Type > componentButton && c.Type < componentSection && c.Type != componentInput: // the menus of Discord's own: people, roles, channels
		return channels.HostLine("menu")
	case c.Content != "" || c.Label != "":
		return channels.Typed(strings.TrimSpace(names(c.Label) + "\n" + names(c.Content)))
	case len(c.Components) > 0 || c.Accessory != nil: // it is told by what it holds
		return ""
	default:
		return channels.HostLine(fmt.Sprintf("component of kind %d, which cannot be shown here", c.Type))
	}
	var offers []string
	for _, o := range c.Options {
		offers = append(offers, names(o.Label))
	}
	return channels.HostLine("menu: " + strings.Trim(names(c.Placeholder)+": "+strings.Join(offers, ", "), ": "))
}

// text is a picture's description, and its address where it is no file of the message.
func (m wireMedia) text(description string, names func(string) string) string {
	if m.ours() {
		if description == "" {
			return ""
		}
		return channels.HostLine("picture: " + names(description))
	}
	if m.URL == "" {
		return ""
	}
	return channels.Link("picture "+names(description), m.URL)
}

// file names a file that is not at Discord's host of files; the others are files of the message.
func (c wireComponent) file(names func(string) string) string {
	if c.File.ours() || c.File.URL == "" {
		return ""
	}
	name := c.Name
	if name == "" {
		u, _ := url.Parse(c.File.URL)
		if u != nil {
			name = path.Base(u.Host + u.Path) // attachment://a.log
		}
	}
	return channels.HostLine(strings.TrimSpace("file " + names(name)))
}

// ours reports whether a file lies at Discord's own host of files: nothing is fetched from an address that somebody wrote.
func (m wireMedia) ours() bool {
	u, err := url.Parse(m.URL)
	return err == nil && (m.AttachmentID != "" || u.Host == "cdn.discordapp.com" || u.Host == "media.discordapp.net") && strings.HasPrefix(u.Path, "/attachments/")
}

// componentFiles are the files of components that lie at Discord.
func componentFiles(list []wireComponent, depth int) (files []wireAttachment) {
	if depth > maxDepth {
		return nil
	}
	add := func(m wireMedia, name string, size amount) {
		if !m.ours() {
			return
		}
		u, _ := url.Parse(m.URL)
		if name == "" {
			name = path.Base(u.Path)
		}
		id := m.AttachmentID
		if id == "" {
			id = path.Base(path.Dir(u.Path)) // /attachments/chat/file/name
		}
		files = append(files, wireAttachment{ID: id, Filename: name, ContentType: m.ContentType, Size: size, URL: m.URL})
	}
	for _, c := range list {
		add(c.Media, "", 0)
		add(c.File, c.Name, c.Size)
		for _, item := range c.Items {
			add(item.Media, "", 0)
		}
		inner := c.Components
		if c.Accessory != nil {
			inner = append(inner[:len(inner):len(inner)], *c.Accessory)
		}
		files = append(files, componentFiles(inner, depth+1)...)
	}
	return files
}

func (e wireEmbed) text(names func(string) string) string {
	var lines []string
	add := func(s string) {
		if s = strings.TrimSpace(s); s != "" {
			lines = append(lines, channels.Typed(s))
		}
	}
	add(names(e.Author.Name))
	add(names(e.Title))
	add(names(e.Description))
	for _, f := range e.Fields {
		add(strings.Trim(names(f.Name)+": "+names(f.Value), ": "))
	}
	add(names(e.Footer.Text))
	add(channels.CleanText(e.URL))
	for _, m := range []wireMedia{e.Image, e.Thumbnail, e.Video} {
		if m.URL != "" && m.URL != e.URL && e.Type == "rich" {
			lines = append(lines, channels.Link("picture", m.URL))
		}
	}
	return channels.Below("\n", lines...)
}

func (p wirePollText) text(names func(string) string) string {
	return strings.TrimSpace(p.Emoji.text() + " " + names(p.Text))
}

// text is a poll with what was voted so far.
func (p *wirePoll) text(names func(string) string) string {
	var answers []string
	for _, a := range p.Answers {
		answer := a.Media.text(names)
		if p.Results != nil {
			for _, c := range p.Results.Counts {
				if c.ID == a.ID && c.Count > 0 {
					answer += fmt.Sprintf(" (%d)", int64(c.Count))
				}
			}
		}
		answers = append(answers, answer)
	}
	words := "poll: " + p.Question.text(names) + ": " + strings.Join(answers, " / ")
	if p.Several {
		words += "; several answers may be chosen"
	}
	if at, err := time.Parse(time.RFC3339, p.Expiry); err == nil {
		words += "; it ends at " + at.UTC().Format("2006-01-02 15:04 UTC")
	}
	return channels.HostLine(words)
}
