package pattern

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLikeRegexp: a pattern finds what its expression finds, and compiles it at the first use only.
func TestLikeRegexp(t *testing.T) {
	t.Parallel()
	const expr, text = `(a+)(b?)`, "xaab ab c"
	p, want := New(expr), regexp.MustCompile(expr)
	for name, pair := range map[string][2]any{
		"match":           {p.MatchString(text), want.MatchString(text)},
		"find":            {p.FindString(text), want.FindString(text)},
		"index":           {p.FindStringIndex(text), want.FindStringIndex(text)},
		"groups":          {p.FindStringSubmatch(text), want.FindStringSubmatch(text)},
		"index of all":    {p.FindStringSubmatchIndex(text), want.FindStringSubmatchIndex(text)},
		"indices":         {p.FindAllStringIndex(text, -1), want.FindAllStringIndex(text, -1)},
		"all":             {p.FindAllString(text, -1), want.FindAllString(text, -1)},
		"all and groups":  {p.FindAllStringSubmatch(text, 1), want.FindAllStringSubmatch(text, 1)},
		"replaced bytes":  {p.ReplaceAll([]byte(text), []byte("<$2>")), want.ReplaceAll([]byte(text), []byte("<$2>"))},
		"groups of bytes": {p.FindAllSubmatch([]byte(text), -1), want.FindAllSubmatch([]byte(text), -1)},
		"replaced by":     {p.ReplaceAllStringFunc(text, strings.ToUpper), want.ReplaceAllStringFunc(text, strings.ToUpper)},
		"between":         {p.Split(text, -1), want.Split(text, -1)},
		"replaced":        {p.ReplaceAllString(text, "<$2>"), want.ReplaceAllString(text, "<$2>")},
	} {
		if diff := cmp.Diff(pair[1], pair[0]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	broken := New("(") // no panic yet
	defer func() {
		if recover() == nil {
			t.Error("an expression that is none was taken")
		}
	}()
	broken.MatchString("x")
}
