package channels

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"pgregory.net/rapid"
)

var dialects = []Dialect{PlainText, TelegramHTML, DiscordMD, WhatsAppText, Markdown}

// telegramText is an independent reading of Telegram's HTML: it checks that tags are the allowed ones, balanced and nested as
// the platform demands, and gives the text that is left, which is what the platform counts.
func telegramText(s string) (string, error) {
	tag := regexp.MustCompile(`^</?(b|i|s|a|pre|code|blockquote)( href="[^"<>]+"| class="language-[^"<>]+")?>`)
	var open []string
	var text strings.Builder
	for s != "" {
		switch {
		case s[0] == '<':
			m := tag.FindStringSubmatch(s)
			if m == nil {
				return "", fmt.Errorf("not a tag: %.40q", s)
			}
			s = s[len(m[0]):]
			if m[0][1] == '/' {
				if len(open) == 0 || open[len(open)-1] != m[1] || m[2] != "" {
					return "", fmt.Errorf("%s closes %v", m[0], open)
				}
				open = open[:len(open)-1]
				continue
			}
			if (m[1] == "a") != strings.HasPrefix(m[2], " href") || strings.HasPrefix(m[2], " class") && m[1] != "code" {
				return "", fmt.Errorf("attribute in %s", m[0])
			}
			in := ""
			if len(open) > 0 {
				in = open[len(open)-1]
			}
			lang := m[1] == "code" && in == "pre" && m[2] != ""
			if slices.Contains(open, m[1]) || in == "code" || in == "pre" && !lang || (m[1] == "pre" || m[1] == "code") && in != "" && in != "blockquote" && !lang {
				return "", fmt.Errorf("%s in %v", m[0], open)
			}
			open = append(open, m[1])
		case s[0] == '&':
			i := strings.IndexByte(s, ';')
			if i < 0 || !slices.Contains([]string{"&amp", "&lt", "&gt", "&quot"}, s[:i]) {
				return "", fmt.Errorf("not an entity: %.40q", s)
			}
			text.WriteString(html.UnescapeString(s[:i+1]))
			s = s[i+1:]
		default:
			i := strings.IndexAny(s, "<&")
			if i < 0 {
				i = len(s)
			}
			if strings.Contains(s[:i], ">") {
				return "", fmt.Errorf("bare > in %.40q", s[:i])
			}
			text.WriteString(s[:i])
			s = s[i:]
		}
	}
	if len(open) > 0 {
		return "", fmt.Errorf("%v left open", open)
	}
	return text.String(), nil
}

// entities counts what Telegram makes entities of: tags (a code block with a language is one), and addresses.
func entities(s string) int {
	s = regexp.MustCompile(`(?s)<(pre|code)>.*?</(pre|code)>|<pre><code [^>]*>.*?</code></pre>`).ReplaceAllString(s, "<code></code>")
	return strings.Count(s, "<") - strings.Count(s, "</") + len(regexp.MustCompile(`(^|\s)http`).FindAllString(s, -1))
}

func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s)
}

// subsequence reports whether a is b with characters left out.
func subsequence(a, b string) bool {
	rest := []rune(b)
	for _, r := range a {
		i := slices.Index(rest, r)
		if i < 0 {
			return false
		}
		rest = rest[i+1:]
	}
	return true
}

func count(s string, u Unit) int {
	switch u {
	case UTF16:
		n := 0
		for _, r := range s {
			n += utf8.RuneLen(r) / 4 // one more for runes of four bytes
			n++
		}
		return n
	case Bytes:
		return len(s)
	}
	return len([]rune(s))
}

type failer interface {
	Fatalf(format string, args ...any)
	Helper()
}

