package turn

import (
	"context"

	"parley/agent"
	"parley/channels"
	"parley/router/event"
	"parley/sessions"
	"parley/tools"
)

// watchedTool tells of the calls of a tool. It stands around every tool of a turn.
type watchedTool struct {
	tools.Tool
	to *event.Bus
}

// Call implements tools.Tool.
func (t watchedTool) Call(ctx context.Context, c tools.Call) (tools.Result, error) {
	e := event.Event{Kind: event.KindTool, Phase: event.PhaseBegin, Session: c.Caller.Run.Key, Run: c.Caller.Run.ID, RunKind: c.Caller.Run.Kind, Tool: t.Spec().Name, Call: c.ID}
	t.to.Publish(e)
	if tell := c.Progress; tell != nil {
		c.Progress = func(text string) {
			tell(text)
			p := e
			p.Phase, p.Text = event.PhaseProgress, channels.CutText(text, 300)
			t.to.Publish(p)
		}
	}
	e.Phase = event.PhaseError // also when it panics
	defer func() { t.to.Publish(e) }()
	res, err := t.Tool.Call(ctx, c)
	if err == nil && !res.IsError {
		e.Phase = event.PhaseEnd
	}
	return res, err
}

// watched puts those who watch around the tools of a turn.
func (w *Worker) watched(toolset []tools.Tool) []tools.Tool {
	out, all := make([]tools.Tool, len(toolset)), make([]watchedTool, len(toolset))
	for i, t := range toolset {
		all[i] = watchedTool{t, w.watchers}
		out[i] = &all[i]
	}
	return out
}

// watchText has those who watch see the answer as it grows, whether or not a chat does.
func (w *Worker) watchText(run sessions.Run, t *agent.Turn) {
	shown, key, id, kind := t.OnText, run.Key, run.ID, run.Kind
	t.OnText = func(soFar string) {
		if shown != nil {
			shown(soFar)
		}
		w.watchers.Publish(event.Event{Kind: event.KindText, Session: key, Run: id, RunKind: kind, Text: soFar})
	}
}
