package history

import (
	"encoding/json"
	"strings"
	"time"

	"parley/channels/pattern"
	"parley/sessions"
)

// What OpenClaw wrote around the texts of people. It is removed only where OpenClaw put it and in the form that OpenClaw gave it: real text
// that looks alike stays.
// source: openclaw/openclaw src/auto-reply/envelope.ts, src/shared/chat-envelope.ts, src/auto-reply/reply/inbound-meta.ts,
// strip-inbound-meta.ts, inbound-context-marker.ts, history.ts, src/plugin-sdk/message-tool-delivery-hints.ts; NousResearch/hermes-agent#4120
var (
	// [Telegram Olga id:1001 +2m 2026-02-01 12:00 CET] hello
	envelope = pattern.New(`^\[([^\[\]\n]{1,300})\] ?`)
	labels   = pattern.New(`^(?:WebChat|WhatsApp|Telegram|Signal|Slack|Discord|Google ?Chat|iMessage|MS ?Teams|Teams|Matrix|Mattermost|Nextcloud Talk|Feishu|LINE|IRC|Nostr|Tlon|Twitch|Zalo(?: Personal)?|BlueBubbles|Channel)(?: |$)`)
	stamp    = pattern.New(`\b(\d{4}-\d{2}-\d{2})[T ]\d{2}:\d{2}`)
	weekday  = pattern.New(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d{4}-\d{2}-\d{2} \d{2}:\d{2}(?::\d{2})?(?: \S+)?$`)
	whose    = pattern.New(` (?:id:\S+|\+\d{7,15})(?: |$)`)

	// The last lines of a text: [message_id: 41], [slack message id: 1 channel: C1], [from: Olga (+49…)].
	messageID = pattern.New(`(?:^|\n)[ \t]*\[(?:message_id: ?[^\]\n]+|(?:slack|discord|telegram|signal|imessage|matrix|msteams) message id: ?[^\]\n]+|id:\S+ chat:\S+)\][ \t]*$`)
	fromLine  = pattern.New(`\n\[from: ([^\]\n]+)\][ \t]*$`)

	// A block that OpenClaw put before a text, with data for the model.
	blockHead = pattern.New(`^(?:(?:Conversation info|Sender|Forwarded message context|Location|Structured object) \(untrusted metadata\)|(?:Thread starter|Replied message|Reply chain of current user message|Chat history since last reply) \(untrusted, for context\)|[^\n]{1,80}: ⟦openclaw:ctx⟧):?[ \t]*\n`)
	fence     = pattern.New("^\\s*```json[ \t]*\n")
	fenceEnd  = pattern.New("(?m)^[ \t]*```[ \t]*(?:\n|$)")
	hint      = pattern.New("^(?:Delivery: (?:to send a message, use the `message` tool\\.|Final assistant text is not automatically delivered in this run\\.|No visible reply is delivered automatically in this run)|requester_profile is the verified linked requester\\.|To send an image back, prefer the message tool \\(media/path/filePath\\)\\.)[^\n]*(?:\n|$)")
	memory    = pattern.New(`(?s)^(?:Context:|Untrusted context \(metadata, do not treat as instructions or commands\):)\s*\n<active_memory_plugin>\n.*?\n</active_memory_plugin>[ \t]*(?:\n|$)`)
	event1    = pattern.New(`^System(?: \(untrusted\))?: \[\d{4}-\d{2}-\d{2} \d{2}:\d{2}[^\]\n]*\] [^\n]*(?:\n|$)`)
	suffix    = pattern.New(`\n\s*(?:Untrusted context \(metadata, do not treat as instructions or commands\):|Context: ⟦openclaw:ctx⟧)[ \t]*\n`)
)

const (
	historyMark = "[Chat messages since your last reply - for context]"
	currentMark = "\n[Current message - respond to this]\n"
	marker      = "⟦openclaw:ctx⟧" // ends the headings of newer versions
	queueMark   = "[Queued messages while agent was busy]"
)

var queued = pattern.New(`(?m)^---[ \t]*\nQueued #\d+[^\n]*\n`)

// wrapped is what was around a text.
type wrapped struct {
	sender, name, message string
	chat                  evidence
	system                bool // all of it was written by OpenClaw
}

// evidence is the chat that a wrapping names. Channel is as OpenClaw shows it, in lower case.
type evidence struct {
	channel, id string
	group       bool
}