// checkParts holds parts against everything that Split promises.
func checkParts(t failer, md string, lim Limits, parts []Part) {
	t.Helper()
	eff := lim
	if eff.Text > 0 {
		eff.Text = max(eff.Text, MinText)
	}
	if eff.Lines > 0 {
		eff.Lines = max(eff.Lines, MinLines)
	}
	if eff.Marks > 0 {
		eff.Marks = max(eff.Marks, MinMarks)
	}
	var joined strings.Builder
	for i, p := range parts {
		text := p.Text
		if n := entities(text); lim.Dialect == TelegramHTML && eff.Marks > 0 && n > eff.Marks {
			t.Fatalf("part %d has %d entities, limit %d: %q", i, n, eff.Marks, text)
		}
		if lim.Dialect == TelegramHTML {
			var err error
			if text, err = telegramText(p.Text); err != nil {
				t.Fatalf("part %d of %q: %v\n%s", i, md, err, p.Text)
			}
		}
		for _, s := range []string{text, p.Plain} {
			if strings.TrimSpace(s) == "" || !utf8.ValidString(s) || strings.ContainsAny(s, "\x00\r") {
				t.Fatalf("part %d of %q: %q", i, md, s)
			}
			if eff.Text > 0 && count(s, lim.Unit) > eff.Text {
				t.Fatalf("part %d has %d %s, limit %d: %q", i, count(s, lim.Unit), lim.Unit, eff.Text, s)
			}
			if eff.Lines > 0 && strings.Count(s, "\n")+1 > eff.Lines {
				t.Fatalf("part %d has %d lines, limit %d: %q", i, strings.Count(s, "\n")+1, eff.Lines, s)
			}
		}
		if lim.Dialect == DiscordMD && strings.Count(strings.ReplaceAll(p.Text, "\\`", ""), "```")%2 != 0 {
			t.Fatalf("part %d of %q: fences in %q", i, md, p.Text)
		}
		joined.WriteString(p.Plain)
		joined.WriteByte('\n')
	}
	whole := ""
	if w := Split(md, Limits{Dialect: lim.Dialect, Unit: lim.Unit}); len(w) > 0 {
		whole = w[0].Plain
	}
	// A cut repeats the mark of a quoted line and the address of a link. Apart from that the parts are the whole.
	got, want := squeeze(joined.String()), squeeze(whole)
	if strings.Contains(md, ">") {
		got, want = strings.ReplaceAll(got, ">", ""), strings.ReplaceAll(want, ">", "")
	}
	if repeats := strings.ContainsAny(md, "[>"); got != want && (!repeats || !subsequence(want, got)) {
		t.Fatalf("%q\nparts %q\nwhole %q", md, got, want)
	}
}

var snippets = []string{
	"word ", "word ", "a longer stretch of words. ", "Sentence! ", "\n", "\n\n", "\n\n\n", "**", "*", "_", "__", "~~", "`", "``", "```\n", "```go\n", "\n```\n", "~~~\n",
	"[", "](https://e.x/a?b=c&d)", "[link text](https://e.x/p_q) ", "![i](http://i.x) ", "https://a.b/c_d?e=f ", "www.x.org ", "<b>", "<br>", "<", ">", "&", "&amp;", "&#0;",
	"> ", ">> ", "\n- ", "\n  - ", "\n1. ", "\n10) ", "# ", "\n### ", "---\n", "\n| a | b |\n|---|---|\n| c | d |\n", "|", "\\", "\\*", "    ", "\t", "x_y_z ", "||", "日本語。", "これは、",
	"👨‍👩‍👧‍👦", "🇩🇪", "e\u0301", "\u0301", "\u200d", "\u202e", "\x00", "\xff", "\r\n", "\u2028", "\u00a0", "é", "Ж", "[x] ", "- [ ] t\n", "$x$", "@user ", "a@b.c ", "<https://u.v> ", "[r][1] ", "[1] ", "[^1] ", "\n\n[1]: https://e.x/1\n\n", "\n[1]: <http://e.x/2> \"t\"\n", "\n[^1]: note\n", "\n| a | b |\n|---|---|\n| c | d | e\n", "\n    code\n", "loooooooooooooooooooooooooooooooooooooooooooooong",
}

