package wire

import (
	"encoding/json"
	"strings"
	"sync"

	"parley/agent"
	"parley/agent/wire/markup"
	"parley/channels/pattern"
	"parley/sessions"
)

// LoneTags knows which models send only the closing tag of their reasoning, because their chat template writes the opening one into the
// prompt. The text of such a model is held back until that tag has come. The zero value is ready. Any goroutine may use it.
type LoneTags struct {
	mu    sync.Mutex
	known map[loneKey]bool
}

// loneKey is a model at one effort: templates open the tag where the model is to think.
type loneKey struct{ model, effort string }

// promptOpens matches models that always think, and whose templates open the tag.
//
// source: vllm-project/vllm#13125 (DeepSeek R1), huggingface.co/Qwen/QwQ-32B, huggingface.co/Qwen/Qwen3-235B-A22B-Thinking-2507
var promptOpens = pattern.New(`(?i)deepseek-?r1|\bqwq\b|qwen3[a-z0-9.-]*thinking`)

// Expected reports whether the answer to a prompt begins as reasoning without a tag: as earlier answers did, also those in the transcript that
// came from this endpoint, or as the name of the model says. closes reads what the adapter keeps with a thinking block: whether a closing tag
// alone stood in the text.
func (l *LoneTags) Expected(model, from string, p agent.Prompt, closes func(opaque json.RawMessage) bool) bool {
	l.mu.Lock()
	lone, known := l.known[loneKey{model, p.Thinking}]
	l.mu.Unlock()
	if known {
		return lone
	}
	for _, m := range p.Messages {
		for _, b := range m.Content {
			if b.Type == sessions.ThinkingBlock && b.Opaque != nil && b.Opaque.From == from && closes != nil && closes(b.Opaque.Data) {
				return true
			}
		}
	}
	return promptOpens.MatchString(p.Model)
}

// Learn notes how an answer began. One that had only a closing tag counts for good: an answer without reasoning does not take that back.
func (l *LoneTags) Learn(model string, p agent.Prompt, readers ...*markup.Reader) {
	lone, text := false, false
	for _, r := range readers {
		opened, closed, ok := r.Tags()
		lone = lone || ok && IsLone(opened, closed)
		text = text || strings.TrimSpace(r.Text()) != ""
	}
	key := loneKey{model, p.Thinking}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known[key] || !lone && !text {
		return
	}
	if l.known == nil || len(l.known) >= maxUnreadModels {
		l.known = make(map[loneKey]bool)
	}
	l.known[key] = lone
}

// IsLone reports whether reasoning that was opened and closed so in a text has no opening tag.
func IsLone(opened, closed string) bool {
	return strings.TrimSpace(opened) == "" && strings.TrimSpace(closed) != ""
}
