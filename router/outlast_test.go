package router_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/router/routertest"
	"parley/tools"
)

// TestAnswerBeforeTheWait has a sub-agent answer while one of its own is running, which goes on for longer than it may take: what it
// said is in its transcript and in the report, and the model is asked for it once, over a restart as well.
//
// proves: N9, N11, N15
func TestAnswerBeforeTheWait(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.NewTree(t, 2)
		x.Does("outer", routertest.Steps(routertest.Delegate("c1", "inner"), routertest.Text("half of it is done"), routertest.Text("never")))
		x.Does("inner", routertest.Slowly(time.Hour))
		asked := x.Answer
		x.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if strings.Contains(p.System, "announce step") {
				return routertest.Text(""), nil // the host posts what is stored
			}
			return asked(ctx, p)
		})
		run := x.Spawn(tools.SpawnRequest{Source: "s", Task: "outer", Timeout: 60})
		<-time.After(10 * time.Second)
		x.Stop()
		x.Start()
		<-time.After(10 * time.Second)
		kept := false
		for _, m := range x.Transcript(run.Key) {
			kept = kept || m.Text() == "half of it is done"
		}
		if n := x.Called("outer"); !kept || n != 2 {
			t.Errorf("while it waits: kept %v, %d model calls", kept, n)
		}
		<-time.After(time.Minute)
		list := x.Deliveries()
		if got := list[len(list)-1].Text; !strings.HasPrefix(got, "Status: timeout\n\nResult:\nhalf of it is done\n") {
			t.Errorf("%s", got)
		}
	})
}
