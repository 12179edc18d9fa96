package sessions

import (
	"encoding/json"
	"strings"
	"time"
)

// heardLine is how a ContextBlock keeps one line of group talk: a JSON object on a line of its own.
type heardLine struct {
	Time   time.Time `json:"time,omitzero"`
	Sender string    `json:"sender,omitempty"`
	Name   string    `json:"name,omitempty"`
	Text   string    `json:"text"`
}

// HeardBlock makes the ContextBlock that shows group talk in front of the message that a turn answers.
func HeardBlock(lines []Overheard) Block {
	out := make([]string, len(lines))
	for i, l := range lines {
		if y := l.Time.UTC().Year(); y < 1 || y > 9998 { // JSON has no word for it
			l.Time = time.Time{}
		}
		b, _ := json.Marshal(heardLine{l.Time, l.Sender, l.Name, l.Text}) // texts and a time: it cannot fail
		out[i] = string(b)
	}
	return Block{Type: ContextBlock, Text: strings.Join(out, "\n")}
}

// Heard reads a block that HeardBlock made. A line that it did not make is given as a text without a sender.
func (b Block) Heard() (lines []Overheard) {
	if b.Type != ContextBlock {
		return nil
	}
	for raw := range strings.SplitSeq(b.Text, "\n") {
		var l heardLine
		if json.Unmarshal([]byte(raw), &l) != nil {
			l = heardLine{Text: raw}
		}
		if strings.TrimSpace(l.Text) != "" {
			lines = append(lines, Overheard{Time: l.Time, Sender: l.Sender, Name: l.Name, Text: l.Text})
		}
	}
	return lines
}
