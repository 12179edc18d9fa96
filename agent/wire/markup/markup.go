package markup

import (
	"encoding/json"
	"strings"
)

// maxHeld bounds the text that is held back because it may be a tool call, in bytes.
const maxHeld = 1 << 20

// longHeld is from how many bytes on what is held back is looked at only when it has grown by a part: looking at it again for every piece would
// take the square of its length.
const (
	longHeld  = 256
	growsPart = 8
)

// maxLooked bounds the bytes that are looked at again because a tag may be spoken of: freeLooked, and each byte that came so many times. Then
// tags in a sentence are text.
const (
	maxLooked  = 16
	freeLooked = 16 << 20
)

// maxTail bounds what is looked at in front of a tag to tell its sentence, in bytes.
const maxTail = 256

// maxAttempts bounds how many marks of a text are looked behind for a call.
const maxAttempts = 64

// Piece is what an added text turned out to be. Thinking comes before Text.
type Piece struct {
	Restart  bool // the text so far was reasoning, or a part of it: that is in Thinking, and Text begins again
	Thinking string
	Text     string
}

// Call is a tool call that was written as text. Arguments are a JSON object.
type Call struct {
	ID        string // empty = the model wrote none
	Name      string
	Arguments json.RawMessage
}

// Reader reads one answer. Its exported fields must be set before the first Add.
type Reader struct {
	Tools  func(name string) (schema json.RawMessage, offered bool) // the tools that may be called; nil = none
	Closes bool                                                     // hold the text back until reasoning has ended: its opening tag is in the prompt

	state   state
	pending string // held back: it may be the beginning of markup
	grown   []byte // came behind a long pending, and was not looked at yet
	came    int    // bytes of the answer, but for grown
	looked  int    // bytes that were looked at again
	text    strings.Builder
	from    int      // how much of the text was given by earlier pieces
	said    []string // the thinking of the piece at hand
	begun   bool     // some reasoning was given
	code    codeState
	reason  *reasonTag // of the reasoning at hand
	opened  string     // how the first reasoning was opened, white space included
	closed  string     // how the last one was closed
	framed  bool       // marks of a chat template were left out
	thought bool       // reasoning was found in the text
	answer  string     // the tag that closes the answer: the one in front of it was left out
	calls   []Call
	removed bool
	prose   strings.Builder // of reasoning in words of people, until its end has come
	plain   bool            // nothing but reasoning is taken out
	seam    seam            // where the newest reasoning stood in the text
	ahead   ahead           // how far the text behind an opening tag was searched
}

// state is the place in an answer.
type state int

const (
	atStart     state = iota // in front of the answer, or behind reasoning in it
	inReasoning              // behind an opening tag
	inText
	inCall // behind what may open a tool call
)

// Text gives the text for people.
func (r *Reader) Text() string { return r.text.String() }

// TextLen gives its length in bytes, what is held back included.
func (r *Reader) TextLen() int { return r.text.Len() + len(r.pending) + len(r.grown) }

// Tags reports whether reasoning stood in the text, and how it was opened and closed there. Either may be empty.
func (r *Reader) Tags() (opened, closed string, ok bool) { return r.opened, r.closed, r.thought }

// Calls gives the tool calls that were found. It is complete after End.
func (r *Reader) Calls() []Call { return r.calls }

// Removed reports whether a tool call was left out because no such tool was offered. It is complete after End.
func (r *Reader) Removed() bool { return r.removed }

func (r *Reader) tool(name string) (json.RawMessage, bool) {
	if r.Tools == nil {
		return nil, false
	}
	return r.Tools(name)
}

// Add takes a piece of text in, and gives what is known of it and of what was held back.
func (r *Reader) Add(s string) Piece {
	p := r.add(s)
	r.withhold(&p, false)
	return p
}

// withhold keeps text back while only reasoning is expected.
func (r *Reader) withhold(p *Piece, last bool) {
	switch {
	case !r.Closes:
	case last || r.thought:
		p.Restart, p.Text, r.Closes = false, r.Text(), false
	default:
		p.Text = ""
	}
}

func (r *Reader) add(s string) Piece {
	var p Piece
	if len(r.pending) > longHeld {
		if r.grown = append(r.grown, s...); len(r.grown) < len(r.pending)/growsPart && (r.state != inCall || len(r.pending)+len(r.grown) <= maxHeld) {
			return p
		}
		s, r.grown = string(r.grown), r.grown[:0]
	}
	r.from = r.text.Len()
	r.came += len(s)
	if r.state == inText && r.pending == "" {
		n := r.code.plain(s)
		r.text.WriteString(s[:n])
		s = s[n:]
	}
	if s != "" {
		r.pending += s
		for r.step(&p) {
		}
	}
	return r.given(p)
}

