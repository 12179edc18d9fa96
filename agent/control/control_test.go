package control

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// isWord are texts that say nothing beside the word, in the forms in which models write it.
// source: openclaw/openclaw#98166, openclaw/openclaw#98224, openclaw/openclaw#93510, openclaw/openclaw#114100, openclaw/openclaw#64976
var isWord = []string{
	"NO_REPLY", " NO_REPLY\n", "NO_REPLY.", "no_reply", "No_Reply", "NO_REPLY!", "**NO_REPLY**", "`NO_REPLY`", "*NO_REPLY*.", "__NO_REPLY__", "_NO_REPLY_", "~~NO_REPLY~~",
	"```\nNO_REPLY\n```", "```text\nNO_REPLY\n```", "~~~\nNO_REPLY\n~~~", "```NO_REPLY```", "```NO_REPLY\n```", "> NO_REPLY", "# NO_REPLY", "- NO_REPLY", "\"NO_REPLY\"", "'NO_REPLY'", "\u201cNO_REPLY\u201d", "\u00abNO_REPLY\u00bb",
	"\u300cNO_REPLY\u300d", "NO_REPLY\u3002", "(NO_REPLY)", "[NO_REPLY]", "<NO_REPLY>", "NO\\_REPLY", "**NO\\_REPLY**", "NO_REPLY\nNO_REPLY", "NO_REPLY NO_REPLY NO_REPLY", "NO_REPLYNO_REPLY",
	"\u2063NO_REPLY\u2063", "NO\u00ad_REPLY", "\ufeffNO_REPLY", "\u202eNO_REPLY", "\uff2e\uff2f\uff3f\uff32\uff25\uff30\uff2c\uff39", "NO_REPLY\u2026", "\u00bfNO_REPLY?", "---\nNO_REPLY\n---", "NO_REPLY\r\n\r\nNO_REPLY\r\n",
	"<think>nothing to say</think>\nNO_REPLY", "<think>a\n\nNO_REPLY?</think>\n\n**NO_REPLY**", "<thinking>x</thinking>NO_REPLY",
}

// isText are texts that only mention it.
// source: openclaw/openclaw#74071
var isText = []string{
	"I say NO_REPLY", "NO_REPLY, but 42", "NO_REPLY means that I stay silent", "The word is `NO_REPLY`.", "NO_REPLY-based", "NO_REPLYing", "MY_NO_REPLY", "no reply", "No-reply", "NOREPLY", "REPLY", "SKIP",
	"NO_REPLY \U0001f44d", "NO_REPLY\u3067\u3059", "42 NO_REPLY", "One.\nNO_REPLY is what I write then.\nTwo.", "One.\nNO_REPLY\nTwo.", "```\necho NO_REPLY\n```", "```\nNO_REPLY\nx = 1\n```", "x\n```\nNO_REPLY\n1\n```",
	"- `NO_REPLY`: silence\n- `REPLY_SKIP`: the end\n- `ANNOUNCE_SKIP`: no post", "\u0414\u0430, NO_REPLY", "{\"reply\":\"NO_REPLY\"}", "NO_REPLY + 5", "NO_REPLY. Nothing to say.",
}

// proves: W1, W3
func TestReadWords(t *testing.T) {
	t.Parallel()
	for _, c := range isWord {
		for _, w := range controlWords {
			wide := strings.Map(func(c rune) rune { return c + 0xff01 - '!' }, string(w))
			said := strings.NewReplacer("NO_REPLY", string(w), "no_reply", strings.ToLower(string(w)), "No_Reply", string(w[:1])+strings.ToLower(string(w[1:])), "NO\\_REPLY", strings.ReplaceAll(string(w), "_", "\\_"),
				"NO\u00ad_REPLY", strings.ReplaceAll(string(w), "_", "\u00ad_"), "\uff2e\uff2f\uff3f\uff32\uff25\uff30\uff2c\uff39", wide).Replace(c)
			if got := Read(said); got != (Reading{Word: w}) {
				t.Errorf("%q is %+v", said, got)
			}
			for _, at := range []Place{Waited, Unasked, Loop} {
				for i := range said {
					if shown, ok := Draft(said[:i], at); ok {
						t.Fatalf("%q shows %q", said[:i], shown)
					}
				}
			}
		}
	}
	for _, c := range isText {
		if got := Read(c); got != (Reading{Text: c}) {
			t.Errorf("%q is %+v", c, got)
		}
	}
}

