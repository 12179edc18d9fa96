package channels

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What is meant as markup stays markup, and what is not is text.
func TestMarksThatAreMeant(t *testing.T) {
	t.Parallel()
	for md, want := range map[string]string{
		// source: tats-u/markdown-cjk-friendly; commonmark/commonmark-spec#650; anthropics/claude-code#89827
		"这是**“重点”**内容":                                           "这是<b>“重点”</b>内容",
		"**注意：**请看":                                              "<b>注意：</b>请看",
		"これは**太字（ふとじ）**です":                                       "これは<b>太字（ふとじ）</b>です",
		"**이 용어(This term)**를 강조":                                "<b>이 용어(This term)</b>를 강조",
		"**스크립트(Script)**는":                                      "<b>스크립트(Script)</b>는",
		"~~価格（税込）~~です":                                           "<s>価格（税込）</s>です",
		"**重要：**：请看 他问**你确定吗？**，我说**是。**。":                       "<b>重要：</b>：请看 他问<b>你确定吗？</b>，我说<b>是。</b>。",
		"**A:**: b, **A.**. Then":                                "<b>A:</b>: b, <b>A.</b>. Then",
		"**你好！**！**再见** **重要：**：请**注意，**然后":                      "<b>你好！</b>！<b>再见 重要：</b>：请<b>注意，</b>然后",
		"x“**”y, 2.**.5 and a|**|b, '**'":                        "x“**”y, 2.**.5 and a|**|b, '**'",
		"我可以**这个`code`**吗":                                       "我可以<b>这个</b><code>code</code>吗",
		"**中文**文":                                                "<b>中文</b>文",
		"*「斜体」*です":                                               "<i>「斜体」</i>です",
		"**～**です **a。**b":                                        "<b>～</b>です <b>a。</b>b",
		"使用**GPT-4**模型，*重点*。":                                    "使用<b>GPT-4</b>模型，<i>重点</i>。",
		"a**〔b〕**c，葛󠄀**（x）**":                                    "a<b>〔b〕</b>c，葛󠄀<b>（x）</b>",
		"**W**orld **W**ide **W**eb":                             "<b>W</b>orld <b>W</b>ide <b>W</b>eb",
		"un**believ**able **b**2":                                "un**believ**able **b**2",
		"***both*** – **_in_** – *a **b** c*":                    "<b><i>both</i></b> – <b><i>in</i></b> – <i>a <b>b</b> c</i>",
		"(*so*) \"**said**\" *“no”* – *a*, _b_; **c**: ~~d~~.":   "(<i>so</i>) \"<b>said</b>\" <i>“no”</i> – <i>a</i>, <i>b</i>; <b>c</b>: <s>d</s>.",
		"**Note:** x, **/etc/passwd**, **.env**, **5%**, **$5**": "<b>Note:</b> x, <b>/etc/passwd</b>, <b>.env</b>, <b>5%</b>, <b>$5</b>",
		"**a\nb** *a\nb*":                                        "<b>a\nb</b> *a\nb*",
		"__Note__ and __init__, __FILE__":                        "<b>Note</b> and __init__, __FILE__",
		"so *_bold_* and *_bold italic_* here, _x_ *y*.":         "so <i>bold</i> and <i>bold italic</i> here, <i>x y</i>.",
		"*_a_ and more* or *some more of _b_* (*_c_*), *_d_*.":   "<i>a and more</i> or <i>some more of b</i> (<i>c</i>), <i>d</i>.",
		"**_a_ and b** _then_ (_do_) in _this_ [for _me_]":       "<b><i>a</i> and b</b> <i>then</i> (<i>do</i>) in <i>this</i> [for <i>me</i>]",
		"это *_слово_* и _слово_, das _Wort_ ist *_gut_*":        "это <i>слово</i> и <i>слово</i>, das <i>Wort</i> ist <i>gut</i>",
		"这是 *_字_* 和 _字_ 吗, 그 _말_ 은 *_좋다_*, これは _字_ です":           "这是 <i>字</i> 和 <i>字</i> 吗, 그 <i>말</i> 은 <i>좋다</i>, これは <i>字</i> です",
		"le _mot_ est *_bon_*, la _palabra_ es *_buena_*":        "le <i>mot</i> est <i>bon</i>, la <i>palabra</i> es <i>buena</i>",
		"كلمة _هذه_ مهمة, शब्द _यह_ *_अच्छा_*, từ _này_ *_tốt_*": "كلمة <i>هذه</i> مهمة, शब्द <i>यह अच्छा</i>, từ <i>này tốt</i>",
		"🎉 *big* 🎉, 👍 _yes_ 👍":                                          "🎉 <i>big</i> 🎉, 👍 <i>yes</i> 👍",
		"> 5 is more\n>5 too":                                           "<blockquote>5 is more</blockquote>\n&gt;5 too",
		"> a\n>\n> b\n>c\n>=3":                                          "<blockquote>a\n\nb\nc</blockquote>\n&gt;=3",
		"> a\n>1. b\n>-5":                                               "<blockquote>a\n1. b</blockquote>\n&gt;-5",
		"~a~ ~~b~~ ~~~c~~~":                                             "~a~ <s>b</s> ~~~c~~~",
		"\\* x\n\n(a + b) \\* c, x \\< y, `code` and '`a`'":             "* x\n\n(a + b) * c, x &lt; y, <code>code</code> and '<code>a</code>'",
		"2 \\* 3, snake\\_case, \\# x, 1986\\. y":                       "2 * 3, snake_case, # x, 1986\\. y",
		"\\# x\n\n1986\\. y\n\n\\> z":                                   "# x\n\n1986. y\n\n&gt; z",
		"a \\[ b \\# c, C\\# \\[note] (\\#5, \\#6)":                     "a [ b # c, C# [note] (#5, #6)",
		"[^\\]]+ \\[\\d \\#\\w+ \\[x\\] s#\\##x#":                       "[^\\]]+ \\[\\d \\#\\w+ \\[x\\] s#\\##x#",
		"*…* I *love* it":                                               "*…* I <i>love</i> it",
		"> quote\n> more":                                               "<blockquote>quote\nmore</blockquote>",
		"1. a\n1. b\n1. c":                                              "1. a\n1. b\n1. c",
		"1986. a\n1990. b":                                              "1986. a\n1990. b",
		"* tax\n\n* a\n* b":                                             "• tax\n\n• a\n• b",
		"It costs 5\n\n* without tax":                                   "It costs 5\n\n* without tax",
		"See README.md, (backup.sh) and src/main.py:7. **go.mod** x.rs": "See <code>README.md</code>, (<code>backup.sh</code>) and <code>src/main.py</code>:7. <b>go.mod</b> <code>x.rs</code>",
		"**Note [1]** **f(x)** *(a [b])* **{x}**":                       "<b>Note [1] f(x)</b> <i>(a [b])</i> <b>{x}</b>",
		"run main.py":                                                   "run <code>main.py</code>",
		"https://e.x/README.md e.g. 3.md5":                              "https://e.x/README.md e.g. 3.md5",
		"fn[0](x) [t](./a.md) [t](b.md) f[1]()":                         "fn[0](x) t (./a.md) t (b.md) f[1]()",
		"a <br> b, c<br>d":                                              "a &lt;br&gt; b, c\nd",
		"el.innerHTML = \"a<br>b\" + 'c<br>d'; write “x<br>y”":          "el.innerHTML = \"a&lt;br&gt;b\" + 'c&lt;br&gt;d'; write “x&lt;br&gt;y”",
		"it's a<br>b, isn't it \"c\"<br><br>d \"e\"":                    "it's a\nb, isn't it \"c\"\n\nd \"e\"",
		"Great![docs](http://a.b/c)":                                    `Great!<a href="http://a.b/c">docs</a>`,
	} {
		if got := Render(md, TelegramHTML); got != want {
			t.Errorf("%q gives\n%q, want\n%q", md, got, want)
		}
	}
}

