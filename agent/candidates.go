package agent

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strings"

	"parley/agent/control"
	"parley/sessions"
)

// ModelCall is one model call: it goes over the models that may answer until one does. It makes at most MaxTries requests in all, or one
// for each model where there are more.
type ModelCall struct {
	Candidates []Candidate // first choice first; one at least
	Prompt     Prompt      // Model, Tries and Spent are set for each candidate
	OnDelta    func(Delta) // told of each piece of the answer, in order; may be nil
	// OnBegin is told that an answer begins: with each candidate, and when one that broke off begins again. May be nil.
	OnBegin func()
	Spent   func(model string, u sessions.Usage) // told of tries that broke off after they were counted; may be nil
	// Estimated is told of models whose provider counted no tokens for an answer: they are estimated. May be nil.
	Estimated func(model string)
	// Compacted says that the prompt cannot be made shorter: one that is too long for a model is then shown to those behind it that
	// have a larger window, or one that is not known. Otherwise the call ends there, so that the prompt is made shorter first.
	Compacted bool
	TooLong   *ModelError  // of the first candidate, for this prompt: it is not asked again; nil = it is asked
	Once      bool         // make one request of the first candidate, and no other
	Logger    *slog.Logger // nil = silent
}

// Run makes the call. It gives the answer, its cost by the prices of the candidate that gave it, and that candidate; with an error, the
// candidate whose answer ended the call, or is in ModelError.Part, if there is one. The error is
// ctx's, or a *ModelError: TooLong where a candidate says so whose window is not smaller than that of the first one; otherwise what was
// wrong with the first one that was asked, with the requests of all of them in Tries.
//
// Each candidate may use up the requests that are left but one for each candidate behind it; one that is not asked, because it
// or its provider is left alone for a while, uses none. Only content that a filter refused ends the call: nobody else is asked to say it.
func (c ModelCall) Run(ctx context.Context) (*Answer, Candidate, error) {
	var first *ModelError
	used, made, most := 0, 0, max(MaxTries, len(c.Candidates))
	if c.Once {
		c.Candidates, most = c.Candidates[:1], 1
	}
	tooSmall := -1 // a window that the prompt does not fit into
	var by Candidate
	for i := range c.Candidates {
		who := &c.Candidates[i]
		behind := len(c.Candidates) - i - 1
		if who.Facts.ContextWindow <= tooSmall && !who.Facts.Guessed {
			continue
		}
		var answer *Answer
		var err error
		if i == 0 && c.TooLong != nil {
			err = c.TooLong
		} else {
			answer, err = c.ask(ctx, who, min(MaxTries, max(1, most-used-behind)))
		}
		if err == nil || ctx.Err() != nil {
			return answer, *who, firstError(ctx.Err(), err)
		}
		e := modelErrorOf(who, err)
		if c.Compacted && e.Class == TooLong && e.Status == http.StatusPaymentRequired { // the credit is enough for shorter prompts only
			unpaid := *e
			unpaid.Class, unpaid.Always, e = NoCredit, false, &unpaid
		}
		used, made = used+e.Tries, made+e.Made()
		tooLong := e.Class == TooLong && who.Facts.ContextWindow >= c.Candidates[0].Facts.ContextWindow
		if tooLong || first == nil || first.Class == Tripped && e.Class != Tripped {
			first = e
			if by = (Candidate{}); e.Part != nil {
				by = *who
				if !e.PartSpent {
					e.Part.Usage = c.counted(who, c.Prompt, e.Part)
				}
			}
		}
		if tooLong && c.Compacted && e.Part == nil {
			tooSmall = max(tooSmall, who.Facts.shownWindow(e))
		}
		if tooLong && !c.Compacted || e.Class == Refused {
			first, by = e, *who
			break
		}
		if behind > 0 && c.Logger != nil {
			c.Logger.LogAttrs(ctx, slog.LevelWarn, "model failed; asking the next one", slog.String("model", who.Label),
				slog.String("next", c.Candidates[i+1].Label), slog.Any("err", e))
		}
	}
	if first == nil {
		return nil, Candidate{}, &ModelError{Class: Broken, Err: errors.New("no model to ask")}
	}
	if first.Made() != made {
		whole := *first
		whole.Tries, whole.Requests, first = used, made, &whole
	}
	return nil, by, first
}

