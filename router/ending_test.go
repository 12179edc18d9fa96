package router

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/sessions"
	"parley/tools"
)

// TestHowAReportEnded asks for each end of a sub-agent what is said of its report.
//
// proves: N15
func TestHowAReportEnded(t *testing.T) {
	deny := policy.Deny
	for name, c := range map[string]struct {
		child    string                      // its last word
		announce string                      // of the step that words the report
		with     func(t *testing.T, x *tree) // what is otherwise than usual
		want     string
	}{
		"announced":        {"counted", "Result: 42", nil, "announced"},
		"silent itself":    {" ANNOUNCE_SKIP\n", "not asked", nil, "silent: ANNOUNCE_SKIP"},
		"silent at last":   {"counted", "ANNOUNCE_SKIP", nil, "silent: ANNOUNCE_SKIP"},
		"NO_REPLY reports": {"NO_REPLY", "NO_REPLY", nil, "announced"},
		"withheld": {"counted", "Result: 42", func(t *testing.T, x *tree) {
			if _, err := x.r.Patch(t.Context(), keyA, sessions.Patch{SendPolicy: &deny}); err != nil {
				t.Fatal(err)
			}
		}, "withheld by `session override`"},
		"failed": {"counted", "Result: 42", func(_ *testing.T, x *tree) {
			x.fake.Script(channeltest.Step{Err: &channels.Error{Class: channels.Rejected, Err: errors.New("kicked out")}})
		}, "failed: `rejected"},
		"stopped": {"", "", func(_ *testing.T, x *tree) { x.does("task", slowly(time.Hour)) }, "none, stopped: `"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				x := newTree(t, 1)
				x.does("task", func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
					sleep(ctx, time.Second) // it is seen at work
					return text(c.child), nil
				})
				x.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
					if strings.Contains(p.System, "announce step") {
						return text(c.announce), nil
					}
					return x.answer(ctx, p)
				})
				if c.with != nil {
					c.with(t, x)
				}
				run := x.spawn(tools.SpawnRequest{Source: "s", Task: "task"})
				if got := x.reported(run); got != "at work" {
					t.Errorf("%q at the start", got)
				}
				if name == "stopped" {
					x.cancel("task")
				}
				x.until("it has ended", func() bool { got := x.reported(run); return got != "at work" && got != "on its way" })
				if got := x.reported(run); !strings.HasPrefix(got, c.want) {
					t.Errorf("%q, want %q", got, c.want)
				}
			})
		})
	}
}

func (x *tree) reported(run sessions.Run) string {
	x.t.Helper()
	got, err := x.r.reported(x.t.Context(), run)
	if err != nil {
		x.t.Fatal(err)
	}
	return got
}

// proves: N10, N15, S10
func TestSilence(t *testing.T) {
	ask, spawn := &sessions.Chain{Kind: chainAsk}, &sessions.Chain{Kind: chainSpawn}
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
		{sessions.AnnounceRun, spawn, "NO_REPLY", agent.Speak}, // the host posts what there is
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

// TestCutOffSaysSo: an answer that ends at a limit or a filter does not pass for a whole one, and one without words says why.
func TestCutOffSaysSo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, fewTools)
		for _, c := range []struct{ said, stop, want string }{
			{"one, two", agent.StopLength, "one, two\n\n(The answer ends here: it reached the length limit.)"},
			{"one, two", agent.StopFilter, "one, two\n\n(The answer ends here: the language model or its provider refused to go on.)"},
			{"one, two", agent.StopEnd, "one, two"},
			{"", agent.StopLength, "The language model reached its length limit before it said a word."},
		} {
			g.model.set(func(context.Context, agent.Prompt) (agent.Answer, error) {
				a := text(c.said)
				a.Stop = c.stop
				return a, nil
			})
			if got := g.asks(direct("a"), guest, "count"); got != c.want {
				t.Errorf("%q, %s: %q, want %q", c.said, c.stop, got, c.want)
			}
		}
	})
}