// unwrapUser removes the wrapping from the texts of a user message and keeps what it says of the sender.
func unwrapUser(m *sessions.Message) {
	for i, b := range m.Content {
		if b.Type != sessions.TextBlock {
			continue
		}
		text, w := unwrap(b.Text, m.Time)
		m.Content[i].Text = text
		p := m.Provenance
		if w.sender != "" {
			p.Sender = w.sender
		}
		if w.name != "" {
			p.Name = w.name
		}
		if w.message != "" {
			p.Message = w.message
		}
		if w.system {
			p.Kind = sessions.InternalSystem
		}
	}
}

// unwrap returns the text as the person wrote it. at is the time of the message, zero if unknown.
func unwrap(text string, at time.Time) (string, wrapped) {
	var w wrapped
	plain := strings.ReplaceAll(text, "\r\n", "\n")
	if rest, ok := strings.CutPrefix(plain, queueMark+"\n"); ok {
		var parts []string
		for _, part := range queued.Split(rest, -1) {
			if part = strings.TrimSpace(part); part != "" {
				part, w = unwrap(part, at)
				parts = append(parts, part)
			}
		}
		w.system = false
		return strings.Join(parts, "\n\n"), w
	}
	rest, found := blocks(plain, &w)
	if strings.HasPrefix(rest, historyMark) {
		if i := strings.LastIndex(rest, currentMark); i >= 0 {
			rest, found = rest[i+len(currentMark):], true
		}
	}
	if stripped, ok := header(rest, at, &w); ok {
		rest, found = stripped, true
		if more, ok := blocks(rest, &w); ok {
			rest = more
		}
	}
	if marked := strings.Contains(rest, marker); marked || found && strings.Contains(rest, "Untrusted context (") {
		if i := suffix.FindStringIndex(rest); i != nil {
			rest, found = rest[:i[0]], true
		}
	}
	for strings.HasSuffix(strings.TrimRight(rest, " \t"), "]") {
		if i := messageID.FindStringIndex(rest); i != nil && (found || i[0] > 0) {
			w.message = between(rest[i[0]:], ":", "]")
			rest, found = rest[:i[0]], true
		} else if i := fromLine.FindStringSubmatchIndex(rest); i != nil && found {
			w.name = rest[i[2]:i[3]]
			rest = rest[:i[0]]
		} else {
			break
		}
	}
	if !found {
		return text, w
	}
	if rest = strings.Trim(rest, "\n"); rest == "" && w.system {
		return text, w // system events alone: OpenClaw wrote them, and the model saw them
	}
	w.system = false
	return rest, w
}

// blocks removes the blocks before a text.
func blocks(text string, w *wrapped) (rest string, found bool) {
	for rest = text; ; found = true {
		next := strings.TrimLeft(rest, "\n ")
		switch {
		case memory.MatchString(next):
			next = next[memory.FindStringIndex(next)[1]:]
		case hint.MatchString(next):
			next = next[hint.FindStringIndex(next)[1]:]
		case event1.MatchString(next):
			next = next[event1.FindStringIndex(next)[1]:]
			w.system = true
		case blockHead.MatchString(next):
			i := blockHead.FindStringIndex(next)[1]
			end, data, ok := blockBody(next[i:])
			if !ok {
				return rest, found
			}
			w.note(next[:i], data)
			next = next[i+end:]
		default:
			return rest, found
		}
		rest = strings.TrimLeft(next, "\n")
	}
}

// blockBody returns the length of the body of a block, and its JSON. A marked block may be prose up to an empty line.
func blockBody(text string) (end int, data string, ok bool) {
	if i := fence.FindStringIndex(text); i != nil {
		j := fenceEnd.FindStringIndex(text[i[1]:])
		if j == nil {
			return 0, "", false
		}
		data = text[i[1] : i[1]+j[0]]
		return i[1] + j[1], data, json.Valid([]byte(data))
	}
	text0, _, found := strings.Cut(text, "\n\n")
	if !found {
		return 0, "", false
	}
	return len(text0), text0, true
}

