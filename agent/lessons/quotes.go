package lessons

import (
	"hash/maphash"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"parley/agent/wire"
)

// The fewest words that an error shares with the conversation, one behind the other, to be a quotation: in quotation marks or as a text
// of their own, and anywhere.
const (
	minMarked = 2
	minQuoted = 5
)

// withoutQuotes gives an error without what it quotes of the conversation: those are words of people and of tools, which say nothing of
// the endpoint. If nothing is left of an error, it is returned unchanged: then the
// conversation is about that error.
//
// source: docs.pydantic.dev, "input" of a validation error; others have it in the middle of a sentence
func withoutQuotes(f *wire.Fault, sent Sent) *wire.Fault {
	texts := []string{sent.Instructions}
	for _, m := range sent.Messages {
		for _, b := range m.Content {
			texts = append(texts, b.Text, string(b.Arguments))
		}
	}
	said := newShared(f.Raw, texts)
	own := *f
	lines, left := strings.Split(f.Raw, "\n"), 0
	for i, line := range lines {
		if lines[i] = said.cut(line); strings.Contains(strings.TrimSpace(line), " ") {
			left += len(wordsOf(lines[i]))
		}
	}
	own.Raw = strings.Join(lines, "\n")
	own.Param, own.Codes = unquoted(texts, f.Param), slices.DeleteFunc(slices.Clone(f.Codes), func(c string) bool { return unquoted(texts, c) == "" })
	switch {
	case own.Raw == f.Raw && own.Param == f.Param && len(own.Codes) == len(f.Codes):
		return f
	case left < 2:
		return f
	}
	own.All, own.Text = strings.ToLower(own.Raw), said.cut(f.Text)
	return &own
}

// unquoted gives a value, or "" when it stands as JSON in the conversation.
func unquoted(texts []string, value string) string {
	if value != "" && slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(strings.ToLower(t), `"`+strings.ToLower(value)+`"`) }) {
		return ""
	}
	return value
}

// shared is what an error and a conversation have in common: the hashes of so many words one behind the other.
type shared struct {
	seed   maphash.Seed
	marked map[uint64]bool // of minMarked words
	quoted map[uint64]bool // of minQuoted words
}

// newShared looks for the words of an error in a conversation.
func newShared(words string, texts []string) shared {
	s := shared{seed: maphash.MakeSeed(), marked: make(map[uint64]bool), quoted: make(map[uint64]bool)}
	all := wordsOf(words)
	for i := range all { // false = not seen in the conversation yet
		s.marked[s.hash(words, all, i, minMarked)] = false
		s.quoted[s.hash(words, all, i, minQuoted)] = false
	}
	for _, t := range texts {
		all := wordsOf(t)
		for i := range all {
			see(s.marked, s.hash(t, all, i, minMarked))
			see(s.quoted, s.hash(t, all, i, minQuoted))
		}
	}
	return s
}

// see notes that words of the error stand in the conversation.
func see(set map[uint64]bool, h uint64) {
	if _, there := set[h]; there && h != 0 {
		set[h] = true
	}
}

// hash is that of n words behind one another, whatever stands between them; 0 = there are fewer.
func (s shared) hash(text string, words []span, i, n int) uint64 {
	if i+n > len(words) {
		return 0
	}
	var h maphash.Hash
	h.SetSeed(s.seed)
	for _, w := range words[i : i+n] {
		_, _ = h.WriteString(strings.ToLower(text[w.from:w.to]))
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

// cut puts an ellipsis in the place of each quotation in a text.
func (s shared) cut(text string) string {
	words := wordsOf(text)
	var out strings.Builder
	from := 0
	for i := 0; i < len(words); i++ {
		end := s.quotation(text, words, i)
		if end == i {
			continue
		}
		out.WriteString(text[from:words[i].from] + "…")
		from, i = words[end-1].to, end-1
	}
	return out.String() + text[from:]
}

// quotation gives the end of the quotation that begins with a word; its own index = there is none.
func (s shared) quotation(text string, words []span, i int) int {
	run := func(set map[uint64]bool, n int) int {
		end := i
		for k := i; s.seen(set, text, words, k, n); k++ {
			end = k + n
		}
		return end
	}
	if end := run(s.quoted, minQuoted); end > i {
		return end
	}
	before, _ := utf8.DecodeLastRuneInString(text[:words[i].from])
	end := run(s.marked, minMarked)
	if strings.ContainsRune("'\"`‘“«„「『", before) || i == 0 && end == len(words) {
		return end
	}
	return i
}

func (s shared) seen(set map[uint64]bool, text string, words []span, i, n int) bool {
	h := s.hash(text, words, i, n)
	return h != 0 && set[h]
}

// span is where a word stands in a text.
type span struct{ from, to int }

// wordsOf finds the words of a text: letters and digits, and each sign of a script that has no spaces. What a backslash escapes is none.
func wordsOf(text string) (out []span) {
	from, escaped := -1, false
	end := func(at int) {
		if from >= 0 {
			out, from = append(out, span{from, at}), -1
		}
	}
	for i, r := range text {
		isWord := !escaped && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
		escaped = !escaped && r == '\\'
		switch {
		case !isWord:
			end(i)
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			end(i)
			out = append(out, span{i, i + utf8.RuneLen(r)})
		case from < 0:
			from = i
		}
	}
	end(len(text))
	return out
}
