package admission

import (
	"context"
	"fmt"

	"parley/channels"
	"parley/policy"
	"parley/router/settings"
	"parley/sessions"
)

// maxBotTurnsRead is how many runs of a session are looked at besides those that count: runs of other kinds stand between them.
const maxBotTurnsRead = 50

// limitBots holds bots to messages.groupChat.maxBotTurns: two of them in one group would answer each other for ever. What is above it
// is group talk like any other, until a person writes to the bot. The runs in the store are counted, so a restart changes nothing.
func (c *Controller) limitBots(ctx context.Context, set *settings.Snapshot, in channels.Inbound, key sessions.Key, a policy.Admission) (policy.Admission, error) {
	if a.Outcome != policy.Admit || !in.Sender.Bot || !in.Address.Type.Several() {
		return a, nil
	}
	most := set.Messages.GroupChat.MaxBotTurns
	runs, err := c.store.ListRuns(ctx, sessions.RunQuery{Key: key, Limit: 2*most + maxBotTurnsRead})
	if err != nil {
		return a, err
	}
	if botsInARow(runs) < most {
		return a, nil
	}
	const rule = "messages.groupChat.maxBotTurns"
	return policy.Admission{Outcome: policy.Remember, Key: rule,
		Reason: fmt.Sprintf("%s: bots have caused %d turns in a row, and no person has written to the bot since", rule, most)}, nil
}

// botsInARow counts the newest turns that bots caused, up to the last one that a person did. Messages that another turn took up
// before they had one of their own are part of that turn.
func botsInARow(runs []sessions.Run) (n int) {
	for _, run := range runs {
		p := run.Input.Provenance
		switch {
		case run.Kind != sessions.TurnRun || p == nil:
		case !p.Bot:
			return n
		case run.MergedInto == "" || run.Attempt > 0:
			n++
		}
	}
	return n
}
