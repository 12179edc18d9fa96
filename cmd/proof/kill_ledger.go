package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"parley/gateway/prooftest"
	"parley/policy"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// window is one send that a kill hid the end of: the killed host's database has it as being sent.
type window struct {
	Kill     int // the first is 1
	Life     int
	At       time.Time
	Where    string // the fail-point, or random
	Place    prooftest.Place
	Delivery string // id; of a preview the run's
	Part     int    // of the delivery
	Try      int
	Preview  bool // the first words of an answer that is shown while it is written
}

// ambiguous is one delivery whose outcome nobody could know at some time.
type ambiguous struct {
	Platform string
	Chat     string
	Delivery string
	State    string // in the end
	Kills    []int  // those that a send of it was under way at
	Shown    int    // how many messages of the chat show it
	Marked   bool   // by the host, in parley deliveries: it may show twice
}

func (a ambiguous) String() string {
	return fmt.Sprintf("%s %s, delivery %s: under way at kill %s, %s, shown %d×, %s", a.Platform, a.Chat, a.Delivery, strings.Trim(fmt.Sprint(a.Kills), "[]"), a.State, a.Shown,
		map[bool]string{true: "marked", false: "not marked"}[a.Marked])
}

// ledger reads what a host that was killed was sending: the deliveries that its database has as being sent. Their calls may have
// reached the platform or not, or have been answered and the receipt not been stored. It reads a copy, so that the next host finds the
// files as the last one left them.
type ledger struct {
	seen   map[string]bool // deliveries with their tries
	all    []window
	broken map[string]int // by run: how many ends of the process broke it off

	// Of the last kill alone.
	open []sessions.Delivery   // being sent, or waiting to be
	own  map[sessions.Key]bool // sessions of these for which the rules of the configuration do not decide alone
}

