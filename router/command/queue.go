package command

import (
	"context"
	"fmt"
	"strings"

	"parley/channels"
	"parley/router/settings"
	"parley/sessions"
)

const queueUsage = "⚙️ Usage: /queue [collect|followup|steer|interrupt] [debounce:2s] [cap:20] [drop:summarize|old|new], or /queue default"

// cmdQueue says, or changes for the session, what happens to messages that come while a turn is running.
func cmdQueue(_ context.Context, _ *Table, c Call) (Result, error) {
	if c.Arg == "" {
		return Result{Text: "⚙️ Queue: " + queueWords(c)}, nil
	}
	q, why := settings.ReadQueue(c.Arg, c.Session.Settings.Queue)
	if why != "" {
		return Result{Text: "⚙️ " + why + "\n\n" + strings.TrimPrefix(queueUsage, "⚙️ ")}, nil
	}
	c.Session.Settings.Queue = q
	return Result{Text: "⚙️ Queue: " + queueWords(c), Change: onSession(sessions.PatchSession{Queue: &q})}, nil
}

// queueWords says what holds in a session.
func queueWords(c Call) string {
	words := channels.Code(c.Set.Queue(c.Session, c.In.Address.Channel).String(), maxLine)
	if c.Session.Settings.Queue != (sessions.Queue{}) {
		words += " (set for this session)"
	}
	return words
}

// queueLines returns the lines of /status about running and queued runs of the session.
func (t *Table) queueLines(ctx context.Context, c Call) ([]string, error) {
	queued, err := t.store.ListRuns(ctx, sessions.RunQuery{Key: c.Session.Key, Status: sessions.Queued, Limit: 1000})
	if err != nil {
		return nil, err
	}
	atWork, err := t.store.ListRuns(ctx, sessions.RunQuery{Key: c.Session.Key, Status: sessions.Running, Limit: 1})
	if err != nil {
		return nil, err
	}
	lines := []string{"Queue: " + queueWords(c)}
	for _, run := range atWork {
		more, err := t.rights.MergedRuns(ctx, run.ID)
		if err != nil {
			return nil, err
		}
		lines = append(lines, fmt.Sprintf("Running: run %s, answers %s", run.ID, channels.Plural(1+len(more), "message")))
	}
	return append(lines, fmt.Sprintf("Waiting here: %d", len(queued))), nil
}
