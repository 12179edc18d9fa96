package web

import (
	"context"
	"strings"
	"testing"

	"parley/channels"
	"parley/sessions"
)

// stoppedShelf is a shelf with runs that ended before their turn.
type stoppedShelf struct {
	shelf
	stopped []sessions.Run
}

func (s *stoppedShelf) ListRuns(ctx context.Context, q sessions.RunQuery) ([]sessions.Run, error) {
	if q.Status == sessions.Stopped {
		return s.stopped, nil
	}
	return s.shelf.ListRuns(ctx, q)
}

// What was written here and ended before its turn stays in the chat, in its place, with the run that says why: no transcript has it. What was
// written elsewhere, in the conversation before, or was answered with another message is no such line.
func TestStoreHistoryHasWhatWasStoppedInTheQueue(t *testing.T) {
	t.Parallel()
	run := func(id string, minute int, session sessions.ID, where channels.Address) sessions.Run {
		m := from(message("i"+id, sessions.User, minute, id), sessions.Provenance{Kind: sessions.ExternalUser, Address: where, Message: "w" + id})
		m.Run = sessions.RunID("r" + id)
		return sessions.Run{ID: m.Run, Session: session, Status: sessions.Stopped, Input: m}
	}
	merged := run("merged", 3, "s1", chat)
	merged.MergedInto = "r1"
	begun := run("1", 1, "s1", chat)
	s := &stoppedShelf{stopped: []sessions.Run{merged, run("phone", 3, "s1", telegram), run("before", 0, "s0", chat), run("2", 2, "s1", chat), begun}}
	s.msgs = []sessions.Message{begun.Input, message("m4", sessions.Assistant, 4, "later")}
	lines, err := StoreHistory(s, func(channels.ChatID) channels.Address { return chat }, func(channels.ChatID) sessions.Key { return "agent:main:main" })(t.Context(), "main", "")
	var got []string
	for _, l := range lines {
		got = append(got, l.Text+" "+string(l.Run))
	}
	if strings.Join(got, ", ") != "1 r1, 2 r2, later " || err != nil {
		t.Errorf("%q %v", got, err)
	}
}
