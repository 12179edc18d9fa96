package sessions

import (
	"cmp"
	"strings"
)

// Said gives the text of a message without the sender's name, which stands in front of it for the model where several people talk: for
// readers who see the name beside it.
func (m Message) Said() string {
	text, p := m.Text(), m.Provenance
	if m.Role != User || p == nil || p.Kind != ExternalUser || !p.Address.Type.Several() && (!p.Address.IsZero() || p.Tool == "") {
		return text
	}
	name := strings.Join(strings.Fields(cmp.Or(p.Name, p.User, p.Sender)), " ")
	quote, rest := "", text
	for strings.HasPrefix(rest, "> ") { // what it answers to
		line, after, _ := strings.Cut(rest, "\n")
		quote, rest = quote+line+"\n", after
	}
	if quote != "" {
		rest = strings.TrimPrefix(rest, "\n")
		quote += "\n"
	}
	if said, ok := strings.CutPrefix(rest, name+":"); ok && name != "" {
		return quote + strings.TrimPrefix(said, " ")
	}
	return text
}
