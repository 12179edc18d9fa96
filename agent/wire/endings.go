package wire

import (
	"errors"
	"hash/maphash"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"parley/agent"
	"parley/sessions"
)

// Endings knows of each model whether its answers say that they are at their end. Most do; an answer that does not was mostly cut off, but
// some servers never say it. The zero value is ready. Any goroutine may use it.
//
// source: anomalyco/opencode#43882, qualcomm/GenieX#1246
type Endings struct {
	mu    sync.Mutex
	known map[string]habit // by model
}

// habit is how the answers of a model end.
type habit struct {
	isMarked   bool   // one said that it is at its end
	isUnmarked bool   // several different ones did not, and ended like whole ones
	first      uint64 // the hash of the first one of these; 0 = none
}

// Marked notes that an answer of a model said that it is at its end.
func (e *Endings) Marked(model string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.known[model].isMarked {
		e.set(model, habit{isMarked: true})
	}
}

// set notes what is known of a model. e.mu is held.
func (e *Endings) set(model string, h habit) {
	if e.known == nil || len(e.known) >= maxUnreadModels {
		e.known = make(map[string]habit)
	}
	e.known[model] = h
}

var endingSeed = maphash.MakeSeed()

// Unmarked is an answer that did not say that it is at its end.
type Unmarked struct {
	Said   string // texts and calls
	Calls  bool   // the calls in it are whole
	Before string // Said of the last try of the same call; empty = there was none
}

// Ending says how far an unmarked answer can be trusted.
type Ending int

// The endings.
const (
	CutOff   Ending = iota // the model marks the end of its answers: this one was cut off
	Unclear                // it may be complete
	Complete               // it is taken as it is
)

// Judge decides about an answer that did not say that it is at its end. That the same came twice is no proof: a stream may always be cut at the
// same place. Only two different answers that end like whole ones show that a model never marks them. From then on an answer is complete
// that ends so, where HTTP says that nothing is missing, or that came twice. Calls whose arguments are whole lose nothing when they are
// made: the model goes on behind their results.
func (e *Endings) Judge(t *Try, log *slog.Logger, model string, a Unmarked) Ending {
	framed, whole, same, hash := t.isWhole(), endsWhole(a.Said), a.Said == a.Before, max(maphash.String(endingSeed, a.Said), 1)
	e.mu.Lock()
	h := e.known[model]
	learned := whole && !h.isMarked && !h.isUnmarked && h.first != 0 && h.first != hash
	h.isUnmarked = h.isUnmarked || learned
	if whole && !h.isMarked && h.first == 0 || learned {
		h.first = hash
		e.set(model, h)
	}
	e.mu.Unlock()
	if learned {
		log.LogAttrs(t.parent, slog.LevelWarn, "model's answers lack an end mark", slog.String("model", model),
			slog.String("hint", "parley accepts an answer when its connection ends in order"))
	}
	switch {
	case h.isMarked:
		return CutOff
	case h.isUnmarked && (framed && whole || same && (framed || whole)), a.Calls && (same || a.Before != "" && framed && whole):
		return Complete
	}
	return Unclear
}

// Unmarked ends a try whose answer did not say that it is at its end. end hands the answer over to yield and sets answered. Of one that is
// Unclear it gets into the error instead: ModelError.Part. The error of one with calls has no part.
func (t *Try) Unmarked(ending Ending, yield *func(agent.Delta) bool, answered *bool, end func() error) error {
	if ending == Complete {
		return end()
	}
	var part *agent.Answer
	if ending == Unclear {
		show := *yield
		*yield = func(d agent.Delta) bool {
			if d.Final != nil {
				part = d.Final
				return true
			}
			return show(d)
		}
		err := end()
		*yield, *answered = show, false
		if err != nil {
			return err
		}
	}
	err := t.Broken("the stream ended before the answer was complete")
	if e, ok := errors.AsType[*agent.ModelError](err); ok && part != nil && !slices.ContainsFunc(part.Content, func(b sessions.Block) bool { return b.Type == sessions.ToolCallBlock }) {
		part.Stop = agent.StopUnclear
		e.Part, e.PartSpent = part, part.Usage != sessions.Usage{}
		part.Usage = sessions.Usage{}
	}
	return err
}

// endsWhole reports whether a text ends as whole ones do: with a mark of punctuation, a picture, or the end of a call's arguments.
func endsWhole(said string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimSpace(said))
	return unicode.IsSymbol(last) || unicode.IsPunct(last) && !strings.ContainsRune(",;:-–—([{", last)
}

// isWhole reports whether HTTP says where an answer ends: an end before it is an error.
func (t *Try) isWhole() bool {
	r := t.res
	return r != nil && (r.ProtoMajor > 1 || r.ContentLength >= 0 || len(r.TransferEncoding) > 0)
}
