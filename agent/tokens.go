package agent

import (
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
	var room [originRoom]byte
	for i := range msgs {
		if n += messageTokens; msgs[i].Role == sessions.User {
			n += bytesTokens(len(appendOrigin(room[:0], &msgs[i])))
		}
		for j := range msgs[i].Content {
			b := &msgs[i].Content[j]
			if b.Type == sessions.ImageBlock {
				n += imageTokens
				continue
			}
			if b.Type == sessions.FileBlock {
				n += TextTokens(FileLine(*b))
				continue
			}
			n += bytesTokens(len(b.Text) + len(b.Signature) + len(b.Name) + len(b.Arguments))
		}
	}
	return n
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

// estimate is what a call took of which the provider says nothing.
func estimate(p Prompt, a *Answer) sessions.Usage {
	return sessions.Usage{
		Input:  PromptTokens(p.System, p.Tools, p.Messages),
		Output: Tokens(sessions.Message{Role: sessions.Assistant, Content: a.Content}),
	}
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
		return m.Usage.Total(), i + 1
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
	msgs, err := r.Compact(ctx, r.msgs)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	// Never in place: the caller may keep what it gave, and record appends.
	r.show(inZone(slices.Clip(msgs), r.Zone), r.without)
	if r.alone { // what was refused is not shown again
		r.goAlone()
	}
	return nil
}
