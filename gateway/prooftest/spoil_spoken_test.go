package prooftest

import (
	"slices"
	"strings"
	"testing"
)

// otherWords is what the checker says to words that the model did not say.
var otherWords = []FaultKind{OtherWords}

const secret = " and here are words of somebody else's chat: SECRET"

// spokenSpoilers change the words of what the model said.
var spokenSpoilers = []spoiler{
	{"somebody else's words behind a text", otherWords, func(w *world) ([]string, bool) {
		t, ok := w.pick(w.seen)
		if ok {
			w.reword(t, w.text(t)+secret)
		}
		return t.tokens, ok
	}, nil},
	{"somebody else's words before a text", otherWords, func(w *world) ([]string, bool) {
		t, ok := w.pick(w.seen)
		if ok {
			w.reword(t, secret+w.text(t))
		}
		return t.tokens, ok
	}, nil},
	{"somebody else's words in the host's part of a report", otherWords, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return w.seen(t) && isReport(t) })
		if ok {
			w.reword(t, strings.Replace(w.text(t), "none", "SECRET", 1))
		}
		return t.tokens, ok
	}, nil},
	{"another word of the host's for how the work of a report ended", otherWords, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return w.seen(t) && isReport(t) && strings.Contains(w.text(t), "Status: completed") })
		if ok {
			w.reword(t, strings.Replace(w.text(t), "completed", "late", 1))
		}
		return t.tokens, ok
	}, nil},
	{"a text without its words", otherWords, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return w.seen(t) && !isReport(t) })
		if ok {
			w.reword(t, "["+strings.Join(t.tokens, "] [")+"]")
		}
		return t.tokens, ok
	}, nil},
	{"an answer in the words of a report", otherWords, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return w.answers(t, t.Place) && len(t.tokens) == 1 })
		if ok {
			w.reword(t, "Status: completed\nResult: "+w.text(t)+"\nNotes: none")
		}
		return t.tokens, ok
	}, nil},
	{"a text that was said in a step for other sessions only", otherWords, func(w *world) ([]string, bool) {
		t, ok := w.pick(func(t left) bool { return w.seen(t) && !isReport(t) })
		for i := range w.h.Asked {
			if a := &w.h.Asked[i]; slices.Contains(tokens(a.Says), t.about[0]) {
				a.Step = "ask"
			}
		}
		return t.tokens, ok
	}, []FaultKind{AskedTwice}},
	{"somebody else's words in the first words of a text", otherWords, func(w *world) ([]string, bool) {
		t, _ := w.pick(func(t left) bool {
			return w.seen(t) && slices.ContainsFunc(w.h.Shown[t.from:t.to], func(s Shown) bool { return s.Verb == Edit })
		})
		for i := t.from; i < t.to; i++ {
			if s := &w.h.Shown[i]; s.Verb == Post && s.Text != w.text(t) {
				s.Text = "SECRET"
				return t.tokens, true
			}
		}
		return nil, false
	}, nil},
	{"somebody else's words in a draft", otherWords, func(w *world) ([]string, bool) {
		w.append(Shown{Place: w.spots[w.IntN(len(w.spots))].Place, Verb: Typing, Text: "SECRET"})
		return []string{""}, true
	}, nil},
	{"somebody else's words that are removed", otherWords, func(w *world) ([]string, bool) {
		p := w.spots[w.IntN(len(w.spots))].Place
		w.append(Shown{Place: p, ID: "x0", Verb: Post, Text: "SECRET"}, Shown{Place: p, ID: "x0", Verb: Remove})
		return []string{""}, true
	}, nil},
}

// TestUnsaid has a log that does not say what the model said be judged without it, as the logs of before are.
func TestUnsaid(t *testing.T) {
	t.Parallel()
	w := newWorld(1, 40)
	l, _ := w.pick(w.seen)
	w.reword(l, w.text(l)+secret)
	if v := Check(&w.h); v.OK() {
		t.Error("a spoilt text is no fault")
	}
	for i := range w.h.Asked {
		w.h.Asked[i].Says = ""
	}
	if v := Check(&w.h); !v.OK() {
		t.Errorf("nothing said, and yet: %s", v)
	}
	w.h.Asked[0].Says, w.h.Frames = "hello", append(w.h.Frames, "(")
	if v := Check(&w.h); !slices.ContainsFunc(v.Faults, func(f Fault) bool { return f.Kind == BadLog }) {
		t.Errorf("a frame that is no pattern is no fault: %s", v)
	}
}

// What a report says besides the words of its sub-agent may be a new sentence of the host's: the fault says where that belongs.
func TestNewSentenceInAReport(t *testing.T) {
	t.Parallel()
	w := newWorld(1, 60)
	w.h.FramesAt = "the list of frames"
	l, ok := w.pick(func(t left) bool { return w.seen(t) && isReport(t) })
	if !ok {
		t.Fatal("no report")
	}
	w.reword(l, strings.Replace(w.text(l), "none", "The disk is full.", 1))
	v := Check(&w.h)
	if !slices.ContainsFunc(v.Faults, func(f Fault) bool {
		return f.Kind == OtherWords && strings.Contains(f.Why, "The disk is full.") && strings.Contains(f.Why, "add it to the list of frames")
	}) {
		t.Error(v)
	}
}
