package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"parley/sessions"
)

// Room is how a window is divided when the older part of a transcript is summed up, in tokens.
type Room struct {
	Keep    int // of messages that stay as they are
	Summary int // of the summary of the others
	Chunk   int // of messages that one summary call is shown
}

// Divide divides a window whose prompt has fixed tokens besides messages: about a quarter of it is for messages that stay, an
// eighth for the summary. What is left is for what comes.
func Divide(window, fixed int) Room {
	free := max(window-fixed-window/8, window/8)
	return Room{Keep: min(window/4, free/2), Summary: min(window/8, free/4, 8000), Chunk: max(window*5/8-400, leastChunk)}
}

// LeastCovered is the smallest part of a transcript, in tokens, whose summary is surely shorter than itself.
const LeastCovered = 400

// Cut says how many of the oldest messages are to be summed up so that about keep tokens and at most `most` messages stay; 0 where
// none can. It never parts a tool call from its result, and never takes the last message. It begins what stays with a user message
// where that does not take much more away.
func Cut(msgs []sessions.Message, keep, most int) int {
	first := len(msgs)
	for n := 0; first > 0; first-- {
		n += tokensAt(msgs, first-1)
		if n > keep || len(msgs)-first >= most {
			break
		}
	}
	whole := seams(msgs)
	cut, last := 0, 0
	for i := 1; i < len(msgs); i++ {
		if !whole[i] {
			continue
		}
		if last = i; i >= first && cut == 0 {
			cut = i
		}
	}
	if cut == 0 {
		cut = last
	}
	stays := Tokens(msgs[cut:]...)
	for i := cut; i < len(msgs); i++ {
		if whole[i] && msgs[i].Role == sessions.User {
			if 2*Tokens(msgs[i:]...) >= stays {
				cut = i
			}
			break
		}
	}
	return cut
}

// seams says in front of which messages a transcript may be cut: where no call before has its result behind.
func seams(msgs []sessions.Message) []bool {
	whole := make([]bool, len(msgs))
	called := make(map[string]int)
	for i := range whole {
		whole[i] = msgs[i].Role != sessions.ToolResult
	}
	for i, m := range msgs {
		for _, c := range m.ToolCalls() {
			called[c.ID] = i
		}
		if m.Role != sessions.ToolResult {
			continue
		}
		if at, ok := called[m.ToolCallID]; ok {
			for j := at + 1; j <= i; j++ {
				whole[j] = false
			}
		}
	}
	return whole
}

// leastText is how much of a text stays when texts are cut so that they fit, in bytes.
const leastText = 200

