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
	"parley/router/routertest"
	"parley/sessions"
)

// A job whose answer stays empty, also when the model is asked again, is listed as failed with the reason, and its chat is told.
// source: openclaw/openclaw#115041
//
// proves: N12
func TestEmptyJobFails(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		job(g, map[string]any{"message": "water the plants", "every": "1h"})
		asked := g.Model.Count()
		g.Model.Set(func(context.Context, agent.Prompt) (agent.Answer, error) { return routertest.Text(""), nil })
		<-time.After(61 * time.Minute)
		calls := g.Shown(2)
		if got := calls[1].Out.Text; !strings.Contains(got, "The language model gave an empty answer.") {
			t.Errorf("the chat reads %q", got)
		}
		if n := g.Model.Count() - asked; n != 2 {
			t.Errorf("the model was asked %d times", n)
		}
		failed := 0
		for _, r := range g.Runs() {
			if r.Kind == sessions.JobRun && r.Status == sessions.Failed && r.Error != "" {
				failed++
			}
		}
		if failed != 1 {
			t.Errorf("%d runs of the job are listed as failed", failed)
		}
	})
}

// A sub-agent that ran out of time or failed reports its newest words, else its newest tool result, and under Notes what ended it.
// source: openclaw/openclaw#33827
//
// proves: N17
func TestPartialWorkIsReported(t *testing.T) {
	for end, status := range map[string]string{"time": "timeout", "failure": "error"} {
		for words, result := range map[string]string{"I found three modules.": "I found three modules.", "": `{"status":"ok"}`} {
			t.Run(end+"/"+words, func(t *testing.T) {
				routertest.Bubble(t, func(t *testing.T) {
					g := routertest.New(t, channeltest.Options{})
					g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
						m := routertest.Last(p)
						switch {
						case strings.Contains(p.System, "announce step"):
							return agent.Answer{}, errors.New("scripted") // the host posts what is stored
						case strings.Contains(p.System, "You are a sub-agent") && m.Role != sessions.ToolResult:
							a := routertest.Call("r1", "remember", map[string]any{"text": "a fact"})
							if words != "" {
								a.Content = append(sessions.TextContent(words), a.Content...)
							}
							return a, nil
						case strings.Contains(p.System, "You are a sub-agent") && end == "time" && !channels.Sleep(ctx, time.Hour):
							return agent.Answer{}, ctx.Err()
						case strings.Contains(p.System, "You are a sub-agent"):
							return agent.Answer{}, errors.New("scripted")
						case m.Role == sessions.ToolResult:
							return routertest.Text("NO_REPLY"), nil
						}
						return routertest.Call("c1", "sessions_spawn", map[string]any{"task": "look", "runTimeoutSeconds": 60}), nil
					})
					g.Say(routertest.Direct("a"), routertest.Guest, "go")
					<-time.After(10 * time.Minute)
					note := map[string]string{"time": "I ran out of time (1m0s)", "failure": "Something went wrong"}[end]
					_, got, _ := strings.Cut(g.Shown(1)[0].Out.Text, "Status: ")
					head, notes, _ := strings.Cut(got, "Notes:")
					if !strings.HasPrefix(head, status+"\n\nResult:\n"+result+"\n") || !strings.Contains(notes, note) {
						t.Errorf("the report:\n%s", got)
					}
				})
			})
		}
	}
}
