package trace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/sqlstore/column"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/row"
)

// maxTraces bounds how many paths one id can stand for: a platform's message ids are unique only inside a chat.
const maxTraces = 20

// maxChain bounds how many runs of one chain are shown.
const maxChain = 100

// receiptDepth is how many of the newest deliveries are searched for a receipt.
const receiptDepth = 100_000

// Store follows ids through all tables. It only reads.
type Store struct{ db *engine.DB }

// New returns the traces of a database.
func New(db *engine.DB) *Store { return &Store{db} }

// Trace finds the paths that a platform's message id, a source, a run, a delivery or a transcript message belongs to. A message id is
// followed through everything: the turn that took it up, what that turn's tools began, and, of a message that was sent, what asked for
// it. Platforms number messages by chat, so it may stand for one that came and for one that was sent: what came is first. Other ids
// lead to their own chain. An unknown id gives none.
func (s *Store) Trace(ctx context.Context, id string) (out []sessions.Trace, err error) {
	err = s.db.Read(ctx, func(c *engine.Conn) error {
		out, err = findTraces(ctx, c, id)
		return err
	})
	return out, err
}

func findTraces(ctx context.Context, c *engine.Conn, id string) (out []sessions.Trace, err error) {
	if out, err = seenTraces(ctx, c, "msg = ?", column.Key(id)); err != nil {
		return nil, err
	}
	sent, err := sentTraces(ctx, c, channels.MessageID(id), out)
	if err != nil {
		return nil, err
	}
	if out = append(out, sent...); len(out) > 0 {
		return widened(ctx, c, out)
	}
	d, _, err := row.GetDelivery(ctx, c, sessions.DeliveryID(id))
	if err == nil {
		return deliveryTraces(ctx, c, d)
	} else if !errors.Is(err, sessions.ErrNotFound) {
		return nil, err
	}
	run := sessions.RunID(id)
	if _, err = c.One(ctx, "SELECT r.id FROM messages m JOIN runs r ON r.seq = m.run WHERE m.id = ?", []any{id}, func(r engine.Row) error { run = sessions.RunID(r.Str(0)); return nil }); err != nil {
		return nil, err
	}
	if out, err = runTraces(ctx, c, run); err != nil || len(out) > 0 {
		return out, err
	}
	if out, err = receiptTraces(ctx, c, channels.MessageID(id)); err != nil {
		return nil, err
	}
	return widened(ctx, c, out)
}

// widened adds to the paths of a message the runs that they lead to, and those that led to them: the turn that answered it with others,
// what tools of its turn began, and the turn whose tool began it.
func widened(ctx context.Context, c *engine.Conn, out []sessions.Trace) ([]sessions.Trace, error) {
	have := map[sessions.RunID]bool{}
	for _, t := range out {
		if t.Run != nil {
			have[t.Run.ID] = true
		}
	}
	for i := 0; i < len(out) && len(out) < maxChain; i++ {
		if out[i].Run == nil {
			continue
		}
		near, err := neighbours(ctx, c, *out[i].Run, out[i].Steps)
		if err != nil {
			return nil, err
		}
		for _, id := range near {
			if have[id] {
				continue
			}
			found, err := runTraces(ctx, c, id)
			if err != nil {
				return nil, err
			}
			for _, t := range found {
				if !have[t.Run.ID] {
					have[t.Run.ID] = true
					out = append(out, t)
				}
			}
		}
	}
	return out, nil
}

// neighbours are the runs that a run names, and those that its tools began.
func neighbours(ctx context.Context, c *engine.Conn, run sessions.Run, steps []sessions.Message) (near []sessions.RunID, err error) {
	if run.MergedInto != "" {
		near = append(near, run.MergedInto)
	}
	if made, ok := strings.CutPrefix(run.Source, toolSource); ok {
		asker, _, _ := strings.Cut(made, ":")
		near = append(near, sessions.RunID(asker))
	}
	for _, m := range steps {
		for _, call := range m.ToolCalls() {
			if err := c.Each(ctx, "SELECT run FROM seen WHERE msg = ? AND address = '' AND event = ? AND run <> ''",
				[]any{toolSource + string(run.ID) + ":" + call.ID, row.SubmitEvent}, func(r engine.Row) error {
					near = append(near, sessions.RunID(r.Str(0)))
					return nil
				}); err != nil {
				return nil, err
			}
		}
	}
	return near, nil
}

// toolSource begins the source of what a tool call made: run and call follow.
const toolSource = "tool:"

