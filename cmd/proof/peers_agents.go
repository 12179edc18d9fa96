package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"parley/agent/modeltest"
	"parley/channels/telegram/telegramtest"
)

// delegate is an instant model that calls the tool that a person names: "call NAME ARGUMENTS". What sub-agents and other sessions do
// takes as long as task says.
type delegate struct {
	task time.Duration // how long a sub-agent works

	mu       sync.Mutex
	called   time.Time // when the model last asked for a tool
	returned []time.Duration
	requests int
	tools    json.RawMessage // what a turn was offered
}

const callWord = "call "

func (d *delegate) script(r modeltest.Request) modeltest.Reply {
	words := func(text string) modeltest.Reply {
		return modeltest.Reply{Text: []string{text}, Usage: modeltest.Usage{Input: 100, Output: 10}}
	}
	text, newest := r.LastUserText(), r.Messages[len(r.Messages)-1]
	d.mu.Lock()
	defer d.mu.Unlock()
	d.requests++
	switch {
	case strings.Contains(r.System, "announce step of your task"):
		return words("Result:\nthe task is done")
	case strings.Contains(r.System, "You are a sub-agent"):
		reply := words("the task is done")
		reply.Delay = d.task
		return reply
	case strings.Contains(r.System, "This is the announce step"):
		return words("announced")
	case strings.Contains(r.System, "This is a reply step"), strings.Contains(r.System, "This message comes from another session"):
		return words(fmt.Sprintf("reply %d", d.requests))
	case newest.Role == "tool":
		d.returned = append(d.returned, r.Time.Sub(d.called))
		return words("finished")
	}
	_, line, ok := strings.Cut(text, callWord)
	if !ok {
		return words("hello")
	}
	var whole struct{ Tools json.RawMessage }
	if json.Unmarshal(r.Raw, &whole) == nil {
		d.tools = whole.Tools
	}
	name, args, _ := strings.Cut(line, " ")
	d.called = time.Now()
	return modeltest.Reply{ToolCalls: []modeltest.ToolCall{{ID: fmt.Sprintf("c%d", r.N), Name: name, Arguments: args}}}
}

// taken gives what was measured since the last time.
func (d *delegate) taken() (requests int, returned []time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	requests, returned = d.requests, d.returned
	d.requests, d.returned = 0, nil
	return requests, returned
}

const asker, asked int64 = 7001, 7002

// tell writes as the asker and waits for an answer that holds some words, however many others come.
func (c *comparison) tell(ctx context.Context, chat int64, text, until string) (time.Duration, error) {
	wait, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	n := len(c.tg.SentTo(chat))
	began := time.Now()
	c.tg.Say(chat, chat, text)
	var at time.Time
	err := c.tg.Wait(wait, func() bool {
		for _, m := range c.tg.SentTo(chat)[n:] {
			if strings.Contains(m.Text, until) {
				at = m.At
				return true
			}
		}
		return false
	})
	if err != nil {
		return 0, fmt.Errorf("%q in answer to %q: %w", until, text, err)
	}
	return at.Sub(began), nil
}

// tool measures a tool in the loop: from the model's call to its next request, which holds the result.
func (c *comparison) tool(ctx context.Context, d *delegate, name, args string) (string, error) {
	d.taken()
	for range 20 {
		if _, err := c.tell(ctx, asker, callWord+name+" "+args, "finished"); err != nil {
			return "", err
		}
	}
	_, took := d.taken()
	if len(took) != 20 {
		return "", fmt.Errorf("%s was answered %d times, not 20", name, len(took))
	}
	return spread(took), nil
}