// Fit cuts the longest texts of messages, and leaves pictures out of all but the last, until they have at most so many tokens or
// there is nothing more to cut. It is for what a model is shown, never for what is kept; the messages given are not changed.
func Fit(msgs []sessions.Message, tokens int) []sessions.Message {
	if Tokens(msgs...) <= tokens {
		return msgs
	}
	out := make([]sessions.Message, len(msgs))
	for i, m := range msgs {
		m.Content = slices.Clone(m.Content)
		for j, b := range m.Content {
			if b.Type == sessions.ImageBlock && i < len(msgs)-1 {
				m.Content[j] = sessions.Block{Type: sessions.TextBlock, Text: "[a picture that is not shown any more]"}
			}
		}
		out[i] = m
	}
	low, high := leastText, leastText
	for _, m := range out {
		for _, b := range m.Content {
			high = max(high, len(b.Text), len(b.Arguments))
		}
	}
	for low < high { // the highest level that fits
		mid := (low + high + 1) / 2
		if Tokens(level(out, mid)...) <= tokens {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return level(out, low)
}

// level cuts every text that is longer than limit bytes, and leaves out the oldest lines of what was overheard.
func level(msgs []sessions.Message, limit int) []sessions.Message {
	out := slices.Clone(msgs)
	for i := range out {
		out[i].Content = slices.Clone(out[i].Content)
		for j := range out[i].Content {
			b := &out[i].Content[j]
			switch b.Type {
			case sessions.TextBlock:
				b.Text = cutMiddle(b.Text, limit)
			case sessions.ContextBlock:
				b.Text = newestHeard(b.Text, limit)
			}
			if short := cutMiddle(string(b.Arguments), limit); len(short) < len(b.Arguments) {
				if raw, err := json.Marshal(map[string]string{"cut": short}); err == nil && len(raw) < len(b.Arguments) {
					b.Arguments = raw
				}
			}
		}
	}
	return out
}

// newestHeard gives the newest lines of a ContextBlock's text that have at most so many bytes, and the middle of the last one cut where
// it alone has more.
func newestHeard(text string, limit int) string {
	for len(text) > limit {
		_, newer, more := strings.Cut(text, "\n")
		if !more {
			l := sessions.Block{Type: sessions.ContextBlock, Text: text}.ContextLines()
			for i := range l {
				l[i].Text = cutMiddle(l[i].Text, limit)
			}
			if short := sessions.NewContextBlock(l).Text; len(short) < len(text) {
				return short
			}
			return text
		}
		text = newer
	}
	return text
}

// cutMiddle leaves out the middle of a text that is longer than limit bytes, where that makes it shorter.
func cutMiddle(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	head, tail := limit*2/3, len(s)-limit/3
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	short := fmt.Sprintf("%s\n[%d bytes left out here]\n%s", s[:head], tail-head, s[tail:])
	if len(short) >= len(s) {
		return s
	}
	return short
}

// The most that a summary call is shown of one text, in bytes, and the smallest chunk, in tokens: a line always fits into it.
const (
	spokenMost = 6000
	resultMost = 2000
	leastChunk = 400
)

// Chunks words messages for summary calls: a line each, what somebody said in quotes, at most so many tokens a chunk.
func Chunks(msgs []sessions.Message, tokens int) (chunks []string) {
	room := max(tokens, leastChunk) * bytesPerToken
	var b strings.Builder
	for _, m := range msgs {
		for _, line := range lines(m, room/3) {
			if b.Len() > 0 && b.Len()+len(line) >= room {
				chunks = append(chunks, b.String())
				b.Reset()
			}
			b.WriteString(line + "\n")
		}
	}
	if b.Len() > 0 {
		chunks = append(chunks, b.String())
	}
	return chunks
}

// lines words one message; what it quotes is no longer than most bytes each.
func lines(m sessions.Message, most int) (out []string) {
	at := ""
	if !m.Time.IsZero() {
		at = m.Time.Format(time.DateTime)[:16] + " "
	}
	add := func(who, text string, most int) {
		if strings.TrimSpace(text) != "" {
			out = append(out, at+who+": "+quotedWithin(text, most))
		}
	}
	spoken, result := min(most, spokenMost), min(most, resultMost)
	if m.Role == sessions.ToolResult {
		who := "result of "
		if m.IsError {
			who = "error of "
		}
		add(who+wireName(m.ToolName), m.Text(), result)
		return out
	}
	who := speaker(m)
	for _, b := range m.Content {
		for _, l := range b.ContextLines() {
			if l.Event != "" {
				add("overheard", l.Sentence(quoted), spoken)
				continue
			}
			add("overheard, "+quotedWithin(l.Name, nameMost), l.Text, spoken)
		}
		switch b.Type {
		case sessions.TextBlock:
			add(who, b.Text, spoken)
		case sessions.ImageBlock:
			add(who, "(a picture)", spoken)
		case sessions.FileBlock:
			add(who, FileLine(b), spoken)
		case sessions.ToolCallBlock:
			add(who+" calls "+wireName(b.Name), string(b.Arguments), result)
		}
	}
	return out
}

// nameMost bounds names in lines, in bytes.
const nameMost = 120

// quotedWithin quotes a text, its middle left out so that the quote has at most so many bytes: it stays one line.
func quotedWithin(s string, most int) string {
	q := quoted(s)
	for n := most; len(q) > most && n > 0; n /= 2 {
		q = quoted(cutMiddle(cleanText(s), n))
	}
	return q
}

// speaker says whose words a message holds.
func speaker(m sessions.Message) string {
	p := m.Provenance
	switch {
	case m.Role == sessions.Assistant:
		return "assistant"
	case p == nil:
		return "user"
	case p.Untrusted:
		return "program outside"
	case p.Kind == sessions.InternalSystem:
		return "host"
	}
	who, name := "user", p.Name
	if p.Owner { // a summary must give nobody else's words an owner's weight
		who = "owner"
	}
	if p.Kind == sessions.InterSession {
		who, name = map[bool]string{true: "session of an owner", false: "session"}[p.Owner], string(p.Source)
	}
	if name != "" {
		who += " " + quotedWithin(name, nameMost)
	}
	return who
}

// CutSummary bounds what came of a summary call: by its room, and by half of what it stands for.
func CutSummary(text string, room, covered int) string {
	return cutMiddle(strings.TrimSpace(cleanText(text)), max(min(room, covered/2)*bytesPerToken-60, leastText))
}
