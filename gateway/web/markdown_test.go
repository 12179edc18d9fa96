package web

import (
	"html"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestRenderMarkdown(t *testing.T) {
	t.Parallel()
	const blank = ` target="_blank" rel="noopener noreferrer nofollow"`
	tests := map[string]struct{ md, want string }{
		"plain":                    {"hi **you**\nnext", "<p>hi <strong>you</strong><br>\nnext</p>\n"},
		"tags are text":            {"a <b onclick=x>b</b>", "<p>a &lt;b onclick=x&gt;b&lt;/b&gt;</p>\n"},
		"block is text":            {"<script>\nalert(1)\n</script>", "<p>&lt;script&gt;<br>\nalert(1)<br>\n&lt;/script&gt;</p>\n"},
		"link":                     {"[x](https://a.b/c)", `<p><a href="https://a.b/c"` + blank + ">x</a></p>\n"},
		"bare link":                {"see https://a.b", `<p>see <a href="https://a.b"` + blank + ">https://a.b</a></p>\n"},
		"script link":              {"[*x* y](javascript:alert(1)) z", "<p><em>x</em> y (javascript:alert(1)) z</p>\n"},
		"data link":                {"[x](data:image/png;base64,AA)", "<p>x (data:image/png;base64,AA)</p>\n"},
		"own page":                 {"[x](/login?token=1)", "<p>x (/login?token=1)</p>\n"},
		"own heading":              {"[x](#top)", "<p>x (#top)</p>\n"},
		"telephone":                {"[call](tel:+491)", "<p>call (+491)</p>\n"},
		"crontab":                  {"Add:\n* * * * * cmd _a_\n* 2 * * 1 b *c*", "<p>Add:<br>\n* * * * * cmd _a_<br>\n* 2 * * 1 b *c*</p>\n"},
		"prompt":                   {"root@srv:~# rm *_old_*", "<p>root@srv:~# rm *_old_*</p>\n"},
		"picture":                  {"![a cat](https://a.b/c.png)", `<p><a href="https://a.b/c.png"` + blank + ">a cat</a></p>\n"},
		"picture, no name":         {"![](https://a.b/c)", `<p><a href="https://a.b/c"` + blank + ">https://a.b/c</a></p>\n"},
		"picture, script":          {"![a](javascript:x)", "<p>a (javascript:x)</p>\n"},
		"picture, script, no name": {"![](javascript:x)", "<p>javascript:x</p>\n"},
		"picture in link":          {"[![a](https://a.b/i)](javascript:x)", `<p><a href="https://a.b/i"` + blank + ">a</a> (javascript:x)</p>\n"},
		"sources":                  {"Sources:\n\n[1]: https://a.b/x\n[2]: https://c.d/y", `<p>Sources:</p>` + "\n" + `<p>[1]: <a href="https://a.b/x"` + blank + `>https://a.b/x</a><br>` + "\n" + `[2]: <a href="https://c.d/y"` + blank + ">https://c.d/y</a></p>\n"},
		"a source of two":          {"See [it][1].\n\n[1]: https://a.b/x\n[2]: https://c.d/y", `<p>See <a href="https://a.b/x"` + blank + `>it</a>.</p>` + "\n" + `<p>[2]: <a href="https://c.d/y"` + blank + ">https://c.d/y</a></p>\n"},
		"heading":                  {"# Top", "<h3>Top</h3>\n"},
		"open fence":               {"```go\nx < y", "<pre><code class=\"language-go\">x &lt; y\n</code></pre>\n"},
		"numbers":                  {"1986. a\n1990. b", "<ol start=\"1986\">\n<li>a</li>\n<li value=\"1990\">b</li>\n</ol>\n"},
		"zeros before a number":    {"007. James\n8. b", "<ol>\n<li class=\"written\">007. James</li>\n<li class=\"written\">8. b</li>\n</ol>\n"},
		"zeros behind a number":    {"1. a\n\n02. - b", "<ol>\n<li class=\"written\">\n<p>1. a</p>\n</li>\n<li class=\"written\">02. \n<ul>\n<li>b</li>\n</ul>\n</li>\n</ol>\n"},
		"number in brackets":       {"3) x", "<ol>\n<li class=\"written\">3) x</li>\n</ol>\n"},
		"scheme in capitals":       {"<HTTPS://A.b> [x](httPs://a.b) [y](jAvascript:x)", `<p><a href="HTTPS://A.b"` + blank + `>HTTPS://A.b</a> <a href="httPs://a.b"` + blank + ">x</a> y (jAvascript:x)</p>\n"}, // RFC 3986, 3.1
		"host beyond ASCII":        {"[x](https://пример.рф/п%2F)", `<p><a href="https://%D0%BF%D1%80%D0%B8%D0%BC%D0%B5%D1%80.%D1%80%D1%84/%D0%BF%2F"` + blank + ">x</a></p>\n"},
		"host that looks alike":    {"[https://apple.com/](https://аррӏе.com/)", `<p><a href="https://%D0%B0%D1%80%D1%80%D3%8F%D0%B5.com/"` + blank + ">https://apple.com/</a> (https://аррӏе.com/)</p>\n"},
		"host of another address":  {"[www.a.de/x](https://b.de) [a.de](http://www.a.de) [v1.5](https://b.de)", `<p><a href="https://b.de"` + blank + `>www.a.de/x</a> (https://b.de) <a href="http://www.a.de"` + blank + `>a.de</a> <a href="https://b.de"` + blank + ">v1.5</a></p>\n"},
		"address beyond a browser": {"[x](https://a.b/%zz)", "<p>x (https://a.b/%zz)</p>\n"},
		"ranges":                   {"5~10 and 3~4, 2*3*4", "<p>5~10 and 3~4, 2*3*4</p>\n"},
		"entities":                 {"&copy; \\*x\\* \\d", "<p>&amp;copy; *x* \\d</p>\n"},
		"CJK":                      {"**注意：**请看", "<p><strong>注意：</strong>请看</p>\n"},
		"line end":                 {"a<br>b", "<p>a<br>\nb</p>\n"},
		"line end in a cell":       {"|a|\n|-|\n|x<br>y|", "<table>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>x<br>\ny</td>\n</tr>\n</tbody>\n</table>\n"},
		"tag spoken about":         {"use \"<br>\" here", "<p>use &quot;&lt;br&gt;&quot; here</p>\n"},
		"indented text":            {"    so <b>\n      it is", "<p>so &lt;b&gt;<br>\n\u00a0\u00a0it is</p>\n"},
		"table":                    {"|a|\n|-:|\n|1|", "<table>\n<thead>\n<tr>\n<th align=\"right\">a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td align=\"right\">1</td>\n</tr>\n</tbody>\n</table>\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := RenderMarkdown(tt.md); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

var (
	tag     = regexp.MustCompile(`<[^>]*>`)
	allowed = regexp.MustCompile(`^</?(p|br|strong|em|del|h[3-6]|ul|li( value="\d{1,9}"| class="written")?|blockquote|pre|hr|table|thead|tbody|tr|code|ol( start="\d+")?|code class="language-[^"<>]*"|t[hd]( align="(left|right|center)")?|a href="((?i:https?)://|(?i:mailto):)[^"<>]*"( title="[^"<>]*")? target="_blank" rel="noopener noreferrer nofollow"|a|t[hd]|ol|span( role="img" aria-label="(not )?done")?) ?/?>$`)
)

// Words that people read as the address of another host have the true one behind them, also where no program would take them for an address.
// source: WHATWG URL, 4.4 (backslashes, slashes and ports are read leniently); UTS #46, 2.3 (dots of other scripts); CWE-451
func TestLinksThatPretend(t *testing.T) {
	t.Parallel()
	for words, isTold := range map[string]bool{
		"https://apple.com/%zz": true, "apple.com:443/x": true, "apple.com/%zz": true, "apple.com:x": true, "apple.com?a": true, "apple.com.": true,
		"https:\\\\\\\\apple.com": true, "https:///apple.com": true, "see https://apple.com": true, "https://evil.com https://apple.com": true,
		"apple\u200b.com": true, "apple。com": true, "https://u:p@apple.com:x/": true, "https://[::2]/": true, "HTTPS://APPLE.COM": true,
		"https://evil.com/%zz": false, "EVIL.com:443/x": false, "https://u@www.evil.com:80/": false, "see https://evil.com.": false,
		"apple": false, "v1.5": false, "at 10:30": false, "use https:// always": false, "I like apple.com": false, "a@b.com": false,
	} {
		got := RenderMarkdown("[" + words + "](https://evil.com)")
		if told := strings.Contains(got, "</a> (https://evil.com)"); told != isTold || !strings.Contains(got, `href="https://evil.com"`) {
			t.Errorf("%s: %s", words, got)
		}
	}
	if got := RenderMarkdown("[https://apple.com](mailto:a@evil.com)"); !strings.Contains(got, "</a> (mailto:a@evil.com)") {
		t.Error(got)
	}
	if got := RenderMarkdown("[https://[::1]:80/](https://[::1]/x)"); strings.Contains(got, "</a> (") {
		t.Error(got)
	}
}

// Whatever is written, only the tags and attributes of the list come out.
func FuzzRenderMarkdown(f *testing.F) {
	for _, s := range []string{"# a", "[a](b)", "![x](javascript:y)", "<a href='x'>", "```a\"b\n<", "<https://x\"y>", "<httPs://x\"y>", "|a|\n|:-:|\n|<b>|", "- [x] a", "[a]: http://x 'y\">'\n[a]", "<!-- -->", "a\n===\n", "3) x", "&#34;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, md string) {
		if !utf8.ValidString(md) {
			return
		}
		for _, got := range tag.FindAllString(RenderMarkdown(md), -1) {
			if !allowed.MatchString(got) {
				t.Errorf("%q gave %q", md, got)
			}
		}
	})
}

// What an agent or a stranger writes must not stop the host or the browser of the person who reads it.
//
// source: github/cmark-gfm, security advisories GHSA-7gc6-9qr5-hc85 (a table) and GHSA-29g3-96g3-jg6c (links, quotes)
func TestHostileMarkdownIsBounded(t *testing.T) {
	t.Parallel()
	for name, md := range map[string]string{
		"a table": strings.Repeat("|a", 3000) + "|\n" + strings.Repeat("|-", 3000) + "|\n" + strings.Repeat("x\n", 3000),
		"links":   strings.Repeat("[a](", 1<<16),
		"numbers": strings.Repeat("1. ", 1<<16) + "a",
		"quotes":  strings.Repeat("> ", 1<<16) + "a",
	} {
		if got := RenderMarkdown(md); len(got) > 4*len(md) || strings.Count(got, "<") > 1000 {
			t.Errorf("%s: %d bytes and %d tags of %d bytes", name, len(got), strings.Count(got, "<"), len(md))
		}
	}
}

func TestLongTextIsShownPlain(t *testing.T) {
	t.Parallel()
	got := RenderMarkdown(strings.Repeat("<*a* ", maxMarkdown))
	if !strings.HasPrefix(got, "<pre>&lt;*a* ") || !strings.HasSuffix(got, "</pre>") {
		t.Errorf("got %.40q", got)
	}
}

// What is written without markup is shown as it is written on the page too.
func TestPlainTextIsShownAsWrittenOnThePage(t *testing.T) {
	t.Parallel()
	corpus, err := os.ReadFile("../../channels/testdata/plain.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split("\n"+string(corpus), "\n== ")[1:] {
		name, text, _ := strings.Cut(part, "\n")
		if name == "english lines" || name == "table not meant" { // rules are drawn as rules here
			continue
		}
		number := ""
		got := tag.ReplaceAllStringFunc(RenderMarkdown(text), func(tag string) string {
			if m := counted.FindStringSubmatch(tag); m != nil {
				number = m[1]
			}
			switch {
			case strings.HasPrefix(tag, "<li") && number != "":
				s := number + ". "
				number = ""
				return s
			case strings.HasPrefix(tag, "<li"):
				return "- "
			}
			return " "
		})
		if a, b := words(html.UnescapeString(got)), words(text); a != b {
			t.Errorf("%s: shown as\n%s\nand not as\n%s", name, a, b)
		}
	}
}

var counted = regexp.MustCompile(`(?:start|value)="(\d+)"`)

func words(s string) string {
	var out []string
	for _, w := range strings.Fields(s) {
		if w != "-" && w != "*" {
			out = append(out, w)
		}
	}
	return strings.Join(out, "")
}

// source: CommonMark 0.31, 4.5 (an info string is not shown); fluxerapp/fluxer#2088
func TestWordsBesideFencesAreShown(t *testing.T) {
	t.Parallel()
	got := RenderMarkdown("Try: ```js\nlet a=1\n``` It prints 1.\n\n```Warning: not as root\nrm x\n```")
	for _, want := range []string{"<p>Try:</p>", "let a=1\n</code></pre>", "<p>It prints 1.</p>", "Warning: not as root"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
}
