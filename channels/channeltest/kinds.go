package channeltest

import (
	"fmt"
	"strings"

	"parley/channels"
)

// Kind is one kind of message of a platform: a row of the table in docs/channels.md. Each is held by a test of its adapter that makes the
// message and compares.
type Kind struct {
	Name   string // the platform's word: "voice message"
	In     string // what reaches the model, in Markdown; empty = it does not come in
	Out    string // how the host sends one, in Markdown; empty = it does not
	Source string // owner/repository#number, or the vendor's document
}

// KindRow is one kind with an example of it.
type KindRow struct {
	Kind
	Message string // a message that comes in, in the platform's JSON; empty = Out alone, or held by another test
}

// NewKind makes a row.
func NewKind(name, in, out, source, message string) KindRow {
	return KindRow{Kind: Kind{Name: name, In: in, Out: out, Source: source}, Message: message}
}

// Kinds gives rows as the documentation shows them.
func Kinds(rows []KindRow) (list []Kind) {
	for _, r := range rows {
		list = append(list, r.Kind)
	}
	return list
}

// Spelled says what reaches the model of a text and its files, as the tables do.
func Spelled(text string, files []channels.Media) (parts []string) {
	if text != "" {
		parts = append(parts, "`"+text+"`")
	}
	for _, m := range files {
		part := strings.TrimSpace(string(m.Kind) + " " + m.Name)
		if m.Voice {
			part += ", voice"
		}
		if m.Seconds > 0 {
			part += fmt.Sprintf(", %d s", m.Seconds)
		}
		parts = append(parts, part)
	}
	return parts
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
