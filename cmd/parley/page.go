package main

import (
	"fmt"
	"io"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"parley/gateway/chatclient"
)

// page is where a command prints for people. Whatever is written to it is cleaned of what a terminal would obey instead of showing:
// names, titles and answers come from others. Colours are its own.
type page struct {
	out    io.Writer
	width  int // columns; 0 = no terminal: nothing is cut
	colour bool
	utc    bool // absolute times
	quiet  bool // the result only, no words about it
	now    time.Time
}

// newPage looks at standard output. e is nil where no command runs.
func newPage(e *env) *page {
	p := &page{out: os.Stdout, now: time.Now()}
	if fd := int(os.Stdout.Fd()); term.IsTerminal(fd) {
		p.width = 80
		if w, _, err := term.GetSize(fd); err == nil && w > 0 {
			p.width = w
		}
		p.colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	if e != nil {
		p.utc, p.quiet = e.utc, e.quiet
	}
	return p
}

// page is where the command prints.
func (e *env) page() *page {
	p := newPage(e)
	if e.out != nil {
		p.out, p.width, p.colour = e.out, 0, false
	}
	return p
}

// Write cleans and writes.
func (p *page) Write(b []byte) (int, error) {
	_, err := io.WriteString(p.out, chatclient.Clean(string(b)))
	return len(b), err
}

// printf prints for people. A write that fails is a reader who has gone: there is nobody to tell.
// What is put in makes no line of its own: body is for texts of several.
func (p *page) printf(format string, a ...any) {
	for i, x := range a {
		if err, ok := x.(error); ok {
			a[i] = flat(err.Error())
		} else if s, ok := x.(fmt.Stringer); ok {
			a[i] = flat(s.String())
		} else if v := reflect.ValueOf(x); v.Kind() == reflect.String {
			a[i] = flat(v.String())
		}
	}
	_, _ = fmt.Fprintf(p, format, a...)
}

var lineEnds = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ", "\v", " ", "\f", " ", "\u0085", " ", "\u2028", " ", "\u2029", " ")

func flat(s string) string { return lineEnds.Replace(s) }

const (
	bodyIndent   = "    " // of what others wrote: deeper than all that the program says about it
	detailIndent = "  "
)

// body prints what others wrote beside what the program says: indented, also where a line goes on on the next one of the terminal, so that
// no text looks like an entry of its own.
func (p *page) body(text string) { p.hang(bodyIndent, plain, text) }

// detail prints a line about an entry below it.
func (p *page) detail(c colour, text string) { p.hang(detailIndent, c, flat(text)) }

// hang prints lines behind an indent, those that a terminal would break too.
func (p *page) hang(indent string, c colour, text string) {
	text = strings.TrimRight(chatclient.Clean(bodyLines.Replace(text)), "\n")
	if room := p.width - len(indent); p.width > 0 && room > 0 {
		text = wrap(text, room)
	}
	for line := range strings.Lines(text + "\n") {
		_, _ = io.WriteString(p.out, strings.TrimRight(indent+p.paint(c, strings.TrimRight(line, "\n")), " ")+"\n")
	}
}

// bodyLines has what some terminals and pagers take for the end of a line.
var bodyLines = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// answer prints a text that is the whole result, with its lines.
func (p *page) answer(text string) { _, _ = io.WriteString(p, strings.TrimRight(text, "\n")+"\n") }

// note prints what is not the result: nothing with --quiet.
func (p *page) note(format string, a ...any) {
	if !p.quiet {
		p.printf(format, a...)
	}
}

// painted prints a line in colour; the text is cleaned.
func (p *page) painted(c colour, text string) {
	_, _ = io.WriteString(p.out, p.paint(c, chatclient.OneLine(text))+"\n")
}

// colour is an SGR code that fits light and dark terminals.
type colour string

const (
	plain  colour = ""
	bold   colour = "1"
	faint  colour = "2"
	red    colour = "31"
	green  colour = "32"
	yellow colour = "33"
	blue   colour = "36"
)

// paint colours a text that is clean already.
func (p *page) paint(c colour, s string) string {
	if !p.colour || c == plain || s == "" {
		return s
	}
	return "\x1b[" + string(c) + "m" + s + "\x1b[0m"
}

// moods are the colours of states, whatever has them.
var moods = map[string]colour{
	"sent": green, "done": green, "ok": green, "connected": green, "allow": green, "ALLOW": green, "ready": green,
	"withheld": yellow, "held": yellow, "pending": yellow, "sending": yellow, "queued": yellow, "running": blue, "skipped": yellow, "timeout": yellow, "connecting": yellow,
	"failed": red, "expired": red, "dropped": red, "deny": red, "DENY": red, "error": red, "aborted": red, "bad_token": red, "refused": red,
}

// inQuotes is a name that people chose, cleaned and in quotes; empty stays empty.
func inQuotes(name string) string {
	if name = chatclient.OneLine(name); name == "" {
		return ""
	}
	return strconv.Quote(name)
}

// obeyed reports whether a terminal would act on the character.
func obeyed(r rune) bool { return chatclient.Clean(string(r)) != string(r) }

// cut shortens a line to a width; 0 = as it is.
func cut(s string, width int) string {
	if width <= 0 || columns(s) <= width {
		return s
	}
	n := 0
	for i, r := range s {
		if n += runeColumns(r); n >= width {
			return s[:i] + "…"
		}
	}
	return s
}

// wrap breaks lines at a width.
func wrap(text string, width int) string {
	var b strings.Builder
	n := 0
	for _, r := range text {
		w := runeColumns(r)
		if r == '\n' {
			n = 0
		} else if n += w; n > width && n > w {
			b.WriteByte('\n')
			n = w
		}
		b.WriteRune(r)
	}
	return b.String()
}

// columns is the most that a terminal takes for a text in one line. Some draw the parts of a family or a flag one beside the other, and letters
// that others put on top of each other: counted too low, the end of a line would be an own line of the terminal.
func columns(s string) (n int) {
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

// runeColumns is columns for one character.
//
// source: Unicode UAX #11 (East Asian Width) and UTS #51 2.2 ("fallback" of sequences)
func runeColumns(r rune) int {
	switch {
	case r == '\n', r != 0xFE0F && unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.Is(unicode.Regional_Indicator, r):
		return 2
	}
	return max(1, ansi.StringWidth(string(r)))
}

// stamp is a point in time: local, or UTC with --utc.
func (p *page) stamp(t time.Time) string {
	switch {
	case t.IsZero():
		return "–"
	case p.utc:
		return t.UTC().Format(time.RFC3339)
	}
	return t.Local().Format(time.DateTime)
}

// stampIn is stamp in a time zone, with its name; without one in that of this machine.
func (p *page) stampIn(t time.Time, zone string) string {
	where, err := time.LoadLocation(zone)
	switch {
	case p.utc || t.IsZero():
		return p.stamp(t)
	case zone == "" || err != nil:
		return t.Local().Format(time.DateTime + " MST")
	}
	return t.In(where).Format(time.DateTime) + " " + zone
}

// ago is a point in time as seen from now; absolute with --utc.
func (p *page) ago(t time.Time) string {
	if t.IsZero() || p.utc {
		return p.stamp(t)
	}
	d := p.now.Sub(t)
	format := "%s ago"
	if d < 0 {
		d, format = -d, "in %s"
	}
	if d < time.Second {
		return "now"
	}
	if d >= 60*24*time.Hour {
		return t.Local().Format(time.DateOnly)
	}
	return fmt.Sprintf(format, span(d))
}

// span is a duration in its largest unit that says enough, to the nearest.
func span(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%dms", d.Milliseconds())
	}
	for _, u := range []struct {
		unit, most time.Duration
		sign       string
	}{{time.Second, 2 * time.Minute, "s"}, {time.Minute, 2 * time.Hour, "m"}, {time.Hour, 48 * time.Hour, "h"}} {
		if r := d.Round(u.unit); r < u.most {
			return fmt.Sprintf("%d%s", r/u.unit, u.sign)
		}
	}
	return fmt.Sprintf("%dd", d.Round(24*time.Hour)/(24*time.Hour))
}

// took is how long something ran, or has been running.
func (p *page) took(began, ended time.Time) string {
	switch {
	case began.IsZero():
		return "–"
	case ended.IsZero():
		return span(p.now.Sub(began))
	}
	return span(ended.Sub(began))
}
