package telegram

import (
	"cmp"
	"slices"
	"strings"

	"parley/channels"
)

// mark is a part of a text that means more than its letters say, in bytes, with what that is written as in Markdown.
type mark struct {
	start, end  int
	open, close string
	block       bool // lines of their own
	code        bool // nothing in it means anything
	quote       bool // every line gets a sign in front
}

// marked writes a text with what its entities add to it: where links lead, code and its language, what is quoted, struck out or hidden, and
// what a date means. What only makes letters look different is left out. cuts are left out too.
func marked(text string, entities []wireEntity, cuts []span) string {
	marks := marksOf(text, entities)
	if len(marks) == 0 && len(cuts) == 0 {
		return text
	}
	w := markWriter{text: text, marks: marks}
	for at := 0; at < len(text); {
		if len(cuts) > 0 && cuts[0].start <= at {
			at, cuts = max(at, cuts[0].end), cuts[1:]
			continue
		}
		w.turn(at)
		next := w.next(at)
		if len(cuts) > 0 {
			next = min(next, cuts[0].start)
		}
		w.write(text[at:next])
		at = next
	}
	w.closeUntil(len(text))
	return w.b.String()
}

// markWriter writes a text with its marks.
type markWriter struct {
	text  string
	marks []mark // those that are to come, outer ones first
	open  []mark // outermost first
	b     strings.Builder
}

// turn closes what ends before a place of the text and opens what begins there. What began inside of a cut begins behind it, and so does
// what runs over the end of what it began in; what lies in code is no mark.
func (w *markWriter) turn(at int) {
	w.closeUntil(at)
	for len(w.marks) > 0 && w.marks[0].start <= at {
		m := w.marks[0]
		w.marks = w.marks[1:]
		n := len(w.open)
		if n > 0 && m.end > w.open[n-1].end {
			m.start = w.open[n-1].end
			w.marks = append(w.marks, m)
			slices.SortStableFunc(w.marks, outerFirst)
			continue
		}
		if m.end <= at || n > 0 && w.open[n-1].code {
			continue
		}
		if m.block {
			w.line()
		}
		w.write(m.open)
		w.open = append(w.open, m)
		if m.quote {
			w.b.WriteString("> ")
		}
	}
}

// closeUntil closes what ends at a place of the text or before.
func (w *markWriter) closeUntil(at int) {
	for n := len(w.open); n > 0 && w.open[n-1].end <= at; n-- {
		m := w.open[n-1]
		if m.block && !m.quote {
			w.line()
		}
		w.write(m.close)
		w.open = w.open[:n-1]
		if m.block && m.end < len(w.text) && w.text[m.end] != '\n' {
			w.write("\n")
		}
	}
}

// next is where the next mark begins or ends.
func (w *markWriter) next(at int) int {
	end := len(w.text)
	if n := len(w.open); n > 0 {
		end = min(end, w.open[n-1].end)
	}
	if len(w.marks) > 0 && w.marks[0].start > at {
		end = min(end, w.marks[0].start)
	}
	return end
}

// line ends the line, unless nothing is on it.
func (w *markWriter) line() {
	s := strings.TrimSuffix(w.b.String(), strings.Repeat("> ", w.quotes()))
	if s != "" && !strings.HasSuffix(s, "\n") {
		w.write("\n")
	}
}

func (w *markWriter) quotes() (n int) {
	for _, m := range w.open {
		if m.quote {
			n++
		}
	}
	return n
}

func (w *markWriter) write(s string) {
	if n := w.quotes(); n > 0 {
		s = strings.ReplaceAll(s, "\n", "\n"+strings.Repeat("> ", n))
	}
	w.b.WriteString(s)
}

// marksOf finds the marks of a text, outer ones before those inside. A command stays one: what begins with its slash is no mark.
func marksOf(text string, entities []wireEntity) []mark {
	var marks []mark
	for _, e := range entities {
		start, end, ok := covered(text, int(e.Offset), int(e.Length))
		if !ok || start == 0 && strings.HasPrefix(text, "/") {
			continue
		}
		if m, ok := e.mark(text[start:end]); ok {
			m.start, m.end = start, end
			marks = append(marks, m)
		}
	}
	slices.SortStableFunc(marks, outerFirst)
	return marks
}

func outerFirst(a, b mark) int {
	return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end))
}

// covered turns an entity's position, which counts UTF-16 units, into the bytes of the characters that it touches: one that begins or ends
// inside of a character or runs over the text's end still says where a link leads. ok is false for one outside of the text.
func covered(text string, offset, length int) (start, end int, ok bool) {
	if offset < 0 || length <= 0 || offset >= len(text) {
		return 0, 0, false
	}
	start, units := -1, 0
	last := offset + min(length, len(text))
	for i, r := range text {
		if units >= last {
			return start, i, true
		}
		if units++; r > 0xFFFF {
			units++
		}
		if start < 0 && units > offset {
			start = i
		}
	}
	return start, len(text), start >= 0
}

// mark is how an entity is written, if it says more than its words.
func (e *wireEntity) mark(words string) (mark, bool) {
	switch e.Type {
	case "text_link":
		address := channels.LinkAddress(e.URL)
		if address == "" || bareAddress(address) == bareAddress(words) {
			return mark{}, false
		}
		return mark{open: "[", close: "](" + address + ")"}, true
	case "pre":
		return fence(words, channels.CleanText(e.Language)), true
	case "code":
		if strings.Contains(words, "\n") {
			return fence(words, ""), true
		}
		ticks, pad := ticks(words, 1), ""
		if strings.HasPrefix(words, "`") || strings.HasSuffix(words, "`") {
			pad = " "
		}
		return mark{open: ticks + pad, close: pad + ticks, code: true}, true
	case "blockquote", "expandable_blockquote":
		return mark{block: true, quote: true}, true
	case "strikethrough":
		return mark{open: "~~", close: "~~"}, true
	case "spoiler":
		return mark{open: "||", close: "||"}, true
	case "date_time":
		if at := moment(e.Time); at != "" {
			return mark{close: " (" + at + ")"}, true
		}
	}
	return mark{}, false
}

// bareAddress is an address without what people leave out when they write it.
func bareAddress(s string) string {
	s = strings.TrimSuffix(strings.ToLower(s), "/")
	return strings.TrimPrefix(strings.TrimPrefix(s, "https://"), "http://")
}

func fence(words, language string) mark {
	ticks := ticks(words, 3)
	return mark{open: ticks + strings.Join(strings.Fields(language), "") + "\n", close: ticks, block: true, code: true}
}

// ticks is a row of back-ticks that is longer than any in the text.
func ticks(text string, least int) string {
	row := 0
	for _, r := range text {
		if r == '`' {
			row++
			least = max(least, row+1)
		} else {
			row = 0
		}
	}
	return strings.Repeat("`", least)
}

// moment words a time; "" = unknown.
func moment(q quantity) string {
	at, known := channels.KnownTime(int64(q))
	if !known || q <= 0 {
		return ""
	}
	return at.UTC().Format("2006-01-02 15:04 UTC")
}
