package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"parley/agent/modeltest"
	"parley/channels/telegram/telegramtest"
)

// benchAgents measures sub-agents: how fast sessions_spawn returns, how soon a report leaves after the child's last token, and
// whether a thousand children at once are all reported, each in the chat that asked for it.
type benchAgents struct {
	*bench

	mu       sync.Mutex
	called   map[string]time.Time // by chat: when the model asked for sub-agents
	returned []time.Duration      // from there until the model had the results of its calls
	last     map[string]time.Time // by task: the child's last token
}

// spawnMany is what a person writes: "spawn 3 from 7" has the agent start three sub-agents for chat 7.
const spawnMany = "spawn %d from %d"

// agents runs the measurements. The first chat id is that of the first chat; children are spawned one at a time, then all at once.
func (b *bench) agents() error {
	a := &benchAgents{bench: b, called: map[string]time.Time{}, last: map[string]time.Time{}}
	b.model.Script(a.script)
	defer b.model.Script(modeltest.Echo)
	b.tg.Forget()
	const one = 50
	if err := a.oneByOne(one); err != nil {
		return err
	}
	a.found.Agents = &agentsFigure{}
	f := a.found.Agents
	spawned := slices.Sorted(slices.Values(a.returned))
	f.SpawnP50, f.SpawnP99 = millis(quantile(spawned, .5)), millis(quantile(spawned, .99))
	a.say("sessions_spawn returns  p50 %s, p99 %s (%d calls; three commits and the model's HTTP around them)\n", ms(quantile(spawned, .5)), ms(quantile(spawned, .99)), one)
	took, err := a.reports()
	if err != nil {
		return err
	}
	f.ReportP50, f.ReportP99 = millis(quantile(took, .5)), millis(quantile(took, .99))
	a.say("report leaves           p50 %s, p99 %s after the child's last token (%d reports, announce step included)\n", ms(quantile(took, .5)), ms(quantile(took, .99)), len(took))
	return a.atOnce()
}

// script is an instant model that delegates.
func (a *benchAgents) script(r modeltest.Request) modeltest.Reply {
	say := func(text string) modeltest.Reply {
		return modeltest.Reply{Text: []string{text}, Usage: modeltest.Usage{Input: 100, Output: 10}}
	}
	text := r.LastUserText()
	newest := r.Messages[len(r.Messages)-1]
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case strings.Contains(r.System, "announce step of your task"):
		return say("Result:\ndone: " + between(r.System, "- Task: \"", "\"\n"))
	case strings.Contains(r.System, "You are a sub-agent"):
		a.last[text[max(strings.LastIndex(text, "task "), 0):]] = time.Now() // the origin stands before it
		return say("done")
	case newest.Role == "tool":
		chat := text[strings.LastIndexByte(text, ' ')+1:]
		if began, ok := a.called[chat]; ok {
			a.returned = append(a.returned, r.Time.Sub(began))
			delete(a.called, chat)
		}
		return say("started")
	}
	var n, chat int
	if _, err := fmt.Sscanf(text, spawnMany, &n, &chat); err != nil {
		return say("?")
	}
	a.called[strconv.Itoa(chat)] = time.Now()
	reply := modeltest.Reply{}
	for i := range n {
		reply.ToolCalls = append(reply.ToolCalls, modeltest.ToolCall{ID: fmt.Sprintf("c%d-%d-%d", chat, i, r.N), Name: "sessions_spawn",
			Arguments: fmt.Sprintf(`{"task":"task %d of chat %d in call %d"}`, i, chat, r.N)})
	}
	return reply
}

// oneByOne starts sub-agents, each after the one before was reported.
func (a *benchAgents) oneByOne(n int) error {
	const chat = 5000
	a.tg.AddUser(telegramtest.User{ID: chat, Name: "One"})
	for i := range n {
		a.tg.Say(chat, chat, fmt.Sprintf(spawnMany, 1, chat))
		if _, err := a.answered(2 * (i + 1)); err != nil { // "started" and the report
			return err
		}
	}
	return nil
}

// reports gives for each report how long after its child's last token it reached the platform, sorted.
func (a *benchAgents) reports() (took []time.Duration, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, m := range a.tg.Sent() {
		task := between(m.Text, "done: ", "\n")
		if task == "" {
			continue
		}
		at, ok := a.last[task]
		if !ok {
			return nil, fmt.Errorf("a report of an unknown sub-agent: %q", m.Text)
		}
		took = append(took, m.At.Sub(at))
	}
	slices.Sort(took)
	if len(took) == 0 {
		return nil, fmt.Errorf("no report arrived; the chat shows %d messages", len(a.tg.Sent()))
	}
	return took, nil
}

// atOnce starts ten sub-agents from each of a hundred chats at the same moment.
func (a *benchAgents) atOnce() error {
	const chats, each, first = 100, 10, 6000
	for c := range chats {
		a.tg.AddUser(telegramtest.User{ID: int64(first + c), Name: "P"})
	}
	a.tg.Forget()
	began := time.Now()
	for c := range chats {
		a.tg.Say(int64(first+c), int64(first+c), fmt.Sprintf(spawnMany, each, first+c))
	}
	sent, err := a.answered(chats * (each + 1))
	if err != nil {
		return err
	}
	took := sent[len(sent)-1].At.Sub(began)
	seen := map[string]bool{}
	for _, m := range sent {
		task := between(m.Text, "done: ", "\n")
		if task == "" {
			continue
		}
		if seen[task] || !strings.Contains(task, fmt.Sprintf("of chat %d ", m.Chat)) {
			return fmt.Errorf("chat %d shows %q twice, or shows another chat's report", m.Chat, task)
		}
		seen[task] = true
	}
	if len(seen) != chats*each {
		return fmt.Errorf("%d of %d sub-agents reported", len(seen), chats*each)
	}
	a.found.Agents.AtOnce, a.found.Agents.AtOnceMs = chats*each, millis(took)
	a.say("children at once        %d of %d chats in %s, each reported once, in its own chat\n", len(seen), chats, ms(took))
	return nil
}

// between gives what stands between two texts, "" when they are not there.
func between(s, from, to string) string {
	_, s, ok := strings.Cut(s, from)
	if !ok {
		return ""
	}
	s, _, _ = strings.Cut(s, to)
	return s
}
