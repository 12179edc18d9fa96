package agent

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"parley/channels/pattern"
)

// shorter asks again, with less of the conversation, in the place of a request that was too long. If no message could be made shorter, the
// same model is not asked the same again: only those behind it are.
func (r *turnRun) shorter(ctx context.Context, x *response) error {
	r.log.LogAttrs(ctx, slog.LevelWarn, "the prompt was too long for the model", slog.String("run", string(r.Caller.Run.ID)),
		slog.String("model", r.Label), slog.Int("estimated", r.tokens()))
	before, count := Tokens(r.msgs...), len(r.msgs)
	e, isModel := errors.AsType[*ModelError](x.err)
	many := isModel && e.Messages > 0 && e.Messages < count
	if many && (r.CompactOver == 0 || e.Messages < r.CompactOver) {
		r.CompactOver = e.Messages
	}
	if err := r.compact(ctx); err != nil {
		return err
	}
	if isModel && e.Part == nil && x.by.Label == r.Label && Tokens(r.msgs...) >= before && (!many || len(r.msgs) >= count) {
		own := *e
		own.Always = own.Class == TooLong && TextTokens(r.System)+SpecTokens(r.specs...) > before
		r.tooLong = &own
		defer func() { r.tooLong = nil }()
	}
	x.answer, x.by, x.err = r.paid(ctx, true)
	if e, ok := errors.AsType[*ModelError](x.err); ok && e.Class == TooLong && e.Status == http.StatusRequestEntityTooLarge && e.Window == 0 && 4*r.tokens() < r.Facts.ContextWindow {
		refused := *e // a firewall means something else by it
		refused.Class, x.err = BadRequest, &refused
	}
	return nil
}

// minMemoryPrompt is the shortest transcript that may be the reason why a server has not enough memory, in tokens.
const minMemoryPrompt = 2000

// outOfMemory is in errors of servers whose graphics memory is full, most often of a long prompt. source: langgenius/dify-official-plugins#599 (vLLM)
var outOfMemory = pattern.New(`(?i)\b(?:cuda|gpu|hip|mps|vulkan|metal|device)\b.{0,40}\bout of memory\b|\bout of memory\b.{0,40}\b(?:cuda|gpu|vram|device)\b|\boutofmemoryerror\b`)

// isOutOfMemory reports whether a model's server failed in all tries because its graphics memory is full: a shorter prompt may do.
func (x *response) isOutOfMemory() bool {
	e, ok := errors.AsType[*ModelError](x.err)
	return ok && e.Class == Overloaded && outOfMemory.MatchString(e.Said)
}