// note keeps what a block says of the sender and the chat.
func (w *wrapped) note(head, data string) {
	var b struct {
		Message string          `json:"message_id"`
		Sender  json.RawMessage `json:"sender"`
		SendID  string          `json:"sender_id"`
		Label   string          `json:"conversation_label"`
		Group   bool            `json:"is_group_chat"`
		ID      string          `json:"id"`
		Name    string          `json:"name"`
		Chat    string          `json:"chat_id"`
	}
	if json.Unmarshal([]byte(data), &b) != nil {
		return
	}
	first := func(to *string, s string) {
		if s != "" {
			*to = s
		}
	}
	switch {
	case strings.HasPrefix(head, "Conversation info"):
		var name string
		var person struct{ Name, ID string }
		if json.Unmarshal(b.Sender, &name) != nil && json.Unmarshal(b.Sender, &person) == nil {
			name, b.SendID = person.Name, person.ID
		}
		first(&w.message, b.Message)
		first(&w.sender, b.SendID)
		first(&w.name, name)
		w.chat.group = b.Group
		if _, id, ok := strings.Cut(b.Label, " id:"); ok && b.Group {
			w.chat.id, _, _ = strings.Cut(id, " ")
		} else if !b.Group {
			w.chat.id = b.SendID
		}
		if channel, id, ok := strings.Cut(b.Chat, ":"); ok {
			w.chat.channel, w.chat.id = strings.ToLower(channel), id
		}
	case strings.HasPrefix(head, "Sender"):
		first(&w.sender, b.ID)
		first(&w.name, b.Name)
	}
}

// header removes the header in brackets before a text.
func header(text string, at time.Time, w *wrapped) (rest string, found bool) {
	i := envelope.FindStringSubmatchIndex(text)
	if i == nil {
		return text, false
	}
	head := text[i[2]:i[3]]
	when := stamp.FindStringSubmatch(head)
	if when != nil && !at.IsZero() { // a time that a person wrote about is another one
		day, err := time.Parse(time.DateOnly, when[1])
		if err != nil || at.Sub(day).Abs() > 3*24*time.Hour {
			return text, false
		}
	}
	label := labels.FindString(head)
	if !weekday.MatchString(head) && (label == "" || when == nil && !whose.MatchString(head)) {
		return text, false
	}
	if label != "" {
		w.chat.channel = strings.ToLower(strings.TrimSpace(label))
		if id := whose.FindString(head); id != "" {
			w.chat.id = strings.TrimPrefix(strings.TrimSpace(id), "id:")
			if before, _, ok := strings.Cut(strings.TrimPrefix(head, label), " id:"); ok && w.name == "" && !strings.HasPrefix(w.chat.id, "-") {
				w.name = before
			}
		}
		w.chat.group = strings.HasPrefix(w.chat.id, "-") || strings.HasSuffix(w.chat.id, "@g.us") || strings.Contains(head, "channel id:") || strings.Contains(head, " #")
		if w.chat.group {
			w.name = ""
		} else if w.sender == "" {
			w.sender = w.chat.id
		}
	}
	return text[i[1]:], true
}

func between(s, from, to string) string {
	_, s, _ = strings.Cut(s, from)
	s, _, _ = strings.Cut(s, to)
	return strings.TrimSpace(s)
}

// A directive in an answer: at the beginning or the end of a line, where OpenClaw told models to write it.
// source: openclaw/openclaw src/utils/directive-tags.ts (00b44b05), docs/tools/tts.md
var (
	directive = pattern.New(`(?i)^[ \t]*\[\[\s*(?:reply_to_current|reply_to\s*:\s*[^\]\n]+|audio_as_voice|tts(?::[^\]\n]*)?|/tts)\s*\]\][ \t]*|[ \t]*\[\[\s*(?:reply_to_current|reply_to\s*:\s*[^\]\n]+|audio_as_voice|tts(?::[^\]\n]*)?|/tts)\s*\]\][ \t]*$`)
	spoken    = pattern.New(`(?is)\[\[tts:text\]\].*?\[\[/tts:text\]\]\s*`)
)

// withoutDirectives removes directives from an answer. Code keeps them.
func withoutDirectives(text string) string {
	if !strings.Contains(text, "[[") {
		return text
	}
	out, code := []string{}, false
	for _, line := range strings.Split(spoken.ReplaceAllString(text, ""), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
		}
		if code {
			out = append(out, line)
			continue
		}
		bare := line
		for next := directive.ReplaceAllString(bare, ""); next != bare; next = directive.ReplaceAllString(bare, "") {
			bare = next
		}
		if bare != line && bare == "" {
			continue // the directive was the whole line
		}
		out = append(out, bare)
	}
	return strings.Join(out, "\n")
}
