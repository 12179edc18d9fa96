package chain

import (
	"testing"

	"parley/agent"
	"parley/sessions"
)

// proves: N10, N15, S10, W3
func TestSilence(t *testing.T) {
	ask, spawn := &sessions.Chain{Kind: Ask}, &sessions.Chain{Kind: Spawn}
	for _, c := range []struct {
		kind  sessions.RunKind
		chain *sessions.Chain
		said  string
		want  agent.Control
	}{
		{sessions.TurnRun, nil, " NO_REPLY\n", agent.NoReply},
		{sessions.TurnRun, nil, "not NO_REPLY", agent.Speak},
		{sessions.ReplyRun, ask, "REPLY_SKIP", agent.ReplySkip},
		{sessions.AnnounceRun, ask, "NO_REPLY", agent.NoReply},
		{sessions.AnnounceRun, spawn, "NO_REPLY", agent.NoReply},
		{sessions.AnnounceRun, spawn, "REPLY_SKIP.", agent.ReplySkip},
		{sessions.JobRun, nil, "**REPLY_SKIP**", agent.ReplySkip},
		{sessions.TurnRun, nil, "Hello\nNO_REPLY", agent.Speak}, // an earlier version posted it
		{sessions.ChildRun, spawn, "NO_REPLY", agent.Speak},
		{sessions.ChildRun, spawn, "REPLY_SKIP", agent.Speak},
		{sessions.ResultRun, spawn, "NO_REPLY", agent.NoReply},
		{sessions.ResultRun, spawn, "ANNOUNCE_SKIP", agent.AnnounceSkip},
	} {
		run := sessions.Run{Kind: c.kind, Chain: c.chain, Result: c.said, Status: sessions.Done}
		if got := Silence(run); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.kind, c.said, got, c.want)
		}
		run.Status = sessions.Failed
		if got := Silence(run); got != agent.Speak {
			t.Errorf("%s %q failed: %q", c.kind, c.said, got)
		}
	}
}
