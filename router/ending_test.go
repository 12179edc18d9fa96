package router_test

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
	"parley/router/routertest"
	"parley/sessions"
	"parley/tools"
)

// TestHowAReportEnded asks for each end of a sub-agent what is said of its report.
//
// proves: N15
func TestHowAReportEnded(t *testing.T) {
	deny := policy.Deny
	for name, c := range map[string]struct {
		child    string                                 // its last word
		announce string                                 // of the step that words the report
		with     func(t *testing.T, x *routertest.Tree) // what is otherwise than usual
		want     string
	}{
		"announced":      {"counted", "Result: 42", nil, "announced"},
		"silent itself":  {" ANNOUNCE_SKIP\n", "not asked", nil, "silent: ANNOUNCE_SKIP"},
		"silent at last": {"counted", "ANNOUNCE_SKIP", nil, "silent: ANNOUNCE_SKIP"},
		"another word":   {"NO_REPLY", "NO_REPLY", nil, "silent: NO_REPLY"},
		"withheld": {"counted", "Result: 42", func(t *testing.T, x *routertest.Tree) {
			if _, err := x.Router.Patch(t.Context(), routertest.KeyA, sessions.Patch{SendPolicy: &deny}); err != nil {
				t.Fatal(err)
			}
		}, "withheld by `session override`: send /send on in that chat to allow later messages"},
		"failed": {"counted", "Result: 42", func(_ *testing.T, x *routertest.Tree) {
			x.Fake.Script(channeltest.Step{Err: &channels.Error{Class: channels.Rejected, Err: errors.New("kicked out")}})
		}, "failed: `rejected"},
		"stopped": {"", "", func(_ *testing.T, x *routertest.Tree) { x.Does("task", routertest.Slowly(time.Hour)) }, "none, stopped: `"},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				x := routertest.NewTree(t, 1)
				x.Does("task", func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
					channels.Sleep(ctx, time.Second) // it is seen at work
					return routertest.Text(c.child), nil
				})
				x.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
					if strings.Contains(p.System, "announce step") {
						return routertest.Text(c.announce), nil
					}
					return x.Answer(ctx, p)
				})
				if c.with != nil {
					c.with(t, x)
				}
				run := x.Spawn(tools.SpawnRequest{Source: "s", Task: "task"})
				if got := reportedOf(x, run); got != "running" {
					t.Errorf("%q at the start", got)
				}
				if name == "stopped" {
					x.Cancel("task")
				}
				x.Until("it has ended", func() bool { got := reportedOf(x, run); return got != "running" && got != "pending" })
				if got := reportedOf(x, run); !strings.HasPrefix(got, c.want) {
					t.Errorf("%q, want %q", got, c.want)
				}
			})
		})
	}
}

func reportedOf(x *routertest.Tree, run sessions.Run) string {
	x.T.Helper()
	got, err := x.Router.CommandTable.Reported(x.T.Context(), run)
	if err != nil {
		x.T.Fatal(err)
	}
	return got
}

// TestCutOffSaysSo: an answer that ends at a limit or a filter does not pass for a whole one, and one without words says why.
func TestCutOffSaysSo(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.FewTools)
		for _, c := range []struct{ said, stop, want string }{
			{"one, two", agent.StopLength, "one, two\n\n(The answer ends here: it reached the length limit. Ask me to continue for the rest.)"},
			{"one, two", agent.StopFilter, "one, two\n\n(The answer ends here: the language model or its provider refused to continue. Ask for the rest in other words.)"},
			{"one, two", agent.StopUnclear, "one, two\n\n(The answer may be cut off: the language model's provider did not confirm the end. If something is missing, ask me to continue.)"},
			{"one, two", agent.StopEnd, "one, two"},
			{"", agent.StopLength, "The language model reached its length limit before it wrote an answer. Ask for less at once, or try another model with /model."},
		} {
			g.Model.Set(func(context.Context, agent.Prompt) (agent.Answer, error) {
				a := routertest.Text(c.said)
				a.Stop = c.stop
				return a, nil
			})
			if got := g.Asks(routertest.Direct("a"), routertest.Guest, "count"); got != c.want {
				t.Errorf("%q, %s: %q, want %q", c.said, c.stop, got, c.want)
			}
		}
	})
}
