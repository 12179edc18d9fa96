package agent

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"parley/sessions"
)

// noResult stands for a result that was never recorded.
const noResult = "No result was recorded: the call was interrupted. It is not known whether it had an effect."

// Target is the endpoint that a transcript is made fit for. The zero value is one of which nothing is known.
type Target struct {
	From         string                    // as Opaque.From names it
	Zone         *time.Location            // in which it is told when people and sessions wrote; nil = as their times are
	Label        string                    // provider/model: messages of older versions are told by it
	Thinking     bool                      // thinking that this endpoint made stays
	ThinkingFrom time.Time                 // older messages lose their thinking and Opaque: the endpoint cannot read those any more
	Plain        bool                      // tool calls and their results are told as text
	PlainUntil   time.Time                 // those of older messages are: the endpoint refuses them as they are
	ShortIDs     bool                      // call ids have nine letters and digits, its own too
	IDs          *IDForm                   // call ids have this form, its own too; nil = none is known
	PlainNames   bool                      // names of tools have letters and digits only
	OneCall      bool                      // a message has one tool call: calls that were made together stand one after the other
	AfterTool    bool                      // an assistant message stands between a tool's result and a user message
	UserOnly     bool                      // all messages are the user's: what the model said is told in them, with calls and results as text
	MaxText      int                       // characters that the text of a message may have; the rest is cut off. 0 = any number
	ToolPictures bool                      // pictures in a tool's result stay there; otherwise they follow in a user message
	Picture      func(sessions.Block) bool // reports whether a picture may be shown; nil = each
}

// made reports whether the endpoint made an assistant message. A message of which nothing is known counts as another's, but for a
// target of which nothing is known.
func (t *Target) made(m *sessions.Message) bool {
	for i := range m.Content {
		if o := m.Content[i].Opaque; o != nil {
			return o.From == t.From
		}
	}
	return t.Label == "" || m.Model == t.Label
}

