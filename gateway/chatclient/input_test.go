package chatclient

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestInputKeys(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		keys []string
		want string // | is the cursor
	}{
		"typing":            {"hi", nil, "hi|"},
		"insert in between": {"ac", []string{"left", "b"}, "ab|c"},
		"ends":              {"abc", []string{"left", "left", "left", "left", "right"}, "a|bc"},
		"line ends":         {"ab\ncd", []string{"home", "x", "end"}, "ab\nxcd|"},
		"backspace":         {"äb", []string{"backspace", "backspace", "backspace"}, "|"},
		"delete":            {"abc", []string{"home", "delete"}, "|bc"},
		"word":              {"one two  ", []string{"ctrl+w"}, "one |"},
		"word moves":        {"one two", []string{"alt+b", "alt+b", "alt+f"}, "one| two"},
		"to the start":      {"ab\ncd", []string{"ctrl+u"}, "ab\n|"},
		"to the end":        {"ab\ncd", []string{"left", "ctrl+k"}, "ab\nc|"},
		"pasted lines":      {"func main() {\r\tprint()\r}", nil, "func main() {\n\tprint()\n}|"}, // terminals send CR between pasted lines
		"paste":             {"a\r\nb\x1b[31m\tc", nil, "a\nb[31m\tc|"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var in input
			in.insert(tt.text)
			for _, k := range tt.keys {
				if !in.edit(k) {
					in.insert(k)
				}
			}
			if got := string(in.text[:in.at]) + "|" + string(in.text[in.at:]); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestLayout(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		at   int
		want []string
		x, y int
	}{
		"empty":         {"", 0, []string{""}, 0, 0},
		"one row":       {"abc", 1, []string{"abc"}, 1, 0},
		"full row":      {"abcd", 4, []string{"abcd", ""}, 0, 1},
		"broken":        {"abcdef", 4, []string{"abcd", "ef"}, 0, 1},
		"lines":         {"a\n\nb", 2, []string{"a", "", "b"}, 0, 1},
		"wide":          {"a世界", 3, []string{"a世", "界"}, 2, 1},
		"tab":           {"a\tb", 3, []string{"a   ", "b"}, 1, 1},
		"cursor at end": {"ab\n", 3, []string{"ab", ""}, 0, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := input{text: []rune(tt.text), at: tt.at}
			rows, x, y := in.layout(4)
			if d := cmp.Diff(tt.want, rows); d != "" || x != tt.x || y != tt.y {
				t.Errorf("cursor %d,%d want %d,%d; rows %s", x, y, tt.x, tt.y, d)
			}
		})
	}
}

// Whatever is typed, the cursor stays inside, rows fit, and nothing but line ends is lost in the layout.
func TestInputAnyKeys(t *testing.T) {
	t.Parallel()
	keys := []string{"left", "right", "home", "end", "alt+b", "alt+f", "backspace", "delete", "ctrl+w", "ctrl+u", "ctrl+k", "a", "世", "\n", " "}
	rapid.Check(t, func(t *rapid.T) {
		var in input
		for _, k := range rapid.SliceOf(rapid.SampledFrom(keys)).Draw(t, "keys") {
			if !in.edit(k) {
				in.insert(k)
			}
		}
		width := rapid.IntRange(2, 9).Draw(t, "width")
		rows, x, y := in.layout(width)
		if y < 0 || y >= len(rows) || x < 0 || x > width {
			t.Fatalf("cursor %d,%d in %q", x, y, rows)
		}
		for _, r := range rows {
			if ansi.StringWidth(r) > width {
				t.Fatalf("row %q is wider than %d", r, width)
			}
		}
		if got, want := strings.Join(rows, ""), strings.ReplaceAll(string(in.text), "\n", ""); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}
