package simtest

import (
	"context"
	"iter"
	"regexp"
	"slices"
	"strings"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/router/routertest"
	"parley/sessions"
)

// mind is the model of one process. What it answers is drawn; each answer has words that are nowhere else, so that it is known
// wherever it shows up. The first letter says what for: w a person wrote, a an answer to people, q asked of another session, r its
// replies, p announcements, c tasks of sub-agents, k what they found, u words about a result, l about a late reply, n posted by a tool, f remembered; e a changed message, h by hand.
type mind struct {
	h     *host
	agent sessions.AgentID
}

// thought is one call of the model: what it was for, what it was shown, what it said.
type thought struct {
	routertest.Step
	agent  sessions.AgentID
	prompt agent.Prompt
	answer agent.Answer
	err    error
	word   string // of the answer
	host   *host

	began, ended time.Time // ended is zero when its process went first
}

// Stream implements agent.Model.
func (m mind) Stream(ctx context.Context, p agent.Prompt) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		a, err := m.think(ctx, p)
		if err != nil {
			yield(agent.Delta{}, err)
			return
		}
		for _, b := range a.Content {
			if b.Type == sessions.TextBlock && !yield(agent.Delta{Text: b.Text}, nil) {
				return
			}
		}
		yield(agent.Delta{Final: &a}, nil)
	}
}

// think draws an answer, and takes its time.
func (m mind) think(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
	w, st := m.h.w, routertest.StepOf(p)
	s := w.s
	st.Session = string(w.homeKey(sessions.Key(st.Session)))
	if !s.wait(m.h, "model "+string(m.agent)+" "+st.String()) {
		return agent.Answer{}, errGone
	}
	t := thought{Step: st, agent: m.agent, prompt: p, host: m.h, began: time.Now()}
	t.answer, t.word, t.err = m.says(t)
	w.tally("model calls")
	w.tally("model: " + st.Kind)
	w.mu.Lock()
	w.thoughts = append(w.thoughts, t)
	at := len(w.thoughts) - 1
	w.mu.Unlock()
	for _, c := range (sessions.Message{Content: t.answer.Content}).ToolCalls() {
		w.tally("tool " + c.Name)
	}
	s.note("model %s %s → %s %v", m.agent, st, routertest.Mark("", sessions.Message{Content: t.answer.Content}), t.err)
	wait := s.within(pick(s, 10*time.Millisecond, 3*time.Second, 40*time.Second))
	if !w.calm.Load() && s.chance(w.plan.thinking) {
		w.tally("slow models")
		wait += s.within(15 * time.Minute)
	}
	if (st.Kind == "reply" || st.Kind == "announce") && !w.calm.Load() && s.chance(100) {
		w.impatient(t.key(), wait)
	}
	channels.Sleep(ctx, wait)
	if !s.wait(m.h, "thought "+string(m.agent)+" "+st.String()) {
		return agent.Answer{}, errGone
	}
	w.mu.Lock()
	w.thoughts[at].ended = time.Now()
	w.mu.Unlock()
	if ctx.Err() != nil {
		return agent.Answer{}, ctx.Err()
	}
	return t.answer, t.err
}

// says draws an answer to what the model is shown.
func (m mind) says(t thought) (agent.Answer, string, error) {
	w, s := m.h.w, m.h.w.s
	if !w.calm.Load() && s.chance(w.plan.thinking) {
		w.tally("failing models")
		return agent.Answer{}, "", routertest.ErrScripted
	}
	word := func(kind string, more ...string) (agent.Answer, string, error) {
		x := w.token(kind)
		return routertest.Text(strings.Join(append([]string{x}, more...), " ")), x, nil
	}
	control := func(words ...string) (agent.Answer, string, error) {
		x := pick(s, words...)
		w.tally("control " + x)
		return routertest.Text(x), "", nil
	}
	likes := len(t.Results) < 3 && s.chance(350) // to use a tool
	switch t.Kind {
	case "ask":
		if likes && s.chance(500) {
			return m.asks(t)
		}
		if s.chance(120) {
			return control("", "REPLY_SKIP")
		}
		return word("r")
	case "reply":
		if s.chance(250) {
			return control("", "REPLY_SKIP")
		}
		return word("r")
	case "announce":
		if s.chance(250) {
			return control("", "ANNOUNCE_SKIP")
		}
		return word("p")
	case "report":
		if s.chance(250) {
			return control("", "ANNOUNCE_SKIP")
		}
		return word("p", "is the result")
	case "result":
		if s.chance(250) {
			return control("", "NO_REPLY", "ANNOUNCE_SKIP")
		}
		return word("u")
	case "child":
		return m.works(t, likes)
	case "follow-up":
		if s.chance(250) {
			return control("", "NO_REPLY")
		}
		return word("l")
	}
	if likes {
		return m.acts(t)
	}
	if s.chance(40) {
		return control("NO_REPLY")
	}
	asked := routertest.Unanswered(t.prompt)
	return word("a", append([]string{"to"}, append(tokensOf(asked, "w"), tokensOf(asked, "e")...)...)...)
}