// given completes a piece.
func (r *Reader) given(p Piece) Piece {
	p.Text, p.Thinking = r.text.String()[r.from:], strings.Join(r.said, "")
	clear(r.said)
	r.said = r.said[:0]
	return p
}

// mayLook reports whether n more bytes may be looked at again.
func (r *Reader) mayLook(n int) bool {
	r.looked += n
	return r.looked <= freeLooked+maxLooked*r.came
}

// End gives what was held back.
func (r *Reader) End() Piece {
	var p Piece
	r.from = r.text.Len()
	if len(r.grown) > 0 {
		r.came += len(r.grown)
		r.pending, r.grown = r.pending+string(r.grown), nil
		for r.step(&p) {
		}
	}
	switch r.state {
	case atStart:
		if r.text.Len() > 0 || !r.allBare(&p) {
			r.finish(&p)
		}
	case inReasoning:
		r.unclosed()
	default:
		r.finish(&p)
	}
	r.pending = ""
	r.bare(&p)
	p = r.given(p)
	r.withhold(&p, true)
	return p
}

// allBare reads an answer that was held back as a whole because it may be nothing but calls, and reports whether it is.
func (r *Reader) allBare(p *Piece) bool {
	r.text.WriteString(r.pending)
	r.bare(p)
	r.text.Reset()
	return len(r.calls) > 0
}

// unclosed ends reasoning whose closing tag never came.
func (r *Reader) unclosed() {
	r.think(r.pending)
	r.pending = ""
	switch {
	case r.reason.isProse(): // no reasoning after all
		r.show(r.opened + r.prose.String())
		r.thought = false
	case r.text.Len() > 0 && r.closed == "":
		r.closed = r.reason.closing[0]
	}
}

// step reads a part of what is pending, and reports whether there may be more to read.
func (r *Reader) step(p *Piece) bool {
	switch r.state {
	case atStart:
		return r.start()
	case inReasoning:
		return r.reasoning()
	case inText:
		return r.body(p)
	}
	switch {
	case len(r.pending) > maxHeld:
		r.release()
		return false
	case viable(r.pending):
		return false
	}
	r.state = inText
	r.showCode(1) // no call after all
	return true
}

// start looks for reasoning at the beginning of an answer.
func (r *Reader) start() bool {
	rest := strings.TrimLeft(r.pending, " \t\r\n")
	space := r.pending[:len(r.pending)-len(rest)]
	if rest == "" {
		return false
	}
	if skip, partial := frameMark(rest); r.plain && !r.thought {
		// marks of templates are left to the adapters
	} else if skip > 0 {
		r.pending, r.framed = rest[skip:], true
		return r.pending != ""
	} else if partial {
		return false
	}
	for _, tag := range answerTags {
		if has, partial := prefix(rest, tag.open); has && r.thought {
			r.pending, r.answer = strings.TrimLeft(rest[len(tag.open):], " \t\r\n"), tag.closing
			if r.pending == "" {
				r.framed = true
				return false
			}
			r.state = inText
			return true
		} else if partial && r.thought {
			return false
		}
	}
	tag, n, partial := openingTag(rest)
	switch {
	case tag != nil:
		if !r.thought {
			r.opened = rest[:n]
		}
		r.thought, r.reason, r.pending, r.state = true, tag, rest[n:], inReasoning
		if r.begun {
			r.think("\n\n")
		}
		return true
	case partial:
		return false
	}
	if r.text.Len() > 0 {
		r.state, r.pending = inText, rest
		r.join(space)
		return true
	}
	if r.thought {
		r.closed += space
	}
	if r.thought || r.framed {
		r.pending = rest
	}
	if r.Tools != nil && mayBeBare(rest) {
		return false
	}
	r.state = inText
	return true
}