// sentTraces finds what this host sent under a message's id, newest first, besides what is known of it. The index is by chat, so it goes
// from chat to chat.
func sentTraces(ctx context.Context, c *engine.Conn, id channels.MessageID, known []sessions.Trace) (out []sessions.Trace, err error) {
	if id == "" {
		return nil, nil
	}
	found, err := row.ListDeliveries(ctx, c, `seq IN (
		WITH RECURSIVE chats(chat) AS (
			SELECT min(chat) FROM receipts
			UNION ALL SELECT (SELECT min(x.chat) FROM receipts x WHERE x.chat > chats.chat) FROM chats WHERE chats.chat IS NOT NULL)
		SELECT x.delivery FROM chats JOIN receipts x ON x.chat = chats.chat AND x.msg = ?) ORDER BY seq DESC LIMIT ?`, column.Key(string(id)), maxTraces)
	if err != nil {
		return nil, err
	}
	return pathsTo(ctx, c, found, known)
}

// deliveryTraces follows a delivery back to what made it.
func deliveryTraces(ctx context.Context, c *engine.Conn, d sessions.Delivery) (out []sessions.Trace, err error) {
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
func receiptTraces(ctx context.Context, c *engine.Conn, id channels.MessageID) (out []sessions.Trace, err error) {
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
	if c.Dialect.Postgres {
		within = "strpos(result, ?) > 0"
	}
	found, err := row.ListDeliveries(ctx, c, "seq > (SELECT max(seq) FROM deliveries) - ? AND "+within+" ORDER BY seq DESC LIMIT ?", receiptDepth, string(part[:len(part)-1]), maxTraces)
	if err != nil {
		return nil, err
	}
	return pathsTo(ctx, c, found, nil)
}

// pathsTo gives the paths of deliveries that are not among the known ones.
func pathsTo(ctx context.Context, c *engine.Conn, found []sessions.Delivery, known []sessions.Trace) (out []sessions.Trace, err error) {
	shown := map[sessions.DeliveryID]bool{}
	note := func(list []sessions.Trace) {
		for _, t := range list {
			for _, d := range t.Deliveries {
				shown[d.ID] = true
			}
		}
	}
	note(known)
	for _, d := range found {
		if shown[d.ID] {
			continue // another delivery of its chain led there
		}
		traces, err := deliveryTraces(ctx, c, d)
		if err != nil {
			return nil, err
		}
		note(traces)
		out = append(out, traces...)
	}
	return out, nil
}

// seenTraces follows events and sources.
func seenTraces(ctx context.Context, c *engine.Conn, where string, args ...any) (out []sessions.Trace, err error) {
	type seenRow struct {
		sessions.Trace
		run             sessions.RunID
		first, delivery int64
	}
	var rows []seenRow
	err = c.Each(ctx, "SELECT msg, address, thread, at, skip, run, delivery, delivered FROM seen WHERE "+where+" ORDER BY num DESC LIMIT ?", append(args, maxTraces), func(r engine.Row) error {
		a := column.Address(r.Str(1))
		a.Thread = channels.ThreadID(r.Str(2))
		rows = append(rows, seenRow{Trace: sessions.Trace{Accepted: r.Time(3), Source: r.Str(0), Address: a, Skip: r.Str(4)}, run: sessions.RunID(r.Str(5)), first: r.Int(6), delivery: r.Int(7)})
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
			own, err := row.ListDeliveries(ctx, c, "seq >= ? AND seq < ? ORDER BY seq", x.first, x.first+x.delivery)
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
func runTraces(ctx context.Context, c *engine.Conn, id sessions.RunID) (out []sessions.Trace, err error) {
	root := string(id)
	if _, err = c.One(ctx, "SELECT root FROM runs WHERE id = ?", []any{string(id)}, func(r engine.Row) error { root = r.Str(0); return nil }); err != nil {
		return nil, err
	}
	type found struct {
		sessions.Run
		at row.Run
	}
	var runs []found
	err = c.Each(ctx, "SELECT "+row.RunColumns+" FROM runs WHERE id = ? OR root = ? AND root <> '' ORDER BY id = ? DESC, seq DESC LIMIT ?", []any{string(id), root, string(id), maxChain}, func(r engine.Row) error {
		run, at, err := row.ScanRun(r)
		runs = append(runs, found{run, at})
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(runs, func(a, b found) int { return cmp.Compare(a.at.Seq, b.at.Seq) })
	for _, x := range runs {
		t, err := runTrace(ctx, c, x.Run, x.at)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

func runTrace(ctx context.Context, c *engine.Conn, run sessions.Run, at row.Run) (t sessions.Trace, err error) {
	t = sessions.Trace{Accepted: run.Created, Source: run.Source, Address: run.Reply, Run: &run}
	if t.Steps, err = row.Steps(ctx, c, run, at); err != nil {
		return t, err
	}
	t.Deliveries, err = row.ListDeliveries(ctx, c, "run = ? AND run > 0 ORDER BY seq", at.Seq)
	return t, err
}
