package chatclient

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// The looks use the terminal's own colours, so that they fit light and dark.
func bold(s string) string            { return "\x1b[1m" + s + "\x1b[22m" }
func soft(s string) string            { return "\x1b[2m" + s + "\x1b[22m" }
func (m *model) warn(s string) string { return m.colour("33", s) }
func (m *model) mine(s string) string { return m.colour("36", s) }
func (m *model) name(s string) string { return m.colour("32", bold(s)) }

func (m *model) colour(code, s string) string {
	if m.plain {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[39m"
}

func (m *model) user(who, text string) string {
	return "\n" + m.mine(bold(OneLine(who))) + "\n" + m.wrap(text)
}

func (m *model) agent(text string) string {
	return "\n" + m.name(OneLine(m.info.Agent)) + "\n" + m.wrap(text)
}

// wrap breaks and indents a text: what it says looks like no entry of its own.
func (m *model) wrap(text string) string {
	lines := strings.Split(ansi.Wrap(strings.TrimSpace(Clean(text)), max(m.width-len(bodyIndent), 1), ""), "\n")
	return bodyIndent + strings.Join(lines, "\n"+bodyIndent)
}

const bodyIndent = "  "

// OneLine cleans a text and puts it into one line.
func OneLine(s string) string { return strings.Join(strings.Fields(Clean(s)), " ") }

func (m *model) View() tea.View {
	top, rows, x, y := m.live()
	body := append([]string{}, top...)
	for i, r := range rows {
		prompt := "  "
		if i == 0 {
			prompt = m.mine("› ")
		}
		body = append(body, prompt+r)
	}
	body = append(body, soft(ansi.Truncate(m.status(), m.width, "…")))
	v := tea.NewView(strings.Join(body, "\n"))
	v.Cursor = tea.NewCursor(x+2, len(top)+y)
	v.WindowTitle = "parley · " + Clean(m.info.Agent)
	return v
}

// live is what stands below the scrollback, but for the status line: what the agent is about, and the rows of the input that are shown, with the
// cursor's place in them.
func (m *model) live() (top, rows []string, x, y int) {
	rows, x, y = m.in.layout(m.width - 2)
	room := liveRows(m.height) - 2                      // an empty row and the status line
	if most := min(inputRows, room); len(rows) > most { // the rows around the cursor
		from := min(max(y-most+1, 0), len(rows)-most)
		rows, y = rows[from:from+most], y-from
	}
	switch {
	case m.draft != "":
		top = strings.Split(m.agent(m.draft), "\n")
	case m.typing:
		top = []string{"", soft(Clean(m.info.Agent) + " is writing…")}
	}
	if room -= len(rows); len(top) > room {
		top = top[len(top)-room:] // the end of a long answer; all of it comes into the scrollback when it is finished
	}
	return append(top, ""), rows, x, y
}

func (m *model) show(text string) tea.Cmd { return m.above.add(text, m.height) }

func (m *model) status() string {
	which := m.info.Model
	if m.info.Offline {
		which = "offline model (no language model)"
	}
	s := m.state
	if which != "" { // a session that is new has none yet
		s += " · " + Clean(which)
	}
	if n := len(m.unsent); n > 0 && m.state != "connected" {
		s += fmt.Sprintf(" · %d waiting to be sent", n)
	}
	if m.working() {
		return s + " · Esc stops"
	}
	return s + " · Enter sends, Alt+Enter new line, Ctrl+C leaves"
}
