package main

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"parley/agent/modeltest"
)

// TestLongSession fills a small window inside of one turn, between two tool calls, while a sub-agent is at work: the session is summed
// up, the model is told of the sub-agent, no call loses its result, no prompt is too long, the sub-agent's report arrives, and what
// is gone from the prompt is remembered, over a restart.
func TestLongSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config("    dmPolicy: allowlist", "tools: {allow: [sessions_spawn, remember]}")
	w.change("apiKey: x}", "apiKey: x, contextWindow: 8000}")
	free := make(chan struct{})
	var refused, summed, told, parted atomic.Int64
	w.model.Script(modeltest.Window(8000, &refused, func(r modeltest.Request) modeltest.Reply {
		last := r.Messages[len(r.Messages)-1]
		shown := ""
		for _, m := range r.Messages {
			shown += m.Text + "\n"
		}
		if !paired(r) {
			parted.Add(1)
		}
		switch {
		case strings.Contains(r.System, "You keep the memory"):
			summed.Add(1)
			return words("The person calls their cat Heron.")
		case strings.Contains(r.System, "sub-agent"):
			<-free
			return words("seven sheep")
		case strings.Contains(last.Text, "count the sheep"):
			return modeltest.Reply{ToolCalls: []modeltest.ToolCall{{ID: "s1", Name: "sessions_spawn", Arguments: `{"task":"count sheep","label":"shepherd"}`}}}
		case strings.Contains(last.Text, "my cat"):
			if strings.Contains(shown, "cat Heron") && strings.Contains(shown, "[host: summary of the conversation so far]") {
				return words("It is Heron.")
			}
			return words("I do not know.")
		case strings.Contains(r.LastUserText(), "note all") && summed.Load() == 0:
			return modeltest.Reply{ToolCalls: []modeltest.ToolCall{{ID: fmt.Sprint("c", r.N), Name: "remember", Arguments: `{"text":"` + strings.Repeat("a long note ", 100) + `"}`}}}
		case strings.Contains(r.LastUserText(), "note all"):
			if strings.Contains(shown, "[host: what is under way]") && strings.Contains(shown, "shepherd") {
				told.Add(1)
			}
			return words("all is noted")
		}
		return words("yes")
	}))
	host := w.start()
	w.tg.Say(owner, owner, "I have a cat, Heron. "+strings.Repeat("And more to tell. ", 50))
	w.sent(owner, 1)
	w.tg.Say(owner, owner, "count the sheep")
	w.sent(owner, 2)
	w.tg.Say(owner, owner, "note all that you know")
	if said := w.sent(owner, 3)[2].Text; said != "all is noted" {
		t.Errorf("the long turn ends with %q", said)
	}
	close(free)
	if said := w.sent(owner, 4)[3].Text; !strings.Contains(said, "seven sheep") {
		t.Errorf("the report is %q", said)
	}
	w.quiet()
	host.kill()
	w.start()
	w.tg.Say(owner, owner, "what is the name of my cat?")
	if said := w.sent(owner, 5)[4].Text; said != "It is Heron." {
		t.Errorf("after a restart: %q", said)
	}
	if refused.Load()+parted.Load() > 0 || summed.Load() == 0 || told.Load() == 0 {
		t.Errorf("%d prompts were too long, %d had calls without results; %d summaries, %d prompts told of the sub-agent", refused.Load(), parted.Load(), summed.Load(), told.Load())
	}
}

// paired reports whether every tool call of a prompt has its result.
func paired(r modeltest.Request) bool {
	open := make(map[string]bool)
	for _, m := range r.Messages {
		for _, c := range m.ToolCalls {
			open[c.ID] = true
		}
		if m.Role == "tool" {
			if !open[m.ToolCallID] {
				return false
			}
			delete(open, m.ToolCallID)
		}
	}
	return len(open) == 0
}
