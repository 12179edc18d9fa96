package channels

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// source: CommonMark 0.31, 4.5 (an info string is not shown, and nothing may follow on a closing fence); fluxerapp/fluxer#2088
func TestWordsBesideFencesAreShown(t *testing.T) {
	t.Parallel()
	for md, want := range map[string]string{
		"Try this: ```js\nlet a=1\n``` It prints 1.\n\nThen **restart** the host.": "Try this:\n<pre><code class=\"language-js\">let a=1</code></pre>\n\nIt prints 1.\n\nThen <b>restart</b> the host.",
		"Run: ```\nls\n``` and you see files.":                                     "Run:\n<pre>ls</pre>\n\nand you see files.",
		"see:```\ncode\n```done":                                                   "see:\n<pre>code</pre>\n\ndone",
		"1. Open it: ```sh\nvi x\n``` then save.\n2. Done":                         "1. Open it:\n<pre><code class=\"language-sh\">vi x</code></pre>\n   then save.\n2. Done",
		"```Warning: never run this as root\nrm -rf x\n```":                        "Warning: never run this as root\n<pre>rm -rf x</pre>",
		"```bash npm install foo\nnpm run\n```":                                    "bash npm install foo\n<pre><code class=\"language-bash\">npm run</code></pre>",
		"- ```a *b*":                                                               "• ```a <i>b</i>",
		"- step ```\n  x\n  ```\n- next":                                           "• step\n<pre>x</pre>\n• next",
		"```\nx\n```and then text":                                                 "<pre>x</pre>\n\nand then text",
		"~~~\nx\n~~~ the tail\n~~~\ny\n~~~":                                        "<pre>x</pre>\n\nthe tail\n<pre>y</pre>",
		"```js\nf()```\nThen":                                                      "<pre><code class=\"language-js\">f()</code></pre>\n\nThen",
		"> a ```\n> x\n> ``` b\nc":                                                 "<blockquote>a</blockquote>\n<pre>x</pre>\n<blockquote>b</blockquote>\nc",
		"- ```\ncode\nmore":                                                        "• <pre>code\nmore</pre>",
		"- ``````\n```one":                                                         "• <pre>```one</pre>",
		"~~~```\n~~~ ```~~~\n```a, b":                                              "~~~<code>~~~</code>~~~\n```a, b",
		"- ```two words\n  ls\n  ```":                                              "• two words\n<pre><code class=\"language-two\">ls</code></pre>",
		"a\n\n```two words\nls\n```":                                               "a\n\ntwo words\n<pre><code class=\"language-two\">ls</code></pre>",
		// What is right already stays.
		"```x``` and ```y```":                             "<code>x</code> and <code>y</code>",
		"````\n```\nx\n```\n````":                         "<pre>```\nx\n```</pre>",
		"```md\n```js\nx\n```":                            "<pre><code class=\"language-md\">```js\nx</code></pre>",
		"```md\nInstall:\n```bash npm install\n```\nThen": "<pre><code class=\"language-md\">Install:\n```bash npm install</code></pre>\n\nThen",
		"~~~- ```a\n~~~\nb":                               "~~~- ```a\n\nb",
		"Begin with ```\n\n```js\nx\n```\nEnd":            "Begin with ```\n\n<pre><code class=\"language-js\">x</code></pre>\n\nEnd",
		"end ```":                                         "end ```",
		"1. do:\n```sh\nls\n```\n2. then":                 "1. do:\n<pre><code class=\"language-sh\">ls</code></pre>\n\n2. then",
		"- a\n  ```go\n  x\n  ```\n  b":                   "• a\n<pre><code class=\"language-go\">x</code></pre>\n  b",
		"Use ``` to open\n\n```js\nx\n```":                "Use ``` to open\n\n<pre><code class=\"language-js\">x</code></pre>",
		"`` ``` `` opens\n```\nx\n```\ncode ends":         "<code>```</code> opens\n<pre>x</pre>\n\ncode ends",
	} {
		if got := Render(md, TelegramHTML); got != want {
			t.Errorf("%q gives\n%q, want\n%q", md, got, want)
		}
	}
}

// Whatever stands beside a fence, no word is lost in any dialect.
func TestNoWordIsLostBesideFences(t *testing.T) {
	t.Parallel()
	pieces := []string{"```", "```", "```js", "~~~", "````", "\n", "\n", "\n", "\n\n", " ", " ", "- ", "1. ", "> ", "  ", "   "}
	for _, d := range dialects {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				var md strings.Builder
				n := 0
				for range rapid.IntRange(1, 30).Draw(t, "n") {
					if rapid.Bool().Draw(t, "word") {
						n++
						md.WriteString(strings.Repeat("Ö", n) + rapid.SampledFrom([]string{"ß", "ß ", " ß "}).Draw(t, "end"))
					} else {
						md.WriteString(rapid.SampledFrom(pieces).Draw(t, "piece"))
					}
				}
				got := Render(md.String(), d)
				if a, b := strings.Count(got, "Ö"), strings.Count(md.String(), "Ö"); a != b {
					t.Fatalf("%q gives %q", md.String(), got)
				}
			})
		})
	}
}
