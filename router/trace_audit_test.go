package router_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// traceAudit holds what Trace says against what the platform knows and what the store lists.
type traceAudit struct {
	*testing.T
	store      *sqlstore.Store
	log        traceLog
	runs       []sessions.Run
	deliveries []sessions.Delivery
	made       map[sessions.RunID][]sessions.Delivery // by the run that made them
	said       map[string][]sessions.Delivery         // by mark
	shown      map[string][]channels.MessageID        // by mark
	came       map[channels.MessageID]bool
	marked     map[string]channels.MessageID // the message that has the mark

	asked, whole map[string]int
	took         []time.Duration
	faults       int
}

func (a *traceAudit) lists() {
	a.Helper()
	var err error
	a.runs, err = a.store.ListRuns(a.Context(), sessions.RunQuery{Limit: 1_000_000})
	routertest.Check(a.T, err)
	a.deliveries, err = a.store.ListDeliveries(a.Context(), sessions.DeliveryQuery{Limit: 1_000_000})
	routertest.Check(a.T, err)
	if len(a.runs) < len(a.log.inbound)/2 || len(a.deliveries) < len(a.log.inbound)/2 {
		a.Fatalf("%d messages made %d runs and %d deliveries", len(a.log.inbound), len(a.runs), len(a.deliveries))
	}
	a.made, a.said, a.shown = map[sessions.RunID][]sessions.Delivery{}, map[string][]sessions.Delivery{}, map[string][]channels.MessageID{}
	a.came, a.marked = map[channels.MessageID]bool{}, map[string]channels.MessageID{}
	for _, d := range a.deliveries {
		a.made[d.Run] = append(a.made[d.Run], d)
		for _, m := range marked.FindAllString(d.Text, -1) {
			a.said[m] = append(a.said[m], d)
		}
	}
	for _, c := range a.log.sends {
		if slices.Contains(a.log.removed, c.Receipt.ID) {
			continue
		}
		for _, m := range marked.FindAllString(c.Out.Text, -1) {
			a.shown[m] = append(a.shown[m], c.Receipt.ID)
		}
	}
	for _, in := range a.log.inbound {
		a.came[in.ID] = true
		if m := marked.FindString(in.Text); m != "" {
			a.marked[m] = in.ID
		}
	}
}

// ask traces an id and counts whether what comes is whole.
func (a *traceAudit) ask(kind, id string, whole func([]sessions.Trace) string) {
	a.Helper()
	began := time.Now()
	ts, err := a.store.Trace(a.Context(), id)
	a.took = append(a.took, time.Since(began))
	routertest.Check(a.T, err)
	a.asked[kind]++
	missing := whole(ts)
	if missing == "" {
		a.whole[kind]++
		return
	}
	if a.faults++; a.faults <= 20 {
		a.Errorf("%s: the trace of %s lacks %s: %s", kind, id, missing, outline(ts))
	} else {
		a.Fail()
	}
}

// outline is a trace in one line.
func outline(ts []sessions.Trace) string {
	var b strings.Builder
	for _, t := range ts {
		b.WriteString(" [from " + t.Source + " " + t.Skip)
		if t.Run != nil {
			b.WriteString(" run " + string(t.Run.Kind) + " " + string(t.Run.Status) + " by " + t.Run.Source + " " + t.Run.Input.Text())
		}
		for _, d := range t.Deliveries {
			b.WriteString(" → " + string(d.Kind) + " " + string(d.State))
		}
		b.WriteString("]")
	}
	return b.String()
}

// cameIn: the event itself, what became of it, and all that has its mark.
func (a *traceAudit) cameIn(in channels.Inbound, ts []sessions.Trace) string {
	own := slices.IndexFunc(ts, func(t sessions.Trace) bool { return t.Source == string(in.ID) && t.Address == in.Address })
	if own < 0 {
		return "the event"
	}
	kind := ""
	for k, ok := range wants {
		if strings.HasPrefix(in.Text, k) {
			if kind = k; !slices.ContainsFunc(ts, func(t sessions.Trace) bool { return t.Source == string(in.ID) && ok(t) }) {
				return "what becomes of " + k
			}
		}
	}
	mark := marked.FindString(in.Text)
	if kind == "" && len(a.shown[mark]) == 0 {
		return "an answer in the chat"
	}
	if kind == "" && !calls(ts, in.Text) {
		return "its tool call and the result"
	}
	for _, d := range a.said[mark] {
		if !has(ts, func(x sessions.Delivery) bool { return x.ID == d.ID && x.State == d.State }) {
			return "the " + string(d.Kind) + " " + d.Text
		}
	}
	for _, id := range a.shown[mark] {
		if !received(ts, id) {
			return "the receipt " + string(id)
		}
	}
	if slices.ContainsFunc(ts, func(t sessions.Trace) bool { return t.Run != nil && !t.Run.Status.Final() }) {
		return "an end"
	}
	return ""
}

