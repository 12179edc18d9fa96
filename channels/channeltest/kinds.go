package channeltest

import (
	"fmt"
	"strings"
	"testing"

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

// HostLines gives the lines in brackets that the rows say the host words, but for links.
func HostLines(rows []KindRow) (lines []string) {
	for _, r := range rows {
		for i, part := range strings.Split(r.In, "`") {
			if i%2 == 0 {
				continue
			}
			for line := range strings.SplitSeq(strings.ReplaceAll(part, " ⏎ ", "\n"), "\n") {
				if strings.HasPrefix(line, "[") && !strings.Contains(line, "](") {
					lines = append(lines, line)
				}
			}
		}
	}
	return lines
}

// TestTypedLines types each line that the host words, alone, behind another line, and with a bracket that only looks like one. None may reach the
// model like the host's own. read decodes a message with that text.
func TestTypedLines(t *testing.T, rows []KindRow, read func(text string) channels.Inbound) {
	t.Helper()
	lines := HostLines(rows)
	if len(lines) == 0 {
		t.Fatal("no row has a line of the host's")
	}
	for _, line := range lines {
		for _, typed := range []string{line, "look\n" + line, "look\u2028 \u200b" + line, "［" + line[1:]} {
			before, _, _ := strings.Cut(typed, line)
			want := before + "\\" + strings.TrimPrefix(typed, before)
			if !strings.Contains(typed, line) {
				want = "\\" + typed
			}
			if in := read(typed); in.Event != channels.Message || in.Text != want {
				t.Errorf("%q is read as %s %q, want %q", typed, in.Event, in.Text, want)
			}
		}
	}
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
