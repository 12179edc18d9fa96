package markup

import "strings"

// kimiMark begins the tags of Kimi-VL. Its first byte is the first of other characters too.
const kimiMark = "\u25c1"

// codeState follows Markdown's code through a text: what stands in code is shown as it is.
type codeState struct {
	fence   byte // the character of the fence that is open, 0 = none
	long    int  // its length
	span    int  // length of the run of ` that opened inline code, 0 = none
	run     int  // length of the run at hand
	of      byte // its character
	leading bool // the run began its line
	inLine  bool // the line at hand has other characters than white space
	off     bool // nothing counts any more
	empty   bool // the line at hand has none so far, and follows another
}

// plain passes text until a byte that may begin markup, outside of fences, and gives how many bytes those are. Inline code is none where its
// end does not follow.
func (c *codeState) plain(s string) int {
	if c.off {
		return len(s)
	}
	for i := range len(s) {
		b := s[i]
		if b != c.of && c.run > 0 {
			c.endRun()
		}
		switch b {
		case '<', '[', ']', '&', kimiMark[0]:
			if c.fence == 0 && (b != kimiMark[0] || strings.HasPrefix(s[i:], kimiMark[:min(len(s)-i, len(kimiMark))])) {
				return i
			}
			c.inLine, c.empty = true, false
		case '`', '~':
			if c.run == 0 {
				c.of, c.leading = b, !c.inLine
			}
			c.run++
			c.inLine, c.empty = true, false
		case '\n':
			if c.empty {
				c.span = 0 // inline code ends with its paragraph
			}
			c.inLine, c.empty = false, true
		case ' ', '\t', '\r':
		default:
			c.inLine, c.empty = true, false
		}
	}
	return len(s)
}

// pass passes text that is no markup.
func (c *codeState) pass(s string) {
	for s != "" {
		n := c.plain(s)
		if n < len(s) {
			c.inLine, c.empty = true, false
			n++
		}
		s = s[n:]
	}
}

// endRun says what a run of ` or ~ was.
func (c *codeState) endRun() {
	switch {
	case c.fence != 0:
		if c.leading && c.of == c.fence && c.run >= c.long {
			c.fence = 0
		}
	case c.leading && c.run >= 3 && c.span == 0:
		c.fence, c.long = c.of, c.run
	case c.of == '~':
	case c.span == 0:
		c.span = c.run
	case c.span == c.run:
		c.span = 0
	}
	c.run = 0
}
