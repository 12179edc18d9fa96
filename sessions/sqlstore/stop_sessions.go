package sqlstore

import (
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

// stoppable finds what a stop of sessions ends. It reads, in a transaction or outside of one.
type stoppable struct {
	ctx    context.Context
	conn   *engine.Conn
	named  map[sessions.Key]bool // is the session one that is stopped, or below one
	closed []sessions.Key        // those that had the chats of the sessions that are stopped

	runs       []stoppableRun
	deliveries []stoppableDelivery
}

type stoppableRun struct {
	sessions.Run
	at row.Run
}

type stoppableDelivery struct {
	sessions.Delivery
	transcript int64
}

// findStoppable collects the open runs in which the sessions or the sub-agents below them take part, oldest first, and what these and earlier
// ones have made that has not left.
func findStoppable(ctx context.Context, c *engine.Conn, keys ...sessions.Key) (*stoppable, error) {
	x := &stoppable{ctx: ctx, conn: c, named: map[sessions.Key]bool{"": false}}
	closed, err := closedFor(ctx, c, keys)
	if err != nil {
		return nil, err
	}
	x.closed, keys = closed, slices.Concat(keys, closed)
	for _, k := range keys {
		if k != "" {
			x.named[k] = true
		}
	}
	found, err := engine.List(ctx, c, row.OpenBelow+"SELECT "+row.RunColumns+", CASE WHEN seq IN (SELECT seq FROM up WHERE key IN ("+engine.Marks(len(keys))+")) THEN 1 ELSE 0 END FROM runs WHERE status IN ('queued', 'running') ORDER BY +seq",
		engine.Args(keys), func(r engine.Row) (stoppableRun, error) {
			run, err := scanStoppable(r)
			x.named[run.Key] = r.Bool(16)
			return run, err
		})
	if err != nil {
		return nil, err
	}
	for _, r := range found {
		if takes, err := x.takesPart(r.Run); err != nil {
			return nil, err
		} else if takes {
			x.runs = append(x.runs, r)
		}
	}
	return x, x.findDeliveries(x.takesPart)
}

// closedFor gives the sessions whose chats the sessions have by now: see succeed.
func closedFor(ctx context.Context, c *engine.Conn, keys []sessions.Key) (closed []sessions.Key, err error) {
	for by := keys; len(by) > 0; {
		found, err := engine.List(ctx, c, "SELECT a.key FROM aliases AS a JOIN sessions AS s ON s.key = a.key AND s.last = '' WHERE a.target IN ("+engine.Marks(len(by))+") ORDER BY a.key",
			engine.Args(by), func(r engine.Row) (sessions.Key, error) { return sessions.Key(r.Str(0)), nil })
		if err != nil {
			return nil, err
		}
		by = slices.DeleteFunc(found, func(k sessions.Key) bool { return slices.Contains(keys, k) || slices.Contains(closed, k) })
		closed = append(closed, by...)
	}
	return closed, nil
}

func scanStoppable(r engine.Row) (x stoppableRun, err error) {
	x.Run, x.at, err = row.ScanRun(r)
	return x, err
}

// takesPart reports whether a run is work of the sessions that are stopped (contract X1): it is in one of them or below, writes the transcript of
// one of them, or belongs to a chain that has one of them on either side or has passed through it. What the host posts into a transcript is no work, unless a chain continues
// behind it. Of a session that is closed only what it has others do counts: what is said to it by its key was not said in the chat.
func (x *stoppable) takesPart(run sessions.Run) (bool, error) {
	c := run.Chain
	if run.Kind == sessions.PostRun && c == nil {
		return false, nil
	}
	keys := []sessions.Key{run.Key, run.TranscriptKey()}
	switch run.Kind {
	case sessions.AskRun, sessions.ReplyRun, sessions.AnnounceRun, sessions.ChildRun, sessions.ResultRun, sessions.PostRun, sessions.FollowUpRun:
		if c != nil {
			keys = append(keys, c.Hops...)
		}
		if c != nil && !tellsOfStop(run) {
			keys = append(keys, c.Requester, c.Target)
		}
	case sessions.TurnRun, sessions.CompactRun, sessions.JobRun: // their chains say where the answer is posted
	}
	for _, k := range keys {
		if slices.Contains(x.closed, k) && (c == nil || c.Requester != k && !slices.Contains(c.Hops, k)) {
			continue
		}
		if in, err := x.within(k); err != nil || in {
			return in, err
		}
	}
	return false, nil
}

// tellsOfStop reports whether a run is the follow-up of an exchange that was stopped: it is what a stop makes, and a stop on the other side leaves it.
func tellsOfStop(run sessions.Run) bool {
	c := run.Chain
	return run.Kind == sessions.FollowUpRun && (c.Status == sessions.Stopped || c.Status == "" && c.Error != "")
}

// within reports whether a session is one that is stopped, or below one.
func (x *stoppable) within(key sessions.Key) (in bool, err error) {
	var path []sessions.Key
	for {
		known, seen := x.named[key]
		if seen || slices.Contains(path, key) {
			in = known
			break
		}
		path = append(path, key)
		above := ""
		if _, err := x.conn.One(x.ctx, "SELECT spawned_by FROM sessions WHERE key = ?", []any{string(key)}, func(r engine.Row) error { above = r.Str(0); return nil }); err != nil {
			return false, err
		}
		key = sessions.Key(above)
	}
	for _, k := range path {
		x.named[k] = in
	}
	return in, nil
}

// findDeliveries collects what is to leave of the runs that fit.
func (x *stoppable) findDeliveries(fits func(sessions.Run) (bool, error)) error {
	type made struct {
		stoppableDelivery
		by sessions.Run
	}
	list, err := engine.List(x.ctx, x.conn, "SELECT "+row.DeliveryColumns+", run, (SELECT id FROM runs WHERE runs.seq = deliveries.run), (SELECT key FROM runs WHERE runs.seq = deliveries.run), (SELECT body FROM runs WHERE runs.seq = deliveries.run)"+
		" FROM deliveries WHERE state IN ('pending', 'sending') AND state <> 'sent' AND run > 0 ORDER BY seq", nil, func(r engine.Row) (m made, err error) {
		if m.Delivery, m.transcript, err = row.ScanDelivery(r); err != nil || r.Str(18) == "" {
			return m, err
		}
		var q row.Request
		err = column.Decode(r.Str(18), &q)
		m.by = sessions.Run{ID: sessions.RunID(r.Str(16)), Key: sessions.Key(r.Str(17)), Kind: q.Kind, Chain: q.Chain}
		m.by.SetExtras(sessions.RunExtras{Home: q.Home})
		return m, err
	})
	if err != nil {
		return err
	}
	for _, m := range list {
		if m.by.ID == "" || m.Kind == sessions.Invite {
			continue
		}
		if fit, err := fits(m.by); err != nil {
			return err
		} else if fit {
			x.deliveries = append(x.deliveries, m.stoppableDelivery)
		}
	}
	return nil
}

// tells are the context lines for the sessions on the other side of exchanges that end, one for each that would not learn of it otherwise, and
// the runs whose exchange has a follow-up that says it instead (contract S15).
func (x *stoppable) tells() (lines []sessions.ContextLine, ends []sessions.Run, err error) {
	told := map[string]bool{}
	for _, r := range x.runs {
		if !r.IsExchange() || r.Stopping && r.MergedInto == "" { // the second: they have been told
			continue
		}
		for _, side := range [][2]sessions.Key{{r.Chain.Requester, r.Chain.Target}, {r.Chain.Target, r.Chain.Requester}} {
			name := string(r.Chain.Root) + " " + string(side[0])
			if told[name] {
				continue
			}
			if late, err := x.late(r.Run); err != nil {
				return nil, nil, err
			} else if late && side[0] == r.Chain.Requester {
				told[name], ends = true, append(ends, r.Run)
				continue
			}
			learns, err := x.learns(r.Run, side[0])
			if err != nil {
				return nil, nil, err
			}
			if learns {
				continue
			}
			told[name] = true
			lines = append(lines, sessions.ContextLine{Key: side[0], Event: sessions.ExchangeStopped, Name: side[1].Display(side[0].Agent(), ""),
				About: channels.CutText(strings.Join(strings.Fields(r.Chain.Request), " "), 200), Keep: maxStopLines})
		}
	}
	return lines, ends, nil
}

// maxStopLines bounds the context lines of a session that got one more about a stop.
const maxStopLines = 100

// learns reports whether a session is not to be told that a run of an exchange is stopped: it is one that stops, the note behind its own turn
// says it, the result of its tool call does, or it has not heard of the exchange yet.
func (x *stoppable) learns(run sessions.Run, key sessions.Key) (bool, error) {
	if in, err := x.within(key); err != nil || in || key == "" {
		return true, err
	}
	switch {
	case run.Key == key && run.Status == sessions.Running:
		return true, nil
	case run.Kind != sessions.AskRun:
		return false, nil
	case key == run.Chain.Target:
		return run.Attempt == 0, nil
	}
	call, err := x.callOf(run)
	return call.waits, err
}

// callState is what became of the tool call that began an exchange.
type callState struct {
	waits   bool // it has no result yet, which will say how the run ended
	told    bool // its result has the reply, or the failure
	stopped bool // its turn was stopped, and not only interrupted by a newer message
}

func (x *stoppable) callOf(run sessions.Run) (c callState, err error) {
	asker, call, ok := strings.Cut(strings.TrimPrefix(run.Source, "tool:"), ":")
	if !ok {
		return c, nil
	}
	by, at, err := row.GetRun(x.ctx, x.conn, sessions.RunID(asker))
	if errors.Is(err, sessions.ErrNotFound) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	taken, err := row.Steps(x.ctx, x.conn, by, at)
	c.waits, c.stopped = run.Chain.Waited && !by.Status.Final(), by.Status == sessions.Stopped && by.MergedInto == ""
	for _, m := range taken {
		if m.Role == sessions.ToolResult && m.ToolCallID == call {
			var result struct{ Status string }
			c.waits = false
			c.told = json.Unmarshal([]byte(m.Text()), &result) == nil && (result.Status == "ok" || result.Status == "error")
		}
	}
	return c, err
}

// Stoppable implements sessions.Runs.
func (s *runs) Stoppable(ctx context.Context, keys ...sessions.Key) (out sessions.Stoppable, err error) {
	if len(keys) == 0 {
		return out, nil
	}
	err = s.read(ctx, func(c *engine.Conn) error {
		out = sessions.Stoppable{}
		x, err := findStoppable(ctx, c, keys...)
		if err != nil {
			return err
		}
		for _, r := range x.runs {
			out.Runs = append(out.Runs, r.Run)
		}
		for _, d := range x.deliveries {
			out.Deliveries = append(out.Deliveries, d.Delivery)
		}
		return nil
	})
	return out, err
}

// stopSessions ends what a stop of sessions ends. Running runs are marked, and their owner ends them; if the host dies before that, they are
// not taken up again. The inputs of the queued ones stay on their rows and do not go into the transcript: the running turn is still writing
// there.
func (s *runs) stopSessions(t *tx, op sessions.StopSessions, startsOver bool, acc *sessions.Accepted) error {
	if len(op.Keys) == 0 {
		return nil
	}
	x, err := findStoppable(t.Ctx, t.Conn, op.Keys...)
	if err != nil {
		return err
	}
	why := op.By.Words()
	if startsOver {
		why = startedOver
	}
	return s.stop(t, x, why, slices.Concat(op.Keys, x.closed), acc)
}

// stopRun ends one run, what it has made, and, if it is running, what the sub-agents below its session are at. Of a run that has ended it ends
// what has not left.
func (s *runs) stopRun(t *tx, op sessions.StopRun, acc *sessions.Accepted) error {
	run, at, err := s.run(t, op.ID)
	if err != nil {
		return err
	}
	x := &stoppable{ctx: t.Ctx, conn: t.Conn, named: map[sessions.Key]bool{"": false}}
	if run.Status == sessions.Running {
		below, err := findStoppable(t.Ctx, t.Conn, run.Key)
		if err != nil {
			return err
		}
		x.runs = slices.DeleteFunc(below.runs, func(r stoppableRun) bool { return r.Key == run.Key || !sessions.IsSubagent(r.Key) })
	}
	if !run.Status.Final() {
		x.runs = append([]stoppableRun{{run, at}}, x.runs...)
	}
	var named []sessions.Key // what only waited was not the session's last turn
	if run.Status == sessions.Running {
		named = []sessions.Key{run.Key}
	}
	if err := x.findDeliveries(func(by sessions.Run) (bool, error) {
		return by.ID == run.ID || slices.ContainsFunc(x.runs, func(r stoppableRun) bool { return r.ID == by.ID }), nil
	}); err != nil {
		return err
	}
	return s.stop(t, x, op.By.Words(), named, acc)
}

// stop ends what was found.
func (s *runs) stop(t *tx, x *stoppable, why string, named []sessions.Key, acc *sessions.Accepted) error {
	lines, ends, err := x.tells()
	if err != nil {
		return err
	}
	ends, err = s.withChats(t, ends)
	if err != nil {
		return err
	}
	o, err := row.Outcome{Error: why}.Encode()
	if err != nil {
		return err
	}
	told := map[sessions.Key]bool{}
	for _, r := range x.runs {
		if err := s.endStopped(t, why, "seq = ? AND status = 'queued'", r.at.Seq); err != nil {
			return err
		}
		if _, err := t.Exec("UPDATE runs SET stop = 1, batch = '', outcome = ? WHERE seq = ? AND status = 'running'", o, r.at.Seq); err != nil {
			return err
		}
		if !told[r.Key] {
			told[r.Key] = true
			if err := s.aborted(t, r.Key, named); err != nil {
				return err
			}
		}
		acc.Stopped = append(acc.Stopped, sessions.StoppedRun{Key: r.Key, ID: r.ID, Home: r.Home()})
	}
	for i := range x.deliveries {
		d := &x.deliveries[i]
		over(&d.Delivery, sessions.DeliveryStopped, why)
		if err := s.deliveries.keep(t, &d.Delivery, d.transcript); err != nil {
			return err
		}
		acc.Withdrawn = append(acc.Withdrawn, d.Delivery)
	}
	for _, l := range lines {
		if _, err := s.sessions.Get(t, l.Key); errors.Is(err, sessions.ErrNotFound) {
			continue
		} else if err != nil {
			return err
		}
		if err := s.lines.Append(t, l); err != nil {
			return err
		}
	}
	for _, r := range ends {
		if err := s.followUp(t, r, why, acc); err != nil {
			return err
		}
	}
	if err := s.unpost(t, why, x.deliveries); err != nil {
		return err
	}
	t.Label(len(x.runs)+len(x.deliveries) > 0, "stop")
	return nil
}

// unpost ends the runs that would put into a transcript what was not posted: of deliveries that ended before they left.
func (s *runs) unpost(t *tx, why string, ended []stoppableDelivery) error {
	var unsent []string
	for _, d := range ended {
		if d.Part == 0 && !d.Ambiguous && d.transcript == 0 && d.Message != "" {
			unsent = append(unsent, d.Message)
		}
	}
	if len(unsent) == 0 {
		return nil
	}
	posts, err := engine.List(t.Ctx, t.Conn, "SELECT "+row.RunColumns+" FROM runs WHERE status IN ('queued', 'running') AND status = 'queued' AND body LIKE ? ORDER BY +seq", []any{`{"kind":"` + string(sessions.PostRun) + `",%`}, scanStoppable)
	if err != nil {
		return err
	}
	for _, p := range posts {
		if slices.Contains(unsent, p.Input.ID) {
			if err := s.endStopped(t, why, "seq = ?", p.at.Seq); err != nil {
				return err
			}
		}
	}
	return nil
}
