package chain

import "parley/sessions"

// IsReport reports whether a run words what a sub-agent has found.
func IsReport(r sessions.Run) bool {
	return r.Kind == sessions.ResultRun || r.Kind == sessions.AnnounceRun && r.Chain != nil && r.Chain.Kind == Spawn
}

// Ended counts what a stop of the sessions keys ends. leaving are those of its deliveries that have nothing left to stop.
func Ended(open sessions.Stoppable, leaving int, keys ...sessions.Key) sessions.Ended {
	n := sessions.Ended{Deliveries: len(open.Deliveries) - leaving, Leaving: leaving}
	own := make(map[sessions.Key]bool)
	for _, k := range keys {
		own[k] = true
	}
	children, exchanges, jobs := make(map[sessions.Key]bool), make(map[sessions.RunID]bool), make(map[sessions.Key]bool)
	for _, r := range open.Runs {
		if r.IsExchange() {
			exchanges[r.Chain.Root] = true
		}
		switch {
		case r.Kind == sessions.JobRun:
			jobs[r.Key] = true
		case IsReport(r):
			n.Reports++
		case r.Kind == sessions.ChildRun && !own[r.Key]:
			children[r.Key] = true
		case !own[r.Key] && sessions.IsSubagent(r.Key) && !r.IsExchange():
			children[r.Key] = true
		case own[r.Key] && (r.Kind == sessions.TurnRun || r.Kind == sessions.AskRun || r.Kind == sessions.ChildRun || r.Kind == sessions.CompactRun):
			n.Messages++
		}
	}
	n.Turns = min(n.Messages, 1)
	n.Messages -= n.Turns
	n.Subagents, n.Exchanges, n.Jobs = len(children), len(exchanges), len(jobs)
	return n
}