func drawMarkdown(t *rapid.T) string {
	var b strings.Builder
	for range rapid.IntRange(0, 40).Draw(t, "n") {
		s := rapid.OneOf(rapid.SampledFrom(snippets), rapid.SampledFrom(snippets), rapid.String()).Draw(t, "s")
		if rapid.IntRange(0, 9).Draw(t, "many") == 0 {
			s = strings.Repeat(s, rapid.IntRange(2, 60).Draw(t, "times"))
		}
		b.WriteString(s)
	}
	return b.String()
}

func TestSplitKeepsItsPromises(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				md := drawMarkdown(t)
				lim := Limits{
					Dialect: d, Unit: rapid.SampledFrom([]Unit{Runes, UTF16, Bytes}).Draw(t, "unit"),
					Text:  rapid.SampledFrom([]int{0, 1, 64, 65, 70, 100, 200, 1000}).Draw(t, "text"),
					Lines: rapid.SampledFrom([]int{0, 0, 1, 5, 17}).Draw(t, "lines"),
					Marks: rapid.SampledFrom([]int{0, 8, 20}).Draw(t, "marks"),
				}
				checkParts(t, md, lim, Split(md, lim))
			})
		})
	}
}

func fuzzSplit(f *testing.F, d Dialect) {
	for _, s := range snippets {
		f.Add(s+"text "+s, uint16(70))
	}
	f.Add("**0[0](http://0) **`0`` `000000000000", uint16(141))
	f.Add("lqnk text](https://e.x/p_p) text [\x80\x00\x00\x00 text](https://e.x/p_B\x0e^\xfb\x1a\xac\x82\x80\xf0\x10:q\xd8\u06a0\x91i)", uint16(3))
	f.Add("**bold [link](http://x.y) `c`** \n```go\nx := 1\n```\n> q\n\n- a\n  - b\n", uint16(64))
	f.Fuzz(func(t *testing.T, md string, text uint16) {
		lim := Limits{Dialect: d, Unit: []Unit{Runes, UTF16, Bytes}[text%3], Text: int(text % 300), Marks: int(text % 40)}
		began := time.Now()
		parts := Split(md, lim)
		if took := time.Since(began); took > time.Second && len(md) < 1<<16 {
			t.Fatalf("%d bytes took %v", len(md), took)
		}
		checkParts(t, md, lim, parts)
		if !strings.ContainsAny(md, "*_~`[]<>&\\|#:@$-+=0123456789 \t") { // nothing that could be markup
			var all strings.Builder
			for _, p := range parts {
				all.WriteString(shown(t, d, p.Text))
			}
			if got, want := squeeze(all.String()), squeeze(clean(md)); got != want {
				t.Fatalf("%q is shown as %q", md, got)
			}
		}
	})
}

func FuzzSplitPlain(f *testing.F)    { fuzzSplit(f, PlainText) }
func FuzzSplitTelegram(f *testing.F) { fuzzSplit(f, TelegramHTML) }
func FuzzSplitDiscord(f *testing.F)  { fuzzSplit(f, DiscordMD) }
func FuzzSplitWhatsApp(f *testing.F) { fuzzSplit(f, WhatsAppText) }
func FuzzSplitMarkdown(f *testing.F) { fuzzSplit(f, Markdown) }

// Graphemes of text without markup are never cut.
func TestSplitKeepsGraphemes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		from := []string{"👨‍👩‍👧‍👦", "🇩🇪", "e\u0301", "日本", "a", "한", "\u1112\u1161", "👍🏽"}
		if rapid.Bool().Draw(t, "places to cut") { // otherwise one word, longer than an atom
			from = append(from, "。", " ", " \u0301")
		}
		md := strings.Join(rapid.SliceOfN(rapid.SampledFrom(from), 1, 300).Draw(t, "s"), "")
		md = strings.TrimSpace(strings.Join(strings.Fields(md), " "))
		if md == "" {
			t.Skip()
		}
		var want, got []string
		for g := graphemes.FromString(md); g.Next(); {
			if strings.TrimSpace(g.Value()) != "" {
				want = append(want, g.Value())
			}
		}
		for _, p := range Split(md, Limits{Dialect: TelegramHTML, Text: 64, Unit: UTF16}) {
			for g := graphemes.FromString(p.Plain); g.Next(); {
				if strings.TrimSpace(g.Value()) != "" {
					got = append(got, g.Value())
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q:\n%q\nwant\n%q", md, got, want)
		}
	})
}

