package channels

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// rowsOfMarks are lines that begin with the mark of an item and are none.
//
// source: crontab(5); CommonMark 0.31.2, 5.2 (a list in a list on one line)
var rowsOfMarks = []string{
	"* * * * * cmd", "* * * * * php artisan schedule:run >> /dev/null 2>&1", "* * 1 * * root x", "* 2 * * 1 cmd", "* 9-17 * * MON-FRI cmd", "* */2 * JAN,FEB * cmd", "* *\t* * * x",
	"*/5 * * * * cmd", "0 3 * * * cmd", "- - - x", "- - x", "- * x", "* - x", "* * * * * x *_y_* _z_", "* * _x y", "* * x -", "@daily x",
}

// A row of marks is shown as it is written, wherever it stands: alone, behind words, among the items of a list and in them, and beside prose.
func TestRowsOfMarksAreNoLists(t *testing.T) {
	t.Parallel()
	around := []string{"", "Add this line:\n", "Add this line:\n\n", "- an item\n", "* an item\n", "* an item\n\n", "1. an item\n", "a *b* c\n\n", "> quoted\n\n", "- an item\n\n  ", "  "}
	for _, d := range []Dialect{TelegramHTML, DiscordMD, WhatsAppText} {
		rapid.Check(t, func(t *rapid.T) {
			before := rapid.SampledFrom(around).Draw(t, "before")
			var rows []string
			indent := before[strings.LastIndexByte(before, '\n')+1:]
			for range rapid.IntRange(1, 4).Draw(t, "n") {
				rows = append(rows, rapid.SampledFrom(rowsOfMarks).Draw(t, "row"))
			}
			md := before + strings.Join(rows, "\n"+indent) + rapid.SampledFrom([]string{"", "\n\nMore *words*.", "\n* an item", "\n- an item"}).Draw(t, "after")
			got := Render(md, d)
			if d == DiscordMD {
				got = strings.NewReplacer(`\*`, "*", `\-`, "-", `\_`, "_").Replace(got)
			}
			got = strings.ReplaceAll(strings.ReplaceAll(got, "&gt;", ">"), "&amp;", "&")
			lines := strings.Split(strings.ReplaceAll(got, hidden, ""), "\n")
			for _, row := range rows {
				found := false
				for i, line := range lines {
					if strings.TrimLeft(line, " ") == row {
						found, lines = true, lines[i+1:]
						break
					}
				}
				if !found {
					t.Fatalf("%q shows %q as\n%s", md, row, got)
				}
			}
		})
	}
	for md, want := range map[string]string{ // items
		"* a\n* * * * * cmd\n* b":                             "• a\n* * * * * cmd\n• b",
		"1. * * * * * cmd\n2. - a":                            "1. * * * * * cmd\n2. • a",
		"* 2 * 3 = 6\n* 2 * 3 * 4 = 24\n* 5 apples\n* *a*: b": "• 2 * 3 = 6\n• 2 * 3 * 4 = 24\n• 5 apples\n• <i>a</i>: b",
		"- -5 degrees\n- + good\n- — so":                      "• -5 degrees\n• + good\n• — so",
		"- a\n  - b\n    - c":                                 "• a\n  • b\n    • c",
	} {
		if got := Render(md, TelegramHTML); got != want {
			t.Errorf("%q gives\n%q, want\n%q", md, got, want)
		}
	}
}
