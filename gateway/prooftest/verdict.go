package prooftest

import (
	"fmt"
	"slices"
	"strings"
)

// FaultKind says what does not fit.
type FaultKind string

// The kinds of faults. The sentence of a fault says more.
const (
	Lost            FaultKind = "lost"             // an answer that is shown nowhere, and nothing allowed accounts for it
	AnsweredTwice   FaultKind = "answered twice"   // shown more often than a repeat accounts for, or a notice beside the answer
	AnnounceLost    FaultKind = "announce lost"    // Lost, of an announcement
	AnnounceDoubled FaultKind = "announce doubled" // AnsweredTwice, of an announcement
	ReportLost      FaultKind = "report lost"      // Lost, of a report
	ReportDoubled   FaultKind = "report doubled"   // AnsweredTwice, of a report
	WrongPlace      FaultKind = "wrong place"      // shown, or listed, where it is not owed
	PastDeny        FaultKind = "past a deny"      // a call for a place after a deny was acknowledged
	OutOfOrder      FaultKind = "out of order"     // an answer below that of a later message
	Unlisted        FaultKind = "unlisted"         // shown again with no mark in the list, or more marks than kills explain
	Foreign         FaultKind = "foreign"          // a text that nobody was owed
	OtherWords      FaultKind = "other words"      // shown in words that the model did not say
	Misquoted       FaultKind = "quote"            // shown as the answer to another message
	Prompted        FaultKind = "prompt"           // the model was shown what was not said there, or not all of it
	AskedTwice      FaultKind = "asked twice"      // one process asked the model again for what it had asked
	Stuck           FaultKind = "stuck"            // not at an end when nothing moves any more
	BadLog          FaultKind = "bad log"          // the history itself cannot be judged
)

// The kinds of lost and doubled debts.
var (
	lost    = map[Kind]FaultKind{Answer: Lost, Announce: AnnounceLost, Report: ReportLost, command: Lost}
	doubled = map[Kind]FaultKind{Answer: AnsweredTwice, Announce: AnnounceDoubled, Report: ReportDoubled, command: AnsweredTwice}
)

// Fault is one thing that does not fit.
type Fault struct {
	Kind  FaultKind
	Token string // what it is about; "" = no text with a token
	Place Place  // where it was seen, or missed
	Why   string // what was said, shown and listed, and when: all that a person needs to look further
}

// String gives the fault in one line.
func (f Fault) String() string {
	return fmt.Sprintf("%s: [%s] %s: %s", f.Kind, f.Token, f.Place, f.Why)
}

// String names the place: platform/account/chat/thread, without what is empty.
func (p Place) String() string {
	return strings.Join(slices.DeleteFunc([]string{p.Platform, p.Account, p.Chat, p.Thread}, func(s string) bool { return s == "" }), "/")
}

// Tally counts what became of the debts of one kind. What is missing from Owed is among the faults.
type Tally struct {
	Owed     int
	Shown    int // in their place, once or as often as a marked repeat accounts for
	Withheld int // by the send policy
	Noticed  int // the host said a notice instead
	Listed   int // delivery failed, expired, held or dropped
	Skipped  int // the message is listed as not read or not answered
	Unbegun  int // not owed after all: its message was noticed or skipped before the model was asked for it
}

// Verdict is what Check found. No fault is half of a proof: an empty history has none either. The other half are the figures, which
// the maker of the history holds against what was meant to happen.
type Verdict struct {
	Said      int // messages that owe something
	Commands  int // messages for the host itself
	Answers   Tally
	Announces Tally
	Reports   Tally // Owed is the number of spawns
	Replies   Tally // of the host, to commands

	Asked      int          // calls of the model
	Calls      map[Verb]int // calls of the platforms
	Folded     int          // repeated calls with a key, without a second effect
	Deliveries int
	Denies     int
	Allows     int
	Unacked    int // flips that were never acknowledged

	Marked  int // deliveries that the host marks as possibly repeated
	Twice   int // texts shown again: showings beyond the first of the deliveries that are marked
	Kills   int
	InSend  int // kills inside a send window
	Windows int // calls with an unknown end: those of the kills inside a send window, and those that were cut

	Times map[string]int `json:"-"` // how many messages of its chat show a delivery, by its id

	Faults []Fault
}

// OK reports whether there is no fault.
func (v *Verdict) OK() bool { return len(v.Faults) == 0 }

// tally gives the counts of a kind.
func (v *Verdict) tally(k Kind) *Tally {
	switch k {
	case Announce:
		return &v.Announces
	case Report:
		return &v.Reports
	case command:
		return &v.Replies
	}
	return &v.Answers
}

// String gives the figures and the first 20 faults.
func (v *Verdict) String() string { return v.Text(20) }

// Text gives the figures and the first most faults.
func (v *Verdict) Text(most int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d messages and %d commands\n", v.Said, v.Commands)
	for _, t := range []struct {
		name string
		Tally
	}{{"answers", v.Answers}, {"announces", v.Announces}, {"reports", v.Reports}, {"answers to commands", v.Replies}} {
		fmt.Fprintf(&b, "%s: %d owed, %d shown, %d withheld, %d noticed, %d listed as ended otherwise, %d skipped, %d not begun\n",
			t.name, t.Owed, t.Shown, t.Withheld, t.Noticed, t.Listed, t.Skipped, t.Unbegun)
	}
	fmt.Fprintf(&b, "%d calls of the model; platforms: %d posts (%d without a second effect), %d edits, %d removals, %d typing, %d reactions; %d deliveries\n",
		v.Asked, v.Calls[Post], v.Folded, v.Calls[Edit], v.Calls[Remove], v.Calls[Typing], v.Calls[React], v.Deliveries)
	fmt.Fprintf(&b, "%d denies, %d allows, %d of them never acknowledged\n", v.Denies, v.Allows, v.Unacked)
	fmt.Fprintf(&b, "%d kills, %d inside a send window; %d calls with an unknown end, %d deliveries marked as possibly repeated, %d texts shown again\n",
		v.Kills, v.InSend, v.Windows, v.Marked, v.Twice)
	fmt.Fprintf(&b, "%d faults", len(v.Faults))
	byKind := map[FaultKind]int{}
	var kinds []FaultKind
	for _, f := range v.Faults {
		if byKind[f.Kind]++; byKind[f.Kind] == 1 {
			kinds = append(kinds, f.Kind)
		}
	}
	for i, k := range kinds {
		fmt.Fprintf(&b, "%s%d %s", map[bool]string{true: ": ", false: ", "}[i == 0], byKind[k], k)
	}
	for i, f := range v.Faults {
		if i == most {
			fmt.Fprintf(&b, "\n  and %d more", len(v.Faults)-most)
			break
		}
		fmt.Fprintf(&b, "\n  %s", f)
	}
	return b.String()
}
