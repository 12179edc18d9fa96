package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"parley/sessions"
)

// noResult stands for a result that was never recorded.
const noResult = "No result was recorded: the call was interrupted. It is not known whether it had an effect."

// Repair makes a transcript fit to be sent to any provider. What it returns
//
//   - starts with a user message;
//   - has every tool call followed by exactly one result, in the order of the calls, and no result without its call;
//   - never has two user messages or two assistant messages in a row: they are merged;
//   - has no empty text block and no message without blocks; all text is valid UTF-8;
//   - has call ids that are unique in it, and call ids and tool names of letters, digits, _ and - (at most 40 and 64 of them),
//     which every provider takes back, also one that did not make them;
//   - has no thinking at the end of a message, and none at all unless thinking is true: then that which its provider has signed;
//   - has the origin of inter-session messages written into them, as Origin says, and nothing else that looks like it, in what
//     tools have read neither;
//   - has a line for each file that came with a message, and for each of a tool's result that its text does not name;
//   - has what was overheard before a message in front of it, framed and quoted line by line, and nothing else that looks like it.
//
// The input is not changed. The result is for one request: the texts of a transcript are never replaced by it.
func Repair(msgs []sessions.Message, thinking bool) []sessions.Message {
	r := repair{out: make([]sessions.Message, 0, len(msgs)), used: make(map[string]bool), thinking: thinking}
	var results map[string][]int // call id → where its results are, oldest first
	for i, m := range msgs {
		if m.Role == sessions.ToolResult {
			if results == nil {
				results = make(map[string][]int)
			}
			results[m.ToolCallID] = append(results[m.ToolCallID], i)
		}
	}
	for i, m := range msgs {
		switch m.Role {
		case sessions.User:
			r.user(m)
		case sessions.Assistant:
			if len(r.out) == 0 {
				continue // the history was cut: it starts at the next user message
			}
			r.assistant(m, func(id string) *sessions.Message {
				after := results[id]
				for len(after) > 0 && after[0] < i {
					after = after[1:]
				}
				if len(after) == 0 {
					return nil
				}
				results[id] = after[1:]
				return &msgs[after[0]]
			})
		}
	}
	return r.out
}

type repair struct {
	out      []sessions.Message
	used     map[string]bool // call ids
	thinking bool
}

// user adds a user message, or its blocks to the user message before it.
func (r *repair) user(m sessions.Message) {
	blocks := r.sound(m)
	if origin := Origin(m); origin != "" {
		blocks = slices.Insert(blocks, 0, sessions.Block{Type: sessions.TextBlock, Text: origin})
	}
	if len(blocks) == 0 {
		blocks = sessions.TextContent("(an empty message)")
	}
	if m.Provenance != nil && m.Provenance.Untrusted {
		blocks = append(slices.Clip(blocks), sessions.Block{Type: sessions.TextBlock, Text: saidEnd})
	}
	if heard := overheard(m); heard != "" {
		blocks = slices.Insert(blocks, 0, sessions.Block{Type: sessions.TextBlock, Text: heard})
	}
	m.Content, m.Provenance = blocks, nil // it is in the text now
	r.add(m)
}

// assistant adds an assistant message and the results of its calls.
func (r *repair) assistant(m sessions.Message, result func(id string) *sessions.Message) {
	m.Content = r.sound(m)
	for n := len(m.Content); n > 0 && m.Content[n-1].Type == sessions.ThinkingBlock; n-- {
		m.Content = m.Content[:n-1]
	}
	if len(m.Content) == 0 {
		return
	}
	var answers []sessions.Message
	for i := range m.Content {
		b := &m.Content[i]
		if b.Type != sessions.ToolCallBlock {
			continue
		}
		was := b.ID
		b.ID, b.Name, b.Arguments = r.callID(was), wireName(b.Name), ArgumentsObject(*b)
		answer := sessions.Message{Role: sessions.ToolResult, IsError: true, Content: sessions.TextContent(noResult)}
		if res := result(was); res != nil {
			answer = *res
			answer.Content = r.sound(answer)
			if len(answer.Content) == 0 {
				answer.Content = sessions.TextContent("(nothing)")
			}
		}
		answer.ToolCallID, answer.ToolName = b.ID, b.Name
		answers = append(answers, answer)
	}
	r.add(m)
	r.out = append(r.out, answers...)
}

// add appends a message, or its blocks to the message before it when that has the same role.
func (r *repair) add(m sessions.Message) {
	if n := len(r.out); n > 0 && r.out[n-1].Role == m.Role {
		last := &r.out[n-1]
		last.Content = slices.Concat(last.Content, m.Content)
		return
	}
	r.out = append(r.out, m)
}

