package router

import (
	"context"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/tools"
)

// TestAnswerBeforeTheWait has a sub-agent answer while one of its own is at work, which goes on for longer than it may take: what it
// said is in its transcript and in the report, and the model is asked for it once, over a restart as well.
//
// proves: N9, N11, N15
func TestAnswerBeforeTheWait(t *testing.T) {
	bubble(t, func(t *testing.T) {
		x := newTree(t, 2)
		x.does("outer", steps(delegate("c1", "inner"), text("half of it is done"), text("never")))
		x.does("inner", slowly(time.Hour))
		asked := x.answer
		x.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if strings.Contains(p.System, "announce step") {
				return text(""), nil // the host posts what is stored
			}
			return asked(ctx, p)
		})
		run := x.spawn(tools.SpawnRequest{Source: "s", Task: "outer", Timeout: 60})
		<-time.After(10 * time.Second)
		x.stop()
		x.start()
		<-time.After(10 * time.Second)
		kept := false
		for _, m := range x.transcript(run.Key) {
			kept = kept || m.Text() == "half of it is done"
		}
		if n := x.called("outer"); !kept || n != 2 {
			t.Errorf("while it waits: kept %v, %d model calls", kept, n)
		}
		<-time.After(time.Minute)
		list := x.deliveries()
		if got := list[len(list)-1].Text; !strings.HasPrefix(got, "Status: timeout\n\nResult:\nhalf of it is done\n") {
			t.Errorf("%s", got)
		}
	})
}
