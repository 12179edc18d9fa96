package main

import (
	"context"
	"errors"
	"regexp"
	"time"

	"parley/gateway/prooftest"
)

// givesUpAfter is how often a turn is broken off before the host gives it up.
const givesUpAfter = 10

// notices are what the host may say by itself instead of an answer.
var notices = []prooftest.Notice{{Text: "I could not answer this message: the host stopped during each attempt.", Tries: givesUpAfter}}

// framesAt is where a sentence is to be added that the host may newly say there.
const framesAt = "the list frames in cmd/proof/kill_history.go"

// frames is how the host posts what a sub-agent said, with or without its own word for that, and which errors it may name there by itself.
// Some platforms show the marks of code.
var frames = []string{"^Status: (?P<status>success|error|timeout|unknown)\n\n(Result:\n(.*))\n\nNotes:\n[-•] (?:\\(none\\)|Error: (?:" +
	`I ran out of time \(\S+\) and stopped working on this\.` +
	`|I cannot use my language model: it is not set up correctly\. Please tell an owner; the log has the details\.` +
	`|I cannot use my language model: its provider (?:does not accept my key|wants to be paid first)\. Please tell an owner; the log has the details\.` +
	`|Something went wrong while I was working on this\. The details are in the log\.` +
	`|I could not reach the language model\. Please try again in a moment\.` +
	`|The language model took too long to answer\. Please try again\.` +
	`|The language model had a problem\. Please try again in a moment\.` +
	`|The language model's answer broke off or made no sense\. Please try again in a moment\.` +
	`|The language model has failed several times in a row, so I pause it for a moment\. Please try again in a minute\.` +
	"|" + regexp.QuoteMeta(notices[0].Text) +
	"))\n\nStats: \\S[^•]* • runtime \\S+ • tokens \\S+ \\(in \\S+ / out \\S+\\) • sessionKey `?agent:[ab]:subagent:[0-9a-f-]+`? • sessionId `?[0-9a-f-]+`? • transcript `?/.*/sessions/[0-9a-f-]+\\.jsonl`?$"}

// heads are what the host puts before what Olga wrote: in a chat of several with her name, elsewhere with the platform.
var heads = []string{`\[message of [^\]\n]*, from "Olga", by an owner\]\n\nOlga: `, `\[message of [^\]\n]*, on (?:telegram|discord|whatsapp)(?:, by an owner)?\]\n\n`}

// replyLasts is how long an answer waits before it expires, the shortest time of all.
const replyLasts = time.Hour

// seen is what there is to know without the host.
func (r *run) seen() *prooftest.History {
	h := &prooftest.History{Said: r.crowd.said, Asked: r.model.log(), Flips: r.crowd.flips, Shown: r.w.shown(), Kills: r.kills, Notices: notices, Frames: frames, FramesAt: framesAt, Repeats: map[string]bool{"telegram": true},
		Refused: r.errands.refused, Lasts: replyLasts, Lasting: map[string]prooftest.Place{}, Heads: heads, Shortened: "[host: summary of the conversation so far]"}
	for _, at := range r.w.places {
		h.Lasting[at.Session] = at.Place
	}
	return h
}

// history puts the logs together.
func (r *run) history(ctx context.Context) (*prooftest.History, error) {
	h := r.seen()
	var err [4]error
	r.previewed, err[3] = r.w.firstDeliveries(ctx)
	if h.Listed, err[0] = r.w.listed(ctx); err[0] == nil {
		err[0] = r.crowd.about(ctx, h.Listed)
	}
	broken := map[string]int{} // by delivery
	for run, delivery := range r.previewed {
		broken[delivery] = r.ledger.broken[run]
	}
	for i := range h.Listed {
		h.Listed[i].Broken = broken[h.Listed[i].ID]
	}
	h.Skipped, err[1] = r.w.skipped(ctx)
	h.Unfinished, err[2] = r.w.unfinished(ctx)
	r.unseen = r.errands.unseen(h.Listed, r.model.seen)
	var late []prooftest.Fault
	r.fig.Stops, late = past(r.errands.stops, h.Shown, h.Asked)
	r.unseen = append(r.unseen, late...)
	r.errands.aside(h)
	return h, errors.Join(err[:]...)
}
