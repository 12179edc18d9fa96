package web

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestRenderMarkdown(t *testing.T) {
	t.Parallel()
	const blank = ` target="_blank" rel="noopener noreferrer nofollow"`
	tests := map[string]struct{ md, want string }{
		"plain":            {"hi **you**\nnext", "<p>hi <strong>you</strong><br>\nnext</p>\n"},
		"tags are text":    {"a <b onclick=x>b</b>", "<p>a &lt;b onclick=x&gt;b&lt;/b&gt;</p>\n"},
		"block is text":    {"<script>\nalert(1)\n</script>", "<p>&lt;script&gt;<br>\nalert(1)<br>\n&lt;/script&gt;</p>\n"},
		"link":             {"[x](https://a.b/c)", `<p><a href="https://a.b/c"` + blank + ">x</a></p>\n"},
		"bare link":        {"see https://a.b", `<p>see <a href="https://a.b"` + blank + ">https://a.b</a></p>\n"},
		"script link":      {"[*x* y](javascript:alert(1)) z", "<p><em>x</em> y z</p>\n"},
		"data link":        {"[x](data:image/png;base64,AA)", "<p>x</p>\n"},
		"own page":         {"[x](/login?token=1)", "<p>x</p>\n"},
		"picture":          {"![a cat](https://a.b/c.png)", `<p><a href="https://a.b/c.png"` + blank + ">a cat</a></p>\n"},
		"picture, no name": {"![](https://a.b/c)", `<p><a href="https://a.b/c"` + blank + ">https://a.b/c</a></p>\n"},
		"picture, script":  {"![a](javascript:x)", "<p>a</p>\n"},
		"picture in link":  {"[![a](https://a.b/i)](javascript:x)", `<p><a href="https://a.b/i"` + blank + ">a</a></p>\n"},
		"heading":          {"# Top", "<h3>Top</h3>\n"},
		"open fence":       {"```go\nx < y", "<pre><code class=\"language-go\">x &lt; y\n</code></pre>\n"},
		"table":            {"|a|\n|-:|\n|1|", "<table>\n<thead>\n<tr>\n<th align=\"right\">a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td align=\"right\">1</td>\n</tr>\n</tbody>\n</table>\n"},
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
	allowed = regexp.MustCompile(`^</?(p|br|strong|em|del|h[3-6]|ul|li|blockquote|pre|hr|table|thead|tbody|tr|code|ol( start="\d+")?|code class="language-[^"<>]*"|t[hd]( align="(left|right|center)")?|a href="(https?://|mailto:)[^"<>]*"( title="[^"<>]*")? target="_blank" rel="noopener noreferrer nofollow"|a|t[hd]|ol|input (checked="" )?disabled="" type="checkbox") ?/?>$`)
)

// Whatever is written, only the tags and attributes of the list come out.
func FuzzRenderMarkdown(f *testing.F) {
	for _, s := range []string{"# a", "[a](b)", "![x](javascript:y)", "<a href='x'>", "```a\"b\n<", "<https://x\"y>", "|a|\n|:-:|\n|<b>|", "- [x] a", "[a]: http://x 'y\">'\n[a]", "<!-- -->", "a\n===\n", "3) x", "&#34;"} {
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

func TestLongTextIsShownPlain(t *testing.T) {
	t.Parallel()
	got := RenderMarkdown(strings.Repeat("<*a* ", maxMarkdown))
	if !strings.HasPrefix(got, "<pre>&lt;*a* ") || !strings.HasSuffix(got, "</pre>") {
		t.Errorf("got %.40q", got)
	}
}
