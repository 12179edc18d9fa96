package sqlstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"parley/channels"
	"parley/sessions"
)

// maxTraces bounds how many paths one id can stand for: a platform's message ids are unique only inside a chat.
const maxTraces = 20

// maxChain bounds how many runs of one chain are shown.
const maxChain = 100

// receiptDepth is how many of the newest deliveries are searched for a receipt.
const receiptDepth = 100_000

// Trace finds the paths that a platform's message id, a source, a run, a delivery or a transcript message belongs to; when there is
// none, those of a message that the platform numbered so when it was sent. An unknown id gives none.
func (s *Store) Trace(ctx context.Context, id string) (out []sessions.Trace, err error) {
	err = s.read(ctx, func(c *conn) error {
		out, err = findTraces(ctx, c, id)
		return err
	})
	return out, err
}

func findTraces(ctx context.Context, c *conn, id string) (out []sessions.Trace, err error) {
	if out, err = seenTraces(ctx, c, "msg = ?", id); err != nil || len(out) > 0 {
		return out, err
	}
	d, _, err := getDelivery(ctx, c, sessions.DeliveryID(id))
	if err == nil {
		return deliveryTraces(ctx, c, d)
	} else if !errors.Is(err, sessions.ErrNotFound) {
		return nil, err
	}
	run := sessions.RunID(id)
	if _, err = c.one(ctx, "SELECT r.id FROM messages m JOIN runs r ON r.seq = m.run WHERE m.id = ?", []any{id}, func(r row) error { run = sessions.RunID(r.str(0)); return nil }); err != nil {
		return nil, err
	}
	if out, err = runTraces(ctx, c, run); err != nil || len(out) > 0 {
		return out, err
	}
	return receiptTraces(ctx, c, channels.MessageID(id))
}

// deliveryTraces follows a delivery back to what made it.
func deliveryTraces(ctx context.Context, c *conn, d sessions.Delivery) (out []sessions.Trace, err error) {
	if d.Run == "" { // a command's answer: its event made it
		out, err = seenTraces(ctx, c, "delivered > 0 AND delivery <= ? AND delivery + delivered > ? ", d.Seq, d.Seq)
	} else {
		out, err = runTraces(ctx, c, d.Run)
	}
	if err == nil && len(out) == 0 {
		out = []sessions.Trace{{Accepted: d.Created, Address: d.To, Deliveries: []sessions.Delivery{d}}}
	}
	return out, err
}

// receiptTraces finds the deliveries that a platform gave this message id for, newest first. No index helps, so it looks at the
// newest deliveries only.
func receiptTraces(ctx context.Context, c *conn, id channels.MessageID) (out []sessions.Trace, err error) {
	if id == "" {
		return nil, nil
	}
	part, err := json.Marshal(struct {
		ID channels.MessageID `json:"id"` // as a receipt begins
	}{id})
	if err != nil {
		return nil, err
	}
	within := "instr(result, ?) > 0"
	if c.d.postgres {
		within = "strpos(result, ?) > 0"
	}
	found, err := someDeliveries(ctx, c, "seq > (SELECT max(seq) FROM deliveries) - ? AND "+within+" ORDER BY seq DESC LIMIT ?", receiptDepth, string(part[:len(part)-1]), maxTraces)
	if err != nil {
		return nil, err
	}
	runs := map[sessions.RunID]bool{}
	for _, d := range found {
		if d.Run != "" && runs[d.Run] {
			continue // another delivery of its chain led there
		}
		traces, err := deliveryTraces(ctx, c, d)
		if err != nil {
			return nil, err
		}
		for _, t := range traces {
			if t.Run != nil {
				runs[t.Run.ID] = true
			}
		}
		out = append(out, traces...)
	}
	return out, nil
}

// seenTraces follows events and sources.
func seenTraces(ctx context.Context, c *conn, where string, args ...any) (out []sessions.Trace, err error) {
	type sighting struct {
		sessions.Trace
		run             sessions.RunID
		first, delivery int64
	}
	var rows []sighting
	err = c.each(ctx, "SELECT msg, address, thread, at, skip, run, delivery, delivered FROM seen WHERE "+where+" ORDER BY num DESC LIMIT ?", append(args, maxTraces), func(r row) error {
		a := address(r.str(1))
		a.Thread = channels.ThreadID(r.str(2))
		rows = append(rows, sighting{Trace: sessions.Trace{Accepted: r.time(3), Source: r.str(0), Address: a, Skip: r.str(4)}, run: sessions.RunID(r.str(5)), first: r.int(6), delivery: r.int(7)})
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, x := range rows {
		var chain []sessions.Trace
		if x.run != "" {
			if chain, err = runTraces(ctx, c, x.run); err != nil {
				return nil, err
			}
		}
		at := slices.IndexFunc(chain, func(t sessions.Trace) bool { return t.Run.ID == x.run })
		if at < 0 { // it caused no run, or that is deleted
			chain, at = slices.Insert(chain, 0, sessions.Trace{}), 0
		}
		t := &chain[at]
		t.Accepted, t.Source, t.Address, t.Skip = x.Accepted, x.Source, x.Address, x.Skip
		if x.delivery > 0 {
			own, err := someDeliveries(ctx, c, "seq >= ? AND seq < ? ORDER BY seq", x.first, x.first+x.delivery)
			if err != nil {
				return nil, err
			}
			theirs := t.Deliveries // of the run; some may be the event's as well
			t.Deliveries = append(slices.DeleteFunc(own, func(d sessions.Delivery) bool {
				return slices.ContainsFunc(theirs, func(o sessions.Delivery) bool { return o.ID == d.ID })
			}), theirs...)
		}
		out = append(out, chain...)
	}
	return out, nil
}

// runTraces follows a run; one of a chain leads to all runs of its chain, oldest first. The first run of a chain still stands for it
// when it was deleted with its session.
func runTraces(ctx context.Context, c *conn, id sessions.RunID) (out []sessions.Trace, err error) {
	root := string(id)
	if _, err = c.one(ctx, "SELECT root FROM runs WHERE id = ?", []any{string(id)}, func(r row) error { root = r.str(0); return nil }); err != nil {
		return nil, err
	}
	type found struct {
		sessions.Run
		runRow
	}
	var runs []found
	err = c.each(ctx, "SELECT "+runColumns+" FROM runs WHERE id = ? OR root = ? AND root <> '' ORDER BY id = ? DESC, seq DESC LIMIT ?", []any{string(id), root, string(id), maxChain}, func(r row) error {
		run, at, err := scanRun(r)
		runs = append(runs, found{run, at})
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(runs, func(a, b found) int { return cmp.Compare(a.seq, b.seq) })
	for _, x := range runs {
		t, err := runTrace(ctx, c, x.Run, x.runRow)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

func runTrace(ctx context.Context, c *conn, run sessions.Run, at runRow) (t sessions.Trace, err error) {
	t = sessions.Trace{Accepted: run.Created, Source: run.Source, Address: run.Reply, Run: &run}
	if t.Steps, err = steps(ctx, c, run, at); err != nil {
		return t, err
	}
	t.Deliveries, err = someDeliveries(ctx, c, "run = ? AND run > 0 ORDER BY seq", at.seq)
	return t, err
}
