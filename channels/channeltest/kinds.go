package channeltest

import "strings"

// Kind is one kind of message of a platform: a row of the table in docs/channels.md. Each is held by a test of its adapter that makes the
// message and compares.
type Kind struct {
	Name   string // the platform's word: "voice message"
	In     string // what reaches the model, in Markdown; empty = it does not come in
	Out    string // how the host sends one, in Markdown; empty = it does not
	Source string // owner/repository#number, or the vendor's document
}

// KindsTable is the table as docs/channels.md has it.
func KindsTable(kinds []Kind) string {
	var b strings.Builder
	b.WriteString("| kind | in: reaches the model as | out: leaves as |\n|---|---|---|\n")
	for _, k := range kinds {
		cells := []string{k.Name, k.In, k.Out}
		for i, c := range cells {
			if c == "" {
				c = "–"
			}
			cells[i] = strings.NewReplacer("|", `\|`, "\n", " ⏎ ").Replace(c)
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	return b.String()
}