// orchestrate measures what agents do with each other.
func (c *comparison) orchestrate(ctx context.Context) error {
	d := &delegate{}
	c.model.Script(d.script)
	h, _, err := c.polling(ctx)
	if err != nil {
		return err
	}
	defer h.stop()
	for _, id := range []int64{asker, asked} {
		c.tg.AddUser(telegramtest.User{ID: id, Name: "P"})
		if _, err := c.tell(ctx, id, "hello", "hello"); err != nil {
			return err
		}
	}
	key := fmt.Sprintf("agent:main:telegram:default:direct:%d", asked)
	d.taken()
	if _, err := c.tell(ctx, asker, callWord+fmt.Sprintf(`sessions_send {"sessionKey":%q,"message":"how are you?","timeoutSeconds":30}`, key), "finished"); err != nil {
		return err
	}
	if err := c.silent(ctx, 3*time.Second, func() bool { return false }); err != nil {
		return err
	}
	n, _ := d.taken()
	c.note("one sessions_send", "%d model requests in all, %d texts in the other chat", n, len(c.tg.SentTo(asked))-1)
	took, err := c.tell(ctx, asker, callWord+`sessions_spawn {"task":"do it"}`, "Status:")
	if err != nil {
		return err
	}
	if err := c.silent(ctx, 2*time.Second, func() bool { return false }); err != nil {
		return err
	}
	reports := 0
	for _, m := range c.tg.SentTo(asker) {
		reports += strings.Count(m.Text, "Status:")
	}
	c.judgeReports("without a kill", reports)
	c.note("a sub-agent", "%d report, %.1f ms after the request (the model takes no time)", reports, millis(took))
	d.mu.Lock()
	var tools []json.RawMessage
	_ = json.Unmarshal(d.tools, &tools) // none: 0 tools are printed
	c.note("tools of a request", "%d, %.1f kB", len(tools), float64(len(d.tools))/1000)
	d.mu.Unlock()
	for _, t := range []struct{ name, args string }{{"sessions_list", "{}"}, {"sessions_history", fmt.Sprintf(`{"sessionKey":%q}`, key)}, {"agents_list", "{}"}, {"sessions_spawn", `{"task":"do it"}`}} {
		s, err := c.tool(ctx, d, t.name, t.args)
		if err != nil {
			return err
		}
		c.note(t.name+" in the loop", "%s", s)
	}
	return c.silent(ctx, 2*time.Second, func() bool { return false })
}

// killSubAgent kills the host while a sub-agent is in the middle of ten seconds of work.
func (c *comparison) killSubAgent(ctx context.Context) error {
	d := &delegate{task: 10 * time.Second}
	c.model.Script(d.script)
	h, _, err := c.polling(ctx)
	if err != nil {
		return err
	}
	if _, err := c.tell(ctx, asker, callWord+`sessions_spawn {"task":"do it"}`, "finished"); err != nil {
		return err
	}
	if err := pause(ctx, 5*time.Second); err != nil {
		return err
	}
	h.kill()
	again, _, err := c.polling(ctx)
	if err != nil {
		return err
	}
	defer again.stop()
	if err := c.silent(ctx, max(c.Silence, 2*d.task), func() bool { return false }); err != nil {
		return err
	}
	var texts []string
	reports := 0
	for _, m := range c.tg.SentTo(asker) {
		reports += strings.Count(m.Text, "Status:")
		texts = append(texts, fmt.Sprintf("%q after %.1f s", strings.Split(m.Text, "\n")[0], m.At.Sub(again.began).Seconds()))
	}
	c.judgeReports("over a kill", reports)
	c.note("kill -9 while a sub-agent works", "%d texts: %s", len(texts), strings.Join(texts, ", "))
	return nil
}

// judgeReports holds how often one sub-agent was reported against what parley promises.
func (c *comparison) judgeReports(when string, n int) {
	if n != 1 {
		c.missed = append(c.missed, fmt.Sprintf("a sub-agent %s was reported %d times", when, n))
	}
}

// large measures a host with many sessions.
func (c *comparison) large(ctx context.Context) error {
	c.model.Script(modeltest.Echo)
	h, _, err := c.polling(ctx)
	if err != nil {
		return err
	}
	const step = 1000
	for first := 0; first < c.Sessions; first += step {
		n, before := min(step, c.Sessions-first), c.tg.SentCount()
		c.many(int64(100_000+first), n, n)
		if err := c.silent(ctx, c.Silence, func() bool { return c.tg.SentCount() >= before+n }); err != nil {
			h.kill()
			return err
		}
	}
	d := &delegate{}
	c.model.Script(d.script)
	list, err := c.tool(ctx, d, "sessions_list", "{}")
	h.stop()
	if err != nil {
		return err
	}
	c.note(fmt.Sprintf("sessions_list of %d in the loop", c.Sessions), "%s", list)
	h, took, err := c.polling(ctx)
	if err != nil {
		return err
	}
	defer h.stop()
	if err := pause(ctx, 5*time.Second); err != nil {
		return err
	}
	c.note(fmt.Sprintf("start with %d sessions", c.Sessions), "%.0f ms, then %.1f MB", millis(took), h.use().RSS)
	return nil
}