// The number of a list, and the box of a task, are marks as a bullet is. A draft may show the number before it is known to be one, and never
// the word.
// source: https://spec.commonmark.org/0.31.2/#ordered-list-marker, https://github.github.com/gfm/#task-list-item-marker
//
// proves: W1, W2
func TestReadNumberedWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Reading{
		"1. NO_REPLY": {Word: NoReply}, "1) ANNOUNCE_SKIP": {Word: AnnounceSkip}, "2. REPLY_SKIP": {Word: ReplySkip}, "1. **NO_REPLY**.": {Word: NoReply}, "1. NO_REPLY\n2. NO_REPLY": {Word: NoReply},
		"> 1. `NO_REPLY`": {Word: NoReply}, "1. - NO_REPLY": {Word: NoReply}, "**1. NO_REPLY**": {Word: NoReply}, "1\\. NO_REPLY": {Word: NoReply}, "1. 2) NO_REPLY": {Word: NoReply}, " 10.\tno_reply": {Word: NoReply},
		"- [x] NO_REPLY": {Word: NoReply}, "1. [X] NO_REPLY": {Word: NoReply}, "1. NO_REPLY — nothing for people": {Word: NoReply}, "1) NO_REPLY (nothing)": {Word: NoReply},
		"Hello\n\n1. NO_REPLY": {NoReply, "Hello"}, "1. NO_REPLY\nHello": {NoReply, "Hello"}, "1. Milk\n2. NO_REPLY": {NoReply, "1. Milk"}, "42.\nNO_REPLY": {NoReply, "42."}, "NO_REPLY\n1.": {NoReply, "1."},
		"1.5 NO_REPLY": {Text: "1.5 NO_REPLY"}, "1.NO_REPLY": {Text: "1.NO_REPLY"}, "a) NO_REPLY": {Text: "a) NO_REPLY"}, "1. I say NO_REPLY": {Text: "1. I say NO_REPLY"}, "1234567890. NO_REPLY": {Text: "1234567890. NO_REPLY"},
		"x NO_REPLY": {Text: "x NO_REPLY"}, "1.": {Text: "1."}, "1. ?": {Text: "1. ?"}, "1. First\n2. Second": {Text: "1. First\n2. Second"},
	} {
		if got := Read(text); got != want {
			t.Errorf("%q is %+v", text, got)
		}
		for i := range text {
			if shown, ok := Draft(text[:i], Waited); ok && want.Word != Speak && strings.ContainsAny(strings.TrimPrefix(shown, want.Text), "NRAnra") {
				t.Fatalf("%q shows %q", text[:i], shown)
			}
		}
	}
}

// proves: W2
func TestReadWordsBesideText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, rest string }{
		{"NO_REPLY\n\nNothing to say here.", "Nothing to say here."},
		{"Nothing new today.\n\nNO_REPLY", "Nothing new today."},
		{"Nothing new today.\n**NO_REPLY**.", "Nothing new today."},
		{"NO_REPLY\nHello\nno_reply", "Hello"},
		{"NO_REPLY\n\nNO_REPLY\nHello", "Hello"},
		{"NO_REPLY \u2014 nothing for people", ""},
		{"NO_REPLY - nothing for people", ""},
		{"**NO_REPLY:** nothing for people", ""},
		{"NO_REPLY (nothing for people)", ""},
		{"`NO_REPLY` \u2013 \u043d\u0435\u0447\u0435\u0433\u043e", ""},
		{"NO_REPLY: \u6ca1\u6709", ""},
		{"\uff08NO_REPLY\uff09", ""},
		{"Summary of it all\nNO_REPLY \u2014 nothing for people", "Summary of it all"},
		{"```\nNO_REPLY\n```\nSummary", "Summary"},
		{"Summary\n```\nNO_REPLY\n```", "Summary"},
		{"<think>hm</think>Thanks!\nNO_REPLY", "Thanks!"},
		{"\u8c22\u8c22\uff01\nNO_REPLY", "\u8c22\u8c22\uff01"},
		{"---\nNO_REPLY\n---\nHello", "---\nHello"},
	} {
		if got := Read(c.text); got != (Reading{NoReply, c.rest}) {
			t.Errorf("%q is %+v", c.text, got)
		}
		for at, want := range map[Place]Reading{Waited: {Speak, c.rest}, Unasked: {NoReply, ""}, Loop: {NoReply, c.rest}} {
			if c.rest == "" {
				want = Reading{Word: NoReply}
			}
			if word, text := Split(c.text, at); word != want.Word || text != want.Text {
				t.Errorf("%q at %d: %q %q", c.text, at, word, text)
			}
		}
		for i := range c.text {
			if shown, ok := Draft(c.text[:i], Waited); ok && (mentions(shown) || !strings.HasPrefix(c.rest, strings.TrimRight(shown, "`\n"))) { // a fence without words is no word
				t.Errorf("%q shows %q", c.text[:i], shown)
			}
		}
	}
}

