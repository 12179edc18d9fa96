package channels

import (
	"fmt"
	"strings"
	"testing"
)

// Ornaments keep their stars, also several in one paragraph, and so does what is emphasized beside stars and emoji.
// source: kaomoji.ru ("*:･ﾟ✧", "☆*:.｡.o"); Unicode emoji-data.txt
func TestOrnamentsStay(t *testing.T) {
	t.Parallel()
	for _, md := range []string{
		"･*:.｡. hello .｡.:*･ and ✧*。 ok 。*✧", "☆*:.｡.o(≧▽≦)o.｡.:*☆ and *:･ﾟ✧*:･ﾟ✧ done", "+*:ꔫ:*﹤ text ﹥*:ꔫ:*+", "(ﾉ◕ヮ◕)ﾉ*:･ﾟ✧ wow ✧ﾟ･: *ヽ(◕ヮ◕ヽ)",
		"*･゜ﾟ･*:.｡..｡.:*･'(*ﾟ▽ﾟ*)'･*:.｡. .｡.:*･゜ﾟ･*", "｡ﾟ( ﾟ^∀^ﾟ)ﾟ｡ (*≧▽≦) (*^▽^*) (*^_^*)",
	} {
		for _, d := range dialects {
			if got := shown(t, d, Render(md, d)); d != WhatsAppText && got != md {
				t.Errorf("%s: %q is shown as %q", d, md, got)
			}
		}
	}
	for md, want := range map[string]string{
		"*done ✅*.":       "<i>done ✅</i>.",
		"✅*done*":         "✅<i>done</i>",
		"*a ☆* b":         "<i>a ☆</i> b",
		"「*強調*」。":         "「<i>強調</i>」。",
		"*「強調」*、":         "<i>「強調」</i>、",
		"★ *new* ★":       "★ <i>new</i> ★",
		"*サーバー*：":         "<i>サーバー</i>：",
		"**★注目★**、**☆**。": "<b>★注目★</b>、<b>☆</b>。",
	} {
		if got := Render(md, TelegramHTML); got != want {
			t.Errorf("%q is %q, want %q", md, got, want)
		}
	}
}

// Discord shows the name of an emoji between colons as a picture; ratios and keys are none.
// source: https://support.discord.com/hc/en-us/articles/360041139231 (":emoji:"); Discord documentation, Message Formatting (custom emoji, timestamps)
func TestDiscordEmojiNames(t *testing.T) {
	t.Parallel()
	for md, want := range map[string]string{
		"ratio 1:100:1":                       `ratio 1\:100:1`,
		"level:key:value":                     `level\:key:value`,
		"std::on::x":                          `std:\:on::x`,
		"at 12:30:45, a: b:":                  "at 12:30:45, a: b:",
		":smile: ok:+1: (:tada:)":             ":smile: ok:+1: (:tada:)",
		"<a:party:123> <t:1234:R>":            "<a:party:123> <t:1234:R>",
		"<@123> and <#5>, <@&7>":              `\<@123> and \<#5>, \<@&7>`,
		"</say:12> `<@123>`":                  "\\</say:12> `<@123>`",
		"</foo bar:12> (</foo group bar:12>)": "\\</foo bar:12> (\\</foo group bar:12>)",
		"<@!1> <@$2> <:mmLol:3> <t:1>":        `\<@!1> \<@$2> <:mmLol:3> <t:1>`,
		"<id:customize> <id:browse> <id:guide> <id:linked-roles>": `\<id:customize> \<id:browse> \<id:guide> \<id:linked-roles>`,
		"<id:linked-roles:12> <id:x>":                             `\<id\:linked-roles:12> <id:x>`,
		"`a:key:b` https://e.x/a:on:b":                            "`a:key:b` https://e.x/a:on:b",
	} {
		if got := Render(md, DiscordMD); got != want {
			t.Errorf("%q is %q, want %q", md, got, want)
		}
	}
}

// However many links a paragraph has, each of them is one.
// source: rubenlagus/TelegramBots#854 (long lists of links)
func TestManyLinksInOneParagraph(t *testing.T) {
	t.Parallel()
	var md strings.Builder
	const n = 1000
	for i := range n {
		fmt.Fprintf(&md, "w%d [b%d](https://e.x/%d) and **c** end\n", i, i, i)
	}
	links := 0
	for _, p := range Split(md.String(), Limits{Dialect: TelegramHTML, Text: 4096, Unit: UTF16, Marks: 100}) {
		links += strings.Count(p.Text, "<a href=")
		if strings.ContainsAny(p.Text, "[]*") || strings.Contains(p.Text, "\n\n") {
			t.Fatalf("%.300s", p.Text)
		}
	}
	if links != n {
		t.Errorf("%d links", links)
	}
}

