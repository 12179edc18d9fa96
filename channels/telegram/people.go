package telegram

import (
	"html"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"parley/channels"
)

// people remembers who wrote in a group and has no @name, so that an answer that says @Bob reaches Bob: without a name of their own a person
// is mentioned by their number alone. It is bounded; whoever is forgotten, or shares a name with somebody else, is not notified.
type people struct {
	mu    sync.Mutex
	chats map[channels.ChatID]map[string]channels.UserID // by display name and first name; nobody = it means several, or is somebody's @name
}

const (
	mostPeopleChats = 1000
	mostPeople      = 500 // of a chat
	nobody          = channels.UserID("")
)

func newPeople() *people { return &people{chats: map[channels.ChatID]map[string]channels.UserID{}} }

// saw notes a member of a group.
func (p *people) saw(chat channels.ChatID, u *wireUser) {
	if p == nil || u == nil || u.ID == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	names := p.chats[chat]
	if names == nil {
		if len(p.chats) >= mostPeopleChats {
			clear(p.chats)
		}
		names = map[string]channels.UserID{}
		p.chats[chat] = names
	}
	add := func(name string, id channels.UserID) {
		if was, known := names[name]; known && was != id {
			names[name] = nobody
		} else if name != "" && len(names) < mostPeople {
			names[name] = id
		}
	}
	if u.Username != "" {
		add(u.Username, nobody) // Telegram notifies them by that
		return
	}
	add(u.name(), userID(u.ID))
	add(channels.CleanName(strings.TrimSpace(u.FirstName)), userID(u.ID))
}

// mention makes each @Name of a person without an @name a mention by number. text is HTML as the renderer writes it; code and links stay.
func (p *people) mention(chat channels.ChatID, text string) string {
	if !strings.Contains(text, "@") {
		return text
	}
	names, ids := p.of(chat)
	if len(names) == 0 {
		return text
	}
	var b strings.Builder
	closed := 0 // tags open in which nothing is a mention
	for i := 0; i < len(text); {
		switch {
		case text[i] == '<':
			end := strings.IndexByte(text[i:], '>')
			if end < 0 {
				return text
			}
			tag := strings.ToLower(text[i : i+end+1])
			if name, opens := strings.CutPrefix(tag, "<"); slices.Contains([]string{"a", "code", "pre"}, tagName(strings.TrimPrefix(name, "/"))) {
				if opens && !strings.HasPrefix(name, "/") {
					closed++
				} else {
					closed--
				}
			}
			b.WriteString(text[i : i+end+1])
			i += end + 1
		case text[i] == '@' && closed == 0 && !endsInWord(text[:i]) && !inAddress(text[:i]):
			name := longest(names, text[i+1:])
			if name == "" {
				b.WriteByte('@')
				i++
				continue
			}
			b.WriteString(`<a href="tg://user?id=` + string(ids[name]) + `">@` + name + `</a>`)
			i += 1 + len(name)
		default:
			b.WriteByte(text[i])
			i++
		}
	}
	return b.String()
}

// of gives the names of a chat as HTML has them, with whom they mean.
func (p *people) of(chat channels.ChatID) (names []string, ids map[string]channels.UserID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ids = map[string]channels.UserID{}
	for name, id := range p.chats[chat] {
		if id != nobody {
			name = html.EscapeString(name)
			names, ids[name] = append(names, name), id
		}
	}
	return names, ids
}

// longest is the longest of the names that a text begins with, as whole words.
func longest(names []string, text string) (found string) {
	for _, name := range names {
		if len(name) > len(found) && strings.HasPrefix(text, name) && !beginsInWord(text[len(name):]) {
			found = name
		}
	}
	return found
}

// inAddress reports whether a text ends inside of an address: https://example.com/, example.com/.
func inAddress(text string) bool {
	host, _, found := strings.Cut(text[strings.LastIndexAny(text, " \t\n>")+1:], "/")
	return found && strings.ContainsAny(host, ".:")
}

func tagName(tag string) string {
	name, _, _ := strings.Cut(strings.TrimRight(tag, ">"), " ")
	return name
}

func endsInWord(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return isWordRune(r)
}

func beginsInWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return isWordRune(r)
}

func isWordRune(r rune) bool {
	return r != utf8.RuneError && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
}