// sound gives the blocks that can be sent, shared with m where nothing is wrong with them and nothing will be changed.
func (r *repair) sound(m sessions.Message) []sessions.Block {
	if !slices.ContainsFunc(m.Content, func(b sessions.Block) bool { return b.Type == sessions.ToolCallBlock || !r.keep(m.Role, &b) }) {
		return slices.Clip(m.Content)
	}
	out := make([]sessions.Block, 0, len(m.Content))
	for _, b := range m.Content {
		if b.Type == sessions.FileBlock {
			if m.Role == sessions.ToolResult && strings.Contains(m.Text(), b.ID) {
				continue // the tool's own text names it
			}
			b = sessions.Block{Type: sessions.TextBlock, Text: FileLine(b)}
		}
		b.Text = cleanText(b.Text)
		if foreign(m.Role) {
			b.Text = disarm(b.Text)
		}
		if r.keep(m.Role, &b) {
			out = append(out, b)
		}
	}
	return out
}

// foreign reports whether the texts of a role come from outside: from people, other sessions, files and pages.
func foreign(role sessions.Role) bool { return role != sessions.Assistant }

// keep reports whether a block can be sent as it is in a message of this role.
func (r *repair) keep(role sessions.Role, b *sessions.Block) bool {
	if cleanText(b.Text) != b.Text || foreign(role) && disarm(b.Text) != b.Text {
		return false
	}
	switch b.Type {
	case sessions.TextBlock:
		return strings.TrimSpace(b.Text) != ""
	case sessions.ImageBlock:
		return role != sessions.Assistant && b.Data != ""
	case sessions.ThinkingBlock:
		return role == sessions.Assistant && r.thinking && (b.Signature != "" || b.Data != "")
	case sessions.ToolCallBlock:
		return role == sessions.Assistant
	}
	return false
}

// callID gives a call id as it can be sent. The same transcript always gives the same ids, so that a provider's prompt cache fits.
func (r *repair) callID(id string) string {
	wire := id
	for n := 2; !wireSafe(wire, 40) || r.used[wire]; n++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s#%d", id, n))
		wire = "call_" + hex.EncodeToString(sum[:12])
	}
	r.used[wire] = true
	return wire
}

// wireName makes a tool name that providers take back: models invent names that the providers' own rules forbid.
func wireName(name string) string {
	if wireSafe(name, 64) {
		return name
	}
	name = strings.Map(func(c rune) rune {
		if c < 128 && wireChar(byte(c)) {
			return c
		}
		return '_'
	}, name)
	if name == "" {
		return "unnamed"
	}
	return name[:min(len(name), 64)]
}

func wireSafe(s string, limit int) bool {
	for i := range len(s) {
		if !wireChar(s[i]) {
			return false
		}
	}
	return len(s) > 0 && len(s) <= limit
}

func wireChar(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

// originMark starts the line that Origin writes.
const originMark = "[inter-session message"

// Origin is the line that tells the model where a user message comes from: who wrote it and when, the session that sent it
// (contract S7, S8), or the host that sums up or tells what is open or was stopped. It is empty where nothing is known. Repair sees to it that no
// other text looks like such a line.
func Origin(m sessions.Message) string {
	var room [originRoom]byte
	return string(appendOrigin(room[:0], &m))
}

// originRoom holds most lines that Origin writes.
const originRoom = 256

// appendOrigin writes what Origin gives. A prompt is counted before every call: for a message of a person that allocates nothing.
func appendOrigin(line []byte, m *sessions.Message) []byte {
	switch hostTool(*m) {
	case summaryTool:
		return append(line, "[host: summary of the conversation so far]"...)
	case openTool:
		return append(line, "[host: what is under way]"...)
	case sessions.StopNote:
		return append(line, "[host: the turn above was stopped by a person; do not go on with it unless asked again]"...)
	}
	p := m.Provenance
	if p == nil || p.Kind != sessions.InterSession {
		return appendSaid(line, m)
	}
	line = append(append(append(line, originMark...), " from "...), oneLine(string(p.Source))...)
	if p.Channel != "" {
		line = append(append(line, " on "...), oneLine(string(p.Channel))...)
	}
	if !m.Time.IsZero() {
		line = m.Time.AppendFormat(append(line, ", "...), timeLayout)
	}
	return append(line, ']')
}

// oneLine keeps a name from looking like more than a name.
func oneLine(s string) string {
	s = strings.Map(func(c rune) rune {
		if c < ' ' || c == '[' || c == ']' || c == 0x7f || c == '\u2028' || c == '\u2029' {
			return '_'
		}
		return c
	}, cleanText(s))
	return capText(s, 300)
}