// Beside code, marks of code are text, and marks of writers are not: emphasis in words about options and values, in brackets, around formulas.
// source: issues of the kind agegr/pi-web#385; CommonMark 0.31.2, 6.2
func TestMarksBesideCode(t *testing.T) {
	t.Parallel()
	for md, want := range map[string]string{
		"Use -v for *verbose* output":             "Use -v for <i>verbose</i> output",
		"*p* < 0.05, *n* = 30":                    "<i>p</i> &lt; 0.05, <i>n</i> = 30",
		"It is _very_ big (_see below_).":         "It is <i>very</i> big (<i>see below</i>).",
		"Please return _home_":                    "Please return <i>home</i>",
		"if _you_ want: do":                       "if <i>you</i> want: do",
		"find _this_, go _now_, make _sure_":      "find <i>this</i>, go <i>now</i>, make <i>sure</i>",
		"git *is* great":                          "git <i>is</i> great",
		"GPT(_重点_)和_重点_":                          "GPT(<i>重点</i>)和_重点_",
		"_done_ ✅ *done*✅ _pre_-war":              "<i>done</i> ✅ <i>done</i>✅ <i>pre</i>-war",
		"**Sum** $$\na_1 *b*\n$$ is *here*":       "<b>Sum</b> $$\na_1 *b*\n$$ is <i>here</i>",
		"costs $$ and *much*\nmore $$ than _I_":   "costs $$ and <i>much</i>\nmore $$ than <i>I</i>",
		"`$$` begins *it*,\n`$$` ends _it_":       "<code>$$</code> begins <i>it</i>,\n<code>$$</code> ends <i>it</i>",
		"a $$ x_1\n\n*b* c_2 $$":                  "a $$ x_1\n\n<i>b</i> c_2 $$",
		"$5 or\n*10* for \\x $":                   "$5 or\n<i>10</i> for \\x $",
		"$$ x_1\n```\n$$\n```\n*a*":               "$$ x_1\n<pre>$$</pre>\n\n<i>a</i>",
		"- **E**: $$\n  e^{*x*} _y_\n  $$ *ends*": "• <b>E</b>: $$\n  e^{*x*} _y_\n  $$ <i>ends</i>",
		"> $$\n> *a* b_1\n> $$\n\n*c*":            "<blockquote>$$\n*a* b_1\n$$</blockquote>\n\n<i>c</i>",
	} {
		if got := Render(md, TelegramHTML); got != want {
			t.Errorf("%q is\n%q, want\n%q", md, got, want)
		}
	}
}

// Two dollars say how dear a place is. In cells, items and sentences they are no formula, however many signs of one stand between them.
// source: Schema.org, priceRange; Google Places API, priceLevel
func TestDollarsOfPricesAreText(t *testing.T) {
	t.Parallel()
	for _, md := range []string{
		"| a | b | c |\n|---|---|---|\n| Joe | $$ | https://a.b/?q=1 |\n| Kim | $$ | **x** |",
		"| Joe | $$ | https://a.b/?q=1 |\n| Kim | $$ |",
		"a | b\n---|---\nJoe = | $$\n**Kim** | $$",
		"Prices from $$\n| a = | b |\n|---|---|\n| **Kim** | $$ |",
		"- Joe's $$ ([x](https://a.b/?a=1))\n- **Kim's** $$",
		"- Joe's $$\n- **Kim's** a=1 $$",
		"- Joe's $$\n  - **Kim's** a=1 $$",
		"1. $$ Joe's ?a=1\n2. $$ **Kim's**",
		"- $$ Joe's ?a=1\n  - $$ **Kim's**",
		"> * Joe's $$ a=1\n> * **Kim's** $$",
		"Joe's is $$ (see ?a=1)\nand **Kim's** is $$.",
		"Joe's is $$\nand **Kim's** a=1 is $$",
		"$$ Joe's *a*=1\n$$$ **Kim's**",
	} {
		for _, d := range dialects {
			want := strings.ReplaceAll(Render(strings.ReplaceAll(md, "$$", "§§"), d), "§§", "$$")
			if got := Render(md, d); got != want {
				t.Errorf("%s: %q is\n%q, want\n%q", d, md, got, want)
			}
		}
	}
	md := "- a \\[ b=1\n- **c** \\]\n- d \\( e=1\n- **f** \\)"
	if got := Render(md, TelegramHTML); strings.Count(got, "• ") != 4 || strings.Count(got, "<b>") != 2 {
		t.Errorf("%q is %q", md, got)
	}
}

