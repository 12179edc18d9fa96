package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/agent"
	"parley/sessions"
)

// Name is what the model calls itself in answers and transcripts.
const Name = "offline-1"

// New gives the model. It is safe for concurrent use and keeps nothing between calls.
func New() agent.Model { return model{now: time.Now, table: sync.OnceValue(compile)} }

type model struct {
	now   func() time.Time
	table func() []intent
}

// Stream answers at once, in small pieces. It fails only when ctx ends. Usage counts words as tokens: the input is every text
// block of the prompt and the system text, the output is the answer. That is no price, but it grows with what was said.
func (m model) Stream(ctx context.Context, p agent.Prompt) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		a := m.answer(p)
		for piece := range pieces(a.text) {
			if ctx.Err() != nil {
				break
			}
			if !yield(agent.Delta{Text: piece}, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(agent.Delta{}, &agent.ModelError{Class: agent.Timeout, Provider: "offline", Tries: 1, Err: err})
			return
		}
		final := a.message(p)
		yield(agent.Delta{Final: &final}, nil)
	}
}

// answer is what the model says or does next.
type answer struct {
	text string
	tool string // a tool to call; empty = text is the whole answer
	args any    // its arguments
}

func say(format string, a ...any) answer {
	if len(a) == 0 {
		return answer{text: format}
	}
	return answer{text: fmt.Sprintf(format, a...)}
}

func call(tool string, args map[string]any) answer { return answer{tool: tool, args: args} }

func (a answer) message(p agent.Prompt) agent.Answer {
	out := agent.Answer{Stop: agent.StopEnd, Model: Name, Usage: sessions.Usage{Input: countWords(p.System), Output: countWords(a.text)}}
	for _, m := range p.Messages {
		for _, b := range m.Content {
			out.Usage.Input += countWords(b.Text)
		}
	}
	if a.text != "" {
		out.Content = sessions.TextContent(a.text)
	}
	if a.tool != "" {
		args, err := json.Marshal(a.args)
		if err != nil { // maps of texts and numbers always marshal
			args = []byte("{}")
		}
		out.Stop = agent.StopToolUse
		out.Usage.Output += countWords(string(args))
		out.Content = append(out.Content, sessions.Block{Type: sessions.ToolCallBlock, ID: callID(p), Name: a.tool, Arguments: args})
	}
	return out
}

func countWords(s string) int { return len(strings.Fields(s)) }

// callID names a tool call by the message that it answers and the number of calls before it: a repeated prompt gives the same
// id, two calls of one turn never do.
func callID(p agent.Prompt) string {
	t := split(p.Messages)
	h := fnv.New64a()
	h.Write([]byte(t.input.ID + "\x00" + t.input.Text()))
	return fmt.Sprintf("offline_%016x_%d", h.Sum64(), len(t.results)+1)
}

// pieces cuts a text into runs of a few words; together they are the text.
func pieces(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start, spaces := 0, 0
		for i, r := range text {
			if r != ' ' && r != '\n' {
				continue
			}
			if spaces++; spaces == 3 {
				if !yield(text[start : i+1]) {
					return
				}
				start, spaces = i+1, 0
			}
		}
		if start < len(text) {
			yield(text[start:])
		}
	}
}

// turn is a prompt taken apart: what came before, the message to answer, and the results of the tools called for it so far.
type turn struct {
	before  []sessions.Message
	input   sessions.Message
	results []sessions.Message
}

func split(msgs []sessions.Message) turn {
	for i, m := range slices.Backward(msgs) {
		if m.Role != sessions.User {
			continue
		}
		t := turn{before: msgs[:i], input: m}
		for _, r := range msgs[i+1:] {
			if r.Role == sessions.ToolResult {
				t.results = append(t.results, r)
			}
		}
		return t
	}
	return turn{}
}

// maxCalls ends a turn whose results do not get it on.
const maxCalls = 4

// maxInput is how much of a message is read, in bytes: requests are short.
const maxInput = 64 * 1024

func (m model) answer(p agent.Prompt) answer {
	t := split(p.Messages)
	if a, ok := chainStep(p, t); ok {
		return a
	}
	c := conversation{turn: t, now: m.now(), offered: map[string]bool{}, table: m.table()}
	for _, s := range p.Tools {
		c.offered[s.Name] = true
	}
	ask := understand(c.table, spoken(t.input))
	if len(t.results) >= maxCalls {
		return say("I called %d tools for this without a result, so I stopped. Please say it differently.", maxCalls)
	}
	a := ask.intent.do(&c, ask)
	if a.tool != "" && !c.offered[a.tool] {
		return explainMissingTool(a.tool)
	}
	return a
}

// spoken is what the sender typed: the host puts a quoted message and, in groups, the sender's name before it, and files behind it.
func spoken(m sessions.Message) string {
	text := m.Text()
	if len(text) > maxInput {
		text = text[:maxInput]
	}
	text = strings.TrimSpace(strings.ToValidUTF8(text, ""))
	for strings.HasPrefix(text, ">") {
		_, rest, more := strings.Cut(text, "\n")
		if text = strings.TrimLeft(rest, "\r\n\t "); !more {
			break
		}
	}
	if p := m.Provenance; p != nil {
		for _, name := range []string{p.Name, p.Sender} {
			if rest, ok := strings.CutPrefix(text, name+": "); ok && name != "" {
				text = rest
				break
			}
		}
	}
	for {
		at := strings.LastIndex(text, "\n<media:")
		if at < 0 || !strings.HasSuffix(text, ">") || strings.Contains(text[at+1:], "\n") {
			return strings.TrimSpace(text)
		}
		text = text[:at]
	}
}