// source: WhatsApp shows no marks inside of words, and has no way to escape one (mautrix/whatsapp pkg/msgconv/wa-text.go).
func TestWhatsAppMarksWholeWords(t *testing.T) {
	t.Parallel()
	for md, want := range map[string]string{
		"**W**orld *x*":    "World _x_",
		"**bold**, `c`s":   "*bold*, cs",
		"2*3*4 = 24":       "2*3*4 = 24",
		"这是**“重点”**内容":     "这是*“重点”*内容",
		"rm *.o *~":        "rm *.o *~",
		"\\*lit\\* **b**":  "\u200b*lit* *b*",
		"a * b * c, 5* 4*": "a * b * c, 5* 4*",
		"f(*a) and **b**":  "f(\u200b*a) and *b*",
		"5~10 ~ 20 ~~x~~":  "5~10 ~ 20 ~x~",
	} {
		if got := Render(md, WhatsAppText); got != want {
			t.Errorf("%q gives %q, want %q", md, got, want)
		}
	}
}

// source: rubenlagus/TelegramBots#854; tdlib/telegram-bot-api#820
func TestSplitCountsMarks(t *testing.T) {
	t.Parallel()
	var md strings.Builder
	for i := range 150 {
		fmt.Fprintf(&md, "- [l%d](https://e.x/%d)\n", i, i)
	}
	parts := Split(md.String(), Limits{Dialect: TelegramHTML, Text: 4096, Unit: UTF16, Marks: 100})
	if len(parts) != 2 || strings.Count(parts[0].Text, "<a ") != 100 || strings.Count(parts[1].Text, "<a ") != 50 {
		t.Errorf("%d parts: %q", len(parts), parts)
	}
	pieces := []string{"**b** ", "*i* ", "~~s~~ ", "`c` ", "[l](http://a.b/c) ", "http://d.e/f ", "```\nx\n```\n", "\n> q **b**\n\n", "word ", "**a *b ~~c `d` e~~ f* g** ", "main.py ", "\n\n", "# h *i*\n"}
	rapid.Check(t, func(t *rapid.T) {
		md := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 200).Draw(t, "s"), "")
		lim := Limits{Dialect: TelegramHTML, Text: rapid.SampledFrom([]int{0, 4096, 200}).Draw(t, "text"), Unit: UTF16, Marks: rapid.SampledFrom([]int{1, 8, 20, 100}).Draw(t, "marks")}
		checkParts(t, md, lim, Split(md, lim))
	})
}

