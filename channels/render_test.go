package channels

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const everything = `# Title *x*

Hello *world*, **bold _both_** ~~gone~~ ` + "`code` and ``a`b``" + ` <b> & [link *it*](https://e.x/a_b?c="d") https://auto.link/x_y
second line

- one
- two **b**
  - nested
    more
- [x] done

3. three
4. four
` + "   ```go\n   x := \"<&>\"\n\n   y := 1\n   ```" + `

> quote
> more
>
> > deeper

| A | Bee |
|---|:--:|
| 1 | [l](https://x.y) |
| long cell | ` + "`c`" + ` |

---
#### Small
snake_case 2 * 3 \*lit\* a||b ![alt](https://i.m/g.png) [rel](./x.md)
`

func TestRender(t *testing.T) {
	t.Parallel()
	for d, want := range map[Dialect]string{
		TelegramHTML: `<b>Title <i>x</i></b>

Hello <i>world</i>, <b>bold <i>both</i></b> <s>gone</s> <code>code</code> and <code>a` + "`" + `b</code> &lt;b&gt; &amp; <a href="https://e.x/a_b?c=%22d%22">link <i>it</i></a> https://auto.link/x_y
second line

• one
• two <b>b</b>
  • nested
    more
• ☑ done

3. three
4. four
<pre><code class="language-go">x := "&lt;&amp;&gt;"

y := 1</code></pre>

<blockquote>quote
more

deeper</blockquote>

<pre>A         | Bee
----------+----------------
1         | l (https://x.y)
long cell | c</pre>

---
<b>Small</b>
snake_case 2 * 3 *lit* a||b <a href="https://i.m/g.png">alt</a> rel (./x.md)`,
		DiscordMD: `# Title *x*

Hello *world*, **bold *both*** ~~gone~~ ` + "`code` and `` a`b ``" + ` <b> & [link *it*](https://e.x/a_b?c=%22d%22) https://auto.link/x_y
second line

- one
- two **b**
  - nested
    more
- ☑ done

3. three
4. four
` + "```go\nx := \"<&>\"\n\ny := 1\n```" + `

> quote
> more
> 
> deeper

` + "```" + `
A         | Bee
----------+----------------
1         | l (https://x.y)
long cell | c
` + "```" + `

---
**Small**
snake_case 2 * 3 \*lit\* a\|\|b [alt](https://i.m/g.png) rel (./x.md)`,
		WhatsAppText: `*Title _x_*

Hello _world_, *bold _both_* ~gone~ ` + "`code` and ```a`b```" + ` <b> & link _it_ (https://e.x/a_b?c=%22d%22) https://auto.link/x_y
second line

- one
- two *b*
  - nested
    more
- ☑ done

3. three
4. four
` + "```\nx := \"<&>\"\n\ny := 1\n```" + `

> quote
> more
> 
> deeper

- *1*
  Bee: l (https://x.y)
- *long cell*
  Bee: ` + "`c`" + `

---
*Small*
snake_case 2 * 3 ` + "\u200b" + `*lit* a||b alt (https://i.m/g.png) rel (./x.md)`,
		PlainText: `Title x

Hello world, bold both gone code and a` + "`" + `b <b> & link it (https://e.x/a_b?c=%22d%22) https://auto.link/x_y
second line

• one
• two b
  • nested
    more
• ☑ done

3. three
4. four
x := "<&>"

y := 1

> quote
> more
> 
> deeper

A         | Bee
----------+----------------
1         | l (https://x.y)
long cell | c

---
Small
snake_case 2 * 3 *lit* a||b alt (https://i.m/g.png) rel (./x.md)`,
		Markdown: strings.TrimSpace(everything),
	} {
		if got := Render(everything, d); got != want {
			t.Errorf("%s: got\n%s\n\nwant\n%s", d, got, want)
		}
	}
}