// calls reports whether the tool that a message's words have the model call is there with its result, and what that began.
func calls(ts []sessions.Trace, words string) bool {
	began := map[string]sessions.RunKind{"remember": "", "delegate": sessions.ChildRun, "ask there": sessions.AskRun, "wait for there": sessions.AskRun}
	for k, kind := range began {
		if !strings.HasPrefix(words, k) {
			continue
		}
		called, result := false, false
		for _, t := range ts {
			for _, m := range t.Steps {
				called = called || len(m.ToolCalls()) > 0
				result = result || m.Role == sessions.ToolResult
			}
		}
		return called && result && (kind == "" || slices.ContainsFunc(ts, func(t sessions.Trace) bool { return t.Run != nil && t.Run.Kind == kind }))
	}
	return true
}

func has(ts []sessions.Trace, ok func(sessions.Delivery) bool) bool {
	return slices.ContainsFunc(ts, func(t sessions.Trace) bool { return slices.ContainsFunc(t.Deliveries, ok) })
}

func received(ts []sessions.Trace, id channels.MessageID) bool {
	return has(ts, func(d sessions.Delivery) bool {
		return slices.ContainsFunc(d.Receipts, func(r channels.Receipt) bool { return r.ID == id })
	})
}

// wentOut: the delivery with the receipt, and the event of the message that made the model say it.
func (a *traceAudit) wentOut(c channeltest.Call, ts []sessions.Trace) string {
	if !received(ts, c.Receipt.ID) {
		return "the delivery"
	}
	for _, m := range marked.FindAllString(c.Out.Text, -1) {
		if id := string(a.marked[m]); !slices.ContainsFunc(ts, func(t sessions.Trace) bool { return t.Source == id || took(t, id) }) {
			return "the message " + m + " that it answers"
		}
	}
	if !slices.ContainsFunc(ts, func(t sessions.Trace) bool { return a.came[channels.MessageID(t.Source)] }) {
		return "an event that it comes from"
	}
	return ""
}

// took reports whether a turn took a message up with its own.
func took(t sessions.Trace, id string) bool {
	return slices.ContainsFunc(t.Steps, func(m sessions.Message) bool { return m.Provenance != nil && m.Provenance.Message == id })
}

// ran: the run as it is listed, its steps, and all that it sent.
func (a *traceAudit) ran(r sessions.Run, ts []sessions.Trace) string {
	i := slices.IndexFunc(ts, func(t sessions.Trace) bool { return t.Run != nil && t.Run.ID == r.ID })
	if i < 0 || ts[i].Run.Status != r.Status || ts[i].Source != r.Source {
		return "the run"
	}
	steps, err := a.store.Steps(a.Context(), r.ID)
	routertest.Check(a.T, err)
	if len(ts[i].Steps) != len(steps) {
		return "steps"
	}
	for _, d := range a.made[r.ID] {
		if !slices.ContainsFunc(ts[i].Deliveries, func(x sessions.Delivery) bool { return x.ID == d.ID && len(x.Receipts) == len(d.Receipts) }) {
			return "the " + string(d.Kind) + " " + d.Text
		}
	}
	return ""
}

// delivered: the delivery, and the run or the event that made it.
func (a *traceAudit) delivered(d sessions.Delivery, ts []sessions.Trace) string {
	i := slices.IndexFunc(ts, func(t sessions.Trace) bool {
		return slices.ContainsFunc(t.Deliveries, func(x sessions.Delivery) bool { return x.ID == d.ID && x.State == d.State })
	})
	switch {
	case i < 0:
		return "the delivery"
	case d.Run != "" && (ts[i].Run == nil || ts[i].Run.ID != d.Run):
		return "the run that made it"
	case d.Run == "" && !a.came[channels.MessageID(ts[i].Source)]:
		return "the event that made it"
	}
	return ""
}