// source: agegr/pi-web#385 (marks that are shown); a vocabulary of many lines is one paragraph.
func TestManyMarksOfAParagraph(t *testing.T) {
	t.Parallel()
	for _, one := range []string{"z **b** end\n", "z **b** end ", "*i* x ", "~~s~~ x ", "**a *b* c** x ", "中**文**文"} {
		const lines = 1000
		got := Render(strings.Repeat(one, lines), TelegramHTML)
		if strings.ContainsAny(got, "*~") {
			t.Errorf("%q: marks are shown %d times", one, strings.Count(got, "*")+strings.Count(got, "~"))
		}
	}
}

// source: Bot API, MessageEntity: bot_command, cashtag
func TestSplitCountsCommandsAndCashtags(t *testing.T) {
	t.Parallel()
	for _, one := range []string{"/cmd x ", "$USD x "} {
		if parts := Split(strings.Repeat(one, 150), Limits{Dialect: TelegramHTML, Text: 4096, Unit: UTF16, Marks: 100}); len(parts) != 2 {
			t.Errorf("%q: %d parts", one, len(parts))
		}
	}
}

// A run of marks may stand at the end of a text, with nothing or with broken bytes behind it.
func TestMarksAtTheEnd(t *testing.T) {
	t.Parallel()
	for _, md := range []string{"**", "a **", "a:**", " ** ", "**\n", "a\n**", "\xff**\xff", "**\xff", "é**é", "。**。", "~~", "a ~~", "* * *\n**", "x\n\n**"} {
		for _, d := range []Dialect{TelegramHTML, DiscordMD, WhatsAppText} {
			if got := Render(md, d); strings.TrimSpace(md) != "" && got == "" {
				t.Errorf("%q is nothing in %s", md, d)
			}
		}
	}
}