func TestRenderDetails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		d        Dialect
		md, want string
	}{
		{TelegramHTML, "a < b > c & d", "a &lt; b &gt; c &amp; d"},
		{TelegramHTML, "**a `b` c**", "<b>a</b> <code>b</code> <b>c</b>"}, // code stands alone
		{TelegramHTML, "[`x`](https://a.b)", `<a href="https://a.b">x</a>`},
		{TelegramHTML, "[x](javascript:alert)", "x (javascript:alert)"},
		{TelegramHTML, "[x](javascript://a.b/%0aalert)", "x (javascript://a.b/%0aalert)"},
		{TelegramHTML, `[x](https://a.b/"><b>)`, `<a href="https://a.b/%22%3E%3Cb%3E">x</a>`},
		{TelegramHTML, "```py\"><b>\nx\n```", "py\"&gt;&lt;b&gt;\n<pre>x</pre>"},
		{TelegramHTML, "- ", "•"},
		{TelegramHTML, "[a]: http://b.c", "[a]: http://b.c"},
		{TelegramHTML, "a [ref][1].\n\n[1]: https://ref.example/x", `a <a href="https://ref.example/x">ref</a>.`},
		{TelegramHTML, "[1]: <https://ref.example/x> \"T\"\n[Two]: http://b.c (T)\n\n[1] ![two][] [*x*][two]", `<a href="https://ref.example/x">1</a> <a href="http://b.c">two</a> <a href="http://b.c"><i>x</i></a>`},
		{TelegramHTML, "a [r][1]\n\nSources:\n[1]: http://b.c\n[2]: http://d.e", "a <a href=\"http://b.c\">r</a>\n\nSources:\n[2]: http://d.e"},
		{TelegramHTML, "[r][1]\n\n[1]: http://b.c\n\n- x\n- [1]: http://d.e\n  [1]: http://f.g", "<a href=\"http://b.c\">r</a>\n\n• x\n• <a href=\"http://b.c\">1</a>: http://d.e\n  <a href=\"http://b.c\">1</a>: http://f.g"},
		{TelegramHTML, "[r][1]\n\n- [1]: http://b.c", "[r][1]\n\n• [1]: http://b.c"}, // no bullet without an item
		{TelegramHTML, "- [r][1]\n- x\n[1]: http://b.c\n---\nend", "• <a href=\"http://b.c\">r</a>\n• x\n---\nend"},
		{TelegramHTML, "[r][1]\n\n[1]: http://b.c\n---\nend", "<a href=\"http://b.c\">r</a>\n\n---\nend"},
		{TelegramHTML, "a[^1] [r][1]\n\n[^1]: http://b.c\n[^2]: The note\n    goes on", "a[^1] [r][1]\n\n[^1]: http://b.c\n[^2]: The note\n    goes on"},
		{TelegramHTML, "[1] [n] [l] [s]\n\n[1]: word\n[n]: http://b.c and more\n[l]: #here\n[s]: javascript:x", "[1] [n] [l] [s]\n\n[1]: word\n[n]: http://b.c and more\n[l]: #here\n[s]: javascript:x"},
		{TelegramHTML, "[r][1] `[1]`\n```\n[1]: http://b.c\n```", "[r][1] <code>[1]</code>\n<pre>[1]: http://b.c</pre>"},
		{WhatsAppText, "a [ref][1].\n\n[1]: https://ref.example/x", "a ref (https://ref.example/x)."},
		{PlainText, "a [ref][1].\n\n[1]: https://ref.example/x", "a ref (https://ref.example/x)."},
		{DiscordMD, "a [ref][1].\n\n[1]: https://ref.example/x", "a [ref](https://ref.example/x)."},
		{TelegramHTML, "| A | B |\n|---|---|\n| 1 | 2 | 3 | `4` |\n| 1 | | x |\n|1|2|||", "<pre>A | B\n--+----------\n1 | 2 | 3 | 4\n1 | x\n1 | 2</pre>"},
		{WhatsAppText, "t\n| A | B |\n|---|---|\n| 1 | 2 | **3** | 4\\| |\n| 5", "t\n\n- *1*\n  B: 2 | *3* | 4|\n- *5*"},
		{PlainText, "> | A |\n> |---|\n> | 1 | 2 |\n> x | y | z", "> A\n> ---------\n> 1 | 2\n> x | y | z"},
		{TelegramHTML, "**a\nb**", "<b>a\nb</b>"},
		{TelegramHTML, "&lt;b&gt; &#x41; &nosuch; \\&amp;", "&amp;lt;b&amp;gt; &amp;#x41; &amp;nosuch; &amp;amp;"}, // written about, not meant
		{TelegramHTML, "a<br>b", "a\nb"},
		{TelegramHTML, "```\n```", "```\n```"}, // nothing but markup: shown as it is
		{DiscordMD, "**a\nb**", "**a**\n**b**"},
		{DiscordMD, "*a **b** c*", "*a **b** c*"},
		{DiscordMD, "\\# no heading", "\\# no heading"},
		{DiscordMD, "    a ``` b", "a \\`\\`\\` b"},
		{DiscordMD, "```\na `` b\n```", "```\na `` b\n```"},
		{DiscordMD, "<@123> <#4> \\_\\_x\\_\\_", "\\<@123> \\<#4> \\_\\_x\\_\\_"},
		{DiscordMD, "C:\\dir \\\\. end\\", "C:\\dir \\\\\\\\. end\\\\"},
		{DiscordMD, "[https://a.b](https://a.b)", "[https://a.b](https://a.b)"},
		{WhatsAppText, "[https://a.b](https://a.b)", "https://a.b"},
		{WhatsAppText, "[a b](https://a.b), c", "a b (https://a.b), c"},
		{PlainText, "a\x00b\xffc\r\nd", "ab\ufffdc\nd"},
		{PlainText, "\u200b \n\n", ""},
		{Markdown, "  *as* is  \n", "  *as* is  "},
		{"no such dialect", "**a**", "a"},
	} {
		if got := Render(c.md, c.d); got != c.want {
			t.Errorf("%s: %q gives\n%q, want\n%q", c.d, c.md, got, c.want)
		}
	}
}