// Every link that fits into a message is in one part, whole, whatever stands around it.
func TestSplitKeepsLinks(t *testing.T) {
	t.Parallel()
	for _, d := range []Dialect{PlainText, TelegramHTML, DiscordMD, WhatsAppText, Markdown} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				var md strings.Builder
				n := rapid.IntRange(1, 8).Draw(t, "links")
				for i := range n {
					md.WriteString(strings.Repeat("word ", rapid.IntRange(0, 20).Draw(t, "words")))
					fmt.Fprintf(&md, "[one two three](https://e.x/%d) ", i)
				}
				parts := Split(md.String(), Limits{Dialect: d, Text: 70, Unit: Runes})
				for i := range n {
					whole := map[Dialect]string{
						TelegramHTML: `<a href="https://e.x/%d">one two three</a>`, DiscordMD: "[one two three](https://e.x/%d)", Markdown: "[one two three](https://e.x/%d)",
						WhatsAppText: "one two three (https://e.x/%d)", PlainText: "one two three (https://e.x/%d)",
					}[d]
					whole = fmt.Sprintf(whole, i)
					if !slices.ContainsFunc(parts, func(p Part) bool { return strings.Contains(p.Text, whole) }) {
						t.Fatalf("%q\nis in no part of %q", whole, parts)
					}
				}
			})
		})
	}
}

// Whatever links and definitions, tables and rows there are: no word and no address is missing.
func TestRenderLosesNothing(t *testing.T) {
	t.Parallel()
	from := []string{
		"[WORD][ADDR] ", "[WORD] ", "[WORD][] ", "![WORD][ADDR] ", "\n[WORD]: DEST\n", "\n\n[WORD]: DEST\n\n", "\n\n[WORD]: DEST\n", "\n[WORD]: WORD\n", "[^WORD]: DEST\n", "[^WORD] ",
		"\n- ", "\n> ", "\n---\n", "WORD ", "\n\n", "\n", "\n\n| WORD | WORD |\n|---|---|\n", "\n| WORD | WORD | WORD | WORD\n", "\n| WORD | | WORD |\n", "\n|||| WORD\n", " | WORD", "# ", "*WORD ", "WORD* ",
	}
	for _, d := range dialects {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				md := strings.Join(rapid.SliceOfN(rapid.SampledFrom(from), 1, 25).Draw(t, "s"), "")
				labels := rapid.SliceOfN(rapid.SampledFrom([]string{"one", "two", "red"}), 9, 9).Draw(t, "labels")
				var want []string
				for i := 0; strings.Contains(md, "DEST") || strings.Contains(md, "WORD") || strings.Contains(md, "ADDR"); i++ {
					dest := fmt.Sprintf("http://e.x/%dz", i)
					if strings.Contains(md, "DEST") {
						want = append(want, dest)
					}
					md = strings.Replace(md, "DEST", dest, 1)
					md = strings.Replace(md, "ADDR", labels[i%9], 1)
					word := labels[(i+4)%9]
					if rapid.Bool().Draw(t, "own word") {
						word = fmt.Sprintf("w%dw", i)
					}
					md = strings.Replace(md, "WORD", word, 1)
				}
				// Labels and the headers of a list that a table became are left out by design.
				for _, m := range regexp.MustCompile(`w\d+w`).FindAllStringIndex(md, -1) {
					line, _, _ := strings.Cut(md[strings.LastIndexByte(md[:m[0]], '\n')+1:], "\n")
					if !strings.Contains(line, "]: ") && (d != WhatsAppText || !strings.Contains(md, "|---|")) {
						want = append(want, md[m[0]:m[1]])
					}
				}
				got := Render(md, d)
				for _, w := range want {
					if !strings.Contains(got, w) {
						t.Fatalf("%q lacks %s:\n%s", md, w, got)
					}
				}
			})
		})
	}
}
