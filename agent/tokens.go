package agent

import (
	"bytes"
	"context"
	"slices"

	"parley/sessions"
	"parley/tools"
)

// The estimate of what a text is in tokens. Three bytes a token is more than most texts need, so that an estimated prompt is
// rather too long than too short; what the provider has counted is taken instead where it is known.
const (
	bytesPerToken = 3
	imageTokens   = 1600 // providers scale pictures down to about that
	messageTokens = 4    // what surrounds a message
)

// TextTokens estimates a text.
func TextTokens(s string) int { return bytesTokens(len(s)) }

func bytesTokens(n int) int { return (n + bytesPerToken - 1) / bytesPerToken }

// Tokens estimates what messages are to a model.
func Tokens(msgs ...sessions.Message) (n int) {
	for i := range msgs {
		n += tokensAt(msgs, i)
	}
	return n
}

// tokensAt estimates one of messages.
func tokensAt(msgs []sessions.Message, i int) int {
	var room [originRoom]byte
	n := messageTokens
	if msgs[i].Role == sessions.User {
		n += bytesTokens(len(appendOrigin(room[:0], &msgs[i])))
	}
	for j := range msgs[i].Content {
		switch b := &msgs[i].Content[j]; b.Type {
		case sessions.ImageBlock:
			n += imageTokens
		case sessions.FileBlock:
			n += TextTokens(FileLine(*b))
		default:
			n += bytesTokens(len(b.Text) + len(b.OldSignature()) + len(b.Name) + len(b.Arguments))
		}
	}
	return n - unsentTokens(msgs, i)
}

// unsentTokens estimates the reasoning of a message that no provider gets back: what came in a field of its own goes back with the steps of
// a turn only, and not with an answer. source: api-docs.deepseek.com/guides/thinking_mode
func unsentTokens(msgs []sessions.Message, i int) (n int) {
	for j := range msgs[i].Content {
		switch b := &msgs[i].Content[j]; b.Type {
		case sessions.ToolCallBlock:
			return 0
		case sessions.ThinkingBlock:
			if !isSealed(b) {
				n += bytesTokens(len(b.Text))
			}
		}
	}
	if n > 0 && i > 0 && msgs[i-1].Role == sessions.ToolResult {
		return 0
	}
	return n
}

// isSealed reports whether reasoning goes back with its message as it came: it stood in the text, or its provider keeps more with it than
// the name of its field.
func isSealed(b *sessions.Block) bool {
	if b.Signature != nil || b.Opaque == nil || len(b.Opaque.Data) == 0 {
		return b.Signature != nil
	}
	data := b.Opaque.Data
	return bytes.Count(data, []byte(`":`)) > 1 || !bytes.Contains(data, []byte(`"field"`)) || bytes.Contains(data, []byte(`"content`))
}

// SpecTokens estimates what a model is told about tools.
func SpecTokens(specs ...tools.Spec) (n int) {
	for _, s := range specs {
		n += messageTokens + TextTokens(s.Name) + TextTokens(s.Description) + bytesTokens(len(s.Schema))
	}
	return n
}

// PromptTokens estimates a whole prompt: what the provider counted for the newest answer in it, and what came after; or all of it
// where nothing was counted. A count that is far too low for the texts that it covers is not believed: some servers leave out what
// they had cached, and a turn for which no summary could be had was shown less.
func PromptTokens(system string, specs []tools.Spec, msgs []sessions.Message) int {
	counted, covers := lastCount(msgs)
	return promptTokens(system, specs, msgs, counted, covers)
}

func promptTokens(system string, specs []tools.Spec, msgs []sessions.Message, counted, covers int) int {
	rest := TextTokens(system) + SpecTokens(specs...)
	estimate, behind := rest+Tokens(msgs[:covers]...), Tokens(msgs[covers:]...)
	if 5*counted < 3*estimate {
		return estimate + behind
	}
	return counted + behind
}

// IsCounted reports whether the estimate of a prompt goes by what the provider counted for an answer in it.
func IsCounted(msgs []sessions.Message) bool {
	counted, _ := lastCount(msgs)
	return counted > 0
}

// estimate is what a call took of which the provider says nothing.
func estimate(p Prompt, a *Answer) sessions.Usage {
	answer := []sessions.Message{{Role: sessions.Assistant, Content: a.Content}}
	return sessions.Usage{Input: PromptTokens(p.System, p.Tools, p.Messages), Output: Tokens(answer...) + unsentTokens(answer, 0)}
}

// lastCount finds the newest answer whose tokens were counted, and how many messages that count covers. What was counted before a
// summary was made says nothing about the prompt with the summary.
func lastCount(msgs []sessions.Message) (counted, covers int) {
	for i := len(msgs) - 1; i >= 0; i-- {
		m := &msgs[i]
		if m.Role != sessions.Assistant || m.Usage == nil || m.Usage.Total() == 0 {
			continue
		}
		if IsSummary(msgs[0]) && !m.Time.After(msgs[0].Time) {
			return 0, 0
		}
		counted = m.Usage.Total()
		if unsent := unsentTokens(msgs, i); unsent > 0 { // the same part of the output as of its texts
			counted -= m.Usage.Output * unsent / (unsent + tokensAt(msgs, i))
		}
		return counted, i + 1
	}
	return 0, 0
}

// tokens estimates the prompt of the next call.
func (r *turnRun) tokens() int {
	return promptTokens(r.System, r.specs, r.msgs, r.counted, min(r.covers, len(r.msgs)))
}

// full reports whether the next prompt has to be made shorter first.
func (r *turnRun) full() bool {
	if r.Compact == nil {
		return false
	}
	return r.CompactOver > 0 && len(r.msgs) > r.CompactOver || r.CompactAt > 0 && r.tokens() > r.CompactAt
}

// compact puts something shorter in the place of what the model is shown.
func (r *turnRun) compact(ctx context.Context) error {
	msgs, err := r.Compact(ctx, inZone(r.msgs, r.Zone), r.CompactOver)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	// Never in place: the caller may keep what it gave, and record appends.
	r.show(slices.Clip(msgs), r.without)
	if r.alone { // what was refused is not shown again
		r.goAlone()
	}
	return nil
}
