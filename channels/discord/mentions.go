package discord

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"parley/channels"
)

const (
	maxCircle = 200 // people of a chat that are known by name
	maxTold   = 100 // people that one message may notify, https://discord.com/developers/docs/resources/message#allowed-mentions-object
)

// circle is who wrote in a chat lately, the newest last.
type circle struct {
	mu     sync.Mutex
	people []channels.Sender
}

// met notes that somebody wrote in a chat.
func (r *recent) met(chat channels.ChatID, who channels.Sender) {
	if who.Bot || who.ID == "" {
		return
	}
	c, known := r.circles.get(string(chat))
	if !known {
		c = &circle{}
		r.circles.put(string(chat), c)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.people = append(slices.DeleteFunc(c.people, func(s channels.Sender) bool { return s.ID == who.ID }), who)
	if len(c.people) > maxCircle {
		c.people = slices.Clone(c.people[1:])
	}
}

func (r *recent) peopleOf(chat channels.ChatID) []channels.Sender {
	c, known := r.circles.get(string(chat))
	if !known {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.people)
}

// mentioning writes a text so that people of the chat whom it calls by "@" and their name are notified: exactly those. A name that two have
// notifies nobody, and neither does one in code. What else a model writes must not ring a thousand telephones.
func (c *Channel) mentioning(to channels.Address, text string) (string, mentions) {
	told := mentions{Parse: []string{}}
	text = c.meant(to, text)
	if !strings.Contains(text, "@") {
		return text, told
	}
	names := callable(c.recent.peopleOf(to.Chat), c.self().User)
	code := codeSpans.FindAllStringIndex(text, -1)
	room := textLimit - units(text)
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		id, length := "", 0
		if text[i] == '@' && !wordBefore(text[:i]) && !slices.ContainsFunc(code, func(s []int) bool { return s[0] <= i && i < s[1] }) {
			id, length = names.at(text[i:])
		}
		mention := "<@" + id + ">"
		if id == "" || len(told.Users) == maxTold || len(mention)-units(text[i:i+length]) > room {
			out.WriteByte(text[i])
			continue
		}
		room -= len(mention) - units(text[i:i+length])
		out.WriteString(mention)
		i += length - 1
		if !slices.Contains(told.Users, id) {
			told.Users = append(told.Users, id)
		}
	}
	return out.String(), told
}

// meant takes the backslash away from mentions by id of people who wrote in the chat, and of channels that the bot knows: Discord shows their
// names, and notifies nobody. Any other mention by id is shown as it is written.
func (c *Channel) meant(to channels.Address, text string) string {
	if !strings.Contains(text, `\<`) {
		return text
	}
	people := c.recent.peopleOf(to.Chat)
	code := codeSpans.FindAllStringIndex(text, -1)
	var out strings.Builder
	done := 0
	for _, at := range escapedMention.FindAllStringSubmatchIndex(text, -1) {
		sign, id := text[at[2]:at[3]], text[at[4]:at[5]]
		isKnown := sign == "#" && c.names.title(id) != "" || sign != "#" && slices.ContainsFunc(people, func(p channels.Sender) bool { return string(p.ID) == id })
		if isKnown && !slices.ContainsFunc(code, func(s []int) bool { return s[0] <= at[0] && at[0] < s[1] }) {
			out.WriteString(text[done:at[0]])
			done = at[0] + 1
		}
	}
	return out.String() + text[done:]
}

var escapedMention = regexp.MustCompile(`\\<(@!?|#)([0-9]{17,20})>`)

// units is the length of a text as Limits counts it.
func units(text string) int { return len(utf16.Encode([]rune(text))) }

// callName is a way to call somebody, as a rendered text may write it.
type callName struct {
	pattern *regexp.Regexp
	id      string // empty = two people have it
	length  int
}

type callNames []callName

// callable gives the names of people, the longest first.
func callable(people []channels.Sender, self string) (list callNames) {
	ids := map[string]string{}
	for _, p := range people {
		if string(p.ID) == self {
			continue
		}
		for _, n := range []string{p.Name, p.Username} {
			key := strings.ToLower(strings.TrimSpace(n))
			if key == "" || key == "everyone" || key == "here" || strings.ContainsAny(key, "\n@<>") {
				continue
			}
			if was, taken := ids[key]; taken && was != string(p.ID) {
				ids[key] = ""
				continue
			}
			ids[key] = string(p.ID)
		}
	}
	for key, id := range ids {
		var b strings.Builder
		b.WriteString("^(?i:@")
		for _, r := range key {
			if unicode.IsPunct(r) || unicode.IsSymbol(r) {
				b.WriteString(`\\?`) // the renderer may have escaped what would be markup
			}
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
		list = append(list, callName{regexp.MustCompile(b.String() + ")"), id, len(key)})
	}
	slices.SortFunc(list, func(a, b callName) int { return b.length - a.length })
	return list
}

// at gives whom a text calls at its beginning, and how long the call is; "" = nobody.
func (list callNames) at(text string) (id string, length int) {
	for _, n := range list {
		if end := n.pattern.FindStringIndex(text); end != nil && !wordAfter(text[end[1]:]) {
			return n.id, end[1]
		}
	}
	return "", 0
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_' }

// wordBefore reports whether an "@" stands inside of something, such as an e-mail address.
func wordBefore(text string) bool {
	r, n := utf8.DecodeLastRuneInString(text)
	return n > 0 && (isWord(r) || strings.ContainsRune("<@/.+-&", r))
}

// wordAfter reports whether a name goes on: "@ann" calls no Ann in "@anna" or "@ann.lee".
func wordAfter(text string) bool {
	r, n := utf8.DecodeRuneInString(text)
	if n > 0 && strings.ContainsRune(`.-'’\`, r) {
		r, n = utf8.DecodeRuneInString(text[n:])
	}
	return n > 0 && isWord(r)
}

// codeSpans are code and addresses in a text.
var codeSpans = regexp.MustCompile("(?s)```.*?(?:```|$)|``[^\n]+?``|`[^`\n]+`|\\]\\([^)\n]*\\)|https?://[^ \n]+")

var mentioned = regexp.MustCompile(`<(?:@!?|#)[0-9]{1,20}>`)

// sameText reports whether a message says what was to be said: names in it may have become mentions, and mentions may have lost a backslash.
func sameText(content, text string) bool {
	text = strings.TrimSpace(text)
	parts := mentioned.Split(content, -1)
	if content == text || len(parts) == 1 {
		return content == text
	}
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	like, err := regexp.Compile("(?s)^" + strings.Join(parts, `(?:\\?<(?:@!?|#)[0-9]{1,20}>|@[^\n]{1,80}?)`) + "$")
	return err == nil && like.MatchString(text)
}
