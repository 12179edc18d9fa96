package chain

import (
	"cmp"
	"fmt"
	"strings"

	"parley/agent"
	"parley/channels"
	"parley/sessions"
)

// This file has what people read of work that ends in another way than with its whole answer: what happened, and what to do. docs/agents.md
// shows the texts as Outcomes gives them.

// OutcomeText is one such text.
type OutcomeText struct {
	Outcome string
	Where   string // the people who read it, and where
	Text    string // an example
}

// Outcomes lists the texts.
func Outcomes() []OutcomeText {
	c := sessions.Chain{Requester: "agent:main:main", Target: "agent:clerk:main", Latest: "The door code is 4711."}
	failed := c
	failed.Status, failed.Error = sessions.TimedOut, "I ran out of time (10m0s) and stopped working on this."
	const chat, answer = "the chat", "the chat, behind the answer"
	return []OutcomeText{
		{"stopped", "the chat where `/stop` was written", StopAnswer(sessions.Ended{Turns: 1, Subagents: 2})},
		{"cancelled", "`/subagents log`, `parley runs`, the transcript", sessions.ByOperator.Words()},
		{"late", chat + " that asked, when the agent cannot word it", Late(c, "")},
		{"failed later", chat + " that asked, when the agent cannot word it", Late(failed, "")},
		{"cut off", answer, CutOff(agent.StopLength)},
		{"cut off by a filter", answer, CutOff(agent.StopFilter)},
		{"perhaps cut off", answer, CutOff(agent.StopUnclear)},
		{"empty", chat, Wordless("")},
		{"empty at the length limit", chat, Wordless(agent.StopLength)},
		{"refused", chat, Wordless(agent.StopFilter)},
		{"withheld", "`/subagents log`; the chat gets nothing", Withheld(channels.Code("session override", 200))},
		{"not delivered", "an owner's own chat, at most once an hour for each chat", NotDelivered("`Garden`, `telegram/default/group/-100500`", channels.Code("message thread not found", 200), "ID")},
	}
}

// OutcomesMarkdown is Outcomes as a table for people.
func OutcomesMarkdown() string {
	var b strings.Builder
	b.WriteString("| outcome | who reads it | text |\n|---|---|---|\n")
	for _, x := range Outcomes() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", x.Outcome, x.Where, strings.Join(strings.Fields(strings.ReplaceAll(x.Text, "|", "\\|")), " "))
	}
	return b.String()
}

// StopAnswer returns the answer to a request to stop.
func StopAnswer(n sessions.Ended) string {
	did := StoppedSentences(n)
	switch {
	case len(did) == 0:
		did = []string{"Nothing is running here."}
	case n.Turns+n.Exchanges > 0:
		did = append(did, "Write again if I should continue.")
	}
	return "⚙️ " + strings.Join(did, " ")
}

// StoppedSentences returns a sentence for each kind of work that a stop has ended; none if it has ended nothing.
func StoppedSentences(n sessions.Ended) (did []string) {
	for _, x := range []struct {
		n    int
		lead string
		what string
		tail string
	}{
		{n.Messages, "Dropped ", "message", " that waited."},
		{n.Subagents, "Stopped ", "sub-agent", "."},
		{n.Exchanges, "Ended ", "exchange", " with other sessions."},
		{n.Reports, "Cancelled ", "report", " of sub-agents."},
		{n.Jobs, "Stopped ", "scheduled job", "."},
	} {
		if x.n > 0 {
			did = append(did, x.lead+channels.Plural(x.n, x.what)+x.tail)
		}
	}
	if n.Turns > 0 {
		did = append([]string{"Agent was aborted."}, did...)
	}
	if n.Deliveries > 0 {
		did = append(did, "I will not send the rest of my message.")
	}
	if n.Leaving > 0 {
		did = append(did, "My last message was already being sent.")
	}
	return did
}

// Late says what came of an exchange after the turn that asked was over, in the place of the agent, which cannot: notice says why.
func Late(c sessions.Chain, notice string) string {
	who := channels.Code(c.Target.Display(c.Requester.Agent(), ""), 200)
	text := who + " answered after I had written to you:\n\n" + c.Latest
	switch {
	case c.Status != "" || c.Latest == "":
		text = who + " did not answer my question: " + cmp.Or(c.Error, "the reply was empty.")
		if !strings.HasSuffix(text, ".") {
			text += "."
		}
		text += " Ask me again to retry."
	case c.Error != "":
		text += "\n\nThen it was " + c.Error + "."
	}
	if notice != "" {
		text += "\n\n(" + strings.TrimSuffix(notice, ".") + ".)"
	}
	return text
}

// CutOff returns the note behind an incomplete answer; "" for a complete one.
func CutOff(stop string) string {
	switch stop {
	case agent.StopFilter:
		return "\n\n(The answer ends here: the language model or its provider refused to continue. Ask for the rest in other words.)"
	case agent.StopUnclear:
		return "\n\n(The answer may be cut off: the language model's provider did not confirm the end. If something is missing, ask me to continue.)"
	case agent.StopLength:
		return "\n\n(The answer ends here: it reached the length limit. Ask me to continue for the rest.)"
	}
	return ""
}

// Wordless returns the notice for a turn without an answer: silence without a reason looks like a fault of the chat.
func Wordless(stop string) string {
	switch stop {
	case agent.StopFilter:
		return "The language model refused to answer. Ask in other words, or try another model with /model."
	case agent.StopLength: // most often of nothing but thinking
		return "The language model reached its length limit before it wrote an answer. Ask for less at once, or try another model with /model."
	}
	return "The language model gave an empty answer. Send the message again, or try another model with /model."
}

// Withheld says that the send policy keeps something back, and by which rule.
func Withheld(rule string) string {
	return "withheld by " + rule + ": send /send on in that chat to allow later messages"
}

// NotDelivered tells an owner that a report did not reach its chat.
func NotDelivered(chat, why, id string) string {
	return "⚠️ A report did not reach " + chat + ": " + why + ". The host keeps the report. When the chat accepts messages again, `parley deliveries retry " + id +
		"` sends it. `parley deliveries list --state failed` lists all failed messages."
}