// reasoning looks for the end of the reasoning at hand.
func (r *Reader) reasoning() bool {
	if !r.begun {
		rest := strings.TrimLeft(r.pending, " \t\r\n")
		if rest == "" {
			return false
		}
		if r.closed == "" && r.text.Len() == 0 {
			r.opened += r.pending[:len(r.pending)-len(rest)]
		}
		r.pending = rest
	}
	if at, n := r.reason.ends(r.pending); at >= 0 {
		said := strings.TrimRight(r.pending[:at], " \t\r\n")
		if r.text.Len() == 0 || r.closed == "" {
			r.closed = r.pending[len(said) : at+n]
		}
		r.think(said)
		r.pending, r.state = r.pending[at+n:], atStart
		return r.pending != ""
	}
	keep := heldBytes(r.pending, r.reason.closing) // white space in front of it too: it may be the last
	said := strings.TrimRight(r.pending[:len(r.pending)-keep], " \t\r\n")
	r.think(said)
	r.pending = r.pending[len(said):]
	return false
}

// body shows text up to what may be markup.
func (r *Reader) body(p *Piece) bool {
	n := r.code.plain(r.pending)
	r.show(r.pending[:n])
	r.pending = r.pending[n:]
	if r.pending == "" {
		return false
	}
	if r.code.span > 0 {
		return r.inSpan(false)
	}
	switch kind, n, partial := markAt(r.pending); {
	case partial:
		return false
	case kind == reasonMark:
		return r.opening(p, false)
	case kind == noMark || r.plain:
		r.showCode(1)
		return true
	case kind == boxMark:
		r.pending = r.pending[n:]
		return r.pending != ""
	case kind == closingMark:
		return n < len(r.pending) && r.lone(p, n, false) // what follows tells whether the tag is only spoken of
	default:
		r.state = inCall
		return true
	}
}

// release gives up holding back.
func (r *Reader) release() {
	r.show(r.pending)
	r.state, r.pending = inText, ""
	r.code = codeState{off: true} // too long to be a call: what follows is text as well
}

// showCode shows the next n bytes of what is pending, whatever they are.
func (r *Reader) showCode(n int) {
	r.code.pass(r.pending[:n])
	r.show(r.pending[:n])
	r.pending = r.pending[n:]
}

func (r *Reader) show(s string) { r.text.WriteString(s) }

func (r *Reader) think(s string) {
	if s == "" {
		return
	}
	r.begun = true
	if r.reason != nil && r.reason.isProse() {
		r.prose.WriteString(s)
	}
	r.said = append(r.said, s)
}

// finish reads what was held back at the end of an answer.
func (r *Reader) finish(p *Piece) {
	r.state = inText
	for attempts := 0; r.pending != ""; {
		n := r.code.plain(r.pending)
		r.show(r.pending[:n])
		r.pending = r.pending[n:]
		if r.pending == "" {
			return
		}
		kind, n, _ := markAt(r.pending)
		switch {
		case r.code.span > 0:
			r.inSpan(true)
		case kind == reasonMark:
			r.opening(p, true)
		case r.plain:
			r.showCode(1)
		case kind == boxMark:
			r.pending = r.pending[n:]
		case kind == closingMark:
			if r.lone(p, n, true); r.state == atStart {
				r.state, r.pending = inText, strings.TrimLeft(r.pending, " \t\r\n")
			}
		case kind == callMark || kind == endMark:
			if attempts++; attempts > maxAttempts {
				r.release()
				return
			}
			if tag := answerTag(r.pending[:n]); kind == endMark && tag != nil && r.answer != tag.closing && strings.Contains(r.Text(), tag.open) {
				r.showCode(n) // of a pair that the answer speaks of
				continue
			}
			calls, rest, ok := callsOf(r.pending, r.tool)
			attempts += len(calls) * maxAttempts / maxCalls
			if ok && r.accept(calls, rest) {
				r.pending = rest
				continue
			}
			if len(calls) == 0 {
				n = max(n, len(r.pending)-len(rest)) // marks of ends
			}
			r.showCode(n)
		default:
			r.showCode(1)
		}
	}
}

// accept takes calls in that were found in front of a rest, and reports whether they are no text.
func (r *Reader) accept(calls []Call, rest string) bool {
	last := strings.TrimSpace(rest) == ""
	text := r.text.String()
	line := strings.TrimRight(text, " \t")
	if begins := line == "" || strings.HasSuffix(line, "\n"); !begins && !last {
		return false
	}
	offered := 0
	for _, c := range calls {
		if _, ok := r.tool(c.Name); ok {
			offered++
		}
	}
	if offered == 0 && !last {
		return false
	}
	for _, c := range calls {
		if _, ok := r.tool(c.Name); ok {
			r.calls = append(r.calls, c)
		} else {
			r.removed = true
		}
	}
	return true
}