// TestCodeSpansStayApart: what is copied as one piece is one code span, whatever stands between two of them.
func TestCodeSpansStayApart(t *testing.T) {
	t.Parallel()
	for md, want := range map[string]string{
		"`a`\n\n`b`":         "<code>a</code>\n\n<code>b</code>",
		"`a`\n`b`":           "<code>a</code>\n<code>b</code>",
		"`a` `b`":            "<code>a</code> <code>b</code>",
		"- `a`\n- `b`":       "• <code>a</code>\n• <code>b</code>",
		"`a b`":              "<code>a b</code>",
		"**one**\n\n**two**": "<b>one\n\ntwo</b>",
	} {
		if got := Split(md, Limits{Dialect: TelegramHTML}); len(got) != 1 || got[0].Text != want {
			t.Errorf("%q: got %q, want %q", md, got, want)
		}
	}
	if got := Split("`a` `b`", Limits{Dialect: DiscordMD}); len(got) != 1 || got[0].Text != "`a` `b`" {
		t.Errorf("Discord: %q", got)
	}
}

func TestSplitPlaces(t *testing.T) {
	t.Parallel()
	w := func(n int, s string) string { return strings.TrimSpace(strings.Repeat(s+" ", n)) }
	for name, c := range map[string]struct {
		d    Dialect
		text int
		md   string
		want []string
	}{
		"paragraphs":            {TelegramHTML, 64, w(8, "aaaa") + "\n\n" + w(3, "bbbb") + "\n" + w(5, "cccc"), []string{w(8, "aaaa"), w(3, "bbbb") + "\n" + w(5, "cccc")}},
		"lines":                 {TelegramHTML, 64, w(8, "aaaa") + "\n" + w(8, "bbbb"), []string{w(8, "aaaa"), w(8, "bbbb")}},
		"sentences":             {TelegramHTML, 64, w(8, "aaaa") + ". " + w(8, "bbbb"), []string{w(8, "aaaa") + ".", w(8, "bbbb")}},
		"words":                 {TelegramHTML, 64, w(14, "aaaa"), []string{w(13, "aaaa"), "aaaa"}},
		"a word":                {TelegramHTML, 64, strings.Repeat("a", 70), []string{strings.Repeat("a", 64), strings.Repeat("a", 6)}},
		"markup is not counted": {TelegramHTML, 64, "**" + w(12, "aaaa") + "**", []string{"<b>" + w(12, "aaaa") + "</b>"}},
		"markup is counted":     {DiscordMD, 64, "**" + w(13, "aaaa") + "**", []string{"**" + w(12, "aaaa") + "**", "**aaaa**"}},
		"bold":                  {TelegramHTML, 64, "**" + w(14, "aaaa") + "**", []string{"<b>" + w(13, "aaaa") + "</b>", "<b>aaaa</b>"}},
		"code": {
			DiscordMD, 64, "```go\n" + strings.Repeat("0123456789\n", 6) + "```",
			[]string{"```go\n0123456789\n0123456789\n0123456789\n0123456789\n0123456789\n```", "```go\n0123456789\n```"},
		},
		"code indented":       {TelegramHTML, 64, "```\n" + w(12, "aaaa") + "\n  b\n```", []string{"<pre>" + w(12, "aaaa") + "\n  b</pre>"}},
		"code cut at a line":  {TelegramHTML, 64, "```\n" + w(12, "aaaa") + "\n    b\n```", []string{"<pre>" + w(12, "aaaa") + "</pre>", "<pre>    b</pre>"}},
		"a link stays whole":  {TelegramHTML, 64, w(8, "aaaa") + " [one two three](https://a.b)", []string{w(8, "aaaa"), `<a href="https://a.b">one two three</a>`}},
		"an address as well":  {TelegramHTML, 64, w(10, "aaaa") + " https://a.b/c?d=e(f)", []string{w(10, "aaaa"), "https://a.b/c?d=e(f)"}},
		"a heading goes with": {DiscordMD, 64, w(6, "aaaa") + "\n# Head\n" + w(8, "bbbb"), []string{w(6, "aaaa"), "# Head\n" + w(8, "bbbb")}},
		"source":              {Markdown, 64, "~~~ x\n" + strings.Repeat("0123456789\n", 6) + "~~~", []string{"~~~ x\n0123456789\n0123456789\n0123456789\n0123456789\n0123456789\n~~~", "~~~ x\n0123456789\n~~~"}},
	} {
		var got []string
		for _, p := range Split(c.md, Limits{Dialect: c.d, Text: c.text, Unit: UTF16}) {
			got = append(got, p.Text)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got\n%q, want\n%q", name, got, c.want)
		}
	}
	if got := Split(strings.Repeat("a\n", 9), Limits{Lines: 4}); len(got) != 3 || got[0].Text != "a\na\na\na" {
		t.Errorf("lines: %q", got)
	}
}

