package sqlstore

import (
	"encoding/json"
	"fmt"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// toGoOn gives the runs of which results of sessions_send calls say that they go on.
func toGoOn(msgs []sessions.Message) (ids []sessions.RunID) {
	for _, m := range msgs {
		if m.Role != sessions.ToolResult || m.ToolName != "sessions_send" {
			continue
		}
		var result struct {
			RunID  sessions.RunID `json:"runId"`
			Status string         `json:"status"`
		}
		if json.Unmarshal([]byte(m.Text()), &result) == nil && result.Status == "timeout" && result.RunID != "" {
			ids = append(ids, result.RunID)
		}
	}
	return ids
}

// checkGoOn returns ErrOutdated when one of the runs has ended, has been stopped, or was deleted with its session. Whoever ended it saw a call that
// waits, and told its people nothing (contract S15).
func (s *runs) checkGoOn(t *tx, ids []sessions.RunID) error {
	for _, id := range ids {
		on := false
		if _, err := t.One("SELECT status, stop, batch FROM runs WHERE id = ?", []any{string(id)}, func(r engine.Row) error {
			on = !sessions.RunStatus(r.Str(0)).Final() && (!r.Bool(1) || r.Str(2) != "")
			return nil
		}); err != nil {
			return err
		}
		if !on {
			return fmt.Errorf("run %s: %w", id, sessions.ErrOutdated)
		}
	}
	return nil
}

// asAnswered gives what a run of an exchange ends with: its outcome was worked out while the call waited, and that may have its result since.
func (s *runs) asAnswered(t *tx, run sessions.Run, f *ending) (*ending, error) {
	if f.ifAnswered == nil {
		return f, nil
	}
	x := &stoppable{ctx: t.Ctx, conn: t.Conn}
	call, err := x.callOf(run)
	if err != nil || call.waits || call.told || call.stopped {
		return f, err
	}
	late := *f
	late.next = f.ifAnswered
	return &late, nil
}
