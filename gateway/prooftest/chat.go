package prooftest

import "strings"

// tokens gives the tokens that stand in a text, in their order, each as often as it stands there.
func tokens(text string) (found []string) {
	for {
		i := strings.IndexByte(text, '[')
		if i < 0 {
			return found
		}
		text = text[i+1:]
		end := 0
		for end < len(text) && inToken(text[end]) {
			end++
		}
		if end > 0 && end < len(text) && text[end] == ']' {
			found = append(found, text[:end])
		}
		text = text[end:]
	}
}

// inToken reports whether a byte may stand in a token.
func inToken(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || strings.IndexByte("._:-", b) >= 0
}

// isToken reports whether a word may be a token.
func isToken(s string) bool {
	got := tokens("[" + s + "]")
	return len(got) == 1 && got[0] == s
}

// line is one message in a chat: what was posted, and each text that it was changed to.
type line struct {
	place    Place // of its first post
	pos      int   // order among all lines: that of the first post
	id       string
	key      string
	versions []*Shown
	gone     bool     // removed
	tokens   []string // of the text that stands there in the end; none when it is gone
	word     *word    // what it says in the host's own words; nil = nothing
}

// last is what stands there in the end, or stood there before it was removed.
func (l *line) last() *Shown { return l.versions[len(l.versions)-1] }

// name is what a platform tells messages and calls by: edits do not always name the thread.
type name struct{ platform, account, chat, id string }

// chats is what all chats show.
type chats struct {
	lines  []*line        // in order of their first post
	calls  []Place        // where each call of the log went
	byID   map[name]*line // the newest with that id
	keyed  map[name][]*line
	folded int
}

// read builds the chats from the log of the calls.
func read(log []Shown) *chats {
	c := &chats{calls: make([]Place, len(log)), byID: map[name]*line{}, keyed: map[name][]*line{}}
	for i := range log {
		c.calls[i] = c.take(&log[i])
	}
	for _, l := range c.lines {
		if !l.gone {
			l.tokens = tokens(l.last().Text)
		}
	}
	return c
}

// take adds one call and says which place it was for.
func (c *chats) take(s *Shown) Place {
	id := name{s.Place.Platform, s.Place.Account, s.Place.Chat, s.ID}
	old := c.byID[id]
	if s.ID == "" {
		old = nil
	}
	switch s.Verb {
	case Post:
		if c.fold(s) {
			return s.Place
		}
		c.add(s, id)
		return s.Place
	case Edit:
		if old == nil { // its post was not logged: it begins here
			c.add(s, id)
			return s.Place
		}
		old.versions, old.gone = append(old.versions, s), false
	case Remove:
		if old != nil {
			old.gone = true
		}
	}
	if old != nil {
		return old.place
	}
	return s.Place
}

// fold reports whether a post is the repeated call for a message that is there: the same key, and the platform gave the same id.
func (c *chats) fold(s *Shown) bool {
	if s.Key == "" {
		return false
	}
	for _, l := range c.keyed[name{s.Place.Platform, s.Place.Account, s.Place.Chat, s.Key}] {
		if l.id == s.ID && l.place == s.Place {
			c.folded++
			return true
		}
	}
	return false
}

// add begins a line.
func (c *chats) add(s *Shown, id name) {
	l := &line{place: s.Place, pos: len(c.lines), id: s.ID, key: s.Key, versions: []*Shown{s}}
	c.lines = append(c.lines, l)
	c.byID[id] = l
	if s.Key != "" {
		key := name{s.Place.Platform, s.Place.Account, s.Place.Chat, s.Key}
		c.keyed[key] = append(c.keyed[key], l)
	}
}