// works is what a sub-agent does.
func (m mind) works(t thought, likes bool) (agent.Answer, string, error) {
	w, s := m.h.w, m.h.w.s
	switch {
	case likes && strings.Contains(t.prompt.System, "You may start") && s.chance(700):
		return m.spawns(t)
	case len(t.Results) > 0 && s.chance(200):
		return routertest.Call(w.token("t"), "sessions_yield", map[string]any{}), "", nil
	case likes:
		return m.remembers()
	case s.chance(150):
		x := pick(s, "", "ANNOUNCE_SKIP", "NO_REPLY")
		w.tally("control " + x)
		return routertest.Text(x), "", nil
	}
	x := w.token("k")
	return routertest.Text(x), x, nil
}

// acts draws a tool for a turn that answers people.
func (m mind) acts(t thought) (agent.Answer, string, error) {
	w, s := m.h.w, m.h.w.s
	switch s.upTo(12) {
	case 0, 1, 2:
		return m.asks(t)
	case 3, 4, 5, 6:
		return m.spawns(t)
	case 7:
		return m.remembers()
	case 8, 9, 10:
		x := w.token("n")
		return routertest.Call(w.token("t"), "message", map[string]any{"to": pick(s, "current", m.other(t)), "text": x}), x, nil
	}
	return routertest.Call(w.token("t"), "subagents", map[string]any{"action": "cancel", "id": "last"}), "", nil
}

// asks has a session ask another one. No wait is a multiple of the time after which those who wait look again: which of two things
// that happen at the same instant comes first is drawn by the runtime.
func (m mind) asks(t thought) (agent.Answer, string, error) {
	w, s := m.h.w, m.h.w.s
	x := w.token("q")
	return routertest.Call(w.token("t"), "sessions_send", map[string]any{"sessionKey": m.other(t), "message": x, "timeoutSeconds": pick(s, 0, 0, 5, 31, 121)}), x, nil
}

// other draws a session of a chat: most often another one, in which somebody writes.
func (m mind) other(t thought) string {
	w := m.h.w
	for range 4 {
		key := string(w.keys[pick(w.s, w.plan.letters...).to])
		if w.s.chance(50) {
			key = string(w.keys[pick(w.s, haunts()...).to])
		}
		if key != t.Session || w.s.chance(50) {
			return key
		}
	}
	return t.Session
}

func (m mind) remembers() (agent.Answer, string, error) {
	x := m.h.w.token("f")
	return routertest.Call(m.h.w.token("t"), "remember", map[string]any{"text": x}), x, nil
}

// spawns starts up to three sub-agents in one answer.
func (m mind) spawns(_ thought) (agent.Answer, string, error) {
	w, s := m.h.w, m.h.w.s
	a := routertest.Text("")
	a.Stop = "toolUse"
	for range 1 + s.upTo(5)/2 {
		args := map[string]any{"task": w.token("c"), "cleanup": pick(s, "keep", "keep", "delete"), "runTimeoutSeconds": pick(s, 0, 20, 60, 300)}
		a.Content = append(a.Content, routertest.Call(w.token("t"), "sessions_spawn", args).Content...)
	}
	return a, "", nil
}

var tokens = regexp.MustCompile(`\b([a-z])\d+\b`)

// tokensOf finds the words of a kind in texts, each once.
func tokensOf(texts []string, kind string) (out []string) {
	for _, text := range texts {
		for _, x := range tokens.FindAllString(text, -1) {
			if x[:1] == kind && !slices.Contains(out, x) {
				out = append(out, x)
			}
		}
	}
	return out
}

// finishes notes how a process wants to end a run.
func (w *world) finishes(run sessions.RunID, o sessions.Outcome) *attempted {
	x := &attempted{run: run, Outcome: o}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tries = append(w.tries, x)
	return x
}

// stopping notes that a process wants to end what sessions are at, and when it was told what came of it.
func (w *world) stopping(e sessions.Change) (told func()) {
	_, all := sessions.FindOp[sessions.StopSessions](e)
	_, one := sessions.FindOp[sessions.StopRun](e)
	if !all && !one {
		return func() {}
	}
	x := &[2]time.Time{time.Now()}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stops = append(w.stops, x)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		x[1] = time.Now()
	}
}

// ended gives a run that was open when a deletion of its session was looked at as it ended on disk before the deletion was committed, which
// nobody may have been told: by its end, or by somebody who stopped it meanwhile.
func (w *world) ended(run sessions.Run, at time.Time) sessions.Run {
	if run.Status.Final() {
		return run
	}
	for _, x := range w.stops {
		if x[1].IsZero() || !x[1].Before(at) {
			run.Status, run.Error, run.Ended = sessions.Stopped, "stopped by a person", w.until(at, x[1])
		}
	}
	for _, x := range w.tries {
		if x.run == run.ID && !x.undone {
			run.Status, run.Result, run.Error = x.Status, x.Result, x.Error
		}
	}
	return run
}
