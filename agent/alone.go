package agent

import (
	"errors"
	"log/slog"
	"slices"

	"parley/sessions"
)

// leftOutTool marks the message that stands for what a provider refused, in Provenance.Tool.
const leftOutTool = "left_out"

// mayDoAlone reports whether a request that the provider refused, by an error or by an answer without a word, is worth making once more
// without what came before the turn's own messages, and leaves that out: a filter of content, or a stricter model than the one before, may
// object to something that was said long ago. The answer is marked, so that later prompts leave the reason out (Message.Alone).
//
// source: https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter, the whole prompt is judged
func (r *turnRun) mayDoAlone(answer *Answer, err error) bool {
	refused := err == nil && answer.Stop == StopFilter && answer.wordless()
	if e, ok := errors.AsType[*ModelError](err); ok {
		refused = e.Class == Refused || e.Class == BadRequest
	}
	if !refused || r.alone || !r.goAlone() {
		return false
	}
	r.log.Warn("the provider refused a request, making it without the conversation before it", slog.String("run", string(r.Caller.Run.ID)), slog.Any("err", err))
	return true
}

// goAlone leaves out what came before the turn's own messages, and reports whether there was something.
func (r *turnRun) goAlone() bool {
	input := r.Caller.Run.Input
	at := slices.IndexFunc(r.msgs, func(m sessions.Message) bool { return m.ID == input.ID })
	if at <= 0 {
		return false
	}
	const words = "(The earlier messages of this conversation are left out: the model's provider refused the request with them.)"
	note := sessions.Message{ID: "left-out-" + input.ID, Role: sessions.User, Content: sessions.TextContent(words), Time: input.Time,
		Provenance: &sessions.Provenance{Kind: sessions.InternalSystem, Tool: leftOutTool}}
	r.msgs = append([]sessions.Message{note}, r.msgs[at:]...)
	r.alone, r.counted, r.covers = true, 0, 0
	return true
}