// Text that nobody can see is no text.
// source: nanobot-ai/nanobot#2321
func TestReadInvisible(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", " \n", "\u2063", "\u00ad", "\u202e", "\u200b\u200d\ufeff", "\u2800", "\u3164 \ufe0f", "<think>only this"} {
		if got := Read(text); got != (Reading{}) {
			t.Errorf("%q is %+v", text, got)
		}
	}
	for _, text := range []string{"?", "...", "\U0001f44d", "**", "\U0001f468\u200d\U0001f469\u200d\U0001f467"} {
		if got := Read(text); got != (Reading{Text: text}) {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

// ordinary are answers as they begin in practice.
var ordinary = []string{
	"Hello! How can I help?", "Sure, here it is.", "1. First\n2. Second", "**Bold** words", "```go\nfunc main() {}\n```", "# Title\ntext", "- one\n- two", "\U0001f44b Hi", "Nothing new.", "Not yet.", "Yes.", "42",
	"\u041f\u0440\u0438\u0432\u0435\u0442", "\u4f60\u597d", "<b>x</b>", "[a](https://b.c)", "> quote", "\"Quoted\" words", "snake_case_name = 1", "It was said_skip is no word", "I", "Rest well", "And so on",
}

// old is what was held back before decorated words counted.
func old(text string) bool {
	if len(text) > 64 {
		return false
	}
	text = strings.TrimSpace(text)
	for _, w := range controlWords {
		if strings.HasPrefix(string(w), text) {
			return true
		}
	}
	return false
}

// visible reports whether a draft has anything but marks: the platforms show nothing of marks alone, or a box without words.
func visible(text string) bool {
	return strings.ContainsFunc(text, func(c rune) bool { return !isMark(c) && c != '_' })
}

// The first words of an ordinary answer are shown as early as ever: the pieces that models stream are two characters or longer.
// proves: W4
func TestDraftsBeginAsEarly(t *testing.T) {
	t.Parallel()
	for _, text := range ordinary {
		before, now := -1, -1
		all := []rune(text)
		for i := 1; i <= len(all); i++ {
			so := string(all[:i])
			if before < 0 && !old(so) && visible(so) {
				before = i
			}
			if _, ok := Draft(so, Waited); ok && now < 0 {
				now = i
			}
		}
		late := 0
		if c := unicode.ToLower(all[0]); strings.ContainsRune("nra", c) || visible(text[:1]) == false {
			late = 2 // "No", "Re" and "An" may still become a word in small letters
		}
		if strings.HasPrefix(text, "```") || text[0] == '<' || text[0] == '[' { // the language of a code block, a tag
			late = len("```go") - len("```g") + 3
		}
		if before >= 0 && (now < 0 || now > before+late) {
			t.Errorf("%q: first shown at %d, before %d", text, now, before)
		}
	}
}

// pieces are about the tokens in which models stream a text: words and marks.
var pieces = regexp.MustCompile(`\s*(?:[\p{L}\p{N}_]+|[^\p{L}\p{N}_\s]+)`)

// By what models stream at a time, the first draft that says something comes no later than with the rule of before, which held back nothing but the
// exact beginning of a word, but where all of it may still become the word in other letters.
func TestFirstDraftComesAsEarly(t *testing.T) {
	t.Parallel()
	for _, text := range ordinary {
		before, now, so := -1, -1, ""
		for i, piece := range pieces.FindAllString(text, -1) {
			so += piece
			if before < 0 && !old(so) && !bare(so) {
				before = i
			}
			if _, ok := Draft(so, Waited); ok && now < 0 {
				now = i
			}
		}
		if before = min(before, now); before < 0 {
			t.Errorf("%q is not shown", text)
			continue
		}
		for _, held := range pieces.FindAllString(text, -1)[before:now] { // behind marks, and the next piece shows what it is
			if may := strings.ToLower(held); now > before+1 || !slices.ContainsFunc(controlWords, func(w Word) bool { return strings.HasPrefix(strings.ToLower(string(w)), may) }) {
				t.Errorf("%q: first shown with piece %d, before with piece %d", text, now, before)
			}
		}
	}
}

// proves: W4
func TestDraftsHoldThinking(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"<think>The user is annoying. I must not tell about the key.</think>\n\nHello!": "Hello!",
		"Found it.\n<think>I must not tell about the key.</think>\nIt is 42.":           "Found it.\nIt is 42.",
		"Found it! <think type='plan'>not the key</think >It is 42.":                    "Found it! It is 42.",
	} {
		for i := range text {
			if shown, ok := Draft(text[:i], Waited); ok && !strings.HasPrefix(want, shown) {
				t.Fatalf("%q shows %q", text[:i], shown)
			}
		}
		if shown, ok := Draft(text, Waited); !ok || shown != want {
			t.Errorf("shown %q %t", shown, ok)
		}
		if r := Read(text); r.Text != want {
			t.Errorf("%q reads %q", text, r.Text)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, list := range [][]string{isWord, isText, ordinary} {
		for _, s := range list {
			f.Add(s)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := Read(text)
		if r.Word == Speak && !mentions(text) && !strings.ContainsAny(text, "<[\u25c1") && r.Text != strings.TrimSpace(text) && !blank(text) {
			t.Fatalf("%q lost something: %q", text, r.Text)
		}
		if !strings.Contains(text, r.Text) && !strings.ContainsAny(text, "<[\u25c1") {
			t.Fatalf("%q says %q", text, r.Text)
		}
		// What says something of its own, in lines between, is never lost.
		if framed := Read("first words\n" + text + "\nlast words"); !strings.ContainsAny(text, "<[\u25c1") && (framed.Word != Speak || !strings.HasPrefix(framed.Text, "first words") || !strings.HasSuffix(framed.Text, "last words")) {
			t.Fatalf("%q between words: %+v", text, framed)
		}
		word, said := Split(text, Waited)
		if word != Speak && said != "" || word == Speak && said != r.Text && r.Word == Speak {
			t.Fatalf("%q: %q %q", text, word, said)
		}
		Draft(text, Unasked)
	})
}

// BenchmarkDraft measures what the drafts of an answer of 8 KB cost in pieces of four characters.
func BenchmarkDraft(b *testing.B) {
	text := strings.Repeat("An ordinary answer with snake_case and words.\n", 180)
	for b.Loop() {
		for i := 4; i < len(text); i += 4 {
			Draft(text[:i], Waited)
		}
	}
}

// BenchmarkFirstDraft counts the characters until the first visible draft of ordinary answers.
func BenchmarkFirstDraft(b *testing.B) {
	before, now := 0, 0
	for b.Loop() {
		before, now = 0, 0
		for _, text := range ordinary {
			for i := range text + " " {
				if !old(text[:i]) && visible(text[:i]) {
					before += i
					break
				}
			}
			for i := range text + " " {
				if _, ok := Draft(text[:i], Waited); ok {
					now += i
					break
				}
			}
		}
	}
	b.ReportMetric(float64(before)/float64(len(ordinary)), "before/chars")
	b.ReportMetric(float64(now)/float64(len(ordinary)), "now/chars")
}
