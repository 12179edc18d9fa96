package telegram

import (
	"strings"
	"unicode/utf8"

	"parley/channels"
)

// span is a part of a text that names somebody, in bytes.
type span struct {
	start, end int
	mine       bool
}

// mentions fills in who is mentioned, and the text without the bot's own mention.
func (d decoder) mentions(in *channels.Inbound, m *wireMessage, text string, entities []wireEntity) {
	var spans []span
	if len(entities) > 0 {
		spans = d.fromEntities(in.Address.Chat, text, entities)
	} else {
		spans = d.fromWords(text) // small servers send no entities
	}
	var cuts []span
	rest, last := "", 0
	for _, s := range spans {
		if !s.mine {
			in.MentionsOthers = true
			continue
		}
		in.Mentioned = true
		if s.start < last {
			continue
		}
		rest, last = rest+text[last:s.start], s.end
		if rest == "" || strings.HasSuffix(rest, " ") { // no double space, no comma in front
			for last < len(text) && (text[last] == ' ' || rest == "" && strings.IndexByte(",:\n", text[last]) >= 0) {
				last++
			}
		}
		cuts = append(cuts, span{start: s.start, end: last})
	}
	if cuts != nil && (m.Text != "" || m.Caption != "") { // a poll or a place is no command, and stays as it is worded
		in.Addressed = channels.CleanText(strings.TrimSpace(m.written(text, entities, cuts) + m.beside() + in.Preview))
	}
}

// fromEntities finds the mentions that the platform marked.
func (d decoder) fromEntities(chat channels.ChatID, text string, entities []wireEntity) []span {
	var spans []span
	for _, e := range entities {
		if e.Type != "mention" && e.Type != "text_mention" && e.Type != "bot_command" {
			continue
		}
		start, end, ok := byteRange(text, int(e.Offset), int(e.Length))
		if !ok {
			continue
		}
		word := text[start:end]
		switch e.Type {
		case "mention":
			spans = append(spans, span{start, end, d.isMe(word)})
		case "text_mention":
			d.people.saw(chat, e.User)
			spans = append(spans, span{start, end, e.User != nil && e.User.ID == d.me.ID})
		case "bot_command": // /status@name is a mention of name
			if i := strings.IndexByte(word, '@'); i >= 0 {
				spans = append(spans, span{start + i, end, d.isMe(word[i:])})
			}
		}
	}
	return spans
}

// fromWords finds the bot's own name in a text that came without marks.
func (d decoder) fromWords(text string) []span {
	if d.me.Username == "" || !strings.Contains(text, "@") {
		return nil
	}
	var spans []span
	name := "@" + strings.ToLower(d.me.Username)
	lower := strings.ToLower(text)
	if len(lower) != len(text) {
		return nil // lowering moved the bytes; without marks that is not worth more
	}
	for from := 0; ; {
		i := strings.Index(lower[from:], name)
		if i < 0 {
			return spans
		}
		start := from + i
		from = start + len(name)
		command := text[0] == '/' && !strings.ContainsAny(text[:start], " \n")
		if (start == 0 || command || !isNameByte(text[start-1])) && (from == len(text) || !isNameByte(text[from])) {
			spans = append(spans, span{start, from, true})
		}
	}
}

func isNameByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

func (d decoder) isMe(word string) bool {
	return d.me.Username != "" && strings.EqualFold(word, "@"+d.me.Username)
}

// byteRange turns an entity's position, which counts UTF-16 units, into bytes. It refuses one that is not inside the text.
func byteRange(text string, offset, length int) (start, end int, ok bool) {
	if offset < 0 || length <= 0 || offset > len(text) || length > len(text) {
		return 0, 0, false
	}
	start, units := -1, 0
	for i, r := range text {
		if units == offset {
			start = i
		}
		if units >= offset+length {
			return start, i, start >= 0 && units == offset+length
		}
		if units++; r > 0xFFFF && utf8.ValidRune(r) {
			units++
		}
	}
	return start, len(text), start >= 0 && units == offset+length
}
