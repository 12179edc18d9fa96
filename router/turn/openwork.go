package turn

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"parley/channels"
	"parley/sessions"
)

// maxOpenWork bounds what of each kind a turn is told that is under way.
const maxOpenWork = 20

// openWork tells what is open in a run's session as the store has it: running sub-agents, messages that wait, scheduled jobs. It is ""
// when nothing is.
func (t *Transcripts) openWork(ctx context.Context, run sessions.Run) (string, error) {
	var items []string
	children, err := sessions.OpenChildren(ctx, t.store, run.Key, maxOpenWork)
	if err != nil {
		return "", fmt.Errorf("list running sub-agents: %w", err)
	}
	for _, x := range children {
		task := x.Input.Text()
		if x.Chain != nil {
			task = cmp.Or(x.Chain.Request, task)
		}
		items = append(items, fmt.Sprintf("The sub-agent %s (run %s, session %s) has been running since %s; you get its result automatically. Its task: %s",
			channels.Code(x.Label, 64), channels.Code(string(x.ID), 64), channels.Code(string(x.Key), maxLine), x.Created.Format(time.DateTime), channels.Code(task, maxLine)))
	}
	queued, err := t.store.ListRuns(ctx, sessions.RunQuery{Key: run.Key, Status: sessions.Queued, Limit: 1000})
	if err != nil {
		return "", fmt.Errorf("list queued runs: %w", err)
	}
	waiting := 0
	for _, x := range queued {
		if x.ID != run.ID && x.Kind != sessions.PostRun && x.Kind != sessions.CompactRun {
			waiting++
		}
	}
	if waiting > 0 {
		items = append(items, fmt.Sprintf("Queued messages that are answered after this turn: %d", waiting))
	}
	jobs, err := t.store.ListJobs(ctx, run.Agent)
	if err != nil {
		return "", fmt.Errorf("list jobs: %w", err)
	}
	n := 0
	for _, j := range jobs {
		if j.From != run.Key {
			continue
		}
		if n++; n > maxOpenWork {
			break
		}
		items = append(items, fmt.Sprintf("Scheduled job %s (%s), next at %s: %s", channels.Code(j.ID, 64), channels.Code(j.Name, 64), j.Next.Format(time.DateTime), channels.Code(j.Message, maxLine)))
	}
	if len(items) == 0 {
		return "", nil
	}
	return Prompt("open", PromptFacts{Items: items})
}