// ask has one candidate answer.
func (c *ModelCall) ask(ctx context.Context, who *Candidate, tries int) (*Answer, error) {
	p := c.Prompt
	p.Model, p.Tries, p.Levels, p.NoTools = who.Name, tries, who.Facts.Levels, who.Facts.Tools == "off"
	if who.Facts.NoImages {
		p.Messages = withoutImages(p.Messages)
	}
	p.Spent = func(u sessions.Usage) {
		if c.Spent != nil {
			u.Cost = who.Facts.Cost(u)
			c.Spent(who.Label, u)
		}
	}
	if c.OnBegin != nil {
		c.OnBegin()
	}
	for d, err := range who.Model.Stream(ctx, p) {
		if err != nil {
			return nil, err
		}
		switch {
		case d.Restart && c.OnBegin != nil:
			c.OnBegin()
		case c.OnDelta != nil:
			c.OnDelta(d)
		}
		if d.Final != nil {
			isCounted := d.Final.Usage.Total() > 0
			d.Final.Usage = c.counted(who, p, d.Final)
			if e := who.Facts.cramped(who, d.Final, cmp.Or(p.MaxTokens, who.Facts.MaxAnswer), isCounted); e != nil {
				if c.Spent != nil {
					c.Spent(who.Label, d.Final.Usage)
				}
				d.Final.Usage, e.PartSpent = sessions.Usage{}, true
				return nil, e
			}
			return d.Final, nil
		}
	}
	return nil, &ModelError{Class: Broken, Provider: who.Label, Tries: 1, Err: errors.New("the stream ended without an answer")}
}

// counted returns what an answer cost: as its provider counted, else estimated.
func (c *ModelCall) counted(who *Candidate, p Prompt, a *Answer) sessions.Usage {
	u := a.Usage
	if u.Total() == 0 && !who.Facts.free {
		u = estimate(p, a)
		if c.Estimated != nil {
			c.Estimated(who.Label)
		}
	}
	u.Cost = who.Facts.Cost(u)
	return u
}

// shownWindow returns the window that a model is known to have after it found a prompt too long: what its provider says, else what is
// known of it; -1 = nothing, as its window is a guess.
func (f ModelFacts) shownWindow(e *ModelError) int {
	switch {
	case e.Window > 0 && (f.Guessed || e.Window < f.ContextWindow):
		return e.Window
	case f.Guessed:
		return -1
	}
	return f.ContextWindow
}

func modelErrorOf(who *Candidate, err error) *ModelError {
	if e, ok := errors.AsType[*ModelError](err); ok {
		return e
	}
	return &ModelError{Class: Unknown, Provider: who.Label, Tries: 1, Err: err}
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Cost gives what a call costs by the configured prices, in millionths of a dollar: a price in dollars for a million tokens is one
// in millionths for a token.
func (f ModelFacts) Cost(u sessions.Usage) int64 {
	price := func(own float64) float64 {
		if own > 0 {
			return own
		}
		return f.Input
	}
	plain := max(0, u.Input-u.CacheRead-u.CacheWrite)
	return int64(math.Round(float64(plain)*f.Input + float64(u.CacheRead)*price(f.CacheRead) + float64(u.CacheWrite)*price(f.CacheWrite) +
		float64(u.Output)*f.Output))
}

// unseen stands for a picture that a model cannot look at.
const unseen = "[a picture that this model cannot see]"

// withoutImages puts a text in the place of each picture. The messages given are not changed.
func withoutImages(msgs []sessions.Message) []sessions.Message {
	isImage := func(b sessions.Block) bool { return b.Type == sessions.ImageBlock }
	var out []sessions.Message
	for i, m := range msgs {
		if !slices.ContainsFunc(m.Content, isImage) {
			continue
		}
		if out == nil {
			out = slices.Clone(msgs)
		}
		blocks := slices.Clone(m.Content)
		for k, b := range blocks {
			if isImage(b) {
				blocks[k] = sessions.Block{Type: sessions.TextBlock, Text: unseen}
			}
		}
		out[i].Content = blocks
	}
	if out == nil {
		return msgs
	}
	return out
}

// A draft is read as a whole each time. A long one is passed on when it has grown by a part of its length: reading it for each piece would
// take the square of that.
const (
	longDraft  = 4 << 10 // bytes
	draftParts = 64
)

// stream has a turn's models answer, and passes the text on as it grows. Of one that broke off and begins again in the same words, only what is new is passed
// on: a message that people read does not shrink meanwhile.
func (r *turnRun) stream(ctx context.Context, p Prompt, compacted bool) (*Answer, Candidate, error) {
	var text strings.Builder
	next := 0 // bytes that the text has when it is passed on again
	shown := ""
	call := ModelCall{
		Candidates: r.candidates[r.from:],
		Prompt:     p, Spent: r.spend, Logger: r.log, OnBegin: func() { text.Reset(); next = 0 }, Compacted: compacted || r.Compact == nil, TooLong: r.tooLong, Once: r.once,
		Estimated: func(model string) {
			if _, known := r.uncounted.LoadOrStore(model, true); !known {
				r.log.LogAttrs(ctx, slog.LevelWarn, "provider reports no token counts; estimating them", slog.String("model", model))
			}
		},
	}
	call.Prompt.Session = string(r.Caller.Session.Key)
	call.OnDelta = func(d Delta) {
		if d.Text == "" || r.OnText == nil {
			return
		}
		if text.WriteString(d.Text); text.Len() < next {
			return
		}
		next = text.Len() + text.Len()/longDraft*longDraft/draftParts
		if draft, ok := control.Draft(text.String(), r.Place); ok && !strings.HasPrefix(shown, draft) {
			shown = draft
			r.OnText(draft)
		}
	}
	return call.Run(ctx)
}
