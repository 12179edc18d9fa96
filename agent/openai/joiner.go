package openai

import (
	"strings"
	"unicode"
)

// The lengths from which a repeated text is no accident, in bytes.
const (
	minRepeated = 24 // all of the text again at the end
	minGrown    = 4  // one piece that begins with all of the text, and no other behind it
	minPieces   = 3  // a number: a text that came in fewer may be a line that is repeated
)

// maxJoined is the length up to which a text is kept and compared, in bytes: what is dropped of a longer one is not kept here either.
const maxJoined = max(maxText, maxThinking)

// joiner puts pieces of a text together. Some servers send the whole text so far in every piece: a piece that begins with all of it is
// held back until the next one tells.
type joiner struct {
	text   strings.Builder
	held   string
	grows  bool // every piece is the whole text so far
	pieces int  // that were put together
}

// add gives what is new. last says that the answer has ended: the piece may be all of it again.
func (j *joiner) add(piece string, last bool) (fresh string) {
	if j.text.Len() > maxJoined && j.held == "" && !j.grows {
		return piece
	}
	if j.held == "" && !j.grows && len(piece) < j.text.Len() {
		j.pieces++
		j.text.WriteString(piece) // nearly every piece
		return piece
	}
	if last && j.isAgain(piece) {
		return ""
	}
	return j.compare(piece, last || j.pieces >= minPieces)
}

// isAgain reports whether the last piece of an answer is all of its text once more, although that is short: it came in several pieces, and it is
// not made of one part that repeats.
func (j *joiner) isAgain(piece string) bool {
	so := j.text.String()
	return j.held == "" && j.pieces >= 2 && len(so) >= minGrown && piece == so && strings.ContainsFunc(so, unicode.IsLetter) && strings.Index((so + so)[1:], so) == len(so)-1
}

// compare adds a piece that is as long as the text so far, or longer. all says that it may be all of the text again, as some servers send it
// at the end, and others in the middle of an answer. source: openclaw/openclaw#142888
func (j *joiner) compare(piece string, all bool) string {
	so := j.text.String()
	again := so != "" && strings.HasPrefix(piece, so)
	switch {
	case j.held != "":
		held := j.held
		j.held = ""
		if strings.HasPrefix(piece, held) {
			j.grows = true
			return j.keep(piece[len(so):])
		}
		j.text.WriteString(held)
		return held + j.add(piece, all)
	case again && (j.grows || all && len(so) >= minRepeated):
		return j.keep(piece[len(so):])
	case again && len(piece) > len(so):
		j.held = piece
		return ""
	}
	return j.keep(piece)
}

func (j *joiner) keep(fresh string) string {
	j.pieces++
	j.text.WriteString(fresh)
	return fresh
}

// end gives what was held back.
func (j *joiner) end() string {
	held, so := j.held, j.text.String()
	j.held = ""
	if len(so) >= minGrown && strings.ContainsFunc(so, unicode.IsLetter) {
		held = strings.TrimPrefix(held, so)
	}
	return j.keep(held)
}