// Addresses are shown as they are written, also those that a platform does not follow, and those with hosts beyond ASCII.
// source: RFC 3986, 2.1 (percent-encoding); RFC 3987 and RFC 5890 (hosts beyond ASCII); Discord's rule for addresses, as above
func TestAddressesAreShownAsWritten(t *testing.T) {
	t.Parallel()
	for md, want := range map[string][2]string{
		"[https://a.b/%zz](https://a.b/%zz)": {"https://a.b/%zz", "https://a.b/%zz"},
		"[x](https://a.b/%zz)":               {"x (https://a.b/%zz)", "x (https://a.b/%zz)"},
		"[x](https://[::1]/a_b_)":            {"x (https://[::1]/a_b_)", "x (https://[::1]/a_b_)"},
		"[50%](https://a.b/?q=50%)":          {`<a href="https://a.b/?q=50%">50%</a>`, "[50%](https://a.b/?q=50%)"},
		"https://a.b/%zz_x_ and 100%":        {"https://a.b/%zz_x_ and 100%", "https://a.b/%zz_x_ and 100%"},
		"https://пример.рф/путь end":         {"https://пример.рф/путь end", "https://пример.рф/путь end"},
		"https://пример.рф/_x_/*y*/z":        {"https://пример.рф/_x_/*y*/z", "https://пример.рф/_x_/*y*/z"},
		"https://bücher.de/_x_/y":            {"https://bücher.de/_x_/y", "https://bücher.de/_x_/y"},
		"https://例え.jp/_a_/b":                {"https://例え.jp/_a_/b", "https://例え.jp/_a_/b"},
		"[x](https://пример.рф/%2F)":         {`<a href="https://пример.рф/%2F">x</a>`, "[x](https://пример.рф/%2F)"},
		"见https://e.x/a。*b*":                 {"见https://e.x/a。<i>b</i>", "见<https://e.x/a>。*b*"},
	} {
		if a, b := Render(md, TelegramHTML), Render(md, DiscordMD); a != want[0] || b != want[1] {
			t.Errorf("%q is %q and %q, want %q", md, a, b, want)
		}
	}
}

// An address that a platform does not open behind words is shown behind them, that of a mailbox or telephone as people write it.
// source: Telegram Bot API, HTML style; yagop/node-telegram-bot-api#295 (http://mailto…); discord/discord-api-docs#6088 (http, https and discord only)
func TestAddressesThatPlatformsDoNotOpen(t *testing.T) {
	t.Parallel()
	for md, want := range map[string]string{
		"[Write to us](mailto:a@b.c) now":     "Write to us (a@b.c) now",
		"[call](tel:+4930123) or ![p](TEL:1)": "call (+4930123) or p (1)",
		"[x](mailto:a@b.c?subject=Hi)":        "x (mailto:a@b.c?subject=Hi)",
		"[a@b.c](mailto:a@b.c)":               "a@b.c",
		"[+49 1](tel:+491) [+491](tel:+491)":  "+49 1 (+491) +491",
		"[to the top](#top)":                  "to the top (#top)",
		"[x](sms:+49) [y](geo:1,2) [z](./a)":  "x (sms:+49) y (geo:1,2) z (./a)",
		"[us][1]\n\n[1]: mailto:a@b.c":        "us (a@b.c)",
	} {
		for _, d := range []Dialect{TelegramHTML, DiscordMD, WhatsAppText, PlainText} {
			if got := Render(md, d); got != want {
				t.Errorf("%s: %q is %q, want %q", d, md, got, want)
			}
		}
	}
	const app = "[app](tg://resolve?domain=x)"
	for d, want := range map[Dialect]string{TelegramHTML: `<a href="tg://resolve?domain=x">app</a>`, DiscordMD: "app (tg://resolve?domain=x)", WhatsAppText: "app (tg://resolve?domain=x)"} {
		if got := Render(app, d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}
