package wire

import (
	"log/slog"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Endings knows of each model whether its answers say that they are at their end. Most do; an answer that does not was mostly cut off, but
// some servers never say it. The zero value is ready. Any goroutine may use it.
//
// source: anomalyco/opencode#43882, qualcomm/GenieX#1246
type Endings struct {
	mu     sync.Mutex
	marked map[string]bool // by model; missing = not known
}

// Marked notes that an answer of a model said that it is at its end.
func (e *Endings) Marked(model string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.marked[model] {
		e.set(model, true)
	}
}

// set notes what is known of a model. e.mu is held.
func (e *Endings) set(model string, marked bool) {
	if e.marked == nil || len(e.marked) >= maxUnreadModels {
		e.marked = make(map[string]bool)
	}
	e.marked[model] = marked
}

// Accepts decides whether an answer that did not say that it is at its end is complete. said is all of it, before what an earlier try of the
// same call gave, which Accepts sets. The same must have come twice. Where HTTP says that nothing is missing, another answer that ends like a
// whole one counts as well, and the first one of a model that was seen to give such answers. One of a model that was seen to give others was
// cut off.
func (e *Endings) Accepts(t *Try, log *slog.Logger, model, said string, before *string) bool {
	e.mu.Lock()
	marked, known := e.marked[model]
	again := *before != ""
	accepts := !marked && (said == *before || (known || again) && t.isWhole() && endsWhole(said))
	if accepts && !known {
		e.set(model, false)
	}
	e.mu.Unlock()
	*before = said
	if accepts && !known {
		log.LogAttrs(t.parent, slog.LevelWarn, "the model's answers do not say that they are complete", slog.String("model", model),
			slog.String("hint", "they are taken as they are when the connection ends in order"))
	}
	return accepts
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
