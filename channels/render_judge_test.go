package channels

import (
	_ "embed"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

//go:embed testdata/plain.txt
var plainTexts string

// shown gives what a person sees of a text in a dialect: by the platform's rules, written independently of the renderer.
func shown(t failer, d Dialect, s string) string {
	t.Helper()
	switch d {
	case TelegramHTML:
		text, err := telegramText(s)
		if err != nil {
			t.Fatalf("%v in %q", err, s)
		}
		return text
	case DiscordMD:
		return discordText(s)
	case WhatsAppText:
		return whatsAppText(s)
	}
	return s
}

// discordRule is a rule of Discord's parser: the first that fits at a place wins, and of em, strong and u the longest.
type discordRule struct {
	*regexp.Regexp
	content   int  // the group that is parsed further, or shown
	verbatim  bool // its content is shown as it is
	lineStart bool
}

// The rules are those of simple-markdown with Discord's own. Go has no look-ahead, so what follows is checked by the group "not".
//
// source: Khan/simple-markdown src/index.js (em, strong, u, del, escape, url, link, autolink, inlineCode);
// ItzDerock/discord-markdown-parser src/utils/regex.ts (codeBlock, heading, subtext, blockQuote, spoiler, strikethrough)
var discordRules = []discordRule{
	{regexp.MustCompile(`(?s)^\|\|(.+?)\|\|`), 1, false, false},
	{regexp.MustCompile(`^(?:#{1,3}|-#) +([^\n]+)`), 1, false, true},
	{regexp.MustCompile("(?is)^```(?:[a-z0-9_+\\-.#]+?\n+)?\n*(.+?)\n*```"), 1, true, false},
	{regexp.MustCompile(`(?s)^ *>>> (.*)`), 1, false, true},
	{regexp.MustCompile(`^ *> ([^\n]*)`), 1, false, true},
	{regexp.MustCompile(`^ *(?:[-*]) +([^\n]*)`), 1, false, true},
	{regexp.MustCompile(`^\\([^0-9A-Za-z\s])`), 1, true, false},
	{regexp.MustCompile(`^<([^: >]+:/[^ >]+)>`), 1, true, false},
	{regexp.MustCompile(`^(https?://[^\s<]+[^<.,:;"')\]\s])`), 1, true, false},
	{regexp.MustCompile(`^\[((?:\[[^\]]*\]|[^\[\]\n])*)\]\(\s*<?[^\s()<>]*>?\s*\)`), 1, false, false},
}

var (
	tickRuns      = regexp.MustCompile("`+")
	discordStar   = regexp.MustCompile(`^\*((?:\*\*|\\[\s\S]|\s+(?:\\[\s\S]|[^\s*\\]|\*\*)|[^\s*\\])+?)\*`)
	discordUnder  = regexp.MustCompile(`^_((?:__|\\[\s\S]|[^\\_])+?)_`)
	discordStrong = regexp.MustCompile(`^\*\*((?:\\[\s\S]|[^\\])+?)\*\*`)
	discordU      = regexp.MustCompile(`^__((?:\\[\s\S]|[^\\])+?)__`)
	discordDel    = regexp.MustCompile(`(?s)^~~(.+?)~~`)
)

func discordText(s string) string {
	var out strings.Builder
	lineStart := true
	for s != "" {
		content, n, verbatim := discordMatch(s, lineStart)
		if n == 0 { // text up to the next character that could be markup
			n = 1
			for n < len(s) && (s[n] >= utf8.RuneSelf || s[n] >= '0' && s[n] <= '9' || s[n] >= 'a' && s[n] <= 'z' || s[n] >= 'A' && s[n] <= 'Z') && !strings.HasPrefix(s[n:], "http") {
				n++
			}
			out.WriteString(s[:n])
		} else if verbatim {
			out.WriteString(content)
		} else {
			out.WriteString(discordText(content))
		}
		lineStart = s[n-1] == '\n' || lineStart && strings.Trim(s[:n], " ") == ""
		s = s[n:]
	}
	return out.String()
}

func discordMatch(s string, lineStart bool) (content string, n int, verbatim bool) {
	if !strings.ContainsAny(s[:1], "|#-`> *\\<h[_~") {
		return "", 0, false
	}
	if s[0] == '~' {
		if m := discordDel.FindStringSubmatch(s); m != nil && !strings.HasPrefix(s[len(m[0]):], "_") {
			return m[1], len(m[0]), false
		}
		return "", 0, false
	}
	for _, r := range discordRules {
		if r.lineStart && !lineStart {
			continue
		}
		if m := r.FindStringSubmatch(s); m != nil {
			return m[r.content], len(m[0]), r.verbatim
		}
	}
	for ticks := len(s) - len(strings.TrimLeft(s, "`")); ticks > 0; ticks-- { // /^(`+)([\s\S]*?[^`])\1(?!`)/
		for _, run := range tickRuns.FindAllStringIndex(s[ticks:], -1) {
			if run[0] > 0 && run[1]-run[0] == ticks {
				return s[ticks : ticks+run[0]], ticks + run[1], true
			}
		}
	}
	best := 0.0
	try := func(re *regexp.Regexp, tie float64, fits func(m, rest string) bool) {
		if m := re.FindStringSubmatch(s); m != nil && fits(m[0], s[len(m[0]):]) && float64(len(m[0]))+tie > best {
			best, content, n = float64(len(m[0]))+tie, m[1], len(m[0])
		}
	}
	try(discordStar, .2, func(m, rest string) bool { return !unicode.IsSpace(rune(m[1])) && !strings.HasPrefix(rest, "*") })
	try(discordUnder, .2, func(_, rest string) bool { // \b behind a "_"
		return rest == "" || rest[0] != '_' && !(rest[0] >= '0' && rest[0] <= '9' || rest[0] >= 'a' && rest[0] <= 'z' || rest[0] >= 'A' && rest[0] <= 'Z')
	})
	try(discordStrong, .1, func(_, rest string) bool { return !strings.HasPrefix(rest, "*") })
	try(discordU, 0, func(_, rest string) bool { return !strings.HasPrefix(rest, "_") })
	return content, n, false
}

// whatsAppText reads marks as WhatsApp does: a mark opens behind a space, a line's start or another mark, and closes in front of
// anything but a letter or digit. Nothing is escaped.
//
// source: mautrix/whatsapp pkg/msgconv/wa-text.go; WhatsApp, "How to format your messages"
func whatsAppText(s string) string {
	var out strings.Builder
	for i, part := range strings.Split(s, "```") {
		if i%2 == 1 {
			out.WriteString(part)
			continue
		}
		for j, line := range strings.Split(part, "\n") {
			if j > 0 {
				out.WriteByte('\n')
			}
			line = strings.TrimPrefix(line, "> ")
			for _, re := range whatsAppMarks {
				line = re.ReplaceAllStringFunc(line, func(s string) string {
					if m := re.FindStringSubmatch(s); strings.Trim(m[2], "*_~") != "" { // a row of marks is no markup
						return m[1] + m[2] + m[3]
					}
					return s
				})
			}
			out.WriteString(line)
		}
	}
	return out.String()
}

var whatsAppMarks = []*regexp.Regexp{
	regexp.MustCompile(`([\s>~*(\["'“]|^)_([^\s]|[^\s].*?[^\s])_([^a-zA-Z\d]|$)`), regexp.MustCompile(`([\s>_~(\["'“]|^)\*([^\s]|[^\s].*?[^\s])\*([^a-zA-Z\d]|$)`),
	regexp.MustCompile(`([\s>_*(\["'“]|^)~([^\s]|[^\s].*?[^\s])~([^a-zA-Z\d]|$)`), regexp.MustCompile("([\\s>_*~(\\[\"'“]|^)`(.+?)`([^a-zA-Z\\d]|$)"),
}

// plain gives the texts of the corpus by name.
func plainCorpus() map[string]string {
	texts := map[string]string{}
	for _, part := range strings.Split("\n"+plainTexts, "\n== ")[1:] {
		name, text, _ := strings.Cut(part, "\n")
		texts[name] = text
	}
	return texts
}

// comparable leaves white space and invisible characters out of a comparison, and the signs of list items.
func comparable(s string) string {
	var words []string
	for _, w := range strings.Fields(s) {
		if w = squeeze(w); w != "•" && w != "-" && w != "*" {
			words = append(words, w)
		}
	}
	return strings.Join(words, "")
}

// What is written without markup is shown as it is written, in every dialect, in one message and in several.
//
// source: agegr/pi-web#385; CherryHQ/cherry-studio#19757; chatboxai/chatbox#1856; adobe/helix-pipeline#897
func TestPlainTextIsShownAsWritten(t *testing.T) {
	t.Parallel()
	for name, text := range plainCorpus() {
		for _, d := range dialects {
			for _, size := range []int{0, 100, 64} {
				var got strings.Builder
				for _, p := range Split(text, Limits{Dialect: d, Text: size, Unit: UTF16, Marks: MinMarks}) {
					got.WriteString(shown(t, d, p.Text) + "\n")
				}
				if comparable(got.String()) != comparable(text) {
					t.Errorf("%s, %s, %d: shown as\n%s\nand not as\n%s", name, d, size, got.String(), text)
					break
				}
			}
		}
	}
}

// Whatever stands beside whatever: tokens that are no markup stay as they are.
func TestPlainTokensAreShownAsWritten(t *testing.T) {
	t.Parallel()
	tokens := []string{
		"word", "слово", "文字。", "단어를", "كلمة", "שלום", "ไทย", "हिन्दी", "naïve", "ǅ", "🎉", "👍🏽", "5~10", "~20", "2*3*4", "2**3**4", "a_b_c", "__init__", "__main__:", "*.go", "**/*.go", "*args,",
		"**kwargs)", "(*p)->x", "char **argv", "f(*a, **b)", "$5", "$12.50", "R$3", "$HOME", `C:\dir\*.txt`, `\d+\.\d`, `\\server\x`, `a\|b`, "[x]", "[1]", "[^1]", "a[i](j)", "[]", "<T>", "<your-name>",
		"std::vector<std::string>", "a<b", "x>y", "&copy;", "AT&T", "&", "#1", "#tag", "C#", "-5", "+1", ">5", ">>>", ">=", "a|b", "||", "^_^", ">_<", "T_T", "-_-", `\o/`, "don`t", "''x''", "5'10\"", "'*x*'",
		"*/5", "a*(b+c)", "(a+b)*c", "x**2", "$a_1*b*c$", `\(x_1*y\)`, "100%", "@user_name", "user_a@example.org", "/usr/*/bin", "~/x_y", "https://example.org/a_b_c?d=e&copy=1", "!", "{a,b}*", "=", "==", "---x", "1.5", "...", "“x”", "„y“", "«z»", "¿q?",
		"(x+1)**2", "x[0]**3", `s/\*\*//g`, "第*3*章", "a*나*b", "https://example.org/_x_/**y**/z", "__dunder__,", "*a*.py", "f(**a,**b)",
	}
	joints := []string{" ", " ", " ", "\n", "\n\n", ", ", " (", ") "}
	for _, d := range dialects {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				var md strings.Builder
				for range rapid.IntRange(1, 30).Draw(t, "n") {
					md.WriteString(rapid.SampledFrom(tokens).Draw(t, "token") + rapid.SampledFrom(joints).Draw(t, "joint"))
				}
				lim := Limits{Dialect: d, Text: rapid.SampledFrom([]int{0, 4096, 64, 100}).Draw(t, "text"), Unit: UTF16, Marks: MinMarks}
				var got strings.Builder
				for _, p := range Split(md.String(), lim) {
					got.WriteString(shown(t, d, p.Text) + "\n")
				}
				if a, b := comparable(got.String()), comparable(md.String()); a != b {
					t.Fatalf("%q is shown as %q", md.String(), got.String())
				}
			})
		})
	}
}
