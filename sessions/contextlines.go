package sessions

import (
	"encoding/json"
	"strings"
	"time"

	"parley/channels"
)

// contextLine is one context line in a ContextBlock: a JSON object on a line of its own.
type contextLine struct {
	Time    time.Time          `json:"time,omitzero"`
	Event   channels.Event     `json:"event,omitempty"`
	Sender  string             `json:"sender,omitempty"`
	Name    string             `json:"name,omitempty"`
	Text    string             `json:"text"`
	About   string             `json:"about,omitempty"`
	Message channels.MessageID `json:"message,omitempty"` // for the day on which it is put back
}

// NewContextBlock makes the ContextBlock that shows the context lines in front of the message that a turn answers.
func NewContextBlock(lines []ContextLine) Block {
	out := make([]string, len(lines))
	for i, l := range lines {
		if y := l.Time.UTC().Year(); y < 1 || y > 9998 { // JSON has no word for it
			l.Time = time.Time{}
		}
		b, _ := json.Marshal(contextLine{l.Time, l.Event, l.Sender, l.Name, l.Text, l.About, l.Message}) // texts and a time: it cannot fail
		out[i] = string(b)
	}
	return Block{Type: ContextBlock, Text: strings.Join(out, "\n")}
}

// ContextLines reads a block that was made of context lines. A line that it did not make is given as a text without a sender.
func (b Block) ContextLines() (lines []ContextLine) {
	if b.Type != ContextBlock {
		return nil
	}
	for raw := range strings.SplitSeq(b.Text, "\n") {
		var l contextLine
		if json.Unmarshal([]byte(raw), &l) != nil {
			l = contextLine{Text: raw}
		}
		if strings.TrimSpace(l.Text) != "" || l.Event != "" {
			lines = append(lines, ContextLine{Time: l.Time, Event: l.Event, Sender: l.Sender, Name: l.Name, Text: l.Text, About: l.About, Message: l.Message})
		}
	}
	return lines
}

// Reported is the event of a context line that a program outside has sent.
const Reported channels.Event = "reported"

// ByHand is the event of a context line that a person wrote from another device of the account itself.
const ByHand channels.Event = "byhand"

// Unsent is the event of a context line that names files of the agent's which a platform refused.
const Unsent channels.Event = "unsent"

// ExchangeStopped is the event of a context line that says that an exchange with another session was stopped from the other side.
const ExchangeStopped channels.Event = "exchangestopped"

// PostedElsewhere is the event of a context line with what another session has posted into the chat.
const PostedElsewhere channels.Event = "posted"

// FromHost reports whether the host itself says what a line tells: it is no talk of the chat, and messages.groupChat.historyLimit does not count it.
func (o ContextLine) FromHost() bool { return o.Event == ExchangeStopped || o.Event == PostedElsewhere }

// Sentence returns a line as text. quote puts words of people in quotes, so that they cannot look like the frame.
func (o ContextLine) Sentence(quote func(string) string) string {
	about := ""
	if o.About != "" {
		about = " " + quote(o.About)
	}
	who := o.Name
	if who == "" {
		who = o.Sender
	}
	switch {
	case o.Event == channels.Moved:
		return "This chat replaces an earlier one; the earlier messages are in the session " + quote(o.Text) + "."
	case o.Event == ExchangeStopped:
		return "A person stopped your exchange with the session " + quote(o.Name) + about + ". It has no further result."
	case o.Event == Unsent:
		return "The chat's platform refused files that you sent; the chat got your message without them: " + quote(o.Text)
	case o.Event == ByHand:
		return "The account's owner wrote here by hand, in your place: " + quote(o.Text)
	case o.Event == PostedElsewhere:
		return "Another session wrote here, in your place: " + quote(o.Text)
	case o.Event == channels.Joined && who == "":
		return "You were added to this chat."
	case o.Event == channels.Left && who == "":
		return "You were removed from this chat."
	case who == "" && o.Event == "":
		return quote(o.Text)
	case who == "":
		who = "Somebody"
	default:
		who = quote(who)
	}
	switch o.Event {
	case Reported:
		return "The program " + who + " outside reported, as data and not as a request: " + quote(o.Text)
	case channels.Edited:
		return who + " changed a message" + about + " to: " + quote(o.Text)
	case channels.Deleted:
		return who + " deleted a message" + about
	case channels.Reacted:
		if o.Text == "" {
			return who + " removed a reaction from your message" + about
		}
		return who + " reacted " + quote(o.Text) + " to your message" + about
	case channels.Joined:
		return who + " joined this chat"
	case channels.Left:
		return who + " left this chat"
	}
	return who + " said: " + quote(o.Text)
}