// The shortcut for plain texts gives what the long way gives.
func TestShortcutIsTheLongWay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		md := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "B.", " ", " ", "\n", "\n\n", "3", "é", "!", "-", "ww", "(x)", "'", "日", "="}), 0, 30).Draw(t, "s"), "")
		md = strings.TrimSpace(md)
		if md == "" || !plainEnough(md) {
			t.Skip()
		}
		for _, d := range []Dialect{PlainText, TelegramHTML, DiscordMD, WhatsAppText} {
			b := builder{document: &document{}, spec: specOf(d), maxURL: 100}
			b.piece(md)
			w := newWriter(b.spec, b.document, Runes)
			for i := range b.atoms {
				w.write(&b.atoms[i])
			}
			if got, short := w.finish(), Render(md, d); got != short {
				t.Fatalf("%s: %q gives %q, and by the shortcut %q", d, md, got, short)
			}
		}
	})
}

// Discord makes one list of neighbours, counts from 1 on, leaves out the signs at the end of a heading, and takes everything up to a space for
// a part of an address.
//
// source: Discord's client, modules/markup/MarkupListRule.tsx, MarkupHeadingRule.tsx and its rule for addresses
func TestDiscordsOwnRules(t *testing.T) {
	t.Parallel()
	for md, want := range map[string]string{
		"1. **Step one**\n- detail a\n- detail b\n2. **Step two**\n- c": "1. **Step one**\n• detail a\n• detail b\n2. **Step two**\n• c",
		"- a\n1. b\n2. c\n- d":           "- a\n1\\. b\n2\\. c\n- d",
		"1. a\n\n- b":                    "1. a\n\n- b",
		"1. a\n   - b\n   - c":           "1. a\n   - b\n   - c",
		"0. zero\n1. one":                "0\\. zero\n1. one",
		"12345678901. x":                 `12345678901\. x`,
		"so\n7. x":                       "so\n7\\. x",
		"it is 7. x":                     "it is 7. x",
		"# C#":                           "# C#\u200b",
		"## Introduction to F#":          "## Introduction to F#\u200b",
		"# C# is it":                     "# C# is it",
		"见https://e.com/a。**重要**：x":      "见<https://e.com/a>。**重要**：x",
		"https://e.com/a，请看**这里**":       "<https://e.com/a>，请看**这里**",
		"参考：https://e.com/a、**c**":       "参考：<https://e.com/a>、**c**",
		"see https://e.com/a||b":         `see <https://e.com/a>\|\|b`,
		"see https://e.com/a, and **b**": "see https://e.com/a, and **b**",
		"(https://e.com/a).":             "(https://e.com/a).",
		"**https://e.com/a**。":           "**https://e.com/a**。",
	} {
		if got := Render(md, DiscordMD); got != want {
			t.Errorf("%q: %q, want %q", md, got, want)
		}
	}
}

