package agent

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"parley/sessions"
)

// leftOutTool marks the message that stands for what a provider refused, in Provenance.Tool.
const leftOutTool = "left_out"

// maxSiftRequests bounds the requests that look for the refused ones among several messages of one turn.
const maxSiftRequests = 10

// IsRefusal reports whether a provider refused a request: by an error, or by an answer without a word.
func IsRefusal(answer *Answer, err error) bool {
	if e, ok := errors.AsType[*ModelError](err); ok {
		return e.Class == Refused || e.Class == BadRequest
	}
	return err == nil && answer.Stop == StopFilter && answer.IsWordless()
}

// tryAlone makes one more request of a turn that failed as the one before did, without the messages before the turn. If the model takes
// it, and fails with them once more, something among them is the reason: the answer is marked, and the search for it begins as after a
// refusal. An endpoint that is down fails here as well, at the price of one request; one that is well again answers with all of them.
func (r *turnRun) tryAlone(ctx context.Context, x *response) {
	whole, without := r.msgs, r.without
	if r.alone || ctx.Err() != nil || !r.goAlone() {
		return
	}
	r.log.LogAttrs(ctx, slog.LevelWarn, "turn failed again; retrying without earlier messages",
		slog.String("run", string(r.Caller.Run.ID)), slog.Any("err", x.err))
	once := func() bool { // makes one request in the place of x, and reports whether the model answered it
		r.once = true
		defer func() { r.once = false }()
		var next response
		next.answer, next.by, next.err = r.paid(ctx, true)
		answered, drop := next.err == nil && !next.failed() && !next.refused(), next
		if answered {
			drop, *x = *x, next
		}
		if drop.err == nil {
			r.lost(drop.by.Label, drop.answer.Usage)
		}
		return answered
	}
	alone := r.msgs
	answered := once()
	r.alone = false
	r.show(whole, without)
	if answered && !once() { // with all of it the endpoint fails still
		r.alone = true
		r.show(alone, without)
	}
}

// afterRefusal repeats a refused request of a turn without the part that the provider is likely to object to:
//
//  1. It leaves out the messages before the turn, unless the provider took them a moment ago. The answer is marked (Message.Alone).
//  2. It leaves out the refused ones of the turn's newest messages, and puts a sentence in the place of refused tool results
//     (Refusal.Without). It then shows the messages before the turn again, as they may be harmless.
//  3. If a harmless message is refused as well, the error says so (ModelError.Always).
//
// source: https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter, the whole prompt is judged
func (r *turnRun) afterRefusal(ctx context.Context, x *response) {
	newest, whole := r.newestMessages(), r.msgs
	if len(newest) == 0 { // not a turn
		return
	}
	r.log.LogAttrs(ctx, slog.LevelWarn, "provider refused the request; retrying without a part",
		slog.String("run", string(r.Caller.Run.ID)), slog.Any("err", x.err))
	hidden := !r.answered && r.goAlone()
	if hidden {
		r.repeat(ctx, x)
	}
	if !x.refused() {
		return
	}
	switch r.sift(ctx, newest, x); {
	case !x.refused() && hidden && x.err == nil: // the turn itself was the reason
		alone, without := r.msgs, r.without
		r.alone = false
		r.show(whole, without)
		if !r.repeat(ctx, x) {
			r.alone = true
			r.show(alone, without)
		}
	case x.refused() && r.goAlone():
		r.repeat(ctx, x)
	}
	if x.refused() {
		r.blameAlways(ctx, x)
	}
}

// repeat makes a model call in the place of x. It reports whether the provider took it, and changes x then. A failure of another kind
// than a refusal changes x as well, unless x has an answer.
func (r *turnRun) repeat(ctx context.Context, x *response) bool {
	var next response
	next.answer, next.by, next.err = r.paid(ctx, true)
	taken := next.err == nil && !next.refused()
	drop := next
	if taken || ctx.Err() != nil || !next.refused() && x.refused() {
		drop, *x = *x, next
	}
	if drop.err == nil {
		r.lost(drop.by.Label, drop.answer.Usage)
	}
	return taken
}

// newestMessages returns the ids of the turn's own messages since its newest answer.
func (r *turnRun) newestMessages() (ids []string) {
	for _, m := range slices.Backward(r.msgs) {
		if m.Role == sessions.Assistant {
			break
		}
		if r.owns(m) {
			ids = append(ids, m.ID)
		}
	}
	slices.Reverse(ids)
	return ids
}