// underWay notes the sends that were under way at a kill, and counts them by platform. One that the host of the kill before was at, and
// this one not again, was counted then.
func (l *ledger) underWay(ctx context.Context, state string, kill window) (sends map[string]int, err error) {
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	there, err := copyStore(dir, state)
	if err != nil || !there {
		return nil, err
	}
	s, err := sqlstore.Open(ctx, sqlstore.Config{Dir: dir})
	if err != nil {
		return nil, fmt.Errorf("reading what the host was at: %w", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	all, err := s.ListDeliveries(ctx, sessions.DeliveryQuery{State: sessions.Sending, Limit: 1000})
	if err != nil {
		return nil, err
	}
	previews, err := s.Previews(ctx)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(l.atWork(ctx, s), l.unsent(ctx, s, all)); err != nil {
		return nil, err
	}
	sends = map[string]int{}
	note := func(w window) {
		try := fmt.Sprint(w.Delivery, w.Part, w.Try, w.Preview)
		if l.seen[try] {
			return
		}
		if l.seen == nil {
			l.seen = map[string]bool{}
		}
		l.seen[try] = true
		l.all = append(l.all, w)
		sends[w.Place.Platform]++
	}
	for _, d := range all {
		w := kill
		w.Place, w.Delivery, w.Part, w.Try = placeOf(d), string(d.ID), d.Part, d.Attempt
		note(w)
	}
	for _, p := range previews {
		if p.State == sessions.PreviewSending {
			w := kill
			w.Place, w.Delivery, w.Preview = placeOf(sessions.Delivery{To: p.To}), string(p.Run), true
			note(w)
		}
	}
	if len(sends) == 0 {
		return nil, nil
	}
	return sends, nil
}

// atWork notes the turns that the host was at: they were claimed, and are not at their end.
func (l *ledger) atWork(ctx context.Context, s *sqlstore.Store) error {
	all, err := s.ListRuns(ctx, sessions.RunQuery{Status: sessions.Running, Limit: 1000})
	if l.broken == nil {
		l.broken = map[string]int{}
	}
	for _, run := range all {
		l.broken[string(run.ID)]++
	}
	return err
}

// unsent notes what the host had not sent: what it was sending, and what waited.
func (l *ledger) unsent(ctx context.Context, s *sqlstore.Store, sending []sessions.Delivery) error {
	waiting, err := s.ListDeliveries(ctx, sessions.DeliveryQuery{State: sessions.Pending, Limit: 1000})
	if err != nil {
		return err
	}
	l.open, l.own = slices.Concat(sending, waiting), map[sessions.Key]bool{}
	for _, d := range l.open {
		x, err := s.Get(ctx, d.Session)
		if err != nil && !errors.Is(err, sessions.ErrNotFound) {
			return err
		}
		if d.PreAuthorized != nil || x.Settings.SendPolicy != policy.Inherit {
			l.own[d.Session] = true
		}
	}
	return nil
}

// sum is how often turns were broken off.
func (l *ledger) sum() (n int) {
	for _, times := range l.broken {
		n += times
	}
	return n
}

// leastHeld is the least number of kills within a send of one part that a delivery is held after: that part may have arrived three times.
const leastHeld = 3

// ambiguities joins what was under way at the kills with what the host lists and how often, as the checker counts, the chats show it. Those of platforms without a key for
// sends come first, and of them those that were shown more than once.
func ambiguities(h *prooftest.History, times map[string]int, all []window, previewed map[string]string) (out []ambiguous, faults []prooftest.Fault) {
	type part struct {
		delivery string
		n        int
	}
	kills, parts := map[string][]int{}, map[part][]int{}
	for _, w := range all {
		id := w.Delivery
		if w.Preview {
			id = previewed[w.Delivery]
		}
		if !slices.Contains(kills[id], w.Kill) {
			kills[id] = append(kills[id], w.Kill)
		}
		if p := (part{id, w.Part}); !slices.Contains(parts[p], w.Kill) { // the first words are of the first part
			parts[p] = append(parts[p], w.Kill)
		}
	}
	for _, d := range h.Listed {
		at := kills[d.ID]
		if len(at) == 0 && !d.Repeat && d.State != "held" {
			continue
		}
		a := ambiguous{Platform: d.Place.Platform, Chat: d.Place.String(), Delivery: d.ID, State: d.State, Kills: at, Shown: times[d.ID], Marked: d.Repeat}
		out = append(out, a)
		switch {
		case d.State == "held" && len(parts[part{d.ID, len(d.Receipts)}]) < leastHeld:
			faults = append(faults, prooftest.Fault{Kind: prooftest.Unlisted, Place: d.Place, Why: fmt.Sprintf("held, which takes %d kills within a send of its part %d: %s", leastHeld, len(d.Receipts)+1, a)})
		case len(at) == 0:
			faults = append(faults, prooftest.Fault{Kind: prooftest.Unlisted, Place: d.Place, Why: "marked, or held, and no kill was within a send of it: " + a.String()})
		case h.Repeats[a.Platform] && a.Shown-1 > len(at) && bracketed.MatchString(d.Text): // of which of two equal texts without a token a message is, is a guess
			faults = append(faults, prooftest.Fault{Kind: prooftest.Unlisted, Place: d.Place, Why: "shown again more often than a kill was within a send of it: " + a.String()})
		case a.Shown > 1 && !a.Marked:
			faults = append(faults, prooftest.Fault{Kind: prooftest.Unlisted, Place: d.Place, Why: "shown again, and not marked in the host's list: " + a.String()})
		}
	}
	if _, over := byChat(out); len(over) > 0 {
		faults = append(faults, prooftest.Fault{Kind: prooftest.Unlisted, Why: "more is marked than kills were within a send to the chat: " + strings.Join(over, ", ")})
	}
	slices.SortStableFunc(out, func(a, b ambiguous) int {
		weak := func(x ambiguous) int { return map[bool]int{true: 0, false: 1}[h.Repeats[x.Platform]] }
		return cmp.Or(cmp.Compare(weak(a), weak(b)), cmp.Compare(b.Shown, a.Shown))
	})
	return out, faults
}

// byChat counts the kills within a send to each chat, by itself. over are the chats in which more deliveries are marked than that.
func byChat(all []ambiguous) (kills int, over []string) {
	at, marked := map[string]map[int]bool{}, map[string]int{}
	for _, a := range all {
		if at[a.Chat] == nil {
			at[a.Chat] = map[int]bool{}
		}
		for _, k := range a.Kills {
			at[a.Chat][k] = true
		}
		if a.Marked {
			marked[a.Chat]++
		}
	}
	for _, chat := range slices.Sorted(maps.Keys(at)) {
		if kills += len(at[chat]); marked[chat] > len(at[chat]) {
			over = append(over, fmt.Sprintf("%s: %d marked, %d kills", chat, marked[chat], len(at[chat])))
		}
	}
	return kills, over
}

// firstDeliveries gives for each run its first delivery: what was shown of its answer while it was written becomes that.
func (w *world) firstDeliveries(ctx context.Context) (map[string]string, error) {
	first := map[string]string{}
	err := w.eachDelivery(ctx, func(d sessions.Delivery) { first[string(d.Run)] = string(d.ID) })
	return first, err
}