// Code with backticks is sent without invisible characters where Discord can show it as it is: people copy it.
//
// source: Khan/simple-markdown, rules codeBlock and inlineCode
func TestDiscordBackticksInCode(t *testing.T) {
	t.Parallel()
	for md, want := range map[string]string{
		"`a``b`":                         "`a``b`",
		"`` a`b ``":                      "`` a`b ``",
		"``` a`b``c ```":                 "`` a`b`\u200b`c ``",
		"`` ` ``":                        "`` ` ``",
		"```\nx ``quoted''\n```":         "```\nx ``quoted''\n```",
		"````\n```go\nx := 1\n```\n````": "```\n``\u200b`go\nx := 1\n``\u200b`\n```",
	} {
		if got := Render(md, DiscordMD); got != want {
			t.Errorf("%q: %q, want %q", md, got, want)
		}
	}
	if got, want := Render("```\nx ``quoted''\n```", WhatsAppText), "```\nx ``quoted''\n```"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// An underscore inside of a word opens italics for Discord when a later one can close them, also one in code or in an address.
//
// source: Discord's client, modules/markup/MarkupTextRule.tsx; discord/SimpleAST, SimpleMarkdownRules.kt (PATTERN_ITALICS)
func TestDiscordUnderscores(t *testing.T) {
	t.Parallel()
	for md, shown := range map[string]string{
		"In snake_case words are joined with `_`.":                       "In snake_case words are joined with _.",
		"Set max_size in `conf_` and go":                                 "Set max_size in conf_ and go",
		"user_id → `id_` or `_id`":                                       "user_id → id_ or _id",
		"Use err_msg:\n```go\n_, err := f()\n```":                        "Use err_msg:\n_, err := f()",
		"use snake_case, see https://e.org/wiki/C_(language) ok":         "use snake_case, see https://e.org/wiki/C_(language) ok",
		"use snake_case, see [docs](https://e.org/wiki/C_(language)) ok": "use snake_case, see docs ok",
		"max_size at https://e.com/x_ now":                               "max_size at https://e.com/x_ now",
		"user_name [a](https://e.com/q_?x=1)":                            "user_name a",
		"a_b https://e.com/x_, c_d":                                      "a_b https://e.com/x_, c_d",
	} {
		if got := discordText(Render(md, DiscordMD)); strings.TrimSpace(got) != shown {
			t.Errorf("%q is shown as %q, sent as %q", md, got, Render(md, DiscordMD))
		}
	}
	if got := Render("keep `x` in snake_case", DiscordMD); got != "keep `x` in snake_case" {
		t.Errorf("%q", got)
	}
}

// What stands directly behind an address, and an address that stands in angle brackets over a line end, keep their signs.
// source: Khan/simple-markdown, rules autolink and url; Discord's Markdown is made of them
func TestDiscordBesideAddresses(t *testing.T) {
	t.Parallel()
	for md, want := range map[string]string{
		"x ](https://e.x/a)](https://e.x/b)**```\n": "x \\](<https://e.x/a)](https://e.x/b>)\\*\\*\\`\\`\\`",
		"w ](https://e.x/a?b=c&d)```**":             "w \\](<https://e.x/a?b=c&d)>\\`\\`\\`\\*\\*",
		"https://e.x/_a_/**b**/c":                   "https://e.x/_a_/**b**/c",
		"见 >_<\n见https://e.x/a。**b**":               "见 >\\_\\<\n见<https://e.x/a>。**b**",
		"a<b\nhttps://e.x/a\n>5":                    "a\\<b\nhttps://e.x/a\n>5",
		"a<b":                                       "a\\<b",
		"<t:1700000000:R> <#12>":                    "<t:1700000000:R> \\<#12>",
		"1 < 2, x <- y":                             "1 < 2, x \\<- y",
	} {
		if got := Render(md, DiscordMD); got != want {
			t.Errorf("%q is %q, want %q", md, got, want)
		}
	}
}