// Repair makes a transcript fit to be sent to a provider. What it returns
//
//   - starts with a user message;
//   - has every tool call followed by exactly one result, in the order of the calls, and no result without its call;
//   - never has two user messages or two assistant messages in a row: they are merged;
//   - has no empty text block and no message without blocks; all text is valid UTF-8;
//   - has call ids that are unique in it: those that the target made are its own, others have nine letters and digits, which every
//     provider takes, or the form that Kimi K2 reads; tool names are of at most 64 letters, digits, _ and -;
//   - has no thinking at the end of a message, and none at all but what the target made, if Thinking is true;
//   - has Opaque in blocks only that the target made;
//   - has the origin of inter-session messages written into them, as Origin says, and nothing else that looks like it, in what
//     tools have read neither;
//   - has a line for each file that came with a message, and for each of a tool's result that its text does not name;
//   - has no text of a message over MaxText characters: the rest of the longest part is cut off, and that is said;
//   - has what was overheard before a message in front of it, framed and quoted line by line, and nothing else that looks like it.
//
// The input is not changed. The result is for one request: the texts of a transcript are never replaced by it.
func Repair(msgs []sessions.Message, to Target) []sessions.Message {
	r := repair{out: make([]sessions.Message, 0, len(msgs)), to: to}
	var results map[string][]int // call id → where its results are, oldest first
	for i := range msgs {
		if m := &msgs[i]; m.Role == sessions.ToolResult {
			if results == nil {
				results = make(map[string][]int)
			}
			results[m.ToolCallID] = append(results[m.ToolCallID], i)
		}
	}
	for i := range msgs {
		switch m := &msgs[i]; m.Role {
		case sessions.User:
			r.user(*m, i > 0 && continues(&msgs[i-1], m))
		case sessions.Assistant:
			if len(r.out) == 0 {
				continue // the history was cut: it starts at the next user message
			}
			r.assistant(*m, func(id string) *sessions.Message {
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
	if to.MaxText > 0 {
		cutTexts(r.out, to.MaxText)
	}
	return r.out
}

type repair struct {
	out  []sessions.Message
	used map[string]bool // call ids
	to   Target
	room []sessions.Block // for lists that behind makes
	own  bool             // the target made the message at hand

	readable bool // and can read what it kept with it
}

// user adds a user message, or its blocks to the user message before it, whose text it may continue.
func (r *repair) user(m sessions.Message, isRest bool) {
	if r.to.Zone != nil && !m.Time.IsZero() {
		m.Time = m.Time.In(r.to.Zone)
	}
	blocks, heard := r.sound(&m), overheard(&m)
	if origin := Origin(m); origin != "" && (!isRest || heard != "") {
		blocks = r.behind(origin, blocks)
	}
	if len(blocks) == 0 {
		blocks = sessions.TextContent("(an empty message)")
	}
	if m.Provenance != nil && m.Provenance.Untrusted {
		blocks = append(slices.Clip(blocks), sessions.Block{Type: sessions.TextBlock, Text: saidEnd})
	}
	if heard != "" {
		blocks = r.behind(heard, blocks)
	}
	m.Content, m.Provenance = blocks, nil // it is in the text now
	r.add(&m)
}

// behind gives blocks behind a text. The lists of many messages lie in one piece of memory: a prompt has hundreds of them.
func (r *repair) behind(text string, blocks []sessions.Block) []sessions.Block {
	n := len(blocks) + 1
	if len(r.room) < n {
		r.room = make([]sessions.Block, max(n, min(cap(r.out)-len(r.out), roomBlocks)))
	}
	out := r.room[:n:n]
	r.room = r.room[n:]
	out[0] = sessions.Block{Type: sessions.TextBlock, Text: text}
	copy(out[1:], blocks)
	return out
}

// roomBlocks bounds such a piece.
const roomBlocks = 64

// assistant adds an assistant message and the results of its calls.
func (r *repair) assistant(m sessions.Message, result func(id string) *sessions.Message) {
	r.own = r.to.made(&m)
	r.readable = r.own && (r.to.ThinkingFrom.IsZero() || m.Time.After(r.to.ThinkingFrom))
	m.Content = r.sound(&m)
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
		b.Name, b.Arguments = wireName(b.Name), ArgumentsObject(*b)
		if r.to.PlainNames {
			b.Name = PlainName(b.Name)
		}
		b.ID = r.callID(was, b.Name)
		if !r.readable {
			b.Opaque = nil
		}
		answer := sessions.Message{Role: sessions.ToolResult, IsError: true, Content: sessions.TextContent(noResult)}
		if res := result(was); res != nil {
			answer = *res
			answer.Content = r.sound(&answer)
			if len(answer.Content) == 0 {
				answer.Content = sessions.TextContent("(nothing)")
			}
		}
		answer.ToolCallID, answer.ToolName = b.ID, b.Name
		answers = append(answers, answer)
	}
	if r.to.Plain || r.to.UserOnly || !r.to.PlainUntil.IsZero() && !m.Time.After(r.to.PlainUntil) {
		r.told(m, answers)
		return
	}
	from := len(r.out)
	if r.to.OneCall && len(answers) > 1 {
		r.addByCall(m, answers)
	} else {
		r.add(&m)
		r.out = append(r.out, answers...)
	}
	if !r.to.ToolPictures {
		r.movePictures(from)
	}
}

// addByCall adds an assistant message as one for each of its calls and what stands before it, each with the call's result behind it.
func (r *repair) addByCall(m sessions.Message, answers []sessions.Message) {
	rest, call := m.Content, 0
	for i, b := range m.Content {
		if b.Type != sessions.ToolCallBlock {
			continue
		}
		n := i + 1 - (len(m.Content) - len(rest))
		part := m
		part.Content, rest = rest[:n:n], rest[n:]
		if call == len(answers)-1 { // what stands behind the last call
			part.Content, rest = slices.Concat(part.Content, rest), nil
		}
		r.add(&part)
		r.out = append(r.out, answers[call])
		call++
	}
}

// add appends a message, or its blocks to the message before it when that has the same role, and roles tell who spoke.
func (r *repair) add(m *sessions.Message) {
	n := len(r.out)
	if n > 0 && r.to.AfterTool && m.Role == sessions.User && r.out[n-1].Role == sessions.ToolResult {
		r.out = append(r.out, sessions.Message{Role: sessions.Assistant, Content: sessions.TextContent(betweenText)})
	}
	if n > 0 && r.out[n-1].Role == m.Role && !r.to.UserOnly {
		last := &r.out[n-1]
		last.Content = slices.Concat(last.Content, m.Content)
		return
	}
	r.out = append(r.out, *m)
}

// sound gives the blocks that can be sent, shared with m where nothing is wrong with them and nothing will be changed.
func (r *repair) sound(m *sessions.Message) []sessions.Block {
	fits := true
	for i := range m.Content {
		b := &m.Content[i]
		fits = fits && b.Type != sessions.ToolCallBlock && b.Opaque == nil && b.Type != sessions.ImageBlock && r.keep(m.Role, b)
	}
	if fits {
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
		if b.Type == sessions.ImageBlock && r.to.Picture != nil && !r.to.Picture(b) {
			b = sessions.Block{Type: sessions.TextBlock, Text: unseen}
		}
		if b.Opaque != nil && (m.Role != sessions.Assistant || !r.readable) {
			b.Opaque = nil
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
		return role == sessions.Assistant && r.to.Thinking && r.readable
	case sessions.ToolCallBlock:
		return role == sessions.Assistant
	}
	return false
}

// callID gives a call id as it can be sent: the target's own as they came, others in a form that every provider takes. The same
// transcript always gives the same ids, so that a provider's prompt cache fits.
func (r *repair) callID(id, name string) string {
	out, sound := id, wireSafe(id, 40)
	if r.own && r.to.Label != "" {
		sound = len(id) <= maxCallID && printable(id)
	}
	numbered := !r.to.ShortIDs && r.to.IDs == nil && numbersCalls(r.to.Label)
	switch {
	case r.to.IDs != nil:
		sound = r.to.IDs.Takes(id)
	case r.to.ShortIDs || !r.own:
		sound = sound && !numbered && len(id) == shortID && alphanumeric(id)
	}
	for n := 0; !sound || r.used[out]; n++ {
		sound = true
		switch {
		case r.to.IDs != nil && n < maxFormTries:
			out = r.to.IDs.Make(id, n)
		case numbered:
			out = fmt.Sprintf("functions.%s:%d", name, len(r.used)+n)
		default:
			out = hashID(fmt.Appendf(nil, "%s#%d", id, n+1))
		}
	}
	if r.used == nil {
		r.used = make(map[string]bool)
	}
	r.used[out] = true
	return out
}

// numbersCalls reports whether a model is one of Kimi K2, which reads the ids of calls, and falls silent when they are not functions.NAME:N.
// source: https://github.com/MoonshotAI/Kimi-K2/blob/main/docs/tool_call_guidance.md, getkimchi/kimchi#1063
func numbersCalls(label string) bool { return strings.Contains(strings.ToLower(label), "kimi-k2") }

// maxCallID bounds the ids of calls that go back as their endpoint made them, in bytes: some have a signature in them.
const maxCallID = 32 << 10

// maxFormTries is how many ids of a form are tried for one call: a form may have fewer than a history has calls.
const maxFormTries = 64

// shortID is the length of call ids that every provider takes: Mistral's have nine letters and digits.
const shortID = 9

// idLetters are the characters of such ids.
const idLetters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// hashID makes such an id of some bytes.
func hashID(of []byte) string {
	sum := sha256.Sum256(of)
	var out [shortID]byte
	for i := range out {
		out[i] = idLetters[(int(sum[2*i])<<8|int(sum[2*i+1]))%len(idLetters)]
	}
	return string(out[:])
}

func alphanumeric(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c >= 0x80 || c == '_' || c == '-' || !wireChar(byte(c)) })
}

func printable(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c >= 0x7f || c == '"' || c == '\\' })
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
	switch hostTool(m) {
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

// oneLine keeps a name from looking like more than a name: it has one line, nothing that nobody sees or that turns text around, and no bracket
// or quotation mark with which what is around it could seem to end.
func oneLine(s string) string {
	s = strings.Map(func(c rune) rune {
		switch {
		case unicode.IsControl(c), c == '[', c == ']', c == '\u2028', c == '\u2029':
			return '_'
		case c < 0x80, c == '\u200c', c == '\u200d': // joiners are part of words and of emoji
			return c
		case unicode.Is(unicode.Cf, c):
			return -1
		case opens(c):
			return '('
		case unicode.Is(unicode.Pe, c):
			return ')'
		case strings.ContainsRune(doubleQuotes, c):
			return '\''
		}
		return c
	}, cleanText(s))
	if len(s) <= maxOneLine {
		return s
	}
	cut := maxOneLine
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

const (
	maxOneLine = 300 // bytes of a name
	// doubleQuotes are read as a quotation mark.
	//
	// source: https://www.unicode.org/Public/security/latest/confusables.txt, those of U+0022
	doubleQuotes = "\u02ba\u02dd\u02ee\u02f6\u05f2\u05f4\u1cd3\u201c\u201d\u201e\u201f\u2033\u2036\u275d\u275e\u3003\u301d\u301e\u301f\uff02"
)

// PlainName gives the name of a tool in letters and digits alone: what stands behind another character begins with a capital. The loop knows the
// tool by that name too.
func PlainName(name string) string {
	if IsPlainName(name) {
		return name
	}
	words := strings.FieldsFunc(name, func(c rune) bool { return c >= 0x80 || !alphanumeric(string(c)) })
	for i, w := range words[min(1, len(words)):] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	if len(words) == 0 {
		return "unnamed"
	}
	return strings.Join(words, "")
}

// IsPlainName reports whether a name has letters and digits only.
func IsPlainName(name string) bool { return name != "" && alphanumeric(name) }
