package endpoints

import (
	"fmt"
	"slices"
	"strings"
)

// Say is what a model says.
type Say struct {
	Reasoning string // only endpoints whose Wire writes it
	Text      string
	Calls     []ToolCall // without ids: the Wire gives them
	Finish    string     // the protocol's word; empty = the one that fits
	Used      int        // tokens of the prompt; 0 = counted by its bytes
}

// Mind decides what the model says.
type Mind func(*Call) Say

// Unseen is how a host says that there is a picture which the model cannot see.
const Unseen = "a picture that this model cannot see"

// sessionMark is in the result of sessions_list.
const sessionMark = "sessionId"

// Usual echoes the last line of a person; on the word tool it calls sessions_list and says whether the result names a session; on the
// words both tools it makes two calls; on a picture it says how many it saw.
func Usual(c *Call) Say {
	asked := c.Asked()
	say := Say{Reasoning: c.memory.musing(asked)}
	last := c.Last()
	switch {
	case c.resulted():
		say.Text = fromResults(c)
	case strings.Contains(last.Text, Unseen) && strings.Contains(asked, "picture"):
		say.Text = "I cannot see the picture."
	case last.Images == 1:
		say.Text = "I see 1 picture."
	case last.Images > 1:
		say.Text = fmt.Sprintf("I see %d pictures.", last.Images)
	case strings.Contains(asked, "tool"):
		say.Calls = calls(c, asked)
		if say.Calls == nil {
			say.Text = "I have no such tool."
		}
	default:
		say.Text = "echo: " + asked
	}
	return say
}

// calls gives the calls that a person wants; none where the tool is not offered.
func calls(c *Call, asked string) []ToolCall {
	if !slices.Contains(c.Tools, "sessions_list") {
		return nil
	}
	one := ToolCall{Name: "sessions_list", Args: `{"limit":5}`}
	if strings.Contains(asked, "both") {
		return []ToolCall{one, {Name: "session_status", Args: `{}`}}
	}
	return []ToolCall{one}
}

// fromResults says what the results of the turn hold.
func fromResults(c *Call) string {
	var all string
	for _, m := range c.Turn() {
		if m.Role == "tool" {
			all += m.Text
		}
	}
	if all == "" {
		all = c.Last().Text
	}
	if strings.Contains(all, sessionMark) {
		return "The tool names a session."
	}
	return "The tool gave nothing: " + all[:min(len(all), 200)]
}

// plainly is Usual without reasoning.
func plainly(c *Call) Say {
	s := Usual(c)
	s.Reasoning = ""
	return s
}

// instead gives another text where the usual model gives a text.
func instead(text func(usual string) string) Mind {
	return func(c *Call) Say {
		s := Usual(c)
		if s.Text != "" {
			s.Text = text(s.Text)
		}
		return s
	}
}

// resulted reports whether a tool's result is the last thing that the model is told: as a message of its own, or as text where the
// endpoint takes no such messages.
func (c *Call) resulted() bool {
	last := c.Last()
	return last.Role == "tool" || strings.Contains(last.Text, sessionMark) && !strings.Contains(afterMark(last.Text), c.Asked())
}

// afterMark is what stands behind a tool's result in a text.
func afterMark(text string) string {
	text = text[strings.LastIndex(text, sessionMark):]
	_, rest, _ := strings.Cut(text, "\n")
	return rest
}
