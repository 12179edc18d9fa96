package admission

import (
	"testing"

	"parley/sessions"
)

// messages that a turn took up before they had one of their own are no turns; steps of other kinds do not count, and end no row.
func TestBotsInARow(t *testing.T) {
	t.Parallel()
	run := func(kind sessions.RunKind, bot bool, batch sessions.RunID, attempt int) sessions.Run {
		return sessions.Run{Kind: kind, MergedInto: batch, Attempt: attempt, Input: sessions.Message{Provenance: &sessions.Provenance{Kind: sessions.ExternalUser, Bot: bot}}}
	}
	for name, c := range map[string]struct {
		runs []sessions.Run // newest first
		want int
	}{
		"none":           {nil, 0},
		"three":          {[]sessions.Run{run(sessions.TurnRun, true, "", 0), run(sessions.TurnRun, true, "", 1), run(sessions.TurnRun, true, "", 1)}, 3},
		"a person":       {[]sessions.Run{run(sessions.TurnRun, true, "", 1), run(sessions.TurnRun, false, "", 1), run(sessions.TurnRun, true, "", 1)}, 1},
		"taken up":       {[]sessions.Run{run(sessions.TurnRun, true, "x", 0), run(sessions.TurnRun, true, "x", 0), run(sessions.TurnRun, true, "", 1)}, 1},
		"a person's too": {[]sessions.Run{run(sessions.TurnRun, false, "x", 0), run(sessions.TurnRun, true, "", 1)}, 0},
		"interrupted":    {[]sessions.Run{run(sessions.TurnRun, true, "", 1), run(sessions.TurnRun, true, "x", 1)}, 2},
		"other kinds":    {[]sessions.Run{run(sessions.AskRun, false, "", 1), {Kind: sessions.PostRun}, run(sessions.TurnRun, true, "", 1)}, 1},
	} {
		if got := botsInARow(c.runs); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