// owns reports whether a message belongs to the run of the turn.
func (r *turnRun) owns(m sessions.Message) bool {
	run := r.Caller.Run
	return m.ID != "" && m.ID == run.Input.ID || run.ID != "" && m.Run == run.ID
}

// goAlone leaves out the messages before the turn, and reports whether it changed the prompt.
func (r *turnRun) goAlone() bool {
	at := slices.IndexFunc(r.msgs, r.owns)
	if at <= 0 || at == 1 && hostTool(&r.msgs[0]) == leftOutTool {
		return false
	}
	input := r.Caller.Run.Input
	const words = "(The earlier messages of this conversation are left out: the request with them got no answer.)"
	note := sessions.Message{ID: "left-out-" + input.ID, Role: sessions.User, Content: sessions.TextContent(words), Time: input.Time,
		Provenance: &sessions.Provenance{Kind: sessions.InternalSystem, Tool: leftOutTool}}
	r.show(append([]sessions.Message{note}, r.msgs[at:]...), r.without)
	r.alone = true
	return true
}

// show changes the prompt of the next call to msgs, without the messages of the given ids.
func (r *turnRun) show(msgs []sessions.Message, without []string) {
	r.without = without
	r.msgs, r.counted, r.covers = sessions.LeaveOut(msgs, without), 0, 0
}

// sift finds the refused ones among the newest messages of the turn. It asks with more and more of them, halves first, so that the last
// request which the provider takes has all the harmless ones. Messages that no request was left to try are left out.
func (r *turnRun) sift(ctx context.Context, newest []string, x *response) {
	all, before, left := r.msgs, r.without, maxSiftRequests
	var harmless []string
	show := func(ids []string) {
		out := slices.DeleteFunc(slices.Clone(newest), func(id string) bool { return slices.Contains(ids, id) })
		r.show(all, append(slices.Clip(before), out...))
	}
	var search func(ids []string, refused bool) bool // reports whether all of them are harmless
	search = func(ids []string, refused bool) bool {
		failed := !x.refused() && len(harmless) == 0 // for another reason
		if left <= 0 || failed || ctx.Err() != nil || len(ids) == 1 && refused {
			return false
		}
		if !refused {
			left--
			more := append(slices.Clip(harmless), ids...)
			if show(more); r.repeat(ctx, x) {
				harmless = more
				return true
			}
			if len(ids) == 1 {
				return false
			}
		}
		half := len(ids) / 2
		refused = search(ids[:half], false)
		search(ids[half:], refused)
		return false
	}
	search(newest, true)
	show(harmless)
	isResult := func(m sessions.Message) bool { return m.Role == sessions.ToolResult && slices.Contains(newest, m.ID) }
	if len(harmless) > 0 || x.refused() && slices.ContainsFunc(all, isResult) && r.repeat(ctx, x) {
		return
	}
	r.show(all, before)
}

// blameAlways asks the model something harmless in the place of a refused turn. If the provider refuses that as well, the reason is in
// what every request has, or the endpoint refuses everything: no message is at fault.
func (r *turnRun) blameAlways(ctx context.Context, x *response) {
	if e, ok := errors.AsType[*ModelError](x.err); (!ok || e.Class == Refused) && r.System == "" {
		return
	}
	shown, counted, covers := r.msgs, r.counted, r.covers
	defer func() { r.msgs, r.counted, r.covers = shown, counted, covers }()
	hello := sessions.Message{ID: "hello-" + string(r.Caller.Run.ID), Role: sessions.User, Content: sessions.TextContent("Please answer with the word OK."), Time: time.Now(),
		Provenance: &sessions.Provenance{Kind: sessions.InternalSystem, Tool: leftOutTool}}
	r.show([]sessions.Message{hello}, r.without)
	onText := r.OnText
	r.OnText = nil // it answers no person
	defer func() { r.OnText = onText }()
	answer, by, err := r.paid(ctx, true)
	if err == nil {
		r.lost(by.Label, answer.Usage)
	}
	if !IsRefusal(answer, err) {
		return
	}
	e, ok := errors.AsType[*ModelError](err)
	if !ok {
		e = &ModelError{Class: Refused, Provider: by.Label, Tries: 1, Err: errors.New("the answer has no text, and the stop reason " + StopFilter)}
	}
	if x.err == nil {
		r.lost(x.by.Label, x.answer.Usage)
	}
	always := *e
	always.Always = true
	x.answer, x.by, x.err = nil, Candidate{}, &always
}
